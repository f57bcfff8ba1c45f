"""A pack's page on the Simple API, made from what the database holds: JSON (PEP 691, 700, 714, 792) and its older HTML form (PEP 503).

Written in the publish transaction and served as it is by `index.faces.python`. Archives aren't on it: pip and uv can't install them.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from index.model import FileKind, ReleaseState
from market.client.wire import file_link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from index.documents import FileRow, ReleaseRow

API_VERSION = "1.4"
SIMPLE_PREFIX = "/simple/"
PAGE_DEPTH = 2
LISTED_STATES = (ReleaseState.LIVE, ReleaseState.YANKED)
_META = {"api-version": API_VERSION}


@dataclass(frozen=True, slots=True)
class Project:
    """What a page says. `status` is a word of PEP 792; files come oldest version first, each with its release's yank."""

    name: str
    status: str
    versions: tuple[str, ...]
    files: tuple[tuple[FileRow, bool | str], ...]


def simple_json_path(name: str) -> str:
    """The path under which a page's JSON is kept."""
    return f"{SIMPLE_PREFIX}{name}/index.json"


def simple_html_path(name: str) -> str:
    """The path under which a page's HTML is kept."""
    return f"{SIMPLE_PREFIX}{name}/index.html"


def make_project(name: str, ordered: Sequence[ReleaseRow]) -> Project | None:
    """Return what the page of a pack says, or None where it has never had a wheel or an sdist.

    A pack whose releases were all taken back keeps an empty page: a 404 would send clients to another index for the same name.
    `ordered` are its releases, newest version first.
    """
    known = [row for row in reversed(ordered) if any(file.kind != FileKind.ARCHIVE for file in row.files)]
    if not known:
        return None
    listed = [row for row in known if row.state in LISTED_STATES]
    standing = [row for row in known if row.state != ReleaseState.DELETED]
    is_quarantined = bool(standing) and all(row.state == ReleaseState.QUARANTINED for row in standing)
    return Project(
        name,
        "quarantined" if is_quarantined else "active",
        tuple(row.version for row in listed),
        tuple((file, _yanked(row)) for row in listed for file in row.files if file.kind != FileKind.ARCHIVE),
    )


def make_json_page(project: Project) -> bytes:
    """Return the page as JSON: every field that the standards know."""
    return msgspec.json.encode(
        {
            "meta": _META,
            "name": project.name,
            "project-status": {"status": project.status},
            "versions": project.versions,
            "files": [_json_file(file, yanked) for file, yanked in project.files],
        }
    )


def make_html_page(project: Project) -> bytes:
    """Return the page as HTML, which is frozen at version 1.4 (PEP 833): sizes, times and versions stand in the JSON only."""
    links = "".join(_html_link(file, yanked) for file, yanked in project.files)
    status = f'<meta name="pypi:project-status" content="{project.status}">'
    return _html(f"Links for {project.name}", links, status)


def make_json_list(names: Iterable[str]) -> bytes:
    """Return the list of projects as JSON."""
    return msgspec.json.encode({"meta": _META, "projects": [{"name": name} for name in names]})


def make_html_list(names: Iterable[str]) -> bytes:
    """Return the list of projects as HTML."""
    return _html("Simple index", "".join(f'<a href="{name}/">{name}</a><br>\n' for name in names))


def _yanked(row: ReleaseRow) -> bool | str:
    # PEP 592: a reason where there is one, else simply true.
    return (row.yanked_reason or True) if row.state == ReleaseState.YANKED else False


def _json_file(file: FileRow, yanked: bool | str) -> dict[str, Any]:
    metadata = {"sha256": _hexadecimal(file.metadata_digest)} if file.metadata_digest else False
    values: dict[str, Any] = {
        "filename": file.filename,
        "url": file_link(file.digest, file.filename, depth=PAGE_DEPTH),
        "hashes": {"sha256": _hexadecimal(file.digest)},
        "size": file.size,
        "upload-time": file.uploaded_at,
        "yanked": yanked,
        "core-metadata": metadata,
        # The key of PEP 658, which older clients look for (PEP 714).
        "dist-info-metadata": metadata,
    }
    return {**values, "requires-python": file.requires_python} if file.requires_python else values


def _html_link(file: FileRow, yanked: bool | str) -> str:
    attributes = {
        "href": f"{file_link(file.digest, file.filename, depth=PAGE_DEPTH)}#sha256={_hexadecimal(file.digest)}"
    }
    if file.requires_python:
        attributes["data-requires-python"] = file.requires_python
    if yanked:
        attributes["data-yanked"] = yanked if isinstance(yanked, str) else ""
    if file.metadata_digest:
        value = f"sha256={_hexadecimal(file.metadata_digest)}"
        attributes |= {"data-core-metadata": value, "data-dist-info-metadata": value}
    written = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<a {written}>{html.escape(file.filename)}</a><br>\n"


def _html(title: str, links: str, status: str = "") -> bytes:
    version = f'<meta name="pypi:repository-version" content="{API_VERSION}">'
    head = f'<meta charset="utf-8">{version}{status}<title>{title}</title>'
    return f"<!DOCTYPE html>\n<html><head>{head}</head><body>\n<h1>{title}</h1>\n{links}</body></html>\n".encode()


def _hexadecimal(digest: str) -> str:
    return digest.removeprefix("sha256:")
