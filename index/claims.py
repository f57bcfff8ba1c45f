"""What a sender says of a file, held against the file itself. Silence is no claim; everything said must be true. Pure.

How the words arrived isn't known here. They are compared as the standard means them (`>=3,<4` is `<4, >=3`), since programs spell them
differently; fields that nobody reads, a description for example, aren't looked at.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from email.errors import MessageError
from email.header import decode_header, make_header
from functools import partial
from typing import TYPE_CHECKING, Protocol

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from market.errors import InvalidInput
from market.names import parse_version
from market.pack.wheel_metadata import parse_fields
from market.web.problems import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from index.filenames import NamedFile

MAX_SHOWN_CHARACTERS = 200


class Hash(Protocol):
    """A digest in the making, as hashlib has them."""

    def update(self, data: bytes, /) -> None:
        """Take bytes in."""

    def hexdigest(self) -> str:
        """Return the digest of what was taken in, in hexadecimal digits."""


SHA256_FIELD = "sha256_digest"
# Known of every file is its sha256 alone; these are asked for only where they are claimed, and decide nothing.
OTHER_DIGESTS: dict[str, Callable[[], Hash]] = {
    "md5_digest": partial(hashlib.md5, usedforsecurity=False),
    "blake2_256_digest": partial(hashlib.blake2b, digest_size=32),
}


@dataclass(frozen=True, slots=True)
class Claims:
    """The sender's words by the form's names for them; a word that was sent several times stands several times."""

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, name: str) -> tuple[str, ...]:
        """Return what was said under a name, without what is empty."""
        return tuple(word for given in self.words.get(name, ()) if (word := _one_line(given)))


def check_file_name(claims: Claims, named: NamedFile) -> None:
    """Raise `BadRequest` where name, version or filetype are others than in the file's name."""
    _check_each(claims, "name", named.name, canonicalize_name)
    _check_each(claims, "version", named.version.text, lambda text: parse_version(text).canonical)
    _check_each(claims, "filetype", named.filetype, str)


def check_digests(claims: Claims, found: Mapping[str, str]) -> None:
    """Raise `BadRequest` where the file has another digest; `found` has them by the form's words."""
    for name, digest in found.items():
        _check_each(claims, name, digest, str.lower)


def check_metadata(claims: Claims, core_metadata: bytes) -> None:
    """Raise `BadRequest` where METADATA (of an sdist: PKG-INFO) says something else."""
    if not any(claims.of(name) for name in (*_SINGLE, *_SEVERAL)):
        return
    fields = parse_fields(core_metadata)
    for name, read in _SINGLE.items():
        _check_each(claims, name, _one_line("".join(fields.get(name, ()))), read)
    for name, read_one in _SEVERAL.items():
        _check_all(claims, name, fields.get(name, ()), read_one)


def _check_each(claims: Claims, name: str, found: str, read: Callable[[str], object]) -> None:
    for said in claims.of(name):
        if said != found and _read(read, said) != _read(read, found):
            raise _false_claim(name, said, found)


def _check_all(claims: Claims, name: str, found: tuple[str, ...], read: Callable[[str], object]) -> None:
    said = claims.of(name)
    if said and {_read(read, word) for word in said} != {_read(read, word) for word in found}:
        raise _false_claim(name, ", ".join(said), ", ".join(found))


def _read(read: Callable[[str], object], text: str) -> object:
    """Return what a text means; one that means nothing is only equal to itself."""
    try:
        return read(_one_line(text))
    except (InvalidInput, ValueError, LookupError, MessageError):
        # Not the bare text: a SpecifierSet would try to read that for the comparison.
        return (text,)


def _one_line(text: str) -> str:
    # A long field is folded in METADATA; some programs send the folds, some don't.
    return " ".join(text.split())


def _decoded(text: str) -> str:
    # uv reads METADATA as mail and sends `=?utf-8?q?W=C3=B6rks?=` as what it stands for; the others send it as it is.
    return str(make_header(decode_header(text)))


def _major(version: str) -> str:
    # flit writes one version into its form and another into METADATA: it means the form's words, which only the first number names.
    return version.partition(".")[0]


_SINGLE: dict[str, Callable[[str], object]] = {
    "metadata_version": _major,
    "requires_python": SpecifierSet,
    "summary": _decoded,
    "license_expression": str,
}
_SEVERAL: dict[str, Callable[[str], object]] = {"requires_dist": Requirement, "provides_extra": canonicalize_name}

METADATA_FIELDS = frozenset({*_SINGLE, *_SEVERAL})
CLAIM_FIELDS = frozenset({"name", "version", "filetype", SHA256_FIELD, *OTHER_DIGESTS, *METADATA_FIELDS})


def _false_claim(name: str, said: str, found: str) -> BadRequest:
    said, found = _shown(said), _shown(found)
    return BadRequest(
        f"{name} was said to be {said!r}, but of this file it is {found!r}",
        hint="send the file as the build made it, and let the tool read these values from it",
        details={"field": name, "said": said, "found": found},
    )


def _shown(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."
