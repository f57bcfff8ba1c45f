"""A package with one guide."""
