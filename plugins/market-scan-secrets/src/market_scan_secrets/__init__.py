"""Stops packs that carry secrets; `plugin` holds the hooks."""
