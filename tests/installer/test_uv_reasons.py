"""What uv says, sorted by what the reader can do: real uv against wheels that can't go together, and against no index at all."""

from __future__ import annotations

import io
import os
from pathlib import Path, PurePath

import pytest

from market.errors import InvalidInput, MarketError, Unavailable
from market.installer.dependencies import DependencyTerms
from market.installer.receipt import Origin
from market.installer.uv_reasons import explain_uv
from market.installer.wheels import acquire_wheel
from tests.index.wheels import an_sdist
from tests.wheels import a_code_wheel, a_wheel, write_wheel

WORK = PurePath("/scratch/market-uv-1")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("error: No solution found when resolving dependencies cause: Because only cc<=2 is available", InvalidInput),
        ("x No solution found when resolving dependencies: Because cc has no usable wheels", InvalidInput),
        ("error: Couldn't parse requirement in `-` at position 0", InvalidInput),
        ("No solution found when resolving dependencies ... hint: Packages were unavailable because the network was disabled.", Unavailable),
        ("No solution found when resolving dependencies ... hint: An index URL (x) could not be queried due to a lack of valid", Unavailable),
        ("No solution found when resolving dependencies ... hint: An index (x) returned a 403 Forbidden error.", Unavailable),
        ("error: Failed to fetch: x cause: tcp connect error", Unavailable),
        ("", Unavailable),
    ],
)  # fmt: skip
def test_only_an_index_that_can_t_be_asked_is_unavailable(said: str, kind: type[MarketError]) -> None:
    error = explain_uv("demo", ["cc>=3", "dd"], said, WORK)
    assert (type(error), error.why) == (kind, said)
    assert "demo" in error.message and "cc>=3, dd" in error.message and error.hint


def test_where_a_package_is_unknown_the_index_may_be_the_wrong_one() -> None:
    said = "No solution found when resolving dependencies: Because {} and you require cc"
    assert "UV_DEFAULT_INDEX" in explain_uv("demo", ["cc"], said.format("cc was not found in the package registry"), WORK).hint
    assert "author" in explain_uv("demo", ["cc"], said.format("only cc<2 is available"), WORK).hint


def test_a_full_disk_is_no_fault_of_an_index() -> None:
    for said in ("error: Failed to install: x.whl cause: No space left on device (os error 28)", "Disk quota exceeded (os error 122)"):
        error = explain_uv("demo", ["cc"], said, WORK)
        assert type(error) is Unavailable
        assert "/scratch" in error.hint and "UV_CACHE_DIR" in error.hint
        assert "index" not in error.hint and "--no-deps" not in error.hint


def test_what_a_lock_pins_can_t_be_left_out() -> None:
    for said in ("No solution found when resolving dependencies", "tcp connect error"):
        assert "--no-deps" in explain_uv("demo", ["cc"], said, WORK).hint
        assert "--no-deps" not in explain_uv("demo", ["cc"], said, WORK, can_be_left_out=False).hint


@pytest.mark.flow
@pytest.mark.parametrize(
    ("requires", "kind", "cause"),
    [
        (("zz-one", "zz-two"), InvalidInput, "zz-base<2"),
        (("zz-base>=9",), InvalidInput, "only zz-base<=2.0.0 is available"),
        (("zz-source",), InvalidInput, "has no usable wheels"),
        (("zz-later",), InvalidInput, "Python >=3.99"),
        (("zz-windows",), InvalidInput, "win_amd64"),
        (("zz-absent",), Unavailable, "Connection refused"),
    ],
)
def test_what_real_uv_says_is_kept_and_sorted(
    tmp_path: Path, requires: tuple[str, ...], kind: type[MarketError], cause: str
) -> None:
    house = tmp_path / "house"
    for name, version, options in (
        ("zz-one", "1.0.0", {"requires": ("zz-base>=2",)}),
        ("zz-two", "1.0.0", {"requires": ("zz-base<2",)}),
        ("zz-base", "1.0.0", {}),
        ("zz-base", "2.0.0", {}),
        ("zz-later", "1.0.0", {"metadata": "Requires-Python: >=3.99\n"}),
        ("zz-windows", "1.0.0", {"tag": "py3-none-win_amd64"}),
    ):
        content = a_wheel({"zz.py": ""}, name=name, version=version, entry_points="", **options)
        write_wheel(house, content, name, version, str(options.get("tag", "py3-none-any")))
    (house / "zz_source-1.0.0.tar.gz").write_bytes(an_sdist(name="zz-source"))
    environ = {**os.environ, "UV_NO_CACHE": "1", "UV_FIND_LINKS": str(house), "UV_HTTP_RETRIES": "0"}
    environ |= {"UV_OFFLINE": "1"} if kind is InvalidInput else {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple"}
    with pytest.raises(MarketError) as caught:
        acquire_wheel(io.BytesIO(a_code_wheel(requires=requires)), "", Origin("archive", "x"), DependencyTerms(environ))
    assert (type(caught.value), cause in caught.value.why) == (kind, True), caught.value.why
