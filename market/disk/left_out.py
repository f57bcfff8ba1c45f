"""Which files of a folder are never part of a pack: the written list, with a reason for each. Looks at names only."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase, translate

VERSION_CONTROL = "version control"
CACHE = "made by programs, not part of the work"
SYSTEM = "written by the operating system"
BACKUP = "an editor's backup"
SECRET = "looks like a secret"
STATE = "Market's own state"
LIST = "says what is left out"

# What no pattern of an author takes back in: readers refuse it, or it is Market's own.
FINAL = frozenset({VERSION_CONTROL, STATE, LIST})

_FOLDERS = {
    ".git": VERSION_CONTROL,
    ".hg": VERSION_CONTROL,
    ".svn": VERSION_CONTROL,
    "__pycache__": CACHE,
    "node_modules": CACHE,
    ".venv": CACHE,
    ".pytest_cache": CACHE,
    ".mypy_cache": CACHE,
    ".ruff_cache": CACHE,
    "__MACOSX": SYSTEM,
    ".market": STATE,
}

# In a submodule or work tree `.git` is a file.
_FILES = (
    (".git", VERSION_CONTROL),
    (".marketignore", LIST),
    ("*.pyc", CACHE),
    ("*.pyo", CACHE),
    (".DS_Store", SYSTEM),
    ("._*", SYSTEM),
    ("Thumbs.db", SYSTEM),
    ("desktop.ini", SYSTEM),
    ("*~", BACKUP),
    ("*.swp", BACKUP),
    ("*.swo", BACKUP),
    (".#*", BACKUP),
    ("#*#", BACKUP),
    ("*.orig", BACKUP),
    ("*.bak", BACKUP),
    (".env", SECRET),
    (".env.*", SECRET),
    ("id_rsa", SECRET),
    ("id_dsa", SECRET),
    ("id_ecdsa", SECRET),
    ("id_ed25519", SECRET),
    ("*.pem", SECRET),
    ("*.p12", SECRET),
    ("*.pfx", SECRET),
    (".npmrc", SECRET),
    (".pypirc", SECRET),
    (".netrc", SECRET),
)

# Most names match nothing, and there are many: one look decides.
_ANY_FILE = re.compile("|".join(translate(pattern) for pattern, _ in _FILES))
_SHARED_EXAMPLES = frozenset({".env.example", ".env.sample", ".env.template"})


def why_left_out(name: str, *, is_directory: bool) -> str:
    """Return the reason why an entry of this name doesn't go into a pack, or an empty text where it does.

    >>> why_left_out(".env", is_directory=False)
    'looks like a secret'
    >>> why_left_out("notes.md", is_directory=False)
    ''
    """
    if is_directory:
        return _FOLDERS.get(name, "")
    if name in _SHARED_EXAMPLES or not _ANY_FILE.match(name):
        return ""
    return next((why for pattern, why in _FILES if fnmatchcase(name, pattern)), "")


def why_ignored(name: str, *, is_directory: bool) -> str:
    """Return the reason why an entry of an installed tree isn't looked at, or an empty text.

    Shorter than the author's list: what somebody adds to an installed pack is an edit and is shown.
    """
    why = why_left_out(name, is_directory=is_directory)
    return why if is_directory or why in (CACHE, SYSTEM) else ""
