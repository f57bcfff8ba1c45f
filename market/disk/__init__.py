"""The file system, and nothing else."""
