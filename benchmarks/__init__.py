"""Measurements against peers, side by side in one run. Ratios count; the machine's own speed doesn't."""
