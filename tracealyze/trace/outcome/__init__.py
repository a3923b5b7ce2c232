"""How a run went, in one word and a few sentences: SLOW, FAILED, CRASHED, HUNG, BUSY, FINE or CANNOT TELL.

The verdict rests on how the processes ended, on what they printed and what failed last, and on the findings. It is
computed for any capture, of any length, with or without a clock.
"""

from __future__ import annotations

from tracealyze.trace.outcome.observations import Observation, observations
from tracealyze.trace.outcome.outcome import Describing, Outcome, Quoting, Verdict
from tracealyze.trace.outcome.verdicts import outcome_of

__all__ = ["Describing", "Observation", "Outcome", "Quoting", "Verdict", "observations", "outcome_of"]
