"""Rules about wheels: rows of (id, severity, sentence, fix) for `market.pack.rules`."""

from __future__ import annotations

# fmt: off

Row = tuple[str, str, str, str]

_REBUILD = "build the wheel again with `uv build`"

WHEEL_RULES: tuple[Row, ...] = (
    ("wheel-name", "error", "a wheel's file is named NAME-VERSION-TAGS.whl, and tools believe that name",
     "give it the name that it was built with"),
    ("wheel-dist-info", "error", "a wheel describes itself in exactly one folder NAME-VERSION.dist-info", _REBUILD),
    ("wheel-file", "error", "the file WHEEL says which form of wheel this is; only form 1 is known", _REBUILD),
    ("wheel-metadata", "error", "name, version and what it depends on are read from METADATA", "correct pyproject.toml and build it again"),
    ("wheel-name-differs", "error", "file name, .dist-info folder and METADATA name one release, or tools disagree about what this is",
     _REBUILD),
    ("wheel-tags-differ", "error",
     "pip and uv go by the tags in the file's name, Market by those in the file WHEEL: where they differ, one of the two is misled",
     _REBUILD),
    ("wheel-group", "error", "only a wheel that declares the entry-point group `market.skills` is a pack",
     'add [project.entry-points."market.skills"] to pyproject.toml'),
    ("wheel-entry-points", "error", "only what every reader of entry_points.txt takes for the same says which code is loaded", _REBUILD),
    ("wheel-entry-module", "error", "the entry point is where the plugin is loaded from, so its module is in the wheel itself",
     "correct the module's name in pyproject.toml, or ship the module"),
    ("wheel-other-groups", "warning",
     "a wheel pack runs in a process of its own, where nobody looks for these entry points", "remove them"),
    ("wheel-record", "error", "RECORD names every file with its true size and sha256; what it doesn't say wasn't built", _REBUILD),
    ("wheel-pth", "error", "a .pth file runs code at every start of Python", "leave it out"),
    ("wheel-data", "error", "a .data folder spreads files outside the package", "ship the files inside the package"),
    ("wheel-bytecode", "error", "compiled bytecode can differ from the source that is reviewed", "ship the source only"),
    ("wheel-top-file", "error", "at its top a wheel has packages, modules and its .dist-info folder",
     "move the file into the package"),
    ("wheel-hidden", "error", "a name with a leading dot at the top is kept for what Market puts beside the package",
     "move it into the package"),
    ("wheel-site", "error",
     "a worker imports what lies in .site, and no RECORD speaks of it: only what Market fetched itself may lie there",
     "name it under dependencies in pyproject.toml; of an installed pack `market archive NAME` takes what is the author's"),
    ("wheel-shadows", "error", "a module of that name would take the place of Python's own or the host's",
     "rename the package"),
    ("wheel-dependency-url", "error",
     "a dependency is fetched from the configured package index, never from an address or a file that the wheel names",
     "depend on a released version"),
    ("wheel-code-missing", "error",
     "a skill that is declared and not there fails at its first call", "write the function, or correct the entry in skill.json"),
    ("wheel-code-folders", "error",
     "what the plugin's market_skills() names and the folders with a manifest are the same, or readers of the one miss what the other has",
     "return exactly the folders that hold a SKILL.md or skill.json"),
    ("wheel-code-start", "error", "its code can't be loaded, so none of its skills can run", "correct what the message names"),
    ("wheel-not-proven", "warning",
     "what its files declare couldn't be held against its code, and installing it here would fail", "check it where it can be started"),
    ("entry-python-form", "error", "a python entry reads python:package.module:function", "write it in this form"),
    ("entry-python-module", "error", "the code of a python skill is in its own wheel", "correct the module's name"),
)
