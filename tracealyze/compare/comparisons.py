"""Comparisons of captures for Python: what the commands `diff`, `check` and `scaling` do, with data as the answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from tracealyze.base.errors import WrongUsage, did_you_mean
from tracealyze.model.capture_input.contents import is_source
from tracealyze.trace.trace import Trace, read

if TYPE_CHECKING:
    from tracealyze.compare.diff import Diff
    from tracealyze.compare.gate.verdict import Verdict
    from tracealyze.compare.run import Run
    from tracealyze.compare.scaling import Scaling
    from tracealyze.model.capture_input.contents import Source

Runs: TypeAlias = "Source | Trace | Iterable[Source | Trace]"
"""One capture or several, as paths or as traces. Each is a run."""

_Size = TypeVar("_Size", int, float)


def diff(before: Runs, after: Runs) -> Diff:
    """Compare two captures, or several runs per side by their medians.

    Arguments:
        before, after: A capture as `read` accepts it, a trace, or several of them.

    Returns:
        The changes, by view: `classes`, `processes`, `calls` and `targets`. `document()` is the JSON document of
        `tracealyze diff`, and `to_pandas("calls")` one view as a DataFrame.

    Raises:
        UnusableInput: A capture cannot be read.

    Example:
        >>> import tracealyze
        >>> found = tracealyze.diff("samples/shutdown/before.strace.xz", "samples/shutdown/after.strace.xz")
        >>> [round(wall_ns / 1e9, 2) for wall_ns in found.wall_ns]
        [41.27, 16.6]
        >>> found.to_pandas("processes").argv[0]
        'sleep 5'
    """
    from tracealyze.compare import diff as compare

    return compare.diff(_runs(before), _runs(after))


def check(
    captures: Runs,
    *,
    baseline: str | os.PathLike[str] | None = None,
    base: Runs | None = None,
    budgets: Iterable[str] | str = (),
    fail_on: str | None = None,
) -> Verdict:
    """Check runs of one scenario against budgets and a baseline, as `tracealyze check` does.

    Arguments:
        captures: One run or several, as paths or traces.
        baseline: The baseline file, which `tracealyze check --accept` writes.
        base: Captures to compare with instead of a baseline.
        budgets: Limits such as `"processes <= 40"`.
        fail_on: Lowest severity at which a new finding fails: error, warning, info or never.

    Returns:
        The verdict: `status`, `has_passed` and `judgements`. A failure does not raise an error.

    Raises:
        UnusableInput: A capture cannot be read.
        WrongUsage: A budget is wrong, or the baseline is missing or damaged, or there is a base as well.

    Example:
        >>> import tracealyze
        >>> tracealyze.check("samples/ssh-login/ssh-login.truss", budgets="processes <= 4")
        <Verdict: failed; processes 5, limit 4>
    """
    from tracealyze.compare.gate import baseline_file
    from tracealyze.compare.gate.baseline import baseline_of
    from tracealyze.compare.gate.budget import budget_of
    from tracealyze.compare.gate.new_findings import FailOn
    from tracealyze.compare.gate.verdict import Criteria, verdict

    known = [str(each) for each in FailOn]
    if fail_on is not None and fail_on not in known:
        raise WrongUsage(f'fail_on: no severity "{fail_on}" ({", ".join(known)}).{did_you_mean(fail_on, known)}')
    limits = [budget_of(text) for text in ([budgets] if isinstance(budgets, str) else budgets)]
    if baseline is not None and base is not None:
        raise WrongUsage("check: baseline and base are both what to compare with. Pass one of them.")
    others = _runs(base) if base is not None else []
    accepted = baseline_of(others) if others else baseline_file.read(Path(baseline)) if baseline is not None else None
    criteria = Criteria(
        budgets=limits,
        baseline=accepted,
        baseline_path=os.fspath(baseline) if baseline is not None else "the base" if others else None,
        base=tuple(run.path for run in others),
        fail_on=FailOn.ERROR if fail_on is None else FailOn(fail_on),
        gates_findings=fail_on is not None,
    )
    if not limits and accepted is None and fail_on in (None, FailOn.NEVER):
        raise WrongUsage("check: nothing to check against. Pass a baseline, a base, budgets, or fail_on.")
    return verdict(_runs(captures), criteria)


def scaling(captures: Mapping[_Size, Runs] | Iterable[tuple[_Size, Runs]], *, target_n: float | None = None) -> Scaling:
    """Fit the number of calls as c + a·N^k over captures of several sizes.

    Arguments:
        captures: Size and capture pairs, at least four sizes that span a factor of eight.
        target_n: Predict counts at this size; ten times the largest by default.

    Returns:
        The growth of each kind of call in `rows`, and of all calls in `total`.

    Raises:
        UnusableInput: A capture cannot be read.
        WrongUsage: There are too few sizes, or a size is not above zero.

    Example:
        >>> import tracealyze
        >>> boots = {n: f"samples/boot-devices/boot-{n}.strace.xz" for n in (10, 20, 40, 80)}
        >>> tracealyze.scaling(boots).total.kind
        'between linear and quadratic'
    """
    from tracealyze.compare import scaling as compare

    pairs = list(captures.items() if isinstance(captures, Mapping) else captures)
    for size, _ in pairs:
        if not 0 < size < float("inf"):
            raise WrongUsage(f"scaling: {size} is not a size; sizes are numbers above zero.")
    if target_n is not None and not 0 < target_n < float("inf"):
        raise WrongUsage("scaling: target_n must be above zero.")
    return compare.scaling([(size, run) for size, runs in pairs for run in _runs(runs)], target_n)


def _runs(captures: Runs) -> list[Run]:
    """Each capture as a run. Several runs in one file are several runs."""
    from tracealyze.compare.run import Run

    single = isinstance(captures, Trace) or is_source(captures)
    several: Sequence[Source | Trace] = [captures] if single else list(captures)  # type: ignore[arg-type, list-item]
    if not several:
        raise WrongUsage("no capture: pass a path or a trace.")
    traces = [each if isinstance(each, Trace) else read(each) for each in several]
    return [Run(trace.of_capture(number)) for trace in traces for number in _numbers(trace)]


def _numbers(trace: Trace) -> Iterable[int]:
    """The numbers of the captures that are selected."""
    only = trace.selection.capture
    return range(len(trace.captures)) if only is None else (only,)
