"""`/v1/marketplace`: install, upload, list, uninstall; `/v1/rescan`. Changes need the role admin."""

from __future__ import annotations

import functools
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.routing import Route

from market.client.wire import dump_document
from market.host.bodies import json_response, read_json
from market.host.callers import identify, require_admin
from market.host.parts import run_in
from market.pack.inspect import Given
from market.web.bodies import receive_body

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from market.host.parts import HostParts
    from market.installer.listing import Installed


class InstallBody(msgspec.Struct):
    """What is posted to install: `name`, `name@1.2.0`, `name>=1,<2`, and the root where it isn't the first."""

    requirement: str
    root: str = ""


def marketplace_routes(parts: HostParts) -> list[Route]:
    """Return the routes of this face."""

    async def install(request: Request) -> Response:
        caller = require_admin(request, parts)
        body = await read_json(request, InstallBody, parts.settings.max_body_bytes)
        act = functools.partial(parts.marketplace.install, caller, body.requirement, body.root)
        return json_response(dump_document(await parts.changes.make(act)))

    async def upload(request: Request) -> Response:
        caller = require_admin(request, parts)
        query = request.query_params
        given = Given(name=query.get("name", ""), version=query.get("version", ""))
        folder = Path(tempfile.gettempdir())
        async with receive_body(
            request.scope, request.receive, folder, limit_bytes=parts.settings.max_upload_bytes
        ) as body:
            with body.path.open("rb") as stream:
                root, name = query.get("root", ""), query.get("filename", "")
                act = functools.partial(parts.marketplace.upload, caller, stream, given, root, name)
                arrived = await parts.changes.make(act)
        return json_response(dump_document(arrived))

    async def list_installed(request: Request) -> Response:
        identify(request, parts)
        rows = await run_in(parts.disk, parts.marketplace.installed)
        return json_response({"items": [dump_installed(root, row) for root, row in rows], "total": len(rows)})

    async def uninstall(request: Request) -> Response:
        caller = require_admin(request, parts)
        pack, root = request.path_params["pack"], request.query_params.get("root", "")
        act = functools.partial(parts.marketplace.uninstall, caller, pack, root)
        return json_response(dump_document(await parts.changes.make(lambda _: act())))

    async def rescan(request: Request) -> Response:
        require_admin(request, parts)
        started = time.perf_counter()
        await parts.changes.make(lambda _: parts.look_again())
        skills = len(parts.registry.snapshot.skills)
        return json_response({"skills": skills, "duration_ms": round((time.perf_counter() - started) * 1000, 3)})

    return [
        Route("/v1/marketplace/install", install, methods=["POST"]),
        Route("/v1/marketplace/upload", upload, methods=["PUT", "POST"]),
        Route("/v1/marketplace/installed", list_installed),
        Route("/v1/marketplace/installed/{pack}", uninstall, methods=["DELETE"]),
        Route("/v1/rescan", rescan, methods=["POST"]),
    ]


def dump_installed(root: str, row: Installed) -> dict[str, Any]:
    """Return one installed pack as JSON values; of one whose receipt can't be read only its place and the trouble are known."""
    receipt = row.receipt
    values: dict[str, Any] = {
        "name": row.name,
        "state": row.state,
        "root": root,
        "path": str(row.path),
        "edited_files": row.edited_files,
        "trouble": row.trouble,
    }
    if receipt is None:
        return values
    return values | {
        "version": receipt.version.text,
        "publisher": receipt.publisher,
        "tree_digest": receipt.tree_digest,
        "archive_digest": receipt.archive_digest,
        "origin": {"kind": receipt.origin.kind, "location": receipt.origin.location, "index": receipt.origin.index},
        "installed_at": receipt.installed_at.isoformat(),
    }
