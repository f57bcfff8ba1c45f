"""Sending an archive or a wheel: opened and verified as the receiver will verify it, then sent, then what came of it.

An archive of another program is imported first; a wheel's bytes go as they are.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from market.cli.importing import open_archive
from market.cli.report import dump_problems
from market.cli.text import change_lines, doubt_lines, size_text
from market.client.wire import dump_document
from market.disk.failures import disk_failures
from market.disk.foreign import Canonical
from market.errors import naming
from market.pack.inspect import Given
from market.pack.wheel import WHEEL_SUFFIX
from market.trust.verify import verify_archive, verify_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from market.cli.output import Output
    from market.client.host_client import HostClient
    from market.client.index_client import IndexClient
    from market.pack.secrets import Place
    from market.trust.verify import VerifiedPack


@contextmanager
def open_sendable(path: Path, given: Given) -> Iterator[tuple[VerifiedPack, Canonical]]:
    """Open a file that shall be sent, at its first byte."""
    if path.suffix != WHEEL_SUFFIX:
        with open_archive(path, given) as archive:
            with naming(str(path)):
                verified = verify_archive(archive.stream, archive.given)
            archive.stream.seek(0)
            yield verified, archive
        return
    with disk_failures("read", path):
        stream = path.open("rb")
    with stream:
        verified = verify_wheel(stream, path.name)
        size = stream.seek(0, 2)
        stream.seek(0)
        yield verified, Canonical(stream, size, Given(name=verified.name, version=verified.version.text), path=path)


def send_to_index(
    output: Output,
    client: IndexClient,
    verified: VerifiedPack,
    archive: Canonical,
    allowed_secrets: frozenset[Place],
    *,
    dry_run: bool,
) -> None:
    """Publish a verified archive or wheel, and say what the index answered."""
    if dry_run:
        _say_plan(output, verified, client.url, archive)
        return
    with output.progress(f"uploading to {client.url}"):
        what = verified.name, verified.version.text
        if wheel := _wheel_name(archive):
            done = client.publish_file(*what, wheel, archive.stream, archive.size, allowed_secrets)
        else:
            done = client.publish(*what, archive.stream, archive.size, allowed_secrets)
    word = "published" if done.created else "unchanged:"
    line = f"{word} {done.name} {done.version} ({size_text(archive.size)}) to {client.url} as {done.publisher}"
    _say_done(output, {"index": client.url, **dump_document(done)}, line, archive)


def send_to_host(output: Output, client: HostClient, verified: VerifiedPack, archive: Canonical, dry_run: bool) -> None:
    """Have a running host install a verified archive or wheel, and say what it answered."""
    if dry_run:
        _say_plan(output, verified, client.url, archive)
        return
    with output.progress(f"uploading to {client.url}"):
        given, wheel = archive.given, _wheel_name(archive)
        done = client.upload(archive.stream, archive.size, name=given.name, version=given.version, filename=wheel)
    line = f"{done.action} {done.name} {done.version} in {done.live_ms:.0f} ms at {client.url}"
    _say_done(output, {"host": client.url, **dump_document(done)}, line, archive, doubt_lines(verified.problems))


def _wheel_name(archive: Canonical) -> str:
    return archive.path.name if archive.path and archive.path.suffix == WHEEL_SUFFIX else ""


def _say_plan(output: Output, verified: VerifiedPack, url: str, archive: Canonical) -> None:
    document = {"url": url, "name": verified.name, "version": verified.version.text, "size": archive.size}
    line = f"would send {verified.name} {verified.version} ({size_text(archive.size)}) to {url}"
    _say_done(output, document, line, archive, dry_run=True)


def _say_done(
    output: Output,
    document: dict[str, object],
    line: str,
    archive: Canonical,
    doubts: Sequence[str] = (),
    *,
    dry_run: bool = False,
) -> None:
    changes = {"changes": dump_problems(archive.changes)}
    output.done({**document, **changes, "dry_run": dry_run}, [line, *change_lines(archive.changes), *doubts])
