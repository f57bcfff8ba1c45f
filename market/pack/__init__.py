"""What a pack is, purely: sources, records, manifests, rules, archives. No file system, no network."""
