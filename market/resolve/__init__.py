"""From requirements to exact releases."""
