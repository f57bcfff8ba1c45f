"""16 MiB of text are looked into in about half a second, whatever is in them: each is shaped against one pattern."""

from __future__ import annotations

import random
import time

import pytest

from market.pack.dangers import find_dangers, find_dangers_in
from market.pack.scan_limits import MAX_SCANNED_BYTES
from market.pack.secrets import TOKEN_SHAPES
from market.pack.source import MemorySource
from market_scan_secrets.passwords import find_passwords

pytestmark = pytest.mark.flow

SIZE = MAX_SCANNED_BYTES // 4  # a part, since there are many
MAX_SECONDS = 2.0  # ten times what it takes; a pattern that reads on and fails takes minutes
WORD = "".join(random.Random(7).choices("abcdefghijkmnopqrstuvwxyz23456789", k=400))
MAX_PACK_SECONDS = 10.0
ALL_HEADS = " ".join(shape.literal.decode() for shape in TOKEN_SHAPES)

PIECES = {
    "plain text": "it is said that whoever reads this reads it once, and then no more\n",
    "every head": f"{ALL_HEADS}\n",
    "every head in a plain text": f"{ALL_HEADS}\n{'plain words ' * 100_000}",
    **{f"head {shape.literal.decode()}": shape.literal.decode() for shape in TOKEN_SHAPES},
    **{f"nearly {shape.literal.decode()}": f" {shape.literal.decode()}{WORD[:18]}" for shape in TOKEN_SHAPES},
    "made-up tokens": f" ghp_{'test' * 9}",
    "nearly made-up tokens": f" ghp_{WORD[:30]}test01",
    "a token without an end": f" ghp_{WORD * 40_000}",
    "tokens in one line": f" ghp_{WORD[:36]} \xff" * 3,
    "a slack token of digits": f"xoxb-{'1' * 20_000}",
    "key and spaces": "-----BEGIN PRIVATE KEY-----" + " " * 100_000,
    "key and letters": "-----BEGIN " + "A" * 100_000,
    "token and spaces": "_authToken" + " " * 100_000,
    "token, equals and spaces": "_authToken =" + " " * 100_000,
    "curl": "curl ",
    "curl and pipes": "curl|",
    "curl and spaces": "curl|" + " " * 60,
    "curl and many spaces": "curl|" + " " * 100_000,
    "curl and sudo": "curl | sudo -a -a -a -a -a -a ",
    "curl and options": "curl|env " + "-a  " * 90,
    "curl and pythons": "curl|python" + "3." * 200,
    "curl and a long pipe": f"|{WORD}curl|sh",
    "words before a shell": f"curl\n|{'cu ' * 130}|sh ",
    "base64": "base64 -d ",
    "base64 and spaces": "base64" + " " * 390 + "|sh",
    "shells before curl": 'sh -c "<( curl',
    "sudo before curl": "sudo -a -b -c -d -e $(curl ",
    "env before curl": "env -env -env -env -env $(curl ",
    "spaces before curl": "sh" + " " * 75 + "$(curl ",
    "substitutions": "$(" * 9 + "curl ",
    "marks": "\u200b" * 7 + "a",
    "many marks": "\u200b" * 9 + "a",
    "endless marks": "\u200b" * 1_000_000,
    "endless tags": "\U000e0041" * 1_000_000,
    "flags": "\U0001f3f4\U000e0041",
    "emoji": "\u2764\ufe0f",
    "reordered": "\u202a",
    "addresses": "://",
    "nearly addresses": f"http://{WORD[:64]}:{WORD[:128]}",
    "schemes": "a" * 19 + "://",
    "passwords": "password = '",
    "nearly passwords": f"password = '{WORD[:129]}",
    "password and spaces": "password" + " " * 100_000,
    "made-up passwords": "password='secret-of-mine'\n",
}  # fmt: skip


@pytest.mark.parametrize("case", PIECES)
def test_a_large_file_is_looked_into_in_a_bounded_time(case: str) -> None:
    piece = PIECES[case].encode()
    data = (piece * (SIZE // len(piece) + 1))[:SIZE]
    for found in (find_dangers_in, find_passwords):
        started = time.process_time()
        assert len(list(found(data, "notes.md"))) < 100
        assert time.process_time() - started < MAX_SECONDS


def test_the_largest_file_that_is_no_text_costs_no_more() -> None:
    token = f" ghp_{WORD[:36]}".encode()
    data = b"\xff" * (MAX_SCANNED_BYTES - 30 * len(token)) + token * 30
    started = time.process_time()
    assert len(list(find_dangers_in(data, "notes.md"))) == 20
    assert time.process_time() - started < 2 * MAX_SECONDS


@pytest.mark.parametrize("piece", ["|sh ", f"|{'cu ' * 130}|sh ", "env -env -env -env $(curl ", "\U000e0041a", f" ghp_{WORD[:30]}test01"])
def test_the_largest_pack_is_looked_into_in_a_bounded_time(piece: str) -> None:
    part = piece.encode() * ((12_800 // len(piece.encode())) + 1)
    files = {f"{number}.md": b"curl\n" + part for number in range(5_000)}
    started = time.process_time()
    found = [one.rule for one in find_dangers(MemorySource(files))]
    assert time.process_time() - started < MAX_PACK_SECONDS
    assert found.count("scan-limit") == (piece != "\U000e0041a")
