"""Skills that work on text. Each folder is one skill: skill.json declares it, `__init__.py` has its function."""
