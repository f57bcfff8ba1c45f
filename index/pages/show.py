"""Values as the pages show them: a release with its texts, and times. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from market.client.wire import release_path

if TYPE_CHECKING:
    from index.pages.guides import GuideText
    from market.client.wire import FileLink, PackDocument, ReleaseDocument, SkillSummary

MAX_SHOWN_FILES = 500


@dataclass(frozen=True, slots=True)
class ShownFile:
    """One row of the list of files."""

    path: str
    size: int
    executable: bool


@dataclass(frozen=True, slots=True)
class Download:
    """A file of the release, and where it is below the start page."""

    file: FileLink
    address: str


@dataclass(frozen=True, slots=True)
class ShownRelease:
    """What the page of a release shows. `is_pinned` says that the address names the version, so the command does too."""

    pack: PackDocument
    release: ReleaseDocument
    texts: tuple[GuideText, ...]
    files: tuple[ShownFile, ...]
    more_files: int
    total_size: int
    command: str
    is_pinned: bool
    simple_url: str = ""

    @property
    def downloads(self) -> tuple[Download, ...]:
        """The release's files, with the address of each."""
        document = release_path(self.release.name, self.release.version)
        return tuple(Download(file, urljoin(document, file.url).lstrip("/")) for file in self.release.files)

    @property
    def python_commands(self) -> tuple[str, ...]:
        """How pip and uv install the release from this index, where it has a wheel."""
        if not self.simple_url or all(file.kind != "wheel" for file in self.release.files):
            return ()
        wanted = f"{self.release.name}=={self.release.version}" if self.is_pinned else self.release.name
        return (
            f"pip install --index-url {self.simple_url} {wanted}",
            f"uv pip install --index {self.simple_url} {wanted}",
        )

    @property
    def skills(self) -> tuple[SkillSummary, ...]:
        """The release's skills by name."""
        return tuple(sorted(self.release.skills, key=lambda skill: skill.name))

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The author's web links, by label; anything but http and https is left out."""
        named = (("Homepage", self.release.homepage), ("Repository", self.release.repository))
        return tuple((label, url) for label, url in named if is_web_link(url))


def show_release(
    pack: PackDocument,
    release: ReleaseDocument,
    texts: tuple[GuideText, ...],
    *,
    is_pinned: bool,
    simple_url: str = "",
) -> ShownRelease:
    """Put together what the page of a release shows."""
    files = tuple(ShownFile(path, size, executable) for path, size, _, executable in release.record)
    return ShownRelease(
        pack=pack,
        release=release,
        texts=texts,
        files=files[:MAX_SHOWN_FILES],
        more_files=max(0, len(files) - MAX_SHOWN_FILES),
        total_size=sum(file.size for file in files),
        command=f"market install {release.name}" + (f"@{release.version}" if is_pinned else ""),
        is_pinned=is_pinned,
        simple_url=simple_url,
    )


def is_web_link(url: str) -> bool:
    """Answer whether a manifest's link may become a link on a page: `javascript:` and the like may not.

    >>> is_web_link("https://example.org"), is_web_link("javascript:alert(1)")
    (True, False)
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def show_time(text: str) -> str:
    """Return a document's time for people; what isn't a time stays as it is.

    >>> show_time("2026-01-02T03:04:05.000Z")
    '2 January 2026'
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{moment.day} {moment:%B %Y}"
