"""Packs at addresses that aren't an index's: fetched by whoever registered the scheme, into a file that is gone after the command."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import unquote

from market.cli.network import open_transport
from market.cli.plugged import open_plugins
from market.client.web_archives import own_fetching
from market.disk.failures import disk_failures
from market.errors import InvalidInput, Untrusted
from market.pack.record import hash_stream
from market.pack.zip_format import MAX_ARCHIVE_BYTES

if TYPE_CHECKING:
    from contextlib import ExitStack

    from market.cli.market import Market

_DIGEST = re.compile(r"sha256=(?P<sha256>[0-9a-f]{64})")
DIGEST_HINT = "add its digest: ADDRESS#sha256=HEX"
_WEB = frozenset({"http", "https"})


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file from elsewhere: its address without the digest, the last part of its path, and the open file."""

    address: str
    file_name: str
    stream: BinaryIO


def is_address(text: str) -> bool:
    """Whether an argument is an address rather than a path or a name.

    >>> is_address("https://host.example/my-pack-1.0.0.zip"), is_address("./my-pack")
    (True, False)
    """
    return "://" in text


def fetch_address(market: Market, stack: ExitStack, target: str, *, is_held_against_a_lock: bool = False) -> Fetched:
    """Fetch what stands at an address, and hold it against the digest behind it (`#sha256=HEX`).

    Raises `InvalidInput` for a scheme that nobody registered, and for an address of the web without a digest, from this machine too,
    unless the caller holds it against a lock. Then nothing is fetched.
    """
    address, _, fragment = target.partition("#")
    scheme, wanted = address.partition("://")[0].lower(), _parse_digest(target, fragment)
    fetchers = open_plugins(market, own_fetching(open_transport(market, "server"))).register_fetchers()
    if scheme not in fetchers:
        raise InvalidInput(
            f"{target[:200]} can't be fetched",
            why=f"known are {', '.join(f'{name}://' for name in sorted(fetchers))}",
            hint="a plugin can add others; a path is written ./my-pack",
        )
    if scheme in _WEB and not (wanted or is_held_against_a_lock):
        why = "an address doesn't say which file is meant, and no index vouches for what comes"
        raise InvalidInput(f"{address[:200]} names no digest", why=why, hint=DIGEST_HINT)
    with disk_failures("write a temporary file for", address[:200]):
        file = tempfile.TemporaryFile(prefix="market-fetch-")  # noqa: SIM115 - the caller's stack closes it
    stream = cast("BinaryIO", stack.enter_context(file))
    fetchers[scheme].fetch(address, stream, MAX_ARCHIVE_BYTES)
    _check(address, stream, wanted)
    # By hand, since what is a host in one scheme is a path in another.
    place = address.partition("://")[2].partition("?")[0]
    return Fetched(address, unquote(place.rpartition("/")[2]), stream)


def _parse_digest(target: str, fragment: str) -> str:
    match = _DIGEST.fullmatch(fragment)
    if fragment and match is None:
        raise InvalidInput(f"{target[:200]}: what stands behind # isn't a digest", hint=DIGEST_HINT)
    return match["sha256"] if match else ""


def _check(address: str, stream: BinaryIO, wanted: str) -> None:
    stream.seek(0)
    size, sha256 = hash_stream(stream)
    stream.seek(0)
    if size > MAX_ARCHIVE_BYTES:
        raise Untrusted(f"{address[:200]} is larger than {MAX_ARCHIVE_BYTES} bytes")
    if wanted and sha256 != wanted:
        raise Untrusted(
            f"{address[:200]} is not the file that was asked for",
            why=f"its sha256 is {sha256}, asked for was {wanted}",
            hint="ask whoever gave you the digest",
        )
