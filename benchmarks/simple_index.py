"""The Simple API beside nginx, pypiserver and devpi over the same wheels: a page, a file, and the latency of an upload."""

from __future__ import annotations

import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from benchmarks.durable import publish_row
from benchmarks.measure import Asked, Get, Table, resident_megabytes, side_by_side
from benchmarks.peers import Uploader, devpi, pypiserver, settle
from benchmarks.servers import nginx, serve
from benchmarks.wheels import bench_wheel
from index.commit import Deed, add_file
from index.content import read_content
from index.distributions import metadata_path
from index.filenames import parse_filename
from index.model import Account
from index.parts import BLOBS_FOLDER
from index.screening import load_publishing
from index.store.blobs import FolderBlobs
from index.store.database import open_database
from index.store.releases import NewFile
from index.store.written import put_document
from market.names import Digest
from market.pack.record import hash_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.servers import Server

PROJECTS, VERSIONS = 1_000, 3
# Short turns: what else the machine does then falls upon all alike.
ROUNDS, PEER_ROUNDS = 60, 10
SHOWN_PROJECTS = 20
FILE_BYTES = 100_000
UPLOADS, SLOW_UPLOADS = 60, 10
# One request of pypiserver goes through all files, so few are enough to measure it.
SLOW_REQUESTS = 4
PAGE_LIMIT, FILE_LIMIT = 5, 9
JSON = {"Accept": "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.1, text/html;q=0.01"}


def tables() -> Iterator[Table]:
    """Measure and yield one table at a time."""
    with tempfile.TemporaryDirectory(prefix="market-bench-") as name:
        folder, home = Path(name), Path(name) / "home"
        home.mkdir()
        wheels = _write_wheels(folder / "wheels")
        # The first start makes the data folder, the publisher and the token.
        with serve(home, "index", "serve"):
            pass
        token = next(iter(json.loads((home / "credentials.json").read_text()).values()))
        _fill(home, wheels)
        with (
            serve(home, "index", "serve") as own,
            pypiserver(folder / "wheels") as pypi,
            devpi(folder / "devpi") as (dev, devpi_uploader),
        ):
            _upload_all(devpi_uploader, wheels)
            settle()
            yield _read_table(folder, own, pypi, dev)
            uploaders = {
                "own": Uploader(own.url, "/legacy/", f"Bearer {token}"),
                "devpi": devpi_uploader,
                "pypiserver": Uploader(pypi.url, "/"),
            }
            yield _upload_table(folder, uploaders)


def _write_wheels(folder: Path) -> list[Path]:
    folder.mkdir(parents=True)
    paths = []
    for number in range(PROJECTS):
        for version in range(VERSIONS):
            paths.append(folder / f"bench_{number}-1.{version}.0-py3-none-any.whl")
            extra = os.urandom(FILE_BYTES) if number == 0 and version == 0 else b""
            paths[-1].write_bytes(bench_wheel(f"bench-{number}", f"1.{version}.0", extra))
    return paths


def _fill(home: Path, wheels: list[Path]) -> None:
    """Publish all wheels in one transaction and without syncing: how long that takes isn't what is measured."""
    data = home / "index"
    database, blobs = open_database(data), FolderBlobs(data / BLOBS_FOLDER)
    with database.write() as connection:
        row = connection.exec_driver_sql(
            "SELECT tokens.id, publishers.id, publishers.name FROM tokens JOIN publishers"
        ).first()
        assert row is not None
        deed = Deed(Account(row[0], row[1], row[2], "", frozenset()), datetime.now(UTC), load_publishing())
        for path in wheels:
            named = parse_filename(path.name)
            with path.open("rb") as stream:
                size, sha256 = hash_stream(stream)
                content = read_content(stream, named)
            digest = Digest(f"sha256:{sha256}")
            file = NewFile(
                named.kind, path.name, digest, size, content.tree_digest, content.requires, content.needs, content.manifest,
                content.requires_python, content.metadata_digest,
            )  # fmt: skip
            blobs.path_of(digest).write_bytes(path.read_bytes())
            put_document(connection, metadata_path(digest, path.name), content.metadata)
            add_file(connection, named.name, content.version, file, deed)
    database.close()


def _upload_all(uploader: Uploader, wheels: list[Path]) -> None:
    connection = uploader.connect()
    for path in wheels:
        uploader.send(connection, path.name, path.read_bytes())


def _read_table(folder: Path, own: Server, pypi: Server, dev: Server) -> Table:
    table = Table(f"Read of {PROJECTS:,} projects x {VERSIONS} files (server's processor time a request)")
    names = [f"bench-{number * (PROJECTS // SHOWN_PROJECTS)}" for number in range(SHOWN_PROJECTS)]
    pages = {name: Get(f"{own.url}/simple/{name}/", JSON)() for name in names}
    big = next(file for file in json.loads(pages["bench-0"])["files"] if file["size"] > FILE_BYTES)
    own_file = urljoin(f"{own.url}/simple/bench-0/", big["url"])
    dev_page = json.loads(Get(f"{dev.url}/root/bench/+simple/bench-0/", JSON)())
    dev_file = next(file["url"] for file in dev_page["files"] if file["filename"] == big["filename"])
    dev_file = urljoin(f"{dev.url}/root/bench/+simple/bench-0/", dev_file).partition("#")[0]
    static = {f"simple/{name}.json": body for name, body in pages.items()} | {"file.whl": Get(own_file)()}
    with nginx(folder / "nginx", static) as peer:
        asked = {
            "nginx": Asked(peer.pid, [f"{peer.url}/simple/{name}.json" for name in names], headers=JSON),
            "own": Asked(own.pid, [f"{own.url}/simple/{name}/" for name in names], headers=JSON),
            "devpi": Asked(dev.pid, [f"{dev.url}/root/bench/+simple/{name}/" for name in names], 20, JSON),
            "pypiserver": Asked(pypi.pid, [f"{pypi.url}/simple/{name}/" for name in names], SLOW_REQUESTS),
        }
        _add_rows(table, "page", _ask_all(asked), PAGE_LIMIT)
        asked = {
            "nginx": Asked(peer.pid, [f"{peer.url}/file.whl"]),
            "own": Asked(own.pid, [own_file]),
            "devpi": Asked(dev.pid, [dev_file], 20),
            "pypiserver": Asked(pypi.pid, [f"{pypi.url}/packages/{big['filename']}"], SLOW_REQUESTS),
        }
        _add_rows(table, "100 KB file", _ask_all(asked), FILE_LIMIT)
    memory = {name: resident_megabytes(server.pid) for name, server in (("own", own), ("devpi", dev), ("pypi", pypi))}
    peers = f"devpi {memory['devpi']:.0f} MB, pypiserver {memory['pypi']:.0f} MB"
    table.add("memory", f"{memory['own']:.0f} MB", peers, budget="< 90 MB", within=memory["own"] < 90)
    return table


def _ask_all(asked: dict[str, Asked]) -> dict[str, float]:
    """Return the processor seconds of a request: ours beside nginx's first, since the slow ones would empty the caches of both."""
    fast = {name: one for name, one in asked.items() if name in ("nginx", "own")}
    slow = {name: one for name, one in asked.items() if name not in fast}
    return {**side_by_side(fast, ROUNDS), **side_by_side(slow, PEER_ROUNDS)}


def _add_rows(table: Table, what: str, spent: dict[str, float], limit: float) -> None:
    table.ratio(what, spent["own"], spent["nginx"], "nginx", limit, unit="us")
    for peer in ("devpi", "pypiserver"):
        shown = f"{peer} {spent[peer] * 1e3:.2f} ms: {spent[peer] / spent['own']:.0f}x ours"
        table.add(f"{what} beside {peer}", f"{spent['own'] * 1e6:.0f} us", shown)


def _upload_table(folder: Path, uploaders: dict[str, Uploader]) -> Table:
    table = Table("Upload of a small wheel by the form of twine and uv, one after another")
    for name, uploader in uploaders.items():
        count = SLOW_UPLOADS if name == "pypiserver" else UPLOADS
        publish_row(table, name, folder / f"disk-{name}", _uploading(uploader, count), count, has_budget=name == "own")
    return table


def _uploading(uploader: Uploader, count: int) -> Callable[[int], None]:
    """Return what uploads one fresh wheel after the other; they and the connection are made before the first."""
    connection = uploader.connect()
    wheels = [
        (f"fresh_{number}-1.0.0-py3-none-any.whl", bench_wheel(f"fresh-{number}", "1.0.0")) for number in range(count)
    ]
    return lambda number: uploader.send(connection, *wheels[number])
