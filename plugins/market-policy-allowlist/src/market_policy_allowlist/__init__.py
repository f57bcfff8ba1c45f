"""Allows only what is on the list; `plugin` holds the hooks."""
