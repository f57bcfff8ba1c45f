"""The texts of a release that people read: README.md and each SKILL.md, rendered and sanitised. Read out of the stored archive or wheel."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from index.model import FileKind
from market.names import parse_digest
from market.pack.archive_read import read_archive
from market.pack.front_matter import parse_front_matter
from market.pack.wheel import read_wheel
from market.web.markdown import MAX_MARKDOWN_CHARACTERS, render_markdown

if TYPE_CHECKING:
    from index.store.blobs import FolderBlobs
    from market.client.wire import ReleaseDocument

MAX_TEXTS = 20
MAX_TEXT_BYTES = 4 * MAX_MARKDOWN_CHARACTERS
MAX_CACHED_RELEASES = 64

_GUIDE = "SKILL.md"
_README = "README.md"


@dataclass(frozen=True, slots=True)
class GuideText:
    """One text: its path in the pack, and safe HTML."""

    path: str
    html: str


class GuideTexts:
    """Renders the texts of releases, and keeps the last ones: an archive never changes under its digest."""

    def __init__(self, blobs: FolderBlobs) -> None:
        self._blobs = blobs
        self._kept: OrderedDict[str, tuple[GuideText, ...]] = OrderedDict()

    def of(self, release: ReleaseDocument) -> tuple[GuideText, ...]:
        """Return a release's texts, the README first; those past the limits are left out."""
        digest = release.archive.digest
        if digest not in self._kept:
            self._kept[digest] = self._render(release)
        self._kept.move_to_end(digest)
        while len(self._kept) > MAX_CACHED_RELEASES:
            self._kept.popitem(last=False)
        return self._kept[digest]

    def _render(self, release: ReleaseDocument) -> tuple[GuideText, ...]:
        paths = _text_paths(release)
        if not paths:
            return ()
        with self._blobs.open(parse_digest(release.archive.digest)) as stream:
            source = read_wheel(stream).source if release.archive.kind == FileKind.WHEEL else read_archive(stream)
            return tuple(GuideText(path, render_markdown(_body(path, source.read(path)))) for path in paths)


def _text_paths(release: ReleaseDocument) -> list[str]:
    sizes = {path: size for path, size, _, _ in release.record}
    wanted = [_README, *(f"{skill.folder}/{_GUIDE}".lstrip("/") for skill in release.skills)]
    return [path for path in dict.fromkeys(wanted) if sizes.get(path, MAX_TEXT_BYTES + 1) <= MAX_TEXT_BYTES][:MAX_TEXTS]


def _body(path: str, data: bytes) -> str:
    if path.rpartition("/")[2] == _GUIDE:
        return parse_front_matter(data, path).body
    return data.decode(errors="replace")
