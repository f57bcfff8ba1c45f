"""Names, versions, digests and requirements: parsed once here, carried as types from then on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import NewType

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name, canonicalize_version
from packaging.version import InvalidVersion
from packaging.version import Version as Pep440Version

from market.errors import InvalidInput

MAX_NAME_CHARACTERS = 64
MAX_VERSION_CHARACTERS = 64
MAX_REQUIREMENT_CHARACTERS = 512

PackName = NewType("PackName", str)
PublisherName = NewType("PublisherName", str)
Digest = NewType("Digest", str)

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TAG = re.compile(r"[a-z][a-z0-9._-]{0,63}")
_REQUIREMENT = re.compile(r"(?:@(?P<publisher>[^/@\s]+)/)?(?P<name>[^\s@<>=!~,;/]+)\s*(?P<rest>.*)", re.DOTALL)


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A release's version: ordered as PEP 440, kept as its author wrote it.

    Two spellings of one version (`1.0`, `1.0.0`) are equal and hash alike.
    """

    text: str
    key: Pep440Version

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: Version) -> bool:
        return self.key < other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def canonical(self) -> str:
        """The one spelling under which an index keeps the release unique (`1.0.0` -> `1`)."""
        return canonicalize_version(self.key)

    @property
    def is_prerelease(self) -> bool:
        """Whether resolvers take this only when asked for by name (PEP 440, handling of pre-releases)."""
        return self.key.is_prerelease


@dataclass(frozen=True, slots=True)
class Requirement:
    """What somebody asks for. At most one of `version`, `tag`, `specifier` is set; none means the newest live release."""

    name: PackName
    publisher: PublisherName | None = None
    version: Version | None = None
    tag: str | None = None
    specifier: SpecifierSet | None = None

    def __str__(self) -> str:
        owner = f"@{self.publisher}/" if self.publisher else ""
        pinned = self.version or self.tag
        return f"{owner}{self.name}" + (f"@{pinned}" if pinned else str(self.specifier or ""))


def parse_pack_name(text: str) -> PackName:
    """Return the canonical form of a pack's name, as PyPI canonicalises project names (PEP 503).

    >>> parse_pack_name("Disk_Cleaner")
    'disk-cleaner'
    """
    name = canonicalize_name(text)
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARACTERS:
        raise InvalidInput(
            f"{text!r} is not a pack name",
            why=f"a pack's name has 1 to {MAX_NAME_CHARACTERS} letters a-z, digits and hyphens, and starts and ends with a letter or digit",
            hint=f"for example {_suggest_name(text)!r}",
        )
    return PackName(name)


def parse_publisher_name(text: str) -> PublisherName:
    """Return the canonical form of a publisher's name; the same rule as for packs."""
    name = canonicalize_name(text)
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARACTERS:
        raise InvalidInput(
            f"{text!r} is not a publisher name",
            why=f"a publisher's name has 1 to {MAX_NAME_CHARACTERS} letters a-z, digits and hyphens",
            hint=f"for example {_suggest_name(text)!r}",
        )
    return PublisherName(name)


def parse_version(text: str) -> Version:
    """Parse a version as PEP 440 reads it, and keep the text.

    Refused with a proposal: local versions (`1.0+build`) and the implicit post release (`1.0-1`), which PEP 440 and SemVer
    order in opposite ways.

    >>> parse_version("1.10").text
    '1.10'
    """
    try:
        key = Pep440Version(text)
    except InvalidVersion:
        raise InvalidInput(
            f"{text!r} is not a version",
            why="versions follow PEP 440, for example 1.2.0 or 1.2.0-rc.1",
            hint=f"write {_suggest_version(text)!r}",
        ) from None
    if len(text) > MAX_VERSION_CHARACTERS:
        raise InvalidInput(
            f"the version {text[:20]!r}... is longer than {MAX_VERSION_CHARACTERS} characters", hint="shorten it"
        )
    if key.local is not None or (key.post is not None and "post" not in text.lower()) or text != text.strip():
        raise InvalidInput(
            f"the version {text!r} is refused",
            why="PEP 440 and SemVer order a '-1' or '+build' suffix in opposite ways",
            hint=f"write {_suggest_version(text)!r}",
        )
    return Version(text, key)


def parse_digest(text: str) -> Digest:
    """Return `sha256:` and 64 lower-case hexadecimal digits, or raise `InvalidInput`."""
    if not _DIGEST.fullmatch(text):
        raise InvalidInput(
            f"{text[:80]!r} is not a digest", why="a digest is 'sha256:' and 64 lower-case hexadecimal digits"
        )
    return Digest(text)


def parse_requirement(text: str) -> Requirement:
    """Parse `name`, `name@1.2.0`, `name@beta`, `name>=1,<2` or `@publisher/name@1.2`.

    `packaging` alone reads `name@1.2.0` as a URL (PEP 508), hence this small parser over it.

    >>> str(parse_requirement("@acme/Disk_Cleaner@1.2"))
    '@acme/disk-cleaner@1.2'
    """
    match = _REQUIREMENT.fullmatch(text.strip()) if len(text) <= MAX_REQUIREMENT_CHARACTERS else None
    if match is None:
        raise _bad_requirement(text)
    name = parse_pack_name(match["name"])
    publisher = parse_publisher_name(match["publisher"]) if match["publisher"] else None
    rest = match["rest"].strip()
    if not rest:
        return Requirement(name, publisher)
    if rest.startswith("@"):
        return _pinned(name, publisher, rest[1:].strip(), text)
    try:
        return Requirement(name, publisher, specifier=SpecifierSet(rest))
    except InvalidSpecifier:
        raise _bad_requirement(text) from None


def _pinned(name: PackName, publisher: PublisherName | None, pin: str, text: str) -> Requirement:
    if _TAG.fullmatch(pin) and not re.fullmatch(r"v?\d.*", pin):
        return Requirement(name, publisher, tag=pin)
    if not pin:
        raise _bad_requirement(text)
    return Requirement(name, publisher, version=parse_version(pin))


def _bad_requirement(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text[:80]!r} is not a requirement",
        hint="write name, name@1.2.0, name@tag, 'name>=1,<2' or @publisher/name@1.2",
    )


def _suggest_name(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:MAX_NAME_CHARACTERS].strip("-") or "my-pack"


def _suggest_version(text: str) -> str:
    match = re.match(r"\s*v?(\d+(?:\.\d+){0,3})(?:[-+](\d+)?)?", text)
    if match is None:
        return "1.0.0"
    return f"{match[1]}.post{match[2]}" if match[2] else match[1]
