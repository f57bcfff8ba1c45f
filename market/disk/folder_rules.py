"""The rules of a folder on the disk: what can't be part of a pack because of what it is, not of what it says."""

from __future__ import annotations

from market.errors import Problem, Severity

_LINK_FIX = "replace the link by what it points to"

# rule id: severity, what is said, why, what to do
FOLDER_RULES: dict[str, tuple[Severity, str, str, str]] = {
    "folder-link": (
        Severity.WARNING,
        "a link is taken as what it points to",
        "packs hold no links: many systems can't keep them",
        _LINK_FIX,
    ),
    "folder-link-outside": (
        Severity.ERROR,
        "a link leaves the folder",
        "what it points to isn't there on another machine, or isn't yours to give away",
        _LINK_FIX,
    ),
    "folder-link-broken": (
        Severity.ERROR,
        "a link points to nothing",
        "its target is missing, or it leads back to itself",
        "delete the link or correct it",
    ),
    "folder-link-loop": (
        Severity.ERROR,
        "a link leads to a folder above it",
        "following it would never end",
        "delete the link",
    ),
    "folder-special-file": (
        Severity.ERROR,
        "not a regular file",
        "a device, pipe or socket has no content to keep",
        "move it out of the folder",
    ),
    "folder-unreadable": (
        Severity.ERROR,
        "it can't be read",
        "this user may not enter the folder",
        "correct its permissions",
    ),
    "folder-name-encoding": (
        Severity.ERROR,
        "the name is not UTF-8",
        "it can't be written the same way on every system",
        "rename it",
    ),
    "folder-too-deep": (
        Severity.ERROR,
        "folders are nested too deeply",
        "deep trees can't be unpacked everywhere",
        "flatten the folder",
    ),
    "folder-too-many-files": (
        Severity.ERROR,
        "the folder holds too many files",
        "a pack is small enough to be looked through",
        "leave files out",
    ),
    "folder-ignore-file": (
        Severity.ERROR,
        "it can't be read",
        "what it should leave out would be given away",
        "correct it; the syntax is that of .gitignore",
    ),
    "folder-ignored-manifest": (
        Severity.WARNING,
        "a manifest is part of the pack all the same",
        "without its manifest a skill is gone, and nobody would say why",
        "leave out the skill's folder, or correct the pattern",
    ),
}


def folder_problem(rule: str, path: str, text: str = "", *, line: int = 0) -> Problem:
    """Make a problem of a rule above; `text` replaces the rule's own sentence where the finder knows more."""
    severity, sentence, reason, fix = FOLDER_RULES[rule]
    return Problem(rule, severity, text or sentence, path, line, reason=reason, fix=fix)
