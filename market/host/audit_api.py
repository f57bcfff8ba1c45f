"""`/v1/audit`: every attempt to run or change something, newest first (mission D). For admins."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.routing import Route

from market.errors import InvalidInput
from market.host.bodies import json_response, read_number
from market.host.callers import require_admin
from market.host.parts import run_in

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from market.host.parts import HostParts
    from market.run.audit_row import AuditEntry

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000


def audit_routes(parts: HostParts) -> list[Route]:
    """Return the routes of this face."""

    async def list_audit(request: Request) -> Response:
        require_admin(request, parts)
        query = request.query_params
        limit = read_number(query, "limit", DEFAULT_LIMIT, MAX_LIMIT)
        before = query.get("before", "0")
        if not before.isascii() or not before.isdigit():
            raise InvalidInput(f"the query before is {before[:40]!r}", why="it is the seq of a row")
        tool, outcome = query.get("tool", ""), query.get("outcome", "")
        entries = await run_in(parts.disk, parts.audit.rows, tool, outcome=outcome, limit=limit, before=int(before))
        following = "/v1/audit?" + urlencode({**query, "before": entries[-1].seq}) if len(entries) == limit else ""
        return json_response({"items": [dump_entry(entry) for entry in entries], "next": following})

    return [Route("/v1/audit", list_audit)]


def dump_entry(entry: AuditEntry) -> dict[str, Any]:
    """Return one row as JSON values, under the names of its columns."""
    values = asdict(entry.row)
    skill_class = values.pop("skill_class")
    return {"seq": entry.seq, **values, "class": skill_class, "hash": entry.hash, "previous_hash": entry.previous_hash}
