"""sql: a statement of DuckDB on the tables of a store."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tracealyze.errors import WrongUsage
from tracealyze.fleet.arrow import Table
from tracealyze.fleet.questions.top import rows_of
from tracealyze.fleet.tables import TABLES

if TYPE_CHECKING:
    from tracealyze.fleet.capture_set import CaptureSet

SCHEMA = "tracealyze.fleet-sql/1"


def sql(fleet: CaptureSet, statement: str, limit: int | None) -> dict[str, Any]:
    """The rows of a query on captures, processes, calls, classes and findings."""
    found = rows(fleet, statement)
    shown = found if limit is None else found.slice(0, limit)
    return {"schema": SCHEMA, "matches": len(found), "rows": rows_of(shown)}


def rows(fleet: CaptureSet, statement: str) -> Table:
    """As an Arrow table. Raises `WrongUsage` for a mistake in the statement."""
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        raise WrongUsage('SQL needs DuckDB; install it with: pip install "tracealyze[sql]".') from error
    with duckdb.connect(config={"autoinstall_known_extensions": False}) as connection:
        for name in TABLES:
            connection.register(name, fleet.scannable(name))
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
