"""The skill `redact_secrets`: secrets with a shape are replaced. One without a shape isn't found, so the result is no proof."""

from __future__ import annotations

import re
from typing import Any

# The shapes that makers of tokens publish, and the places where people write passwords. The group `secret` is what goes.
SHAPES = (
    ("private key", r"(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----)"),
    ("AWS access key", r"\b(?P<secret>(?:AKIA|ASIA)[0-9A-Z]{16})\b"),
    ("GitHub token", r"\b(?P<secret>gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b"),
    ("GitLab token", r"\b(?P<secret>glpat-[A-Za-z0-9_-]{20,})"),
    ("Slack token", r"\b(?P<secret>xox[abposr]-[A-Za-z0-9-]{10,})"),
    ("API key", r"\b(?P<secret>sk-[A-Za-z0-9_-]{20,})"),
    ("Market token", r"\b(?P<secret>sk[mh]_[A-Za-z0-9_-]{20,})"),
    ("JSON web token", r"\b(?P<secret>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+)"),
    ("bearer token", r"(?i)\bauthorization:\s*(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{8,})"),
    ("password in an address", r"\b[a-z][a-z0-9+.-]*://[^\s:/@]+:(?P<secret>[^\s:/@]+)@"),
    ("password", r"(?i)\b(?:password|passwd|secret|api[_-]?key|token)[\"']?\s*[:=]\s*[\"']?(?P<secret>[^\s\"',;]{6,})"),
)


def redact_secrets(params: dict[str, str]) -> dict[str, Any]:
    """Return the text with every secret replaced, and what was found: kind and line, never the secret."""
    text = params["text"]
    taken: list[tuple[int, int, str]] = []
    for kind, shape in SHAPES:
        for match in re.finditer(shape, text):
            start, end = match.span("secret")
            # The first shape that fits names it.
            if not any(start < other_end and other_start < end for other_start, other_end, _ in taken):
                taken.append((start, end, kind))
    found = sorted(taken)
    parts, at = [], 0
    for start, end, _ in found:
        parts += [text[at:start], params["replacement"]]
        at = end
    rows = [{"kind": kind, "line": text.count("\n", 0, start) + 1} for start, _, kind in found]
    return {"text": "".join([*parts, text[at:]]), "count": len(found), "found": rows}
