"""`/v1/skills`: list, one, execute (mission C7). Every call goes through the invoker, which gates and audits it."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec
from starlette.routing import Route

from market.errors import InvalidInput, NotFound, Refused
from market.host.bodies import json_response, read_json, read_number
from market.host.callers import identify
from market.host.parts import run_in
from market.host.skill_json import dump_dropped, dump_outcome, dump_skill
from market.model import Call, Caller, OutcomeKind, Role, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from market.host.parts import HostParts
    from market.model import Outcome
    from market.registry.live import LiveSkill
    from market.registry.snapshot import Snapshot

DEFAULT_LIMIT = 1000
MAX_LIMIT = 10_000
ALL_STATES = "all"
ROAD_MODEL = "model"
MODEL_CALLER = Caller(0, "model", Role.SYSTEM)


class ExecuteBody(msgspec.Struct):
    """What is posted to run a skill. `road` `model` marks a call that a model made by itself: it counts as the system's."""

    params: Any = msgspec.field(default_factory=dict)
    road: str = ""
    session_id: str = ""
    device_id: str = ""


def skill_routes(parts: HostParts) -> list[Route]:
    """Return the routes of this face."""

    async def list_skills(request: Request) -> Response:
        identify(request, parts)
        return json_response(await run_in(parts.disk, list_page, parts.registry.snapshot, request.query_params))

    async def show_skill(request: Request) -> Response:
        identify(request, parts)
        return json_response(dump_skill(await find_skill(parts, request.path_params["key"])))

    async def execute(request: Request) -> Response:
        identified = identify(request, parts)
        body = await read_json(request, ExecuteBody, parts.settings.max_body_bytes)
        if body.road not in ("", ROAD_MODEL):
            raise InvalidInput(
                f"the road {body.road[:40]!r} isn't known", hint="leave it out, or write 'model' for a model's own call"
            )
        caller = MODEL_CALLER if body.road else identified.caller
        key = request.path_params["key"]
        call = Call(key, body.params, caller, body.road or identified.road, body.session_id, body.device_id)
        outcome = await parts.calls.make(request, call)
        raise_refusal(key, outcome)
        return json_response(_dump_result(outcome))

    return [
        Route("/v1/skills", list_skills),
        Route("/v1/skills/{key}", show_skill),
        Route("/v1/skills/{key}/execute", execute, methods=["POST"]),
    ]


async def find_skill(parts: HostParts, key: str) -> LiveSkill:
    """Return a skill as it stands on the disk now; raises `NotFound`."""
    found = await run_in(parts.disk, parts.registry.find_current, key)
    if found is None:
        raise NotFound(
            f"there is no skill {key[:200]!r} here",
            hint="GET /v1/skills lists them; state=invalid shows what didn't load",
        )
    return found


def raise_refusal(key: str, outcome: Outcome) -> None:
    """Raise the error of a call that didn't run; do nothing for one that did, however it ended."""
    if outcome.kind is OutcomeKind.DENIED:
        raise Refused(outcome.error or f"{key} may not run", details={"key": key})
    if outcome.kind is OutcomeKind.UNKNOWN:
        raise NotFound(outcome.error or f"there is no skill {key!r} here", hint="GET /v1/skills lists them")
    if outcome.kind is OutcomeKind.INVALID:
        raise InvalidInput(outcome.error or f"the arguments of {key} don't fit", details={"key": key})


def list_page(snapshot: Snapshot, query: Mapping[str, str]) -> dict[str, Any]:
    """Return one page of skills, in the order of keys, with the total of all matches and the address of the next page.

    The whole list and one pack's cost as much as the page; the filters `category` and `state` look at every candidate.
    """
    limit = read_number(query, "limit", DEFAULT_LIMIT, MAX_LIMIT)
    state, cursor = query.get("state", ""), query.get("cursor", "")
    if state and state != ALL_STATES and state not in set(State):
        raise InvalidInput(f"the state {state[:40]!r} isn't known", hint=f"one of all, {', '.join(State)}")
    pack, category = query.get("pack", ""), query.get("category", "")
    keys = _matching_keys(snapshot, pack, category, state)
    dropped = _matching_dropped(snapshot, pack, category) if state in (ALL_STATES, State.INVALID) else []
    start = bisect.bisect_right(keys, cursor) if cursor else 0
    page = [dump_skill(snapshot.skills[key]) for key in keys[start : start + limit]]
    is_last = start + limit >= len(keys)
    # What didn't load has no key to continue from; it comes whole, with the last page.
    items = page + dropped if is_last else page
    following = "" if is_last else "/v1/skills?" + urlencode({**query, "cursor": page[-1]["key"]})
    return {"items": items, "total": len(keys) + len(dropped), "next": following}


def _matching_keys(snapshot: Snapshot, pack: str, category: str, state: str) -> Sequence[str]:
    keys = snapshot.packs.get(pack, ()) if pack else snapshot.keys
    wanted = "" if state == ALL_STATES else state
    if not category and not wanted:
        return keys
    return [
        key
        for key in keys
        if (not wanted or snapshot.skills[key].state == wanted)
        and (not category or snapshot.skills[key].skill.category == category)
    ]


def _matching_dropped(snapshot: Snapshot, pack: str, category: str) -> list[dict[str, Any]]:
    """Return rows for what didn't load. What isn't known of it, its category, matches no filter."""
    return [] if category else [dump_dropped(row) for row in snapshot.dropped() if pack in ("", row.pack)]


def _dump_result(outcome: Outcome) -> dict[str, Any]:
    values = dump_outcome(outcome)
    if outcome.kind is OutcomeKind.OK and outcome.result_text:
        # Byte for byte what the skill printed, so that no number or order of keys changes on the way (mission A12).
        values["result"] = msgspec.Raw(outcome.result_text.encode())
    return values
