"""The host: its HTTP API and pages."""
