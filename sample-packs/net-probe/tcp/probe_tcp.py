#!/usr/bin/env python3
"""Connect to a TCP port and say what came of it."""

import socket
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from probe import Clock, explain, read_integer, read_text, read_timeout, run  # noqa: E402

BANNER_BYTES = 512


def probe_tcp(args):
    host, port = read_text(args, "host"), read_integer(args, "port", 1, 65535)
    timeout = read_timeout(args)
    result = {"ok": False, "host": host, "port": port, "stage": "resolve", "tried": []}
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return {**result, "error": explain(error)}
    result["stage"] = "connect"
    for family, kind, protocol, _, address in found:
        attempt = try_address(family, kind, protocol, address, timeout, args.get("read_banner") is True)
        result["tried"].append(attempt)
        if attempt["ok"]:
            return {**result, "ok": True, "stage": "connected", **{key: attempt[key] for key in attempt if key != "ok"}}
    return {**result, "error": result["tried"][-1]["error"]}


def try_address(family, kind, protocol, address, timeout, read_banner):
    clock = Clock()
    outcome = {"address": address[0], "family": "ipv6" if family == socket.AF_INET6 else "ipv4"}
    with socket.socket(family, kind, protocol) as connection:
        connection.settimeout(timeout)
        try:
            connection.connect(address)
        except OSError as error:
            return {**outcome, "ok": False, "elapsed_ms": clock.elapsed_ms(), "error": explain(error)}
        outcome["elapsed_ms"] = clock.elapsed_ms()
        if read_banner:
            outcome["banner"] = receive_banner(connection)
    return {**outcome, "ok": True}


def receive_banner(connection):
    try:
        return connection.recv(BANNER_BYTES).decode("utf-8", "replace").rstrip()
    except OSError:
        return ""


run("probe_tcp", probe_tcp)
