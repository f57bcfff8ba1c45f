"""From a wheel to an `Arrival`: verify it, see that it works here, fetch what it depends on, and make one archive of both.

From there on a wheel pack is a pack as every other: staged, switched, verified and rolled back as the archive that was made here.
Its dependencies lie in the folder `.site` of its tree, so the record, and with it the tree digest, covers them too.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from market.disk.failures import disk_failures
from market.disk.remove import remove_tree
from market.disk.walk import open_tree
from market.errors import InvalidInput, Untrusted
from market.installer.dependencies import check_allowed, fetch_dependencies
from market.installer.transaction import Arrival
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.wheel_metadata import parse_requires, parse_wheel_file
from market.pack.wheel_tree import SITE_FOLDER, find_dist_info
from market.trust.verify import verify_archive, verify_wheel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.installer.dependencies import DependencyTerms
    from market.installer.receipt import Origin
    from market.pack.source import Source, SourceFile
    from market.trust.verify import Promise, VerifiedPack


def acquire_wheel(
    stream: BinaryIO,
    file_name: str,
    origin: Origin,
    terms: DependencyTerms,
    *,
    given: Given = Given(),  # noqa: B008
    publisher: str = "",
    promise: Promise | None = None,
) -> Arrival:
    """Verify a wheel and return it, with its dependencies, as an arrival. Nothing is written into a root, and no code is run.

    Raises as `verify_wheel`; `InvalidInput` where it is made for another Python or system, `Refused` where the terms forbid its
    dependencies, and as `explain_uv` where they can't be had.
    """
    wheel = verify_wheel(stream, file_name, promise)
    _check_given(wheel, given)
    check_runs_here(wheel)
    requires = requires_of(wheel.source)
    check_allowed(wheel.pack, requires, terms)
    site = Path(tempfile.mkdtemp(prefix="market-site-"))
    try:
        if requires and terms.fetch:
            fetch_dependencies(wheel.name, requires, site, terms)
        archive = _write_together(wheel, site)
    finally:
        remove_tree(site)
    return Arrival(verify_archive(archive, Given(name=wheel.name, version=wheel.version.text)), publisher, origin)


def requires_of(source: Source) -> tuple[str, ...]:
    """Return what a wheel's tree says it depends on, without what only its extras want."""
    file = f"{find_dist_info([one.path for one in source.files()])}/METADATA"
    return tuple(row for row in parse_requires(source.read(file)) if "extra ==" not in row)


def check_runs_here(wheel: VerifiedPack) -> None:
    """Raise `InvalidInput` where none of a wheel's tags fits this Python and system."""
    # Only wheels need it, and it takes 10 ms to load.
    from packaging.tags import parse_tag, sys_tags

    paths = [file.path for file in wheel.source.files()]
    file = f"{find_dist_info(paths)}/WHEEL"
    tags = parse_wheel_file(wheel.source.read(file), file)[0].tags
    fitting = frozenset(sys_tags())
    if not any(fitting & parse_tag(tag) for tag in tags):
        raise InvalidInput(
            f"{wheel.name} {wheel.version} is made for another Python or system: {', '.join(tags)}",
            why=f"this one is {next(iter(sys_tags()))}",
            hint="take a wheel with the tag py3-none-any, or the one for this system",
        )


class JoinedSource:
    """A wheel's own files, and what it depends on below `.site`."""

    name = ""

    def __init__(self, own: Source, site: Source) -> None:
        self._own = own
        self._site = site

    def files(self) -> Sequence[SourceFile]:
        """Return the files in path order."""
        site = [type(file)(f"{SITE_FOLDER}/{file.path}", file.size, file.executable) for file in self._site.files()]
        return sorted((*self._own.files(), *site), key=lambda file: file.path.encode())

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        source, inner = self._find(path)
        return source.read(inner)

    def open(self, path: str) -> BinaryIO:
        """Open a file."""
        source, inner = self._find(path)
        return source.open(inner)

    def _find(self, path: str) -> tuple[Source, str]:
        top, _, inner = path.partition("/")
        return (self._site, inner) if top == SITE_FOLDER else (self._own, path)


def _write_together(wheel: VerifiedPack, site: Path) -> BinaryIO:
    """Write the canonical archive of a wheel with its dependencies into a file that is gone when it is closed."""
    with disk_failures("write a temporary file in", Path(tempfile.gettempdir())):
        archive = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - open as long as the arrival
    with disk_failures("read", site):
        descriptor = os.open(site, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with open_tree(descriptor, site) as folder:
        try:
            write_archive(JoinedSource(wheel.source, folder.source), archive)
        except InvalidInput as error:
            raise InvalidInput(
                f"{wheel.name} and what it depends on don't fit into a pack", why=error.problems[0].text if error.problems else error.why,
                hint="depend on less: --no-deps installs the pack alone", problems=error.problems,
            ) from None  # fmt: skip
    return archive


def _check_given(wheel: VerifiedPack, given: Given) -> None:
    """A wheel says itself what it is; another name or version can't be given to it."""
    for what, wanted, found in (("name", given.name, str(wheel.name)), ("version", given.version, wheel.version.text)):
        if wanted and wanted != found:
            raise Untrusted(
                f"the {what} of the wheel is {found!r}, not {wanted!r}",
                hint=f"leave out the {what}, or send another wheel",
            )
