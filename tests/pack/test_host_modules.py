"""The modules that no wheel may bring again are those that the host's own environment has."""

from __future__ import annotations

import re
import sys
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from market.pack.host_modules import HOST_MODULES
from market.pack.wheel_tree import check_wheel_tree

DISTRIBUTION = "skill-market"
NOT_SHIPPED = "dev"
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[\w-]+)*\.(?:py|so|pyd)", re.ASCII)


def installed_closure() -> set[str]:
    """Every distribution that all extras of ours together install here."""
    extras = [extra for extra in metadata.metadata(DISTRIBUTION).get_all("Provides-Extra", []) if extra != NOT_SHIPPED]
    todo = [(DISTRIBUTION, extra) for extra in ("", *extras)]
    seen: set[tuple[str, str]] = set()
    while todo:
        name, extra = one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        for row in metadata.requires(name) or ():
            required = Requirement(row)
            if required.marker is None or required.marker.evaluate({"extra": extra}):
                todo += [(canonicalize_name(required.name), wanted) for wanted in ("", *required.extras)]
    return {name for name, _ in seen} - {DISTRIBUTION}


def top_modules(distribution: str) -> set[str]:
    """The modules at the top of a distribution; mypyc's, whose names are a hash, are nobody's to take."""
    paths = [str(path) for path in metadata.files(distribution) or ()]
    tops = {top for path in paths if (top := path.partition("/")[0]).isidentifier() and "/" in path}
    modules = {path.partition(".")[0] for path in paths if "/" not in path and _MODULE.fullmatch(path)}
    return {name for name in tops | modules if "__mypyc" not in name and name != "__pycache__"}


@pytest.mark.flow
def test_every_module_of_what_the_extras_install_is_on_the_list() -> None:
    closure = installed_closure()
    assert {"urllib3", "attrs", "starlette", "uvloop"} <= closure
    found = {module.lower() for name in closure for module in top_modules(name)}
    assert "attr" in found  # of the distribution `attrs`: names of modules aren't names of distributions
    assert sorted(found - HOST_MODULES - sys.stdlib_module_names) == []


@pytest.mark.parametrize("module", ["urllib3", "typing_extensions", "Rpds", "attr"])
def test_what_the_hosts_libraries_import_is_refused_too(module: str) -> None:
    problems = list(check_wheel_tree([f"{module}/__init__.py"]))
    assert [problem.rule for problem in problems] == ["wheel-shadows"]
