"""The top-level modules of the host's own environment, which no wheel may bring again.

In a worker such a module would do no harm; pip-installed beside the host it would take the place of the host's own. A test holds
the list against what the extras of this distribution install.
"""

from __future__ import annotations

# fmt: off
HOST_MODULES = frozenset({
    # Market's own.
    "index", "market",
    # What Python and its installers import by themselves.
    "_distutils_hack", "pip", "pkg_resources", "setuptools", "sitecustomize", "usercustomize",
    # What Market imports, and what that imports in turn.
    "_yaml", "alembic", "anyio", "attr", "attrs", "certifi", "charset_normalizer", "click", "granian", "idna", "jinja2", "jsonschema",
    "jsonschema_specifications", "mako", "markdown_it", "markupsafe", "mdurl", "msgspec", "multipart", "nh3", "packaging", "pathspec",
    "platformdirs", "pluggy", "pygments", "python_multipart", "referencing", "requests", "resolvelib", "rich", "rpds", "sqlalchemy",
    "starlette", "tomlkit", "typing_extensions", "urllib3", "uv", "uvloop", "watchfiles", "yaml",
    # The same on other versions of Python and on other systems, and for the other stores.
    "colorama", "exceptiongroup", "greenlet", "obstore", "psycopg", "psycopg_binary", "sniffio",
})
# fmt: on
