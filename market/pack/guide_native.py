"""Front matter of Market's own kind (mission E8): when a guide belongs into a prompt, and where its tools run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.model import Activation, ActivationMode, Scope
from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.errors import Problem
    from market.pack.front_matter import FrontMatter

_SCOPES = {"host": Scope.HOST, "edge": Scope.HOST, "manager": Scope.MANAGER}
_MODES = {mode.value: mode for mode in ActivationMode}


def read_activation(matter: FrontMatter, file: str) -> tuple[Activation, list[Problem]]:
    """Return how a guide is activated: by `metadata.ongrid.activation` where that is there, else by `activation`.

    A mode that doesn't exist counts as not said, so that the guide stays in the prompt.
    """
    own, ongrid = _as_mapping(matter.fields.get("activation")), _as_mapping(_ongrid(matter).get("activation"))
    chosen, path = (ongrid, ("metadata", "ongrid", "activation")) if ongrid else (own, ("activation",))
    written = chosen.get("mode")
    keywords = _as_texts(chosen.get("keywords"))
    mode = _MODES.get(written.strip().lower()) if isinstance(written, str) else None
    texts = []
    if written is not None and mode is None:
        texts.append(f"the mode {str(written)[:80]!r} doesn't exist")
    elif mode is ActivationMode.KEYWORD and not keywords:
        texts.append("the mode is keyword, and there are no keywords")
    if own.get("mode") and ongrid.get("mode") and own["mode"] != ongrid["mode"]:
        texts.append(
            f"'activation' says {str(own['mode'])[:80]!r}, 'metadata.ongrid.activation' {str(ongrid['mode'])[:80]!r}"
        )
    place = matter.places.get((*path, "mode"), (1, 1))
    return Activation(mode, keywords), [make_problem("guide-activation", text, file, place) for text in texts]


def read_when_to_use(matter: FrontMatter) -> str:
    """Return `when_to_use` as one text; a list's parts are joined."""
    value = matter.fields.get("when_to_use")
    return "; ".join(_as_texts(value)) if isinstance(value, list) else value.strip() if isinstance(value, str) else ""


def read_scope(matter: FrontMatter) -> Scope:
    """Return where the guide's tools run, by `metadata.ongrid.scope`; ongrid calls a host's side edge."""
    scope = _ongrid(matter).get("scope")
    return _SCOPES.get(scope.strip().lower(), Scope.MANAGER) if isinstance(scope, str) else Scope.MANAGER


def _ongrid(matter: FrontMatter) -> Mapping[str, Any]:
    return _as_mapping(_as_mapping(matter.fields.get("metadata")).get("ongrid"))


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_texts(value: object) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())
