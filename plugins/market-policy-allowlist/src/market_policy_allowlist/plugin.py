"""The hooks: may this pack be installed, may this skill be run, as the operator's list says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from market.hookspecs import hookimpl
from market.trust.decision import Decision, allow, deny
from market_policy_allowlist.policy import Asked
from market_policy_allowlist.settings import load_policy, policy_path

if TYPE_CHECKING:
    from market.hookspecs import Target
    from market.model import Pack


@hookimpl
def decide_install(pack: Pack, publisher: str) -> Decision:
    """Decide by the pack's name, its publisher, and the class of every skill in it."""
    return _decide("install", Asked(pack.name, publisher, frozenset(str(skill.skill_class) for skill in pack.skills)))


@hookimpl
def decide_run(target: Target) -> Decision:
    """Decide by the names of the skill's pack and publisher, and by its class."""
    return _decide("run", Asked(target.pack, target.publisher, frozenset({str(target.skill.skill_class)})))


def _decide(act: str, asked: Asked) -> Decision:
    path = policy_path(os.environ)
    list_of_act = load_policy(path).get(act)
    if list_of_act is None:
        return deny(f"{path} has no table [{act}]")
    objection = list_of_act.find_objection(asked)
    return deny(f"{objection} ({path}, [{act}])") if objection else allow(f"it is on the list of [{act}]")
