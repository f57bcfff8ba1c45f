"""What a child sees of the host's variables."""

from __future__ import annotations

import pytest

from market.run.environment import child_environment, is_forwardable

HOST = {"PATH": "/bin", "HOME": "/root", "LD_PRELOAD": "x.so", "MARKET_TOKEN": "skm_x", "EMPTY": ""}


def test_an_empty_list_gives_an_empty_environment() -> None:
    assert child_environment([], HOST) == {}


def test_named_variables_are_forwarded_and_unset_ones_stay_unset() -> None:
    assert child_environment([" HOME ", "", "EMPTY", "NOT_SET", "HOME"], HOST) == {"HOME": "/root", "EMPTY": ""}


@pytest.mark.parametrize(
    "name",
    ["LD_PRELOAD", "ld_preload", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "BASH_FUNC_x%%", "GCONV_PATH", "MARKET_TOKEN", "MARKET_HOST_TOKEN", "A=B", "A\0", ""],
)
def test_loader_variables_and_our_own_are_never_forwarded(name: str) -> None:
    assert not is_forwardable(name)
    assert child_environment([name], {name: "x"}) == {}
