"""sql: a statement of DuckDB on the tables of a store."""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tracealyze.base.errors import WrongUsage
from tracealyze.fleet.arrow import Table, dataset
from tracealyze.fleet.capture_set import SHOWN
from tracealyze.fleet.questions.top import rows_of
from tracealyze.fleet.tables import TABLES

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-sql/1"


def sql(fleet: CaptureSet, statement: str, limit: int | None) -> dict[str, Any]:
    """The rows of a query on captures, processes, calls, classes and findings."""
    found = rows(fleet, statement)
    shown = found if limit is None else found.slice(0, limit)
    documents = [{name: _plain(value) for name, value in row.items()} for row in rows_of(shown)]
    return {"schema": SCHEMA, "matches": len(found), "rows": documents}


def _plain(value: object) -> object:
    """DuckDB sums integers in 128 bits, which arrive as decimals."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def rows(fleet: CaptureSet, statement: str) -> Table:
    """As an Arrow table. Raises `WrongUsage` for a mistake in the statement."""
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        raise WrongUsage('SQL needs DuckDB; install it with: pip install "tracealyze[sql]".') from error
    with duckdb.connect(config={"autoinstall_known_extensions": False}) as connection:
        for name in TABLES:
            _register(connection, fleet, name)
        # The statement sees the tables only: no file, no network.
        connection.execute("SET enable_external_access = false")
        try:
            relation = connection.sql(statement)
            result: Table | None = None if relation is None else relation.to_arrow_table()
        except duckdb.Error as error:
            raise WrongUsage(f"SQL: {error}") from error
    if result is None:
        raise WrongUsage("SQL: the statement has no rows; use SELECT.")
    return result


def _register(connection: Any, fleet: CaptureSet, name: str) -> None:
    """Let statements name a table. Captures have a column per label, which is computed only if a statement needs it."""
    rows = fleet.scannable(name)
    if name != "captures" or not isinstance(rows, dataset.Dataset):
        connection.register(name, rows)
        return
    connection.register("stored_captures", rows)
    labels = (f"""labels['{label.replace("'", "''")}'] AS {_quoted(label)}""" for label in fleet.labels())
    columns = ", ".join([*map(_quoted, SHOWN), *labels])
    connection.execute(f"CREATE VIEW captures AS SELECT {columns} FROM stored_captures")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
