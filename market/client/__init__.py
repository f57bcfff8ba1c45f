"""Talking to an index: the wire shapes (shared with the server), the transport, the download cache."""
