"""`market index ...`: make an index, serve it, and its tokens. `market.cli` loads this by name; no rule of the index is here."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from index.accounts import ALL_SCOPES, TokenSummary, create_token, list_tokens, revoke_token
from index.model import ReleaseState, Scope
from index.owner import owner_token
from index.parts import prepare_data, utc_now
from index.removal import delete_release
from index.settings import Anonymous, IndexSettings, load_settings
from index.store.database import DATABASE_NAME, Database, open_database
from market.disk.home import load_home
from market.errors import InvalidInput, NotFound
from market.names import parse_pack_name, parse_publisher_name, parse_version
from market.web.ports import is_loopback, resolve_address
from market.web.serve import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    Remember = Callable[[str, str], None]

APP = "index.app:create"

_data_option = click.option(
    "--data", type=click.Path(path_type=Path), help="The index's data folder. [default: $MARKET_HOME/index]"
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value on stdout.")


def index_group(remember: Remember) -> click.Group:
    """Return the command group. `remember(url, token)` stores an index and a token for this user; the client supplies it."""
    group = click.Group("index", help="Run an index: the server that packs are published to and installed from.")
    group.add_command(_init_command)
    group.add_command(_serve_command(remember))
    group.add_command(_token_group)
    group.add_command(_delete_command)
    return group


@click.command("init")
@_data_option
@_json_option
def _init_command(data: Path | None, as_json: bool) -> None:
    """Make the data folder of an index. One that is there is brought up to date."""
    settings = _settings(data=data)[0]
    is_new = not (settings.data / DATABASE_NAME).exists()
    prepare_data(settings.data).close()
    word = "made an index" if is_new else "the index is up to date"
    _show({"data": str(settings.data), "created": is_new}, f"{word} in {settings.data}", as_json)


def _serve_command(remember: Remember) -> click.Command:
    @click.command("serve")
    @_data_option
    @click.option("--host", help="The address to listen on. [default: 127.0.0.1]")
    @click.option("--port", help="The port; 0 picks a free one. [default: 8750]")
    @click.option(
        "--anonymous",
        type=click.Choice([str(word) for word in Anonymous]),
        help="What callers without a token may do. Must be given with --host.",
    )
    @click.option("--workers", help="The number of processes that answer. [default: 1]")
    @_json_option
    def serve_command(as_json: bool, **flags: Any) -> None:
        """Serve an index until SIGTERM or Ctrl-C.

        Without --data, the index of this user in $MARKET_HOME/index: it is made on the first run, and its URL and a token to
        publish with are stored for the other commands.
        """
        settings, is_anonymous_given = _settings(**flags)
        _check_exposure(settings, is_anonymous_given)
        database = prepare_data(settings.data)
        # Only the index in this user's own home is this user's; a folder named with --data may be anybody's.
        token = owner_token(database, settings.data, utc_now()) if settings.data == _default_data() else ""
        database.close()

        def ready(url: str) -> None:
            if token:
                remember(url, token)
            values = {"url": url, "pid": os.getpid(), "data": str(settings.data), "api": f"{url}/v1"}
            _show(values, f"market index ready at {url} (data: {settings.data})", as_json)

        serve(
            APP,
            settings.dump(),
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            ready=ready,
            log_level=settings.log_level,
            fast_loop=True,
        )

    return serve_command


@click.command("delete")
@click.argument("name")
@click.argument("version")
@click.option("--reason", default="", help="Why; it is shown where the release was.")
@_data_option
@_json_option
def _delete_command(name: str, version: str, reason: str, data: Path | None, as_json: bool) -> None:
    """Delete release VERSION of the pack NAME: nobody gets it any more, and the version is never given again.

    A running server follows at once. Authors who only want to warn use `market yank`.
    """
    pack = parse_pack_name(name)
    deleted = delete_release(_open(data), pack, parse_version(version), reason, utc_now())
    values = {"name": pack, "version": deleted, "state": str(ReleaseState.DELETED), "reason": reason}
    _show(values, f"deleted {pack} {deleted}", as_json)


@click.group("token")
def _token_group() -> None:
    """Make, list and revoke API tokens."""


@_token_group.command("create")
@_data_option
@click.option("--publisher", required=True, help="Whose token it is; an unknown publisher is created.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([str(word) for word in Scope]),
    help="What it may do; may be given several times. [default: all]",
)
@click.option("--label", default="", help="A note on what it is for.")
@click.option(
    "--expires-in-days", type=click.IntRange(1, 3650), help="After how many days it stops working. [default: never]"
)
@_json_option
def _create_command(
    data: Path | None, publisher: str, scopes: tuple[str, ...], label: str, expires_in_days: int | None, as_json: bool
) -> None:
    """Make a token. It is shown once and can't be shown again."""
    now = utc_now()
    expires_at = now + timedelta(days=expires_in_days) if expires_in_days else None
    chosen = [Scope(scope) for scope in scopes] or ALL_SCOPES
    with _open(data).write() as connection:
        token = create_token(
            connection, parse_publisher_name(publisher), now, scopes=chosen, label=label, expires_at=expires_at
        )
    _show({"token": token.secret, **asdict(token.summary)}, token.secret, as_json)
    if not as_json:
        click.echo(f"the token of {token.summary.publisher}; it isn't shown again", err=True)


@_token_group.command("list")
@_data_option
@_json_option
def _list_command(data: Path | None, as_json: bool) -> None:
    """List the tokens, without their secrets."""
    with _open(data).read() as connection:
        found = list_tokens(connection)
    _show([asdict(token) for token in found], "\n".join(_line(token) for token in found) or "no token yet", as_json)


@_token_group.command("revoke")
@click.argument("prefix")
@_data_option
@_json_option
def _revoke_command(prefix: str, data: Path | None, as_json: bool) -> None:
    """Revoke the token that starts with PREFIX; it stops working at once."""
    with _open(data).write() as connection:
        token = revoke_token(connection, prefix, utc_now())
    _show(asdict(token), f"revoked {token.prefix}... of {token.publisher}", as_json)


def _settings(**flags: Any) -> tuple[IndexSettings, bool]:
    return load_settings(os.environ, _default_data(), **flags)


def _default_data() -> Path:
    return load_home(os.environ).index


def _open(data: Path | None) -> Database:
    folder = _settings(data=data)[0].data
    if not (folder / DATABASE_NAME).exists():
        raise NotFound(
            f"there is no index in {folder}",
            hint="make one with `market index init`, or name another folder with --data",
        )
    return open_database(folder)


def _check_exposure(settings: IndexSettings, is_anonymous_given: bool) -> None:
    if not is_anonymous_given and not is_loopback(resolve_address(settings.host)):
        raise InvalidInput(
            f"{settings.host} can be reached from other machines, and it isn't said what callers without a token may do",
            hint="add --anonymous read (everybody may browse and install) or --anonymous none (a token for everything)",
        )


def _line(token: TokenSummary) -> str:
    used = f"last used {token.last_used_at}" if token.last_used_at else "never used"
    ends = (
        f"revoked {token.revoked_at}"
        if token.revoked_at
        else f"expires {token.expires_at}"
        if token.expires_at
        else "never expires"
    )
    return f"{token.prefix}...  {token.publisher}  {', '.join(token.scopes)}  {used}, {ends}{f'  ({token.label})' if token.label else ''}"


def _show(value: object, text: str, as_json: bool) -> None:
    click.echo(json.dumps(value) if as_json else text)
