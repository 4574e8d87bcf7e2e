"""What every room uses, and that knows nothing of matrices: files, caches, locks, limits."""
