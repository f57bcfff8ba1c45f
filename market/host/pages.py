"""The host's pages for people: sign in, the list of skills, one skill with its run form, the audit log (mission C6, D2)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from market.errors import InvalidInput, MarketError, Unauthenticated
from market.host.callers import cookie_name, identify, require_admin
from market.host.catalog import Filter, make_catalog
from market.host.form import make_fields, read_arguments
from market.host.parts import run_in
from market.host.prompt_api import load_skill_file
from market.host.sessions import SESSION_SECONDS, check_same_origin
from market.host.skill_json import dump_skill
from market.host.skills_api import find_skill
from market.model import Call, OutcomeKind
from market.run.gate import decide
from market.web.bodies import MAX_SMALL_BODY_BYTES, receive_bytes
from market.web.documents import IMMUTABLE, NO_CACHE, Document, make_etag
from market.web.markdown import render_markdown

if TYPE_CHECKING:
    from starlette.requests import Request

    from market.host.parts import HostParts
    from market.model import Caller, Outcome
    from market.registry.live import LiveSkill

STYLE_PATH = "/host.css"
AUDIT_ROWS = 200
MAX_SHOWN_RESULT_CHARACTERS = 64_000


def page_routes(parts: HostParts) -> list[Route]:
    """Return the routes of this face."""
    faces = _Faces(parts)
    return [
        Route("/", faces.start),
        Route("/login", faces.show_login),
        Route("/login", faces.sign_in, methods=["POST"]),
        Route("/logout", faces.sign_out, methods=["POST"]),
        Route("/skills", faces.list_skills),
        Route("/skills/{key}", faces.show_skill),
        Route("/skills/{key}/run", faces.run_skill, methods=["POST"]),
        Route("/admin/audit", faces.show_audit),
        Route(STYLE_PATH, faces.style),
    ]


class _Faces:
    """The endpoints, over the parts of one host."""

    def __init__(self, parts: HostParts) -> None:
        self._parts = parts

    async def start(self, request: Request) -> Response:
        """Lead to the skills."""
        return RedirectResponse("/skills", 303)

    async def style(self, request: Request) -> Response:
        """Answer with the stylesheet; only the address that carries its version may be kept for good."""
        cache = IMMUTABLE if request.url.query else NO_CACHE
        style = load_style()
        headers = {"etag": style.etag.decode(), "cache-control": cache.decode(), "x-content-type-options": "nosniff"}
        return Response(style.body, headers=headers, media_type="text/css")

    async def show_login(self, request: Request) -> Response:
        """Redeem the secret of a login link, or show the form for a token."""
        secret = request.query_params.get("token", "")
        if not secret:
            return self._render("login.html", None, error="", next=_local(request.query_params.get("next", "")))
        try:
            return self._signed_in(request, self._parts.sessions.redeem(secret), "/skills")
        except Unauthenticated as error:
            return self._render("login.html", None, status=401, error=f"{error.message}. {error.hint}", next="/skills")

    async def sign_in(self, request: Request) -> Response:
        """Sign in with a token of this host."""
        check_same_origin(request.method, request.headers)
        # Anyone may send this one, and a token is short.
        form = await self._form(request, MAX_SMALL_BODY_BYTES)
        following = _local(form.get("next", ""))
        try:
            caller = self._parts.accounts.authenticate(form.get("token", "").strip())
        except Unauthenticated as error:
            return self._render("login.html", None, status=401, error=f"{error.message}. {error.hint}", next=following)
        return self._signed_in(request, self._parts.sessions.open(caller), following)

    async def sign_out(self, request: Request) -> Response:
        """End the browser's session."""
        check_same_origin(request.method, request.headers)
        self._parts.sessions.close(request.cookies.get(cookie_name(request), ""))
        response = RedirectResponse("/login", 303)
        response.delete_cookie(cookie_name(request), path="/")
        return response

    async def list_skills(self, request: Request) -> Response:
        """Show every capability, grouped by category, narrowed by the query."""
        caller = self._caller(request)
        if caller is None:
            return _to_login(request)
        chosen = Filter.from_query(request.query_params)
        snapshot = self._parts.registry.snapshot
        catalog = make_catalog(snapshot.all_skills(), snapshot.dropped(), chosen)
        return self._render("skills.html", caller, catalog=catalog, chosen=chosen, roots=self._parts.registry.roots)

    async def show_skill(self, request: Request) -> Response:
        """Show one skill with its run form."""
        caller = self._caller(request)
        if caller is None:
            return _to_login(request)
        live = await find_skill(self._parts, request.path_params["key"])
        return await self._skill_page(live, caller, outcome=None, error="", sent={})

    async def run_skill(self, request: Request) -> Response:
        """Run the skill with what the form says and show what came of it."""
        identified = identify(request, self._parts)
        live = await find_skill(self._parts, request.path_params["key"])
        sent = await self._form(request, self._parts.settings.max_body_bytes)
        outcome, error = None, ""
        try:
            arguments = read_arguments(live.skill.command.schema if live.skill.command else {}, sent)
            call = Call(live.key, arguments, identified.caller, identified.road)
            outcome = await self._parts.calls.make(request, call)
        except InvalidInput as problem:
            error = f"{problem.message}: {problem.why}" if problem.why else problem.message
        if request.headers.get("hx-request"):
            return self._render("result.html", identified.caller, **_result(outcome, error))
        return await self._skill_page(live, identified.caller, outcome=outcome, error=error, sent=sent)

    async def show_audit(self, request: Request) -> Response:
        """Show the newest attempts, of one tool if the query names it."""
        if self._caller(request) is None:
            return _to_login(request)
        caller = require_admin(request, self._parts)
        tool = request.query_params.get("tool", "")
        entries = await run_in(self._parts.disk, self._parts.audit.rows, tool, limit=AUDIT_ROWS)
        return self._render("audit.html", caller, entries=entries, tool=tool)

    async def _skill_page(
        self, live: LiveSkill, caller: Caller, *, outcome: Outcome | None, error: str, sent: dict[str, str]
    ) -> Response:
        schema = live.skill.command.schema if live.skill.command else {}
        decision = decide(live.skill.skill_class, caller.role, "page")
        return self._render(
            "skill.html",
            caller,
            skill=dump_skill(live),
            live=live,
            url=f"/skills/{quote(live.key, safe=':')}",
            fields=make_fields(schema),
            schema_text=json.dumps(schema, indent=2, ensure_ascii=False, default=dict),
            decision=decision,
            prose=await run_in(self._parts.disk, _load_prose, live, self._parts.settings.link_targets),
            sent=sent,
            **_result(outcome, error),
        )

    def _caller(self, request: Request) -> Caller | None:
        try:
            return identify(request, self._parts).caller
        except Unauthenticated:
            return None

    async def _form(self, request: Request, limit_bytes: int) -> dict[str, str]:
        data = await receive_bytes(request.scope, request.receive, limit_bytes=limit_bytes)
        try:
            return dict(parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=1000))
        except ValueError as error:
            raise InvalidInput("the form can't be read", why=str(error)) from None

    def _signed_in(self, request: Request, cookie: str, following: str) -> Response:
        response = RedirectResponse(following, 303, {"cache-control": "no-store", "referrer-policy": "no-referrer"})
        is_https = request.url.scheme == "https"
        response.set_cookie(
            cookie_name(request), cookie, SESSION_SECONDS, path="/", secure=is_https, httponly=True, samesite="strict"
        )
        return response

    def _render(self, template: str, caller: Caller | None, *, status: int = 200, **values: Any) -> Response:
        style = f"{STYLE_PATH}?v={load_style().etag[1:13].decode()}"
        return self._parts.pages.render(template, status=status, caller=caller, host_static=style, **values)


@cache
def load_style() -> Document:
    """Return what the host's pages need beyond the shared stylesheet, read once a process."""
    body = (Path(__file__).parent / "static" / "host.css").read_bytes()
    return Document(body, make_etag(body), b"text/css; charset=utf-8")


def _result(outcome: Outcome | None, error: str) -> dict[str, Any]:
    text = ""
    if outcome is not None and outcome.kind is OutcomeKind.OK:
        text = json.dumps(outcome.result, indent=2, ensure_ascii=False)
    return {
        "outcome": outcome,
        "error": error,
        "result_text": text[:MAX_SHOWN_RESULT_CHARACTERS],
        "is_cut": len(text) > MAX_SHOWN_RESULT_CHARACTERS,
    }


def _load_prose(live: LiveSkill, link_targets: tuple[str, ...]) -> str:
    """Return a guide's text as safe HTML, without its front matter; empty where there is none."""
    if live.skill.guide is None:
        return ""
    try:
        text = load_skill_file(live, live.skill.guide.manifest.rpartition("/")[2], link_targets).decode(
            "utf-8", "replace"
        )
    except MarketError:
        return ""
    if text.startswith("---"):
        text = text.partition("\n---")[2].partition("\n")[2]
    return render_markdown(text)


def _to_login(request: Request) -> Response:
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    if request.headers.get("hx-request"):
        # htmx would put the login page into the list; this makes the whole page go there.
        return Response(status_code=204, headers={"hx-redirect": "/login"})
    return RedirectResponse("/login?" + urlencode({"next": path}), 303)


def _local(path: str) -> str:
    """Return a path of this host, never another site's address (`//evil`, `https:...`)."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/skills"
