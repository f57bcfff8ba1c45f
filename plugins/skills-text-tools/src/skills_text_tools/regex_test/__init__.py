"""The skill `regex_test`: what a pattern matches. One that never ends is stopped by the skill's time limit."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

MAX_MATCHES = 500
FLAGS = {
    "ignore_case": re.IGNORECASE,
    "multiline": re.MULTILINE,
    "dot_all": re.DOTALL,
    "verbose": re.VERBOSE,
    "ascii": re.ASCII,
}


def regex_test(params: dict[str, Any]) -> dict[str, Any]:
    """Return the matches, the first five hundred of them; a pattern that can't be read is an answer too."""
    flags = re.NOFLAG
    for name in params["flags"]:
        flags |= FLAGS[name]
    try:
        pattern = re.compile(params["pattern"], flags)
    except re.error as error:
        return {
            "valid": False,
            "error": error.msg,
            "position": error.pos,
            "matches": [],
            "count": 0,
            "truncated": False,
        }
    found = list(islice(pattern.finditer(params["text"]), MAX_MATCHES + 1))
    matches = [describe(match) for match in found[:MAX_MATCHES]]
    return {
        "valid": True,
        "groups": pattern.groups,
        "matches": matches,
        "count": len(matches),
        "truncated": len(found) > MAX_MATCHES,
    }


def describe(match: re.Match[str]) -> dict[str, Any]:
    """Return one match with its groups; a group that took no part is null."""
    return {
        "text": match[0],
        "start": match.start(),
        "end": match.end(),
        "groups": list(match.groups()),
        "named": match.groupdict(),
    }
