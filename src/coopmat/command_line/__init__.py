"""The commands of ``coopmat`` that need more than a few lines, and what they read from the command line."""
