"""`/v1/prompt`: the section that offers guides to a model, fresh at each turn; and the files of a guide for agents elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from market.disk.lease import lease_directory
from market.disk.read import read_within
from market.errors import InvalidInput, NotFound, Refused
from market.host.bodies import JSON_TYPE, json_response
from market.host.callers import identify
from market.host.parts import run_in
from market.host.skill_json import dump_skill, files_url, guide_path, skill_directory
from market.host.skills_api import find_skill
from market.registry.links import read_linked
from market.registry.prompt import choose_guides, dump_prompt, make_rows
from market.registry.tree_marks import SKIPPED_FOLDERS
from market.web.documents import make_etag

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from market.host.parts import HostParts
    from market.registry.live import LiveSkill

MAX_SERVED_FILE_BYTES = 8 << 20
LOCATIONS = ("path", "url")


def prompt_routes(parts: HostParts) -> list[Route]:
    """Return the routes of this face."""

    async def prompt(request: Request) -> Response:
        identify(request, parts)
        guides = await run_in(parts.disk, current_guides, parts)
        text = dump_prompt(make_rows(guides, _locator(request)), _tools(request))
        if JSON_TYPE in request.headers.get("accept", ""):
            return json_response({"prompt": text, "skills": [dump_skill(live) for live in guides] if text else []})
        return PlainTextResponse(text, headers={"cache-control": "no-store", "x-content-type-options": "nosniff"})

    async def serve_file(request: Request) -> Response:
        identify(request, parts)
        live = await find_skill(parts, request.path_params["key"])
        data = await run_in(parts.disk, load_skill_file, live, request.path_params["path"], parts.settings.link_targets)
        return _file_response(data)

    return [Route("/v1/prompt", prompt), Route("/v1/skills/{key}/files/{path:path}", serve_file)]


def current_guides(parts: HostParts) -> tuple[LiveSkill, ...]:
    """Return the guides to offer, after reading again those whose file changed since the last turn (mission E10)."""
    parts.registry.recheck_watched(choose_guides(parts.registry.snapshot.all_skills()))
    return choose_guides(parts.registry.snapshot.all_skills())


def load_skill_file(live: LiveSkill, path: str, link_targets: tuple[str, ...] = ()) -> bytes:
    """Return a file of a skill's own directory. No link is followed but into `link_targets`, and Market's state is never served."""
    if any(part in SKIPPED_FOLDERS for part in path.split("/")):
        raise NotFound(f"{path[:200]!r} isn't served")
    descriptor = lease_directory(Path(skill_directory(live)))
    try:
        return read_within(descriptor, path, MAX_SERVED_FILE_BYTES)
    except Refused:
        linked = read_linked(f"{skill_directory(live)}/{path}", link_targets) if ".." not in path.split("/") else None
        if linked is None:
            raise
        return linked
    finally:
        os.close(descriptor)


def _locator(request: Request) -> Callable[[LiveSkill], str]:
    location = request.query_params.get("location", "path")
    if location not in LOCATIONS:
        raise InvalidInput(f"the location {location[:40]!r} isn't known", hint=f"one of {', '.join(LOCATIONS)}")
    if location == "path":
        return guide_path
    base = str(request.base_url)
    return lambda live: files_url(base, live, "SKILL.md")


def _tools(request: Request) -> list[str] | None:
    given = request.query_params.getlist("tools")
    return [name.strip() for text in given for name in text.split(",") if name.strip()] if given else None


def _file_response(data: bytes) -> Response:
    headers = {"etag": make_etag(data).decode(), "cache-control": "no-cache", "x-content-type-options": "nosniff"}
    try:
        return PlainTextResponse(data.decode(), headers=headers)
    except UnicodeDecodeError:
        return Response(
            data, headers=headers | {"content-disposition": "attachment"}, media_type="application/octet-stream"
        )
