"""`market host ...`: serve, and the tokens of this host. What the host does is elsewhere."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from market.disk.home import Home, load_home, make_private_directory
from market.host.accounts import Accounts
from market.host.reload import registered_text, reload_host
from market.host.running import announce
from market.host.sessions import hash_secret, new_secret
from market.host.settings import HostSettings, dump_settings, load_host_settings
from market.installer.root import RootList, default_roots
from market.model import Role
from market.registry.links import read_link_targets
from market.web.serve import serve

if TYPE_CHECKING:
    from collections.abc import Sequence

APP = "market.host.app:create"


@click.group("host")
def host_group() -> None:
    """Run the host: the process that holds the skills, runs them under a gate and audits them."""


@host_group.command("serve")
@click.option(
    "--root", "roots", multiple=True, type=click.Path(path_type=Path), help="Directory with skills; may be repeated."
)
@click.option(
    "--link-target",
    "targets",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Directory into which links in the roots may lead; may be repeated.",
)
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks a free one. [default: 8751]")
@click.option("--host", "address", help="Address to listen on. [default: 127.0.0.1]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object when ready.")
def serve_command(
    roots: Sequence[Path], targets: Sequence[Path], port: int | None, address: str | None, as_json: bool
) -> None:
    """Serve the skills of the roots until it is stopped."""
    home = load_home(os.environ)
    settings = load_host_settings(str(home.path), home.config, os.environ, {"port": port, "address": address})
    chosen = choose_roots(roots, home)
    secret = new_secret()
    settings = replace(
        settings,
        roots=tuple(str(path) for path in chosen.paths),
        skipped_roots=tuple(why for _, why in chosen.skipped),
        link_targets=tuple(os.path.abspath(path) for path in targets) or read_link_targets(os.environ),  # noqa: PTH100 - keep the given name
        login_hash=hash_secret(secret),
    )
    make_private_directory(home.path)
    _serve(settings, home, secret, as_json=as_json)


def choose_roots(given: Sequence[Path], home: Home) -> RootList:
    """Return the roots of the command line, made absolute, or those of the environment; the home's own root is created."""
    if given:
        return RootList(tuple(dict.fromkeys(Path(os.path.abspath(path)) for path in given)))  # noqa: PTH100 - keep the given name
    chosen = default_roots(os.environ, home)
    if home.skills in chosen.paths:
        home.skills.mkdir(parents=True, exist_ok=True)
    return chosen


def _serve(settings: HostSettings, home: Home, secret: str, *, as_json: bool) -> None:
    with announce(home) as announced:

        def ready(url: str) -> None:
            announced.write(url, settings.roots)
            values = {
                "url": url,
                "pid": os.getpid(),
                "roots": list(settings.roots),
                "login_url": f"{url}/login?token={secret}",
            }
            click.echo(json.dumps(values) if as_json else _ready_text(values))

        serve(
            APP,
            dump_settings(settings),
            host=settings.address,
            port=settings.port,
            ready=ready,
            log_level=settings.log_level,
            stop_grace_seconds=settings.stop_grace_seconds,
        )


def _ready_text(values: dict[str, Any]) -> str:
    roots = ", ".join(values["roots"])
    return f"market host ready at {values['url']} (roots: {roots})\nsign in once with {values['login_url']}"


@host_group.command("reload")
@click.option("--host", "url", default="", help="The host's URL. [default: the one that runs here]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def reload_command(url: str, as_json: bool) -> None:
    """Have a running host look again: at every file of its roots, and for plugin packs in its own environment."""
    values = reload_host(load_home(os.environ), os.environ, url)
    text = f"{registered_text(values['skills'])} at {values['url']} (looked for {values['duration_ms']:.0f} ms)"
    click.echo(json.dumps(values) if as_json else text)


@host_group.group("token")
def token_group() -> None:
    """Tokens with which people, agents and commands use this host."""


@token_group.command("create")
@click.option(
    "--role",
    type=click.Choice([Role.ADMIN.value, Role.USER.value, Role.VIEWER.value]),
    required=True,
    help="What it may do.",
)
@click.option("--name", required=True, help="Whose it is; shown in the audit log.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def create_command(role: str, name: str, as_json: bool) -> None:
    """Make a token. It is shown once, works at once, and is stored as a hash."""
    token, account = _accounts().create(Role(role), name)
    values = {
        "token": token,
        "role": account.role,
        "name": account.name,
        "prefix": account.prefix,
        "user_id": account.user_id,
    }
    if as_json:
        click.echo(json.dumps(values))
        return
    # The token alone on stdout, so that `TOKEN=$(...)` holds nothing else.
    click.echo(token)
    click.echo(f"the token of {account.name!r} with the role {account.role}; it isn't shown again", err=True)


@token_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_command(as_json: bool) -> None:
    """List the tokens, without the tokens themselves."""
    rows = _accounts().rows()
    fields = ("prefix", "role", "name", "user_id", "created_at")
    if as_json:
        click.echo(
            json.dumps(
                {"items": [{field: getattr(row, field) for field in fields} for row in rows], "total": len(rows)}
            )
        )
        return
    for row in rows:
        click.echo(f"{row.prefix}…  {row.role:<7} {row.name}  (user {row.user_id}, {row.created_at})")
    if not rows:
        click.echo("there are no tokens yet; `market host serve` makes the admin's, `market host token create` others")


@token_group.command("revoke")
@click.argument("prefix")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def revoke_command(prefix: str, as_json: bool) -> None:
    """Revoke the token whose first characters are PREFIX; a running host refuses it at once."""
    account = _accounts().revoke(prefix)
    values = {"prefix": account.prefix, "name": account.name, "role": account.role, "revoked": True}
    click.echo(json.dumps(values) if as_json else f"revoked the token {account.prefix}… of {account.name!r}")


def _accounts() -> Accounts:
    return Accounts(load_home(os.environ).host_tokens)
