from __future__ import annotations

import json
import logging
import logging.config
import sys

from market.web.logs import JsonLines, log_settings


def a_line(**extra: object) -> dict[str, object]:
    record = logging.LogRecord("market.web", logging.INFO, __file__, 1, "did %s", ("x",), None)
    record.__dict__.update(extra)
    values: dict[str, object] = json.loads(JsonLines().format(record))
    return values


def test_line_is_json_with_the_extras_beside_the_message() -> None:
    values = a_line(status=200, path="/ü")
    assert (values["message"], values["level"], values["status"], values["path"]) == ("did x", "info", 200, "/ü")
    assert str(values["time"]).endswith("+00:00")


def test_value_that_json_cannot_hold_is_written_as_text() -> None:
    assert a_line(odd={1, 2})["odd"] == "{1, 2}"


def test_traceback_is_in_the_line() -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "failed", (), sys.exc_info())
    line = JsonLines().format(record)
    assert "\n" not in line
    assert "ValueError: boom" in json.loads(line)["traceback"]


def test_nothing_goes_to_stdout() -> None:
    settings = log_settings()
    assert [handler["stream"] for handler in settings["handlers"].values()] == ["ext://sys.stderr"]
