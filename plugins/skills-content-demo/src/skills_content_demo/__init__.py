"""Skills as content: the folders beside this file."""
