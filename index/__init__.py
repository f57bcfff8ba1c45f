"""The index server: one domain, several faces."""
