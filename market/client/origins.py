"""URLs of servers: their one spelling, and the origin to which a token is bound. Pure."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from market.errors import InvalidInput

_PORTS = {"http": 80, "https": 443}


def parse_server_url(text: str) -> str:
    """Return a server's URL without a trailing slash, query, fragment or user; raises `InvalidInput` for anything else.

    >>> parse_server_url("HTTP://127.0.0.1:8750/")
    'http://127.0.0.1:8750'
    """
    try:
        parts = urlsplit(text.strip())
        has_port = parts.port is not None
    except ValueError:
        raise _bad_url(text, "it can't be read as a URL") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise _bad_url(text, "a server's URL starts with http:// or https:// and a host name")
    if parts.username is not None or parts.query or parts.fragment:
        raise _bad_url(text, "a server's URL holds no user, query or fragment; a token goes into `market login`")
    return f"{parts.scheme}://{_host(parts.hostname)}{f':{parts.port}' if has_port else ''}{parts.path.rstrip('/')}"


def origin_of(url: str) -> str:
    """Return scheme, host and port, the default port left out: what a token is bound to.

    >>> origin_of("https://Index.Example:443/base/v1")
    'https://index.example'
    """
    parts = urlsplit(url)
    port = parts.port
    suffix = f":{port}" if port is not None and port != _PORTS.get(parts.scheme) else ""
    return f"{parts.scheme}://{_host(parts.hostname or '')}{suffix}"


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine, as `localhost` or a loopback address."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _host(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _bad_url(text: str, why: str) -> InvalidInput:
    return InvalidInput(f"{text[:200]!r} is not the URL of a server", why=why, hint="for example http://127.0.0.1:8750")
