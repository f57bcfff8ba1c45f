"""What a worker says, read as bytes of somebody else's making: a pack's code can write to the pipe too. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from market.run.limits import MAX_STDOUT_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

HELLO = "hello"
OK = "ok"


class WorkerLost(Exception):
    """The worker ended or broke the protocol. It can't be used any more; the text says what happened."""


class WorkerLate(WorkerLost):
    """It didn't answer in time."""


class LackKind(StrEnum):
    """What is wrong with a declared function, as `worker_serve.py` writes it."""

    IMPORT = "import"
    FUNCTION = "function"
    ARGUMENTS = "arguments"
    RUNS = "runs"


@dataclass(frozen=True, slots=True)
class Lack:
    """Why a declared function can't be used; `why` is a sentence."""

    kind: LackKind
    why: str


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of an answer: what it is, to which request, how many bytes follow, and the error in place of a result.

    `offers` says why a declared skill's code isn't there, None where it is; `folders` are those that the plugins name, None where
    none names any. Both come with the first answer alone.
    """

    kind: str
    number: int
    size: int
    error: str = ""
    offers: Mapping[str, Lack | None] = field(default_factory=dict)
    folders: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: its header, and the bytes of the result."""

    header: Header
    body: bytes


def parse_header(line: bytes) -> Header:
    """Read an answer's first line; raises `WorkerLost` for anything but the protocol."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _broken(f"{type(error).__name__}: {error}") from None
    # Not by patterns: this is read for every call, and they cost twice as much as the parser.
    if not isinstance(values, dict):
        raise _broken("it is no object")
    kind, size, number = values.get("kind"), values.get("size"), values.get("id")
    if not (isinstance(kind, str) and type(size) is int and type(number) is int and 0 <= size <= MAX_STDOUT_BYTES):
        raise _broken("its kind, size or id is missing or out of range")
    why = _plain(str(values.get("error", "")))
    if kind != HELLO:
        return Header(_plain(kind), number, size, why)
    offers, folders = _parse_offers(values.get("offers", {})), _parse_folders(values.get("folders"))
    return Header(kind, number, size, why, offers, folders)


def _parse_offers(values: Any) -> dict[str, Lack | None]:
    if not isinstance(values, dict):
        raise _broken("its offers are no mapping")
    return {_plain(name): _parse_lack(value) for name, value in values.items()}


def _parse_lack(value: Any) -> Lack | None:
    match value:
        case None:
            return None
        case [str(kind), str(why)] if kind in set(LackKind):
            return Lack(LackKind(kind), _plain(why))
    raise _broken("its offers are neither nothing nor a kind of lack with its reason")


def _parse_folders(values: Any) -> tuple[str, ...] | None:
    if values is None or (isinstance(values, list) and all(isinstance(folder, str) for folder in values)):
        return None if values is None else tuple(map(_plain, values))
    raise _broken("its folders are no texts")


def _plain(text: str) -> str:
    """Return a text that can be written down: JSON can spell half characters, which no encoding has."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _broken(why: str) -> WorkerLost:
    return WorkerLost(f"it answered something else than the protocol: {why}")
