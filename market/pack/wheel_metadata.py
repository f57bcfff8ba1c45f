"""METADATA and WHEEL of a wheel: parsed, with everything that is wrong as problems. Nothing is imported from it.

The parsers of both formats are loaded when the first wheel is met: with `email` below them they take 60 ms, more than all else that
installing an archive does, and most packs are no wheels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from market.errors import InvalidInput
from market.model import Needs
from market.pack.pack_manifest import PackManifest
from market.pack.rules import make_problem
from market.pack.text import MAX_MANIFEST_BYTES, parse_text
from market.pack.wheel_tags import are_tags

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from packaging.metadata import Metadata
    from packaging.requirements import Requirement

    from market.errors import Problem

MAX_FIELDS = 5_000  # the largest real METADATA have about a thousand, one for each dependency and extra
MAX_FIELD_NAMES = 100  # the standard knows about thirty; the parser of mail looks through all fields for each name
MAX_KEYWORDS = 50
REPOSITORY_LABELS = frozenset({"repository", "source", "source code", "sources", "code", "github", "gitlab"})
ARCHIVE_SUFFIXES = (
    ".whl",
    ".egg",
    ".zip",
    ".tar",
    ".tgz",
    ".tbz",
    ".txz",
    ".tlz",
    ".gz",
    ".bz2",
    ".xz",
    ".zst",
    ".lz",
    ".lzma",
)


@dataclass(frozen=True, slots=True)
class WheelFile:
    """What the file WHEEL says: the form's version, and the tags of interpreters and platforms on which the wheel works."""

    version: str = ""
    tags: tuple[str, ...] = ()


def parse_metadata(data: bytes, file: str) -> PackManifest:
    """Parse a METADATA as the manifest of a pack: identity, texts, and which Python it needs."""
    metadata, problems = _read_metadata(data, file)
    if metadata is None:
        return PackManifest(file, problems=tuple(problems), is_readable=False)
    addresses = metadata.project_urls or {}
    by_label = {label.lower(): address for label, address in addresses.items()}
    homepage = metadata.home_page or by_label.get("homepage", "")
    repository = next((by_label[label] for label in by_label if label in REPOSITORY_LABELS), "")
    python = str(metadata.requires_python or "")
    return PackManifest(
        file,
        name=metadata.name,
        version=str(metadata.version),
        summary=metadata.summary or "",
        license=str(metadata.license_expression or ""),
        homepage=homepage or "",
        repository=repository,
        keywords=tuple(metadata.keywords or ())[:MAX_KEYWORDS],
        needs=Needs(python=python),
        problems=tuple(problems),
    )


def parse_requires(data: bytes) -> tuple[str, ...]:
    """Return what a METADATA says the wheel depends on, as requirements in the words of the standard; empty where it can't be read."""
    metadata, _ = _read_metadata(data, "METADATA")
    return tuple(str(requirement) for requirement in (metadata.requires_dist or ())) if metadata else ()


def parse_fields(data: bytes) -> Mapping[str, tuple[str, ...]]:
    """Return the fields of a METADATA or PKG-INFO in its own words, by their names in the upload form (`requires_dist`).

    Only its size is checked: raises `InvalidInput` for one that nobody should parse. A field that stands twice where it may stand once is
    left out.
    """
    from packaging.metadata import parse_email  # 30 to 60 ms, as said at the top

    if excess := tuple(_find_excess(data, "METADATA")):
        raise InvalidInput(f"the metadata can't be read: {excess[0].text}", problems=excess)
    raw: Mapping[str, object] = parse_email(data)[0]
    return {name: tuple(value) if isinstance(value, list) else (str(value),) for name, value in raw.items()}


def parse_wheel_file(data: bytes, file: str) -> tuple[WheelFile, tuple[Problem, ...]]:
    """Parse the file WHEEL."""
    rows = [line.partition(":") for line in data.decode("utf-8", "replace").splitlines() if ":" in line]
    values = [(name.strip().lower(), value.strip()) for name, _, value in rows]
    version = next((value for name, value in values if name == "wheel-version"), "")
    tags = tuple(value for name, value in values if name == "tag")
    if version.partition(".")[0] != "1":
        return WheelFile(version), (make_problem("wheel-file", f"Wheel-Version is {version[:20]!r}", file),)
    if not tags or not are_tags(tags):
        what = f"the tags can't be read: {', '.join(tags)[:200]}" if tags else "there is no Tag"
        return WheelFile(version), (make_problem("wheel-file", what, file),)
    return WheelFile(version, tags), ()


def check_dist_info(folder: str, manifest: PackManifest) -> Iterator[Problem]:
    """Hold a .dist-info folder's own name against METADATA."""
    name, _, version = folder.removesuffix(".dist-info").partition("-")
    if not manifest.name or is_same_release((name, version), (manifest.name, manifest.version)):
        return
    yield make_problem("wheel-name-differs", f"{folder} describes {manifest.name} {manifest.version}", manifest.file)


def is_same_release(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two spellings of name and version mean one release."""
    try:
        versions = Version(one[1].replace("_", "-")), Version(other[1])
    except InvalidVersion:
        return False
    return canonicalize_name(one[0]) == canonicalize_name(other[0]) and versions[0] == versions[1]


def _read_metadata(data: bytes, file: str) -> tuple[Metadata | None, list[Problem]]:
    from packaging.metadata import Metadata, parse_email

    if excess := list(_find_excess(data, file)):
        return None, excess
    raw, unparsed = parse_email(data)
    metadata = Metadata.from_raw(raw, validate=False)
    # Fields in another encoding are lost for some tools, and twine refuses the wheel.
    problems = list(parse_text(data, file).problems)
    # What can't be read for certain, a name that stands twice for example, is in `unparsed`.
    for field in ("name", "version", "requires-dist", "requires-python"):
        if field in unparsed:
            problems.append(make_problem("wheel-metadata", f"{field} can't be read, or stands twice", file))
    problems.extend(_check_fields(metadata, file))
    return (None if any(problem.severity == "error" for problem in problems) else metadata), problems


def _find_excess(data: bytes, file: str) -> Iterator[Problem]:
    """Refuse what would take minutes to parse: the parser's work grows with the number of fields times that of their names."""
    if len(data) > MAX_MANIFEST_BYTES:
        yield from parse_text(data, file).problems
        return
    # Up to the first empty line; what follows it is the description. A line that begins with a space belongs to the one before.
    lines = takewhile(bool, data.splitlines())
    names = Counter(line.partition(b":")[0].lower() for line in lines if not line.startswith((b" ", b"\t")))
    if names.total() > MAX_FIELDS:
        yield make_problem("wheel-metadata", f"it has {names.total():,} fields, more than {MAX_FIELDS:,}", file)
    elif len(names) > MAX_FIELD_NAMES:
        yield make_problem("wheel-metadata", f"its fields have {len(names):,} names, more than {MAX_FIELD_NAMES}", file)


def _check_requirement(requirement: Requirement, file: str) -> Iterator[Problem]:
    if requirement.url:
        yield make_problem("wheel-dependency-url", f"it depends on {str(requirement)[:200]!r}", file)
    elif requirement.name.lower().endswith(ARCHIVE_SUFFIXES):
        # uv takes such a name for a file, which it would read where the user happens to stand.
        text = f"it depends on {requirement.name[:200]!r}, which is the name of a file"
        fix = f"write the package's name without dots: {canonicalize_name(requirement.name)[:200]}"
        yield make_problem("wheel-dependency-url", text, file, fix=fix)


def _check_fields(metadata: Metadata, file: str) -> Iterator[Problem]:
    from packaging.metadata import InvalidMetadata

    for field in (
        "name",
        "version",
        "requires_dist",
        "requires_python",
        "summary",
        "project_urls",
        "license_expression",
        "keywords",
    ):
        try:
            value = getattr(metadata, field)
        except InvalidMetadata as error:
            yield make_problem("wheel-metadata", str(error), file)
            continue
        if field in ("name", "version") and not value:
            yield make_problem("wheel-metadata", f"{field} is missing", file)
        for requirement in value or () if field == "requires_dist" else ():
            yield from _check_requirement(requirement, file)
