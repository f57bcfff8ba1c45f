"""A static index: the documents of a few releases as files, as `market index export` leaves them, behind a plain file server."""

from __future__ import annotations

import http.server
import io
import json
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from market.client import wire
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.record import dump_record
from market.pack.source import MemorySource
from market.trust.verify import verify_archive
from tests.factories import RUN_SCRIPT, a_skill_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PUBLISHED_AT = "2026-01-01T00:00:00Z"


def an_archive(name: str = "echo-args", version: str = "1.0.0", **changes: object) -> bytes:
    out = io.BytesIO()
    manifest = a_skill_json(**{"name": name.replace("-", "_"), "version": version, "description": f"Release {version}.", **changes})
    write_archive(MemorySource({"skill.json": manifest, "run.sh": RUN_SCRIPT}, executables=frozenset({"run.sh"})), out)
    return out.getvalue()


def write_release(folder: Path, name: str, *versions: str) -> None:
    """Write a pack with these versions; the last is the latest."""
    rows = [_write_one(folder, name, version) for version in versions]
    document = wire.PackDocument(name, "acme", "A pack.", versions[-1], PUBLISHED_AT, tuple(reversed(rows)))
    _write(folder, wire.pack_path(name), wire.dump_document(document))


def _write_one(folder: Path, name: str, version: str) -> wire.ReleaseSummary:
    archive = an_archive(name, version)
    verified = verify_archive(io.BytesIO(archive), Given(name=name, version=version))
    link = wire.ArchiveLink(verified.archive_digest, len(archive), wire.blob_link(verified.archive_digest, depth=3))
    release = wire.ReleaseDocument(
        name, version, "acme", "live", PUBLISHED_AT, "skill", "A pack.", verified.tree_digest, link, (), dump_record(verified.record)
    )
    _write(folder, wire.release_path(name, version), wire.dump_document(release))
    blob = folder / wire.blob_path(verified.archive_digest).lstrip("/")
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(archive)
    return wire.ReleaseSummary(version, "live", PUBLISHED_AT, verified.tree_digest, link, f"{version}/index.json")


def _write(folder: Path, path: str, values: object) -> None:
    file = folder / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer as an index does."""
        body = json.dumps({"title": "Not found", "status": code, "detail": "there is nothing at this address", "code": "not-found"}).encode()
        self.send_response(code)
        self.send_header("Content-Type", wire.PROBLEM_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def serve_tree(folder: Path) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
