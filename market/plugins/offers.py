"""What plugins offer by a key: executors by the kind of skill, fetchers by the scheme; how it's checked, whose is taken, its crash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

from market.cancellation import Cancelled
from market.errors import PluginError
from market.model import Kind, Outcome, OutcomeKind
from market.plugins.answers import Crashed, broken, call_foreign, note_failed_call
from market.plugins.functions import check_method, has_argument
from market.plugins.prints import diverted_prints
from market.plugins.values import Unfit, hold_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from market.cancellation import Cancellation
    from market.hookspecs import Executor, Fetcher, Target
    from market.plugins.find import Implementation

Key = TypeVar("Key")
Offer = TypeVar("Offer")

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")


@dataclass(frozen=True, slots=True)
class OfferShape(Generic[Key]):
    """What is offered by a hook: its keys (`parse_key` raises `Unfit`), and the method that is called by position with `arguments`.

    `later` is an argument that is given by its name, to a method that has it.
    """

    keys: str
    offered: str
    parse_key: Callable[[object], Key]
    method: str
    arguments: tuple[str, ...]
    later: str = ""


def _parse_kind(key: object) -> Kind:
    try:
        kind = Kind(key)  # type: ignore[arg-type]
    except ValueError:
        raise Unfit(
            f"{key!r} in place of a kind of skill: {' or '.join(one for one in Kind if one is not Kind.GUIDE)}"
        ) from None
    if kind is Kind.GUIDE:
        raise Unfit("an executor of guides, which are read and never run")
    return kind


def _parse_scheme(key: object) -> str:
    if not isinstance(key, str) or not _SCHEME.fullmatch(key):
        raise Unfit(f"{key!r} in place of a scheme, for example 'git+https'")
    return key


EXECUTORS = OfferShape(
    "kinds", "executor", _parse_kind, "execute", ("target", "args_text", "timeout_seconds"), "cancellation"
)
FETCHERS = OfferShape("schemes", "fetcher", _parse_scheme, "fetch", ("address", "out", "limit_bytes"))


@dataclass(frozen=True, slots=True)
class PluggedExecutor:
    """The executor of a plugin: a crash, or an answer that is no outcome, is a failed call that names the plugin."""

    plugin: str
    executor: Executor

    def execute(self, target: Target, args_text: str, timeout_seconds: float, cancellation: Cancellation) -> Outcome:
        """Run the skill; see `market.hookspecs.Executor`."""
        execute: Callable[..., object] = self.executor.execute
        # Those that were written before there was a cancellation don't take it.
        more = {EXECUTORS.later: cancellation} if has_argument(execute, EXECUTORS.later) else {}
        try:
            with diverted_prints():
                return call_foreign(
                    lambda: hold_outcome(execute(target, args_text, timeout_seconds, **more)), may_explain=True
                )
        except Crashed as crash:
            if isinstance(crash.__cause__, Cancelled) and cancellation.why:
                raise Cancelled(cancellation.why) from crash
            return self._fail(f"crashed when it ran {target.key}: {crash}", crash.__cause__)
        except Unfit as unfit:
            return self._fail(f"ran {target.key} and gave {unfit}")

    def _fail(self, what: str, cause: BaseException | None = None) -> Outcome:
        text = f"the plugin {self.plugin} {what}"
        note_failed_call(text, cause)
        return Outcome(OutcomeKind.FAILED, error=text)


@dataclass(frozen=True, slots=True)
class PluggedFetcher:
    """The fetcher of a plugin: a crash is a `PluginError` that names it and the address: the plugin may well be good."""

    plugin: str
    fetcher: Fetcher

    def fetch(self, address: str, out: BinaryIO, limit_bytes: int) -> None:
        """Write the archive; see `market.hookspecs.Fetcher`."""
        try:
            with diverted_prints():
                call_foreign(lambda: self.fetcher.fetch(address, out, limit_bytes), may_explain=True)
        except (Crashed, Unfit) as error:
            raise self._fail(address, f"crashed: {error}", error.__cause__) from error
        if out.closed:
            raise self._fail(address, "closed the file that it was to fill")

    def _fail(self, address: str, what: str, cause: BaseException | None = None) -> PluginError:
        error = PluginError(
            f"{address[:200]} can't be fetched",
            why=f"the plugin {self.plugin} {what}",
            hint="ask the plugin's author; or get the file in another way, and install that",
            details={"plugin": self.plugin, "address": address},
        )
        note_failed_call(f"{error.message}: {error.why}", cause)
        return error


def check_offers(shape: OfferShape[Key], one: Implementation, answer: Any) -> Mapping[Key, Any]:
    """Return what a plugin offers; raises `PluginError` for a key or an object that could never work."""
    if answer is None:
        return {}
    try:
        given: dict[object, object] = dict(answer.items())
    except (AttributeError, TypeError, ValueError):
        raise broken(one.plugin, f"{one.hook} gave no mapping from {shape.keys} to {shape.offered}s") from None
    return {_check_key(shape, one, key): _check_offer(shape, one, key, offer) for key, offer in given.items()}


def choose_offers(
    offers: Iterable[tuple[Implementation, Mapping[Key, Offer]]], plug: Callable[[str, Offer], Offer]
) -> dict[Key, Offer]:
    """Return one offer for each key; `plug(plugin, offer)` gives a plugin's offer its name.

    Raises `PluginError` where two plugins have one key.
    """
    own: dict[Key, Offer] = {}
    plugged: dict[Key, Offer] = {}
    whose: dict[Key, str] = {}
    for one, offered in offers:
        for key, offer in offered.items():
            if one.own:
                own[key] = offer
            elif key in whose:
                raise broken(one.plugin, f"{whose[key]} offers {key} too: switch one of them off")
            else:
                plugged[key], whose[key] = plug(one.plugin, offer), one.plugin
    return {**own, **plugged}


def _check_key(shape: OfferShape[Key], one: Implementation, key: object) -> Key:
    try:
        return shape.parse_key(key)
    except Unfit as unfit:
        raise broken(one.plugin, f"{one.hook} gave {unfit}") from None


def _check_offer(shape: OfferShape[Key], one: Implementation, key: object, offer: object) -> object:
    try:
        check_method(offer, shape.method, shape.arguments, shape.later)
    except Unfit as unfit:
        raise broken(one.plugin, f"{one.hook} gave as the {shape.offered} of {str(key)!r} {unfit}") from None
    return offer
