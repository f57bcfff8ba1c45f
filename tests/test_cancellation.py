"""A cancellation: said once, told to who must end something, and to nobody whose block is over."""

from __future__ import annotations

import threading

import pytest

from market.cancellation import NEVER, Cancellation, Cancelled


def test_the_first_reason_stays_and_each_act_is_called_once() -> None:
    cancellation = Cancellation()
    calls: list[str] = []
    cancellation.check()
    with cancellation.on_cancel(lambda: calls.append("one")), cancellation.on_cancel(lambda: calls.append("two")):
        cancellation.cancel("its caller went away")
        cancellation.cancel("the host was stopped")
    assert (cancellation.why, calls) == ("its caller went away", ["one", "two"])
    with pytest.raises(Cancelled, match="its caller went away"):
        cancellation.check()


def test_who_comes_too_late_is_told_at_once_and_who_has_left_is_not() -> None:
    cancellation = Cancellation()
    calls: list[str] = []
    with cancellation.on_cancel(lambda: calls.append("left")):
        pass
    cancellation.cancel("x")
    with cancellation.on_cancel(lambda: calls.append("late")):
        assert calls == ["late"]


def test_an_act_that_fails_does_not_keep_the_others_from_being_told() -> None:
    cancellation = Cancellation()
    calls: list[str] = []
    with cancellation.on_cancel(lambda: [].pop()), cancellation.on_cancel(lambda: calls.append("told")):
        cancellation.cancel("x")
    assert calls == ["told"]


def test_an_act_is_over_when_its_block_is() -> None:
    cancellation, inside, go = Cancellation(), threading.Event(), threading.Event()
    ended: list[str] = []

    def act() -> None:
        inside.set()
        go.wait(5)
        ended.append("act")

    def block() -> None:
        with cancellation.on_cancel(act):
            inside.wait(5)
        ended.append("block")

    threads = [threading.Thread(target=block), threading.Thread(target=cancellation.cancel, args=("x",))]
    threads[0].start()
    threads[1].start()
    inside.wait(5)
    threads[0].join(0.02)
    go.set()
    for thread in threads:
        thread.join()
    assert ended == ["act", "block"]


def test_nobody_has_cancelled_what_is_never_cancelled() -> None:
    assert NEVER.why == ""
