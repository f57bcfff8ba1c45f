"""Executors, supervisors, the gate and the audit."""
