"""A store as Python sees it: tables, and the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracealyze.fleet.capture_set import CaptureSet

if TYPE_CHECKING:
    from tracealyze.trace.trace import Trace


class Fleet(CaptureSet):
    """The captures of a store, or a selection of them.

    captures, table(name)                tables as pyarrow tables: captures, processes, calls, classes, findings
    dataset(name)                        the same as a pyarrow dataset, for DuckDB, polars and others
    to_pandas(name)                      the same as a DataFrame
    where(condition)                     the captures that meet a condition on their columns and labels
    top(), like(capture), trend(over)    answers as dictionaries, as the command line prints them with --json
    compare(before, after), outliers(within), failures(), query(table, condition)

        >>> import tracealyze
        >>> fleet = tracealyze.Fleet("store")  # doctest: +SKIP
        >>> fleet.where('version == "4.1"').top(by="rule")  # doctest: +SKIP
    """

    def _repr_html_(self) -> str:
        from tracealyze.model.html_tables import element, in_notebook, table_element

        statuses = self.texts("status")
        numbers = [int((statuses.codes == code).sum()) for code in range(len(statuses.names))]
        rows = sorted(([name, number] for name, number in zip(statuses.names, numbers, strict=True)), key=str)
        overview = element("p", repr(self)[1:-1], class_="remark")
        labels = element("p", f"Labels: {', '.join(self.labels()) or 'none'}", class_="remark")
        table = table_element(["status", "captures"], rows, len(rows), {"captures": "count"})
        return in_notebook(overview + table + labels)

    def top(self, by: str = "fingerprint", limit: int = 20) -> dict[str, Any]:
        """What occurs in how many captures, the most time first."""
        from tracealyze.fleet.questions import top

        return top.top(self, by, limit)

    def like(self, trace: Trace, limit: int = 10) -> dict[str, Any]:
        """The captures with the most similar causes."""
        from tracealyze.fleet.questions import like

        return like.like(self, trace, limit)

    def trend(self, over: str = "version", limit: int = 20) -> dict[str, Any]:
        """Causes that changed from one version or day to the next."""
        from tracealyze.fleet.questions import trend

        return trend.trend(self, over, limit)

    def compare(self, before: str, after: str, limit: int = 20) -> dict[str, Any]:
        """Causes that differ between two groups of captures, each given by a condition."""
        from tracealyze.fleet.questions import compare

        return compare.compare(self, before, after, limit)

    def outliers(self, within: str | None = None, limit: int = 20) -> dict[str, Any]:
        """Captures whose time went elsewhere than in the others with the same label."""
        from tracealyze.fleet.questions import outliers

        return outliers.outliers(self, within, limit)

    def failures(self, limit: int = 20) -> dict[str, Any]:
        """Captures that could not be read."""
        from tracealyze.fleet.questions import failures

        return failures.failures(self, limit)

    def query(self, table: str, condition: str | None = None, limit: int | None = None) -> dict[str, Any]:
        """Rows of a table that meet a condition on its columns and those of captures."""
        from tracealyze.fleet.questions import query

        return query.query(self, table, condition, limit)
