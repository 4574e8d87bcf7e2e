"""The execution model of GPUs: a work-item is a thread, and every number is one number."""
