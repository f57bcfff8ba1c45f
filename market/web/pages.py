"""What every page shares: the templates' environment, the static files, and the headers that keep a page to itself.

The pages' own templates and texts are in `index.pages` and `market.host`.
"""

from __future__ import annotations

import mimetypes
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from market.errors import NotFound
from market.web.documents import IMMUTABLE, NO_CACHE, PRIVATE, Document, make_etag, send_document
from market.web.problems import TITLES, problem_headers, status_of
from market.web.references import root_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import Receive, Scope, Send

    from market.errors import MarketError

HERE = Path(__file__).parent
_BACKTICKS = re.compile(r"`([^`\n]+)`")
PAGE_HEADERS = {
    # Nothing from elsewhere, nothing inline: what a pack's text smuggles in can neither run nor call home.
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    # A page is made for who asks, and costs little: no cache that others share keeps it.
    "cache-control": PRIVATE.changing.decode(),
    "vary": "HX-Request, Authorization, Cookie",
}


class Pages:
    """Renders templates from the given folders, and from this room's own (`base.html`, `error.html`)."""

    def __init__(self, *folders: Path, filters: Mapping[str, Callable[..., str]] | None = None) -> None:
        self._environment = Environment(
            loader=FileSystemLoader([*folders, HERE / "templates"]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals["static"] = static_url
        self._environment.filters |= {"size": show_size, "code": mark_code, **(filters or {})}

    def render(self, template: str, *, status: int = 200, root: str = "/", **values: Any) -> HTMLResponse:
        """Return a page with the security headers; a value that the template names and `values` lacks is an error.

        `root` leads from the page to the start page, for every link: relative, it survives a proxy's path prefix.
        """
        text = self._environment.get_template(template).render(root=root, **values)
        return HTMLResponse(text, status, PAGE_HEADERS)

    def error_page(self, scope: Scope, error: MarketError) -> HTMLResponse | None:
        """Return an error as a page where a person's browser asked, else None; for `ProblemEdge`."""
        accepts = next((value for name, value in scope["headers"] if name == b"accept"), b"")
        if b"text/html" not in accepts or scope["path"].startswith("/v1/"):
            return None
        status = status_of(error)
        page = self.render(
            "error.html", status=status, root=root_reference(scope), error=error, heading=TITLES.get(status, "Error")
        )
        page.headers.update(problem_headers(status))
        return page


@cache
def load_static() -> dict[str, Document]:
    """Return the files of the `static` folder by name, read once a process."""
    return {path.name: _load_file(path) for path in sorted((HERE / "static").iterdir()) if path.is_file()}


def static_url(name: str) -> str:
    """Return the URL of a static file below the page's `root`; it changes when the file does."""
    return f"static/{name}?v={load_static()[name].etag[1:13].decode()}"


async def send_static(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer `/static/NAME`: an ASGI app."""
    document = load_static().get(scope["path"].rpartition("/")[2])
    if document is None:
        raise NotFound("there is no such static file")
    # Only the URL that carries the version may be kept for good.
    cache_control = IMMUTABLE if scope["query_string"].startswith(b"v=") else NO_CACHE
    await send_document(scope, send, document, cache_control=cache_control, vary=b"Accept-Encoding")


def mark_code(text: str) -> Markup:
    """Return a message as HTML, with what stands between backticks as code.

    >>> mark_code("see `market list` <b>")
    Markup('see <code>market list</code> &lt;b&gt;')
    """
    return Markup(_BACKTICKS.sub(r"<code>\1</code>", str(escape(text))))


def show_size(size: int) -> str:
    """Return a number of bytes for people.

    >>> show_size(1536)
    '1.5 KB'
    """
    if size < 1024:
        return f"{size} B"
    value = float(size)
    for unit in ("KB", "MB", "GB"):
        value /= 1024
        if value < 1024 or unit == "GB":
            break
    return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"


def _load_file(path: Path) -> Document:
    body = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if media_type.startswith("text/") else ""
    return Document(body, make_etag(body), f"{media_type}{charset}".encode())
