"""The skill `table_to_csv`: the tables of a Markdown or HTML text. Markdown becomes HTML first, so there is one reader of tables."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from typing import Any

from markdown_it import MarkdownIt


class TableReader(HTMLParser):
    """Collects the rows of every table; one inside a cell of another is text of that cell."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[str]]] = []
        self.depth = 0
        self.cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell."""
        if tag == "table":
            self.depth += 1
        if self.depth != 1:
            return
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.end_cell()
            self.cell = []
        elif tag == "br" and self.cell is not None:
            self.cell.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """End what was begun."""
        if self.depth == 1 and tag in ("td", "th", "tr", "table"):
            self.end_cell()
        if tag == "table" and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        """Take the text of a cell."""
        if self.cell is not None:
            self.cell.append(data)

    def end_cell(self) -> None:
        """Put the cell that is open into its row."""
        if self.cell is None:
            return
        if not self.tables[-1]:
            self.tables[-1].append([])
        lines = (" ".join(line.split()) for line in "".join(self.cell).strip().split("\n"))
        self.tables[-1][-1].append("\n".join(lines))
        self.cell = None


def table_to_csv(params: dict[str, Any]) -> dict[str, Any]:
    """Return one table as CSV, or raise ValueError where there is none of that number."""
    tables = read_tables(params["text"])
    number = params["number"]
    if number > len(tables):
        raise ValueError(f"there is no table {number}: the text has {len(tables)}")
    rows = tables[number - 1]
    out = io.StringIO()
    csv.writer(out, delimiter=params["delimiter"], lineterminator="\n").writerows(rows)
    return {"csv": out.getvalue(), "rows": len(rows), "columns": max(map(len, rows)), "tables": len(tables)}


def read_tables(text: str) -> list[list[list[str]]]:
    """Return the rows of each table in the text that has any."""
    reader = TableReader()
    reader.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    reader.close()
    return [rows for table in reader.tables if (rows := [row for row in table if row])]
