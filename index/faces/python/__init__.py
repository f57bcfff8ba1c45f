"""What pip, uv and twine speak: the Simple API (`/simple/`, `/files/`) and the upload form (`/legacy/`)."""
