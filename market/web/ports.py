"""A TCP port of our own.

Granian binds with SO_REUSEPORT, so that a taken port is silently shared and port 0 stays unknown: therefore the port is bound
here first, alone, and held without listening while the server runs.
"""

from __future__ import annotations

import errno
import ipaddress
import socket

from market.errors import InvalidInput, Refused, Unavailable

ADDRESS_HINT = "give an address of this machine, for example 127.0.0.1"


def resolve_address(host: str) -> str:
    """Return the IP address to bind for a host name or address; raises `InvalidInput` for what can't be resolved."""
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise InvalidInput(f"the host {host!r} can't be resolved", why=str(error), hint=ADDRESS_HINT) from None
    # `localhost` may stand for ::1 first; people and health checks expect 127.0.0.1.
    rows.sort(key=lambda row: row[0] != socket.AF_INET)
    return str(rows[0][4][0])


def is_loopback(address: str) -> bool:
    """Answer whether only this machine can reach the address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def hold_port(address: str, port: int) -> socket.socket:
    """Bind a port that nobody else has, and return the bound socket, which must stay open as long as the server runs.

    Raises `Unavailable` for a taken port and `Refused` for one that this user may not bind.
    """
    held = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        # SO_REUSEADDR only for the bind itself, so that connections of an earlier run in TIME_WAIT don't count as taken.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((address, port))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        # Only now may the server's own sockets join; a second `hold_port` still fails.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    except OSError as error:
        held.close()
        raise _bind_error(error, address, port) from None
    return held


def url_of(address: str, port: int) -> str:
    """Return the URL under which this machine reaches the server; a wildcard address is reached over loopback."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if parsed.is_unspecified:
        parsed = ipaddress.ip_address("::1" if parsed.version == 6 else "127.0.0.1")
    return f"http://[{parsed}]:{port}" if parsed.version == 6 else f"http://{parsed}:{port}"


def _bind_error(error: OSError, address: str, port: int) -> InvalidInput | Refused | Unavailable:
    if error.errno == errno.EADDRINUSE:
        return Unavailable(
            f"port {port} of {address} is taken",
            why="another process listens there",
            hint="stop it, or choose another with --port (0 picks a free one)",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return Refused(f"this user may not listen on port {port}", why=str(error), hint="choose a port above 1023")
    return InvalidInput(f"{address} port {port} can't be bound", why=str(error), hint=ADDRESS_HINT)
