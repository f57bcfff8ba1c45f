"""A small app for tests of `market.web.serve`: answers with its settings and process id; run as a script it serves itself."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING

import click
from starlette.responses import JSONResponse

from market.errors import Conflict, MarketError
from market.web.launch import load_launch
from market.web.serve import serve

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


def create() -> ASGIApp:
    launch = load_launch()
    if launch.settings.get("fail") == "known":
        raise Conflict("the data is of a newer version", why="schema 9", hint="upgrade")
    if launch.settings.get("fail"):
        raise ValueError("a bug")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{message['type']}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        await asyncio.sleep(float(scope["query_string"] or 0))
        await JSONResponse({"pid": os.getpid(), "url": launch.url, "settings": launch.settings})(scope, receive, send)

    return app


def main(port: str, settings: str, workers: str = "1") -> None:
    def ready(url: str) -> None:
        click.echo(f"ready {url}")

    try:
        serve("tests.web.echo_app:create", json.loads(settings), host="127.0.0.1", port=int(port), workers=int(workers), ready=ready)
        click.echo("stopped")
    except MarketError as error:
        click.echo(f"{type(error).__name__}: {error.message} | {error.why} | {error.hint}")
        raise SystemExit(7) from None


if __name__ == "__main__":
    main(*sys.argv[1:])
