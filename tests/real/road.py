"""One folder's walk over the road, command by command, as its author and then an operator would type them."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.cli.main import run
from market.cli.market import open_market

if TYPE_CHECKING:
    from market.client.host_client import HostClient
    from tests.flows.processes import World
    from tests.real.corpus import Published

VERSION = "1.0.0"


@dataclass(frozen=True)
class Walked:
    """How far a folder came: `refused` names rule and line of each problem that stopped it, empty when it was installed.

    `state` is what the running host said of its skill before it was uninstalled again.
    """

    refused: tuple[tuple[str, int], ...]
    version: str = ""
    tree_digest: str = ""
    state: str = ""


def walk(world: World, host: HostClient, folder: Published) -> Walked:
    """Check, archive, publish and install one folder, ask the host, and uninstall it: collections repeat their skills' names.

    What the check says must be what the other steps say.
    """
    given = ("--name", folder.pack_name, "--version", VERSION)
    code, checked = _market(world, "check", str(folder.path), *given)
    problems = checked["items"][0]["problems"] if "items" in checked else checked["error"]["problems"]
    stopping = tuple(sorted({(row["rule"], row["line"]) for row in problems if row["severity"] != "warning"}))
    published_code, published = _market(world, "publish", str(folder.path), *given)
    assert (code == 0) == (published_code == 0) == (not stopping), (folder.key, checked, published)
    if stopping:
        return Walked(stopping)
    archived = _good(world, "archive", str(folder.path), *given, "-o", str(world.home / f"{folder.pack_name}.zip"))
    installed = _good(world, "install", folder.pack_name)["items"][0]
    assert archived["tree_digest"] == installed["tree_digest"], (folder.key, archived, installed)
    states = {skill.state for skill in host.skills(folder.pack_name) if skill.version == installed["version"]}
    _good(world, "uninstall", folder.pack_name)
    assert not host.skills(folder.pack_name), folder.key
    return Walked((), installed["version"], installed["tree_digest"], " ".join(sorted(states)))


def _good(world: World, *arguments: str) -> Any:
    code, answer = _market(world, *arguments)
    assert code == 0, (arguments, answer)
    return answer


def _market(world: World, *arguments: str) -> tuple[int, Any]:
    """Run a command in this process, which saves a start-up of the interpreter for each of its thousands of runs."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run([*arguments, "--json"], obj=open_market(world.environment))
    return code, json.loads(out.getvalue())
