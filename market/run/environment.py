"""Which variables of the host a child gets: those that its manifest names, and of them none that is ours or the loader's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Variables that make the loader, libc or bash run code before the entry does. Their values are the host's, meant for the host.
_LOADER_PREFIXES = ("LD_", "DYLD_", "BASH_FUNC_")
_LOADER_NAMES = frozenset({"BASH_ENV", "GCONV_PATH", "GLIBC_TUNABLES", "SHELLOPTS", "BASHOPTS"})
# Market's own settings hold tokens and database addresses; a manifest can't ask for them.
_OWN_PREFIX = "MARKET_"


def is_forwardable(name: str) -> bool:
    """Whether a manifest's `env_allow` may name this variable at all.

    >>> is_forwardable("PATH"), is_forwardable("LD_PRELOAD"), is_forwardable("MARKET_TOKEN")
    (True, False, False)
    """
    upper = name.upper()
    refused = upper in _LOADER_NAMES or upper.startswith((*_LOADER_PREFIXES, _OWN_PREFIX))
    return bool(name) and "=" not in name and "\0" not in name and not refused


def child_environment(env_allow: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the child's whole environment: empty for an empty list, not even PATH (mission A6). Unset variables stay unset.

    >>> child_environment(["PATH", "LD_PRELOAD"], {"PATH": "/bin", "LD_PRELOAD": "x.so", "HOME": "/root"})
    {'PATH': '/bin'}
    """
    names = (name.strip() for name in env_allow)
    return {name: environ[name] for name in names if is_forwardable(name) and name in environ}
