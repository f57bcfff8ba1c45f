"""Who makes a request: by Bearer token, or by a browser's session cookie. What a role may do is decided where it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.errors import Refused, Unauthenticated
from market.host.sessions import check_same_origin
from market.model import Role
from market.web.bearer import read_bearer

if TYPE_CHECKING:
    from starlette.requests import Request

    from market.host.parts import HostParts
    from market.model import Caller

ROAD_API = "http"
ROAD_PAGE = "page"


@dataclass(frozen=True, slots=True)
class Identified:
    """The caller and the road over which the request came."""

    caller: Caller
    road: str


def identify(request: Request, parts: HostParts) -> Identified:
    """Return who makes the request; raises `Unauthenticated`, and `Refused` for a cookie that another site's page made use of."""
    token = read_bearer(request.scope["headers"])
    if token is not None:
        return Identified(parts.accounts.authenticate(token), ROAD_API)
    caller = parts.sessions.find(request.cookies.get(cookie_name(request), ""))
    if caller is None:
        raise Unauthenticated("sign in first", hint="send a Bearer token; `market host token create` makes one")
    check_same_origin(request.method, request.headers)
    return Identified(caller, ROAD_PAGE)


def require_admin(request: Request, parts: HostParts) -> Caller:
    """Return the caller if it is an admin; raises `Refused` otherwise."""
    caller = identify(request, parts).caller
    if caller.role is not Role.ADMIN:
        raise Refused(
            "this needs the role admin",
            why=f"the token of {caller.name!r} has the role {caller.role}",
            hint="make one with `market host token create --role admin`",
        )
    return caller


def cookie_name(request: Request) -> str:
    """Return the name of the session's cookie. Browsers don't keep ports apart, so the name does."""
    return f"market-host-{request.url.port or 0}"
