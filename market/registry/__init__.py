"""The skills that are live in this process."""
