"""What the three probes share: read the arguments, run, print the result; a wrong argument ends in a sentence on stderr.

A target that doesn't answer is a result (`"ok": false` with the stage and the reason), not a failure of the probe.
"""

import json
import socket
import sys
import time


class BadArgument(Exception):
    """An argument that can't be used; the text says which and why."""


def run(name, probe):
    """Run `probe(args)` on the object from stdin."""
    try:
        args = json.load(sys.stdin)
        if not isinstance(args, dict):
            raise BadArgument("stdin must hold an object")
        result = probe(args)
    except (ValueError, BadArgument) as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(result))


def read_text(args, name, default=None):
    value = args.get(name, default)
    if not isinstance(value, str) or not value or any(ord(character) < 33 for character in value):
        raise BadArgument(f"`{name}` must be a text without spaces")
    return value


def read_integer(args, name, low, high, default=None):
    value = args.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadArgument(f"`{name}` must be a whole number from {low} to {high}")
    return value


def read_timeout(args):
    value = args.get("timeout_seconds", 5)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 20:
        raise BadArgument("`timeout_seconds` must be a number above 0, up to 20")
    return value


def explain(error):
    """Say a network error in words."""
    if isinstance(error, socket.gaierror):
        return f"the name does not resolve: {error.strerror}"
    if isinstance(error, TimeoutError):
        return "timed out"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class Clock:
    """Milliseconds since it was made."""

    def __init__(self):
        self.started = time.monotonic()

    def elapsed_ms(self):
        return round((time.monotonic() - self.started) * 1000, 2)
