#!/usr/bin/env python3
"""Ask one DNS server one question: over UDP, and over TCP where the answer didn't fit."""

import ipaddress
import secrets
import socket
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from dns_message import TYPES, BadMessage, dump_question, parse_answer  # noqa: E402
from probe import BadArgument, Clock, explain, read_integer, read_text, read_timeout, run  # noqa: E402

UDP_BYTES = 4096


def probe_dns(args):
    kind = args.get("type", "A")
    if kind not in TYPES:
        raise BadArgument(f"`type` must be one of {', '.join(TYPES)}")
    name = to_reverse_name(read_text(args, "name")) if kind == "PTR" else read_text(args, "name")
    server = read_text(args, "server", find_server())
    port, timeout = read_integer(args, "port", 1, 65535, 53), read_timeout(args)
    query_id = secrets.randbelow(1 << 16)
    question = dump_question(query_id, name, kind)
    clock = Clock()
    result = {"ok": False, "name": name, "type": kind, "server": server, "transport": "udp"}
    try:
        answer = parse_answer(ask_udp(question, server, port, timeout), query_id, question)
        if answer.pop("cut"):
            result["transport"] = "tcp"
            answer = parse_answer(ask_tcp(question, server, port, timeout), query_id, question)
            answer.pop("cut")
    except (OSError, BadMessage) as error:
        return {**result, "error": explain(error), "elapsed_ms": clock.elapsed_ms()}
    good = answer["code"] == "NOERROR" and bool(answer["answers"])
    result.update(answer, ok=good, elapsed_ms=clock.elapsed_ms())
    if not good:
        result["error"] = "the name exists, but has no such record" if answer["code"] == "NOERROR" else answer["code"]
    return result


def find_server():
    try:
        lines = Path("/etc/resolv.conf").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    servers = [fields[1] for fields in map(str.split, lines) if len(fields) > 1 and fields[0] == "nameserver"]
    return servers[0] if servers else "127.0.0.1"


def to_reverse_name(name):
    try:
        return ipaddress.ip_address(name).reverse_pointer
    except ValueError:
        return name


def find_family(server):
    try:
        return socket.AF_INET6 if ipaddress.ip_address(server.partition("%")[0]).version == 6 else socket.AF_INET
    except ValueError:
        raise BadArgument("`server` must be an IP address") from None


def ask_udp(question, server, port, timeout):
    with socket.socket(find_family(server), socket.SOCK_DGRAM) as connection:
        connection.settimeout(timeout)
        # A connected socket takes datagrams of this server only.
        connection.connect((server, port))
        connection.send(question)
        return connection.recv(UDP_BYTES)


def ask_tcp(question, server, port, timeout):
    with socket.create_connection((server, port), timeout) as connection:
        connection.sendall(struct.pack("!H", len(question)) + question)
        (size,) = struct.unpack("!H", receive(connection, 2))
        return receive(connection, size)


def receive(connection, size):
    data = b""
    while len(data) < size:
        chunk = connection.recv(size - len(data))
        if not chunk:
            raise BadMessage("the server closed the connection in the middle of its answer")
        data += chunk
    return data


run("probe_dns", probe_dns)
