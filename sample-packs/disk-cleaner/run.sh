#!/bin/sh
# Reads {"path": ..., "dry_run": ...} on stdin, prints {"freed_bytes": n, "files_deleted": n} on stdout.
# The work is in clean.py: shell has no safe way to read JSON or to walk a tree without following links.
set -eu

if ! command -v python3 >/dev/null 2>&1; then
    echo "disk_cleaner needs python3 on the PATH" >&2
    exit 1
fi
exec python3 -I -B "$(dirname "$0")/clean.py"
