"""The outcome of a run as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a run went."""

    SLOW = "slow"
    """Findings name calls that cost time."""
    FAILED = "failed"
    """It ended with an error."""
    CRASHED = "crashed"
    """A fault of its own code ended it."""
    HUNG = "hung"
    """It waits for something that does not come."""
    BUSY = "busy"
    """It repeats work, or tries without success again and again."""
    FINE = "fine"
    """It ended well, or waits for work."""
    CANNOT_TELL = "cannot-tell"
    """The capture does not show how it went."""

    @property
    def word(self) -> str:
        """The word that begins a report: `CANNOT TELL`."""
        return self.value.replace("-", " ").upper()


class Quoting(str):
    """A sentence that quotes what a program wrote or received. Reports that others will read leave it out."""

    __slots__ = ()


class Describing(str):
    """A sentence that says what the lines are, and not how the run went: times say more."""

    __slots__ = ()


@dataclass(frozen=True)
class Outcome:
    """How a run went, with the lines that show it."""

    verdict: Verdict
    text: str
    """One sentence without a full stop: `python3 exited with status 1`. Empty where the findings say it."""
    details: tuple[str, ...] = ()
    """The sentences that explain it, the most important first."""
    lines: tuple[int, ...] = ()
    """Lines that show it."""
    unseen: str = ""
    """What the capture cannot show of it."""
    next: str = ""
    """One command that shows more."""
    inert: str = ""
    """The same in a few words, without anything that the author of the trace wrote."""
    remark: str = ""
    """The detail that matters even where findings explain the run."""

    @property
    def sentence(self) -> str:
        """The text as a sentence; empty if there is none."""
        # Names of programs keep their case.
        text = f"T{self.text[1:]}" if self.text.startswith("the ") else self.text
        return f"{text}." if text else ""

    def document(self) -> dict[str, object]:
        """The outcome as it appears in JSON."""
        sentences = [self.sentence, *self.details]
        if self.unseen:
            sentences.append(f"Cannot show: {self.unseen}.")
        text = " ".join(filter(None, sentences))
        return {"verdict": self.verdict.value, "text": text, "lines": list(self.lines), "next": self.next}
