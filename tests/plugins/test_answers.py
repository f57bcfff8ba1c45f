"""Whatever a plugin's code raises is one exception of ours; only a person's Ctrl-C goes on."""

from __future__ import annotations

import threading

import pytest

from market.errors import MarketError, NotFound, Problem, Severity
from market.plugins.answers import Crashed, call_foreign, describe
from tests.plugged import raising


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize("error", [ValueError("a\nb"), SystemExit(3), GeneratorExit(), NotFound("gone"), BaseException("raw")])
def test_everything_is_a_crash_in_one_line(error: BaseException) -> None:
    with pytest.raises(Crashed) as caught:
        call_foreign(raising(error))
    assert str(caught.value) == describe(error)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is error


def test_an_error_without_words_has_its_name() -> None:
    assert describe(Unspeakable()) == "Unspeakable"


@pytest.mark.parametrize("may_explain", [False, True])
def test_ctrl_c_goes_on_and_one_in_a_servers_thread_is_a_crash(may_explain: bool) -> None:
    with pytest.raises(KeyboardInterrupt):
        call_foreign(raising(KeyboardInterrupt()), may_explain=may_explain)
    seen: list[BaseException] = []

    def ask() -> None:
        try:
            call_foreign(raising(KeyboardInterrupt()), may_explain=may_explain)
        except BaseException as error:
            seen.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert [str(error) for error in seen] == ["KeyboardInterrupt"]
    assert isinstance(seen[0], Crashed)


def test_our_errors_pass_where_they_are_asked_for() -> None:
    with pytest.raises(NotFound):
        call_foreign(raising(NotFound("gone")), may_explain=True)
    with pytest.raises(Crashed):
        call_foreign(raising(SystemExit(2)), may_explain=True)


@pytest.mark.parametrize(
    "error",
    [
        NotFound(b"gone"),  # type: ignore[arg-type]
        MarketError("x", why=3),  # type: ignore[arg-type]
        MarketError("x", problems=["y"]),  # type: ignore[list-item]
        MarketError("x", problems=[Problem("r", Severity.ERROR, "t", line="3")]),  # type: ignore[arg-type]
    ],
)
def test_one_that_could_not_be_shown_is_a_crash(error: MarketError) -> None:
    with pytest.raises(Crashed, match="it raised "):
        call_foreign(raising(error), may_explain=True)
