"""Wheels and sdists as `market publish` sends them. A wheel is checked here as the index checks it, so that nothing is sent in vain."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from packaging.utils import InvalidSdistFilename, parse_sdist_filename

from market.cli.allowed_secrets import review_source
from market.cli.plugged import new_findings
from market.cli.report import dump_problems
from market.cli.text import size_text
from market.disk.failures import disk_failures
from market.errors import InvalidInput, Severity
from market.names import PackName, Version, parse_pack_name, parse_version
from market.pack.wheel import WHEEL_SUFFIX
from market.trust.verify import verify_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.client.index_client import IndexClient
    from market.errors import Problem
    from market.pack.secrets import Place

SDIST_SUFFIX = ".tar.gz"
SUFFIXES = (WHEEL_SUFFIX, SDIST_SUFFIX)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A wheel or an sdist, open while its context lasts. An sdist is taken by its name: only an index keeps it, and looks into it."""

    path: Path
    name: PackName
    version: Version
    stream: BinaryIO
    size: int
    problems: tuple[Problem, ...] = ()
    allowed_secrets: frozenset[Place] = frozenset()


@dataclass(frozen=True, slots=True)
class FilePublication:
    """What happened, or would happen, to one file: `published`, `unchanged`, `would publish`."""

    file: Distribution
    status: str
    url: str
    publisher: str = ""
    version: str = ""
    tree_digest: str = ""
    digest: str = ""
    findings: tuple[dict[str, Any], ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The publication as `--json` prints it."""
        return {
            "path": str(self.file.path),
            "name": self.file.name,
            "version": self.version or self.file.version.text,
            "status": self.status,
            "url": self.url,
            "publisher": self.publisher,
            "size": self.file.size,
            "archive_digest": self.digest,
            "tree_digest": self.tree_digest,
            "problems": dump_problems(self.file.problems),
            "findings": list(self.findings),
        }

    @property
    def line(self) -> str:
        """The publication as one sentence."""
        word = "unchanged:" if self.status == "unchanged" else self.status
        owner = f" as {self.publisher}" if self.publisher else ""
        return f"{word} {self.file.path.name} ({size_text(self.file.size)}) to {self.url}{owner}"


def is_distribution(path: Path) -> bool:
    """Whether a path is a file that `publish` sends as it is, rather than a folder to make an archive of."""
    return path.name.endswith(SUFFIXES) and not path.is_dir()


@contextmanager
def open_distribution(path: Path, allowed_secrets: frozenset[Place] = frozenset()) -> Iterator[Distribution]:
    """Open a wheel or an sdist.

    Raises `Untrusted` for a damaged wheel, and `InvalidInput` with what an index would refuse and with secrets that weren't allowed.
    """
    with disk_failures("read", path), path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        if not path.name.endswith(WHEEL_SUFFIX):
            yield Distribution(path, *_parse_sdist(path), stream, size)
            return
        verified = verify_wheel(stream, path.name)
        reviewed = review_source(verified.source, verified.pack, str(path), allowed_secrets)
        problems = (*verified.problems, *reviewed)
        if any(problem.severity is not Severity.WARNING for problem in problems):
            raise InvalidInput(f"{path} can't be published", problems=problems, hint="correct this and build it again")
        yield Distribution(path, verified.name, verified.version, stream, size, problems, allowed_secrets)


def publish_distribution(client: IndexClient, file: Distribution, *, dry_run: bool) -> FilePublication:
    """Send one file. The same bytes again are left as they are."""
    if dry_run:
        return FilePublication(file, "would publish", client.url)
    done = client.publish_file(
        file.name, file.version.text, file.path.name, file.stream, file.size, file.allowed_secrets
    )
    status = "published" if done.created else "unchanged"
    known = done.publisher, done.version, done.tree_digest, done.archive_digest
    return FilePublication(file, status, client.url, *known, new_findings(done.findings, file.problems))


def _parse_sdist(path: Path) -> tuple[PackName, Version]:
    try:
        name, version = parse_sdist_filename(path.name)
    except InvalidSdistFilename as error:
        raise InvalidInput(
            f"{path} is not an sdist",
            why=str(error),
            hint=f"`market upload {path}` sends an archive that another program made",
        ) from None
    return parse_pack_name(cast("str", name)), parse_version(str(version))
