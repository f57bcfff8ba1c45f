"""What came of a process, in words: from a `Result` to an `Outcome`. Why an exec failed is in `market.run.entry`."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

from market.model import Outcome, OutcomeKind
from market.run.limits import (
    MAX_FILE_BYTES,
    MAX_STDOUT_BYTES,
    PREVIEW_CHARACTERS,
    STDERR_IN_ERROR_CHARACTERS,
)

if TYPE_CHECKING:
    from market.run.supervision import Result

_SIGNAL_ADVICE: dict[int, str] = {
    signal.SIGKILL: "; perhaps the machine ran out of memory",
    signal.SIGXFSZ: f"; a file that it wrote grew beyond {MAX_FILE_BYTES >> 30} GiB",
}


_ESCAPE = "\x1b"
_ADVICE = "a skill prints one JSON value on stdout"


def judge_result(result: Result, timeout_seconds: float, exit_advice: str = "", cancelled: str = "") -> Outcome:
    """Return the outcome. `exit_advice` is appended to the sentence about an exit code, `cancelled` says why a call was cancelled."""
    stderr = result.stderr.decode("utf-8", "replace")
    kind, error, value, text = _judge(result, timeout_seconds, exit_advice, cancelled)
    if error and stderr.strip():
        error = f"{error}\nstderr: {stderr.strip()[-STDERR_IN_ERROR_CHARACTERS:]}"
    if result.survivors:
        error = f"{error}\nsome of its processes could not be killed".strip()
    return Outcome(
        kind=kind,
        result=value,
        result_text=text,
        error=error,
        duration_ms=result.seconds * 1000,
        stderr=stderr,
        truncated=result.stderr_total > len(result.stderr),
        exit_code=result.code,
    )


def describe_cancelled(why: str) -> str:
    """Put into words that a call was ended which had begun."""
    return f"cancelled, since {why}; a part of its work may be done"


def _judge(
    result: Result, timeout_seconds: float, exit_advice: str, cancelled: str
) -> tuple[OutcomeKind, str, Any, str]:
    if result.cancelled:
        return OutcomeKind.CANCELLED, describe_cancelled(cancelled), None, ""
    if result.timed_out:
        return OutcomeKind.TIMEOUT, f"timed out after {timeout_seconds:g} s", None, ""
    if result.code is None or result.code < 0:
        return OutcomeKind.FAILED, _describe_signal(-(result.code or 0)), None, ""
    if result.code:
        return OutcomeKind.FAILED, f"exited with code {result.code}{exit_advice}", None, ""
    if result.stdout_total > MAX_STDOUT_BYTES:
        cap = f"{MAX_STDOUT_BYTES} ({MAX_STDOUT_BYTES >> 20} MiB)"
        return _fail(f"OUTPUT LIMIT: {result.stdout_total} bytes on stdout, at most {cap} are taken")
    return judge_output(result.stdout)


def judge_output(stdout: bytes) -> tuple[OutcomeKind, str, Any, str]:
    """Read one JSON value from what a skill gave back: how it ended, the error, the value and its text."""
    try:
        text = stdout.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        where = f"byte {error.start} is {stdout[error.start]:#04x}"
        # The bytes as Python writes them: escaped, without its b.
        return _fail(
            f"its stdout is not UTF-8 ({where}): it starts with {repr(stdout[:PREVIEW_CHARACTERS])[1:]}; {_ADVICE}"
        )
    if not text:
        return _fail(f"its stdout is empty; {_ADVICE}")
    try:
        return OutcomeKind.OK, "", _DECODER.decode(text), text
    except RecursionError:
        what = "is not JSON (it is nested too deeply)"
    except ValueError as error:
        what = _describe_syntax(text, error)
    return _fail(f"its stdout {what}: it starts with {text[:PREVIEW_CHARACTERS]!r}; log lines belong on stderr")


def _describe_syntax(text: str, error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
        return f"holds more than one JSON value (the second begins in line {error.lineno}, column {error.colno})"
    if text.startswith(_ESCAPE):
        return "is coloured for a terminal, not JSON"
    return f"is not JSON ({error})"


def _fail(error: str) -> tuple[OutcomeKind, str, Any, str]:
    return OutcomeKind.FAILED, error, None, ""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _describe_signal(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"was killed by {name}{_SIGNAL_ADVICE.get(number, '')}" if number else "ended in an unknown way"


# Made once: `json.loads` with an option makes a decoder for each text.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
