"""DNS messages (RFC 1035): write a question, read an answer. No network."""

import ipaddress
import struct

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33}
TYPE_NAMES = {number: name for name, number in TYPES.items()}
CODES = ("NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED")
CLASS_INTERNET = 1
RECURSION_DESIRED = 0x0100
# A compressed name may point backwards only; more jumps than this is a loop.
MAX_JUMPS = 64


class BadMessage(Exception):
    """An answer that is not one, or not to our question."""


def dump_question(query_id, name, kind):
    try:
        labels = [label.encode("idna") for label in name.rstrip(".").split(".")] if name.rstrip(".") else []
    except UnicodeError:
        raise ValueError(f"{name!r} is not a domain name") from None
    if any(not 0 < len(label) < 64 for label in labels):
        raise ValueError(f"{name!r} is not a domain name: each part has 1 to 63 characters")
    encoded = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    header = struct.pack("!6H", query_id, RECURSION_DESIRED, 1, 0, 0, 0)
    return header + encoded + struct.pack("!2H", TYPES[kind], CLASS_INTERNET)


def parse_answer(message, query_id, question):
    """Return code, flags and answers. The question must come back as it was asked: else it is not an answer to it."""
    try:
        found_id, flags, questions, answers, _, _ = struct.unpack_from("!6H", message)
        if found_id != query_id or not flags & 0x8000:
            raise BadMessage("the answer belongs to another question")
        end = len(question)
        if questions != 1 or message[12:end].lower() != question[12:].lower():
            raise BadMessage("the answer repeats another question than was asked")
        records, position = [], end
        for _ in range(answers):
            record, position = parse_record(message, position)
            records.append(record)
    except (struct.error, IndexError, ValueError):
        raise BadMessage("the answer is not a DNS message") from None
    code = flags & 15
    return {
        "code": CODES[code] if code < len(CODES) else f"CODE{code}",
        "authoritative": bool(flags & 0x0400),
        "cut": bool(flags & 0x0200),
        "answers": records,
    }


def parse_record(message, position):
    name, position = parse_name(message, position)
    kind, _, ttl, size = struct.unpack_from("!2HIH", message, position)
    start = position + 10
    if start + size > len(message):
        raise ValueError("a record is cut off")
    data = parse_data(message, start, size, TYPE_NAMES.get(kind))
    return {"name": name, "type": TYPE_NAMES.get(kind, str(kind)), "ttl": ttl, "data": data}, start + size


def parse_data(message, start, size, kind):
    raw = message[start : start + size]
    if kind in ("A", "AAAA"):
        return str(ipaddress.ip_address(raw))
    if kind in ("NS", "CNAME", "PTR"):
        return parse_name(message, start)[0]
    if kind == "MX":
        return f"{struct.unpack_from('!H', message, start)[0]} {parse_name(message, start + 2)[0]}"
    if kind == "SRV":
        numbers = struct.unpack_from("!3H", message, start)
        return " ".join([*map(str, numbers), parse_name(message, start + 6)[0]])
    if kind == "SOA":
        primary, position = parse_name(message, start)
        mailbox, position = parse_name(message, position)
        return " ".join([primary, mailbox, *map(str, struct.unpack_from("!5I", message, position))])
    if kind == "TXT":
        return parse_text(raw)
    return raw.hex()


def parse_text(raw):
    text, position = b"", 0
    while position < len(raw):
        size = raw[position]
        text += raw[position + 1 : position + 1 + size]
        position += 1 + size
    return text.decode("utf-8", "replace")


def parse_name(message, position):
    """Return a name and the position behind it, following compression pointers."""
    labels, after, jumps = [], None, 0
    while size := message[position]:
        if size >= 0xC0:
            jumps += 1
            if jumps > MAX_JUMPS:
                raise ValueError("a name points in circles")
            after = position + 2 if after is None else after
            position = struct.unpack_from("!H", message, position)[0] & 0x3FFF
            continue
        labels.append(message[position + 1 : position + 1 + size].decode("ascii", "backslashreplace"))
        position += 1 + size
    return ".".join(labels) or ".", (position + 1 if after is None else after)
