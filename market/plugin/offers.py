"""Whose offer is taken where plugins register things by a key (a kind of skill, a scheme): a plugin's in the place of Market's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from market.plugin.edge import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from market.plugin.checks import Implementation

Key = TypeVar("Key")
Offer = TypeVar("Offer")


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
