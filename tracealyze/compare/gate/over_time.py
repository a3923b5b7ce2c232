"""Budgets that must hold in each interval of a capture: a limit on the whole run can hide a bad minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tracealyze.base import units
from tracealyze.compare.gate.judgement import Judgement, Outcome
from tracealyze.compare.gate.regressions import regressions
from tracealyze.compare.gate.verdict import Status, Verdict, lost_lines, notes_on, of_budget
from tracealyze.compare.run import Run
from tracealyze.trace.intervals import intervals, part_of

if TYPE_CHECKING:
    from tracealyze.compare.gate.budget import Budget
    from tracealyze.trace.trace import Trace


def verdict_over_time(trace: Trace, every_ns: int, budgets: Sequence[Budget]) -> Verdict:
    """The verdict on a capture: a budget is broken if one interval breaks it. The first one that does is explained.

    A rest at the end that is shorter than the others counts only for upper limits, as it can only have less."""
    found = intervals(trace, every_ns, with_findings=False)
    whole = Run(trace)
    parts = [(each, Run(part_of(trace, each))) for each in found]
    judgements: list[Judgement] = []
    broken: list[Run] = []
    for budget in budgets:
        is_upper = budget.operator in ("<=", "<")
        judged = [
            (each, run, of_budget(budget, [run], None)) for each, run in parts if is_upper or each.dur_ns == every_ns
        ]
        failed = [each for each in judged if each[2].outcome is Outcome.FAILED]
        if not failed:
            # The interval that is nearest to the limit.
            values = sorted((judgement for *_, judgement in judged), key=lambda judgement: judgement.after)
            judgements.extend(values[-1:] if is_upper else values[:1])
            continue
        interval, run, judgement = failed[0]
        tick_ns = units.S if every_ns % units.S == 0 else trace.tick_ns
        start, end = (units.offset(ns - trace.first_ns, tick_ns) for ns in (interval.start_ns, interval.end_ns))
        why = f"in {len(failed)} of {units.counted(len(judged), 'interval')}, first from {start} to {end}"
        judgements.append(replace(judgement, why="; ".join(filter(None, (why, judgement.why)))))
        broken.append(run)
    failures = [each for each in judgements if each.outcome is Outcome.FAILED]
    return Verdict(
        Status.FAILED if failures else Status.PASSED,
        (whole.path,),
        tuple(judgements),
        notes=tuple(notes_on([whole])),
        lost_lines=lost_lines(whole),
        regressions=tuple(regressions(failures, None, broken[:1] or [whole])),
    )
