"""One folder per protocol that the index speaks."""
