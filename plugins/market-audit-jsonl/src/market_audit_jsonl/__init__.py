"""Writes what happens as JSON lines; `plugin` holds the hooks."""
