"""From a wheel, zipped or unpacked, to an `Arrival`: see that it works here, fetch what it depends on, make one archive of both.

From there on a wheel pack is a pack as every other: staged, switched, verified and rolled back as the archive that was made here.
Its dependencies lie in the folder `.site` of its tree, so the record, and with it the tree digest, covers them too.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, BinaryIO, cast

from market.disk.failures import disk_failures
from market.disk.walk import open_tree
from market.errors import InvalidInput, Untrusted
from market.installer.composition import DEPENDENCIES_FILE, depends_elsewhere, requires_of
from market.installer.dependencies import (
    SITE,
    check_allowed,
    check_covered,
    check_wanted,
    fetch_dependencies,
    not_for_here,
    resolve_dependencies,
)
from market.installer.machine import Machine
from market.installer.made_wheels import reopen_installed
from market.installer.needs import check_runs_here, find_never
from market.installer.site_folder import settle_site
from market.installer.transaction import Arrival
from market.installer.uv import open_workplace
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.kinds import WHEEL_KIND
from market.pack.wheel_tree import SITE_FOLDER
from market.trust.verify import verify_made, verify_wheel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from market.installer.composition import Composition
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
    promise: Promise | None = None,
    locked: Composition | None = None,
) -> Arrival:
    """Verify a wheel and return it, with its dependencies, as an arrival. Nothing is written into a root, and no code is run.

    Raises as `verify_wheel` and as `with_dependencies`.
    """
    wheel = verify_wheel(stream, file_name, promise)
    _check_given(wheel, given)
    return Arrival(with_dependencies(wheel, terms, locked), "", origin)


def with_dependencies(wheel: VerifiedPack, terms: DependencyTerms, locked: Composition | None = None) -> VerifiedPack:
    """Return a wheel, zipped or in an archive, with what it depends on.

    The dependencies are those of the installed pack where it is this release (see `DependencyTerms.reuse`), those of a lock file
    with `locked`, else the newest. Raises `Refused` where it could never work here, or where the terms forbid its dependencies,
    `Conflict` where the locked ones don't do here, as `explain_uv` where they can't be had, and `InvalidInput` where they don't fit
    into a pack.
    """
    check_stands_here(wheel, terms)
    if (installed := reopen_installed(wheel.name, wheel.tree_digest, terms, locked)) is not None:
        return installed
    with open_workplace() as work, disk_failures("write a temporary file in", work.parent):
        (work / SITE).mkdir()
        _fill_site(wheel, work, terms, locked)
        archive = _write_together(wheel, work / SITE)
    made = verify_made(archive, Given(name=wheel.name, version=wheel.version.text))
    if locked is not None and (lacks := find_never(made.pack, Machine())):
        # What a pin's extra asks for is known only from the files.
        raise not_for_here(wheel, f"it needs {'; '.join(lack.text for lack in lacks)}")
    return made


def check_stands_here(verified: VerifiedPack, terms: DependencyTerms) -> None:
    """Raise `Refused` where a pack could never work on this machine, or has Python dependencies that it may not have here.

    Also for what was put together before, or on another machine: the machine, its Python and its operator's terms may be others.
    """
    check_runs_here(verified.pack, Machine())
    check_dependencies(verified, terms)


def check_dependencies(verified: VerifiedPack, terms: DependencyTerms) -> None:
    """Raise `Refused` where a pack names Python dependencies, or brings them, and its classes may not have any here."""
    if verified.pack.kind == WHEEL_KIND.id:
        beside = (path for path in verified.record.by_path if path.startswith(f"{SITE_FOLDER}/"))
        brings = any(path != DEPENDENCIES_FILE for path in beside)
        named = requires_of(verified.source) or ((f"what lies in {SITE_FOLDER}",) if brings else ())
        classes = [skill.skill_class for skill in verified.pack.skills]
        check_allowed(verified.name, classes, named, terms)


def _fill_site(wheel: VerifiedPack, work: Path, terms: DependencyTerms, locked: Composition | None) -> None:
    """Put what a wheel depends on into the folder `site`, pinned; nothing where it depends on nothing, or is to be left alone.

    Where it depends on something, but not here, an empty list of pins says so: another Python then knows that nothing was left out.
    """
    requires = requires_of(wheel.source)
    if locked is not None:
        check_covered(wheel, requires, locked)
        dependencies = locked.dependencies
    elif requires and terms.fetch:
        dependencies = resolve_dependencies(wheel.name, requires, work, terms)
    else:
        dependencies = ()
    if dependencies:
        fetch_dependencies(wheel, dependencies, work, terms, is_whole=locked is None)
        if locked is not None:
            check_wanted(wheel, work, locked)
    is_alone = bool(locked.left_out) if locked else not terms.fetch
    if dependencies or (not is_alone and depends_elsewhere(wheel.source)):
        settle_site(work / SITE, dependencies)


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
    archive = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - open as long as the arrival
    with disk_failures("read", site):
        descriptor = os.open(site, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with open_tree(descriptor, site) as folder:
        try:
            write_archive(JoinedSource(wheel.source, folder.source), archive)
            # A full disk is noticed here, and not by whoever reads it.
            archive.flush()
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
