"""Market: a self-hosted marketplace for AI-agent skills. The rooms and their layers are in docs/architecture.md."""
