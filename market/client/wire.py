"""The documents of an index's native face, `/v1`, as values: written by the server, read by the client.

Plain dataclasses without IO. Unknown fields are ignored, so that an older client reads a newer index; missing or mistyped ones
raise `BadDocument`. Paths have the shape of a static tree; links inside documents are relative to the document.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCUMENT_TYPE = "application/json"
ARCHIVE_TYPE = "application/zip"
FILE_TYPE = "application/octet-stream"
PROBLEM_TYPE = "application/problem+json"


class BadDocument(Exception):
    """A document doesn't have the shape that this page describes. The text says where."""


@dataclass(frozen=True, slots=True)
class ArchiveLink:
    """What an install of a release downloads: digest, size in bytes, and a URL relative to the document.

    `kind` is `archive`, or `wheel` where the release has no archive; then `filename` is the wheel's name with its tags.
    """

    digest: str
    size: int
    url: str
    kind: str = "archive"
    filename: str = ""


@dataclass(frozen=True, slots=True)
class FileLink:
    """One file of a release: `kind` is `archive`, `wheel` or `sdist`; `url` is relative to the document.

    `tree_digest` is that of the file's own tree, empty for an sdist. `metadata_digest` is the sha256 of a wheel's METADATA, which
    stands at the URL with `.metadata` appended; empty where there is none.
    """

    kind: str
    filename: str
    digest: str
    size: int
    url: str
    uploaded_at: str
    tree_digest: str = ""
    requires_python: str = ""
    metadata_digest: str = ""


@dataclass(frozen=True, slots=True)
class SkillSummary:
    """One skill of a release, as far as choosing needs it.

    `entry` is the program that it runs, from the pack's top, and `env_allow` what it may read of the environment.
    """

    name: str
    kind: str
    skill_class: str
    description: str
    folder: str = ""
    category: str = ""
    entry: str = ""
    env_allow: tuple[str, ...] = ()
    needs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseSummary:
    """One row of a pack document. `state` is live, held, yanked, quarantined or deleted."""

    version: str
    state: str
    published_at: str
    tree_digest: str
    archive: ArchiveLink
    url: str
    yanked_reason: str = ""
    requires: tuple[str, ...] = ()
    needs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PackDocument:
    """`/v1/packs/NAME/index.json`: a pack with all its releases, newest first."""

    name: str
    publisher: str
    summary: str
    latest: str
    updated_at: str
    releases: tuple[ReleaseSummary, ...]
    tags: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseDocument:
    """`/v1/packs/NAME/VERSION/index.json`: everything about one release. `record` has rows `[path, size, sha256, executable]`.

    What is said of the content (kind, skills, record, tree digest, ...) is said of the file that `archive` links; `files` lists all.
    """

    name: str
    version: str
    publisher: str
    state: str
    published_at: str
    kind: str
    summary: str
    tree_digest: str
    archive: ArchiveLink
    skills: tuple[SkillSummary, ...]
    record: list[Any]
    yanked_reason: str = ""
    license: str = ""
    homepage: str = ""
    repository: str = ""
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    needs: dict[str, Any] = field(default_factory=dict)
    problems: tuple[dict[str, Any], ...] = ()
    files: tuple[FileLink, ...] = ()


@dataclass(frozen=True, slots=True)
class PackSummary:
    """One row of a list or of search results."""

    name: str
    version: str
    publisher: str
    summary: str
    updated_at: str
    url: str
    skills: int = 0


@dataclass(frozen=True, slots=True)
class PackList:
    """`/v1/packs` and `/v1/search`: one page. `next` is the URL of the next page, or empty; `total` counts all matches.

    Where a search finds nothing, `packs` says how many packs there are, and `near` names some that are spelled like the query.
    """

    items: tuple[PackSummary, ...]
    total: int
    next: str = ""
    packs: int | None = None
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """The answer to a publish. `created` is False when the same tree already stood under this version.

    `findings` is what the scans of the index's plugins saw, and stopped nothing.
    """

    name: str
    version: str
    publisher: str
    tree_digest: str
    archive_digest: str
    url: str
    created: bool
    problems: tuple[dict[str, Any], ...] = ()
    findings: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Yanked:
    """The answer to a yank and to its undoing: how the release stands now. `changed` is False where it stood so already."""

    name: str
    version: str
    state: str
    yanked_reason: str
    changed: bool


@dataclass(frozen=True, slots=True)
class WhoAmI:
    """`/v1/whoami`: whose token this is, and what it may do."""

    publisher: str
    scopes: tuple[str, ...]
    token_prefix: str
    expires_at: str = ""


def packs_path() -> str:
    """The path of the list of packs."""
    return "/v1/packs"


def search_path() -> str:
    """The path of search; the query is `q`."""
    return "/v1/search"


def whoami_path() -> str:
    """The path that tells whose token was sent."""
    return "/v1/whoami"


def pack_path(name: str) -> str:
    """The path of a pack document."""
    return f"/v1/packs/{name}/index.json"


def release_path(name: str, version: str) -> str:
    """The path of a release document."""
    return f"/v1/packs/{name}/{version}/index.json"


def publish_path(name: str, version: str) -> str:
    """The path to which an archive is PUT."""
    return f"/v1/packs/{name}/{version}"


def file_publish_path(name: str, version: str, filename: str) -> str:
    """The path to which a wheel or an sdist is PUT."""
    return f"/v1/packs/{name}/{version}/{filename}"


def yank_path(name: str, version: str) -> str:
    """The path that takes a POST to yank a release, and a DELETE to take that back."""
    return f"/v1/packs/{name}/{version}/yank"


def file_link(digest: str, filename: str, *, depth: int) -> str:
    """A file's URL under its own name, relative to a document that lies `depth` folders below the index's root."""
    return f"{'../' * depth}files/{digest.removeprefix('sha256:')}/{filename}"


def blob_path(digest: str) -> str:
    """The path of a blob by its digest `sha256:HEX`."""
    algorithm, _, hexadecimal = digest.partition(":")
    return f"/v1/blobs/{algorithm}/{hexadecimal}"


def blob_link(digest: str, *, depth: int) -> str:
    """A blob's URL relative to a document that lies `depth` folders below `/v1`."""
    return "../" * depth + blob_path(digest).removeprefix("/v1/")


def dump_document(document: Any) -> dict[str, Any]:
    """Return a document as JSON values."""
    return asdict(document)


T = TypeVar("T")


def parse_document(shape: type[T], data: object, where: str = "document") -> T:
    """Read JSON values as one of the shapes above; raises `BadDocument` with the place of what doesn't fit."""
    if not isinstance(data, dict):
        raise BadDocument(f"{where} is {_kind(data)}, not an object")
    hints = get_type_hints(shape)
    fields = shape.__dataclass_fields__  # type: ignore[attr-defined]
    known = {name: _convert(hints[name], data[name], f"{where}.{name}") for name in fields if name in data}
    try:
        return shape(**known)
    except TypeError:
        missing = [name for name in fields if name not in known]
        raise BadDocument(f"{where} lacks one of: {', '.join(missing)}") from None


def _convert(hint: Any, value: object, where: str) -> object:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin is tuple:
        return tuple(
            _convert(arguments[0], item, f"{where}[{number}]")
            for number, item in enumerate(_expect(value, list, where))
        )
    if origin in (Union, UnionType):
        return None if value is None and NoneType in arguments else _convert(arguments[0], value, where)
    if origin in (dict, list):
        return _convert_container(origin, arguments, _expect(value, origin, where), where)
    if hasattr(hint, "__dataclass_fields__"):
        return parse_document(hint, value, where)
    return _expect(value, hint, where)


def _convert_container(origin: type, arguments: tuple[Any, ...], value: Any, where: str) -> object:
    if origin is dict:
        return {key: _convert(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    return [_convert(arguments[0], item, f"{where}[{number}]") for number, item in enumerate(value)]


def _expect(value: object, kind: type[T], where: str) -> T:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadDocument(f"{where} is {_kind(value)}, not {kind.__name__}")
    return value


def _kind(value: object) -> str:
    return "missing" if value is None else type(value).__name__


def dump_problem(problem: Any) -> dict[str, Any]:
    """Return a `market.errors.Problem` as JSON values."""
    values: Mapping[str, Any] = asdict(problem)
    return {**values, "severity": str(values["severity"])}
