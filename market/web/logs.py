"""A server's log: one JSON object a line on stderr, so that stdout carries the ready line and nothing else."""

from __future__ import annotations

import json
import logging
import logging.config
from datetime import UTC, datetime
from typing import Any

_STANDARD = frozenset(logging.LogRecord("", 0, "", 0, "", None, None).__dict__) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """Writes a record as JSON; what was given as `extra` stands beside `message`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "pid": record.process,
            **{key: value for key, value in record.__dict__.items() if key not in _STANDARD},
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False, default=str)


def log_settings(level: str = "INFO") -> dict[str, Any]:
    """Return the logging configuration (`logging.config.dictConfig`) of a server process. Granian's own chatter starts at warnings."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "market.web.logs.JsonLines"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "stream": "ext://sys.stderr", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {"_granian": {"level": "WARNING"}, "granian.access": {"level": "WARNING"}},
    }
