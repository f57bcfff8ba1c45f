"""Every command with the module that holds it and the line that `market --help` shows: help loads no command."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: its name, its line of help, and the module below `market.cli.commands`."""

    name: str
    line: str
    module: str


def _entry(name: str, line: str, module: str = "") -> Entry:
    return Entry(name, line, module or name)


SECTIONS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Make and publish packs",
        (
            _entry("new", "Start a pack in a new folder.", "new_pack"),
            _entry("check", "Check packs as publish, the index and install do."),
            _entry("archive", "Make an archive of a folder or of an installed pack."),
            _entry("publish", "Publish folders and wheels to an index."),
            _entry("upload", "Send an archive to an index or into a running host."),
            _entry("yank", "Hide a release from all who don't name it."),
            _entry("unyank", "Take a yank back."),
            _entry("schema", "Print the JSON Schema of skill.json or pack.yaml."),
        ),
    ),
    (
        "Find packs",
        (
            _entry("search", "Search an index."),
            _entry("browse", "List an index's packs and print its page."),
            _entry("show", "Show a pack with its releases and skills."),
        ),
    ),
    (
        "Install packs",
        (
            _entry("install", "Install packs from an index, a folder or an archive."),
            _entry("upgrade", "Upgrade installed packs to the newest release."),
            _entry("list", "List what is installed.", "list_packs"),
            _entry("uninstall", "Uninstall packs."),
            _entry("rollback", "Go back to the release before, without a network."),
            _entry("enable", "Switch packs or skills on again."),
            _entry("disable", "Switch packs or skills off."),
            _entry("pin", "Hold a pack at a version."),
            _entry("why", "Say why a pack stands here as it does."),
            _entry("outdated", "Ask the indexes for newer releases."),
            _entry("verify", "Read every byte against the receipts, or accept edits."),
            _entry("doctor", "Look for what is wrong, and put right what is safe."),
            _entry("lock", "Write market.lock: exactly what is installed."),
            _entry("sync", "Make a root equal market.lock."),
            _entry("export", "Put packs and what they require into one file.", "export_packs"),
            _entry("import", "Install the packs of such a file, without a network.", "import_packs"),
        ),
    ),
    (
        "Run skills",
        (
            _entry("run", "Run a skill here or in a running host."),
            _entry("audit", "Show the calls made on this machine."),
        ),
    ),
    (
        "Accounts",
        (
            _entry("login", "Store a token for an index."),
            _entry("logout", "Forget the token of an index."),
            _entry("whoami", "Show whose token is used."),
        ),
    ),
    (
        "Servers and the rest",
        (
            _entry("index", "Serve an index and look after it.", "index_group"),
            _entry("host", "Serve a host and look after it.", "host_group"),
            _entry("plugins", "List plugins, and switch them off and on.", "plugins_group"),
            _entry("completion", "Print the completion script of a shell."),
        ),
    ),
)
ENTRIES = {entry.name: entry for _, entries in SECTIONS for entry in entries}
ALIASES = {"update": "upgrade", "remove": "uninstall", "validate": "check", "info": "show"}
