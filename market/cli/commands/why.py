"""`market why`: why a pack stands here as it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from market.cli.command import command
from market.cli.composed import composition_fields
from market.cli.roots import chosen_roots, root_option
from market.cli.standing import find_standings
from market.cli.standing_row import group_lost
from market.errors import NotFound
from market.installer.disabled import load_disabled
from market.installer.pins import load_pins
from market.installer.requirers import find_requirers
from market.names import parse_pack_name
from market.registry.live import SOURCE_PLUGIN, SOURCE_WORKSPACE

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.cli.standing_row import PackStanding


_UNKNOWN_ORIGINS = {
    SOURCE_WORKSPACE: "nobody knows: Market didn't install it",
    SOURCE_PLUGIN: "pip, which put it into the environment of this Python or of a host; Market didn't install it",
}


@command("why")
@click.argument("name")
@root_option
def why(market: Market, output: Output, name: str, roots: tuple[str, ...]) -> None:
    r"""Say where a pack came from, when, with which Python dependencies, who requires it, whether it is pinned, edited or disabled.

    Also which releases are kept before it.

    \b
    Examples:
      market why my-pack
    """
    wanted = str(parse_pack_name(name))
    chosen = chosen_roots(market, roots)
    rows = [
        row for row in find_standings(market, chosen, with_environment=not roots)[0] if wanted in (row.name, row.pack)
    ]
    if not rows:
        looked = ", ".join(str(root.path) for root in chosen) or "no root: none exists yet"
        raise NotFound(f"no pack {wanted!r} stands here", why=f"looked in {looked}", hint="see `market list`")
    items = [_document(row) for row in rows]
    output.answer({"items": items, "total": len(items)}, [line for item in items for line in _lines(item)])


def _document(row: PackStanding) -> dict[str, Any]:
    receipt, pin = row.receipt, load_pins(row.root).get(row.pack)
    off = load_disabled(row.root).targets
    accepted = receipt.accepted if receipt else None
    return {
        "name": row.pack if row.source == SOURCE_PLUGIN else row.name,
        "root": str(row.root.path),
        "state": row.state,
        "version": row.version,
        "source": row.source,
        "publisher": receipt.publisher if receipt else "",
        "origin": f"{receipt.origin.kind} {receipt.origin.location}" if receipt else "",
        "index": receipt.origin.index if receipt else "",
        "installed_at": receipt.installed_at.isoformat() if receipt else "",
        "tree_digest": receipt.tree_digest if receipt else "",
        "archive_digest": receipt.archive_digest if receipt else "",
        "required_by": [{"name": other, "requires": str(text)} for other, text in find_requirers(row.root, row.pack)],
        "pinned": pin.version.text if pin else "",
        "reason": pin.reason if pin else "",
        **composition_fields(receipt.composition if receipt else None),
        "disabled": sorted(one.skill or row.name for one in off if one.unit == row.name),
        "edited_files": list(row.edited_files),
        "accepted_at": accepted.at.isoformat() if accepted else "",
        "not_loaded": [{"name": name, "reason": reason} for name, reason in row.not_loaded],
        "lacks": [{"text": text, "fix": fix} for text, fix in row.lacks],
        "kept": [one.version.text for one in receipt.earlier] if receipt else [],
        "skills": [{"key": key, "state": state} for key, state in row.skills],
    }


def _lines(item: dict[str, Any]) -> list[str]:
    wanted = ", ".join(f"{one['name']} (as {one['requires']})" for one in item["required_by"])
    facts = {
        "from": item["origin"] or _UNKNOWN_ORIGINS.get(item["source"], ""),
        "index": item["index"],
        "publisher": item["publisher"],
        "installed": item["installed_at"],
        "tree": item["tree_digest"],
        "with": ", ".join(f"{one['name']} {one['version']}" for one in item["dependencies"]),
        "without": f"{', '.join(item['left_out'])} (--no-deps)" if item["left_out"] else "",
        "required by": wanted or ("no other pack" if item["origin"] else ""),
        "pinned": f"to {item['pinned']}: {item['reason']}" if item["pinned"] else "",
        "disabled": ", ".join(item["disabled"]),
        "edited": ", ".join(item["edited_files"]),
        "edits": f"accepted at {item['accepted_at']}" if item["accepted_at"] else "",
        "before it": ", ".join(item["kept"]),
        "skills": ", ".join(f"{one['key']} ({one['state']})" for one in item["skills"]),
        "problems": "; ".join(group_lost((one["name"], one["reason"]) for one in item["not_loaded"])),
        "ineligible": "; ".join(f"{one['text']}: {one['fix']}" for one in item["lacks"]),
    }
    head = f"{item['name']} {item['version']}".rstrip()
    return [
        f"{head} is {item['state']} in {item['root']}",
        *(f"  {label + ':':<13}{value}" for label, value in facts.items() if value),
    ]
