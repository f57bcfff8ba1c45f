"""The edge to a plugin's code: everything that it raises becomes one exception of ours, or the error that names the plugin.

Not only `Exception`: `sys.exit`, a cancelled task, a panic of compiled code and a class of the plugin's own would end a loop over the
plugins, a request or a command in the middle otherwise.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from market.errors import MarketError, PluginError
from market.plugin.values import Unfit, check_error

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

MAX_ERROR_CHARACTERS = 2_000


class Crashed(Exception):
    """What a plugin's code raised, in one line; the cause is what it raised."""


def call_foreign(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a plugin's code. Raises `Crashed` for whatever it raises, but for `Unfit`, and for a person's Ctrl-C."""
    try:
        return function(*args, **kwargs)
    except Unfit:
        raise
    except BaseException as error:
        raise _crash_of(error) from error


def call_outspoken(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a plugin's code that may raise our errors, which then say what is wrong; else as `call_foreign`.

    Such an error that couldn't be shown, since its text is no text, is a crash too.
    """
    try:
        return function(*args, **kwargs)
    except MarketError as error:
        try:
            check_error(error)
        except Unfit as unfit:
            raise Crashed(f"it raised {unfit}") from error
        raise
    except Unfit:
        raise
    except BaseException as error:
        raise _crash_of(error) from error


def describe(error: BaseException) -> str:
    """Return an error of foreign code in one line."""
    try:
        text = " ".join(str(error).split())[:MAX_ERROR_CHARACTERS]
    except Exception:  # its own __str__ is foreign code too
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def broken(name: str, why: str, distribution: str = "") -> PluginError:
    """Return the error for a plugin that can't be used."""
    whence = f" of {distribution}" if distribution and distribution != name else ""
    return PluginError(
        f"the plugin {name}{whence} can't be used",
        why=why,
        hint=f"upgrade or uninstall it, or switch it off: market plugins disable {name}",
        details={"plugin": name, "distribution": distribution},
    )


def _crash_of(error: BaseException) -> Crashed:
    """Return the crash for what was raised; Ctrl-C goes on up.

    Python raises that in the main thread only: in another, as servers call hooks, no person did.
    """
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error
    return Crashed(describe(error))
