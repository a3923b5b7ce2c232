"""Traced blocks of one pytest process: a marked test, or a block of the fixture."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tracealyze.base.errors import TracealyzeError, UnusableInput, WrongUsage
from tracealyze.capture import tracer
from tracealyze.capture.obstacles import CannotTrace
from tracealyze.compare.gate.budget import Budget, budget_of
from tracealyze.pytest_plugin.attached import Attachment, mark

if TYPE_CHECKING:
    from tracealyze.pytest_plugin.judging import Judgement

_MARK = b'write(-1, "tracealyze:'
"""How strace prints a mark, up to its name."""
_END, _RESUME = b"end:", b"resume;"
"""After the end of an inner block this process counts, until it resumes the outer one."""


@dataclass
class Session:
    """The tracer of this process, and the settings of its blocks."""

    mode: str
    baseline: str | None
    accepts: bool
    folder: str | None
    """Where captures of failed tests are kept."""
    own_threads: set[int] = field(default_factory=set)
    """Threads of pytest and its plugins, and those that count. Their calls are not the test's."""
    _tracer: tracer.Tracer | None = None
    _refusal: TracealyzeError | None = None
    _attached: Attachment | None = None
    _folder: TemporaryDirectory[str] | None = None
    _number: int = 0

    @contextmanager
    def block(self, name: str, budgets: Sequence[str]) -> Iterator[Block]:
        """Attach for the duration of a block, unless an outer block has done so."""
        self._number += 1
        found = Block(self, name, _budgets(budgets), self._number)
        with ExitStack() as stack:
            if self._attached is None:
                self._attached = self._attach()
                stack.callback(self._detach)
            found.capture = self._attached.file
            try:
                yield found
            except BaseException:
                mark(_RESUME)
                raise
            found.text = _lines_of(found.capture, _MARK + found.begin_mark, _MARK + found.end_mark)

    def _attach(self) -> Attachment:
        if self._refusal is None:
            try:
                self._tracer = self._tracer or tracer.find()
                return Attachment(self._tracer, self._place())
            except (CannotTrace, UnusableInput, WrongUsage) as error:
                # What is refused once is refused again: other tests need not try.
                self._refusal = error
        reason = "; ".join(self._refusal.lines)
        if self.mode == "require":
            pytest.fail(f"--syscalls=require: {reason}", pytrace=False)
        pytest.skip(f"syscalls cannot be counted: {reason}")

    @contextmanager
    def counting(self) -> Iterator[None]:
        """What this process does meanwhile is not part of any block, nor are the threads that it starts."""
        before, message = threads(), ""
        try:
            yield
        except TracealyzeError as error:
            message = "\n".join(error.lines)
        finally:
            self.own_threads |= threads() - before
            mark(_RESUME)
        if message:
            pytest.fail(message, pytrace=False)

    def _detach(self) -> None:
        attached, self._attached = self._attached, None
        if attached is not None:
            attached.stop()
            attached.file.unlink(missing_ok=True)

    def _place(self) -> Path:
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="tracealyze-pytest-")
        return Path(self._folder.name) / "trace.strace"

    def kept(self, name: str, text: bytes) -> Path:
        """Store the lines of a block. Each test has one file, which its next failure replaces."""
        slug = re.sub(r"[^A-Za-z0-9.\[\]-]+", "-", name.rpartition("/")[2])[:80]
        digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
        if self.folder is None:
            return self._stored(self._place().with_name(f"{slug}-{digest}.strace"), text)
        return self._stored(Path(self.folder) / f"{slug}-{digest}.strace", text)

    def _stored(self, file: Path, text: bytes) -> Path:
        file.write_bytes(text)
        return file


@dataclass
class Block:
    """A stretch of the trace: from the last beginning to the first end after it. A mapping of counts, once it ended."""

    session: Session
    name: str
    budgets: list[Budget]
    number: int
    capture: Path | None = None
    text: bytes = b""
    thread: int = 0
    found: Judgement | None = None

    @property
    def begin_mark(self) -> bytes:
        """The text of the call before the block."""
        return b"begin:%d;" % self.number

    @property
    def end_mark(self) -> bytes:
        """The text of the call after it."""
        return b"end:%d;" % self.number

    def begin(self) -> None:
        """The block begins now, even if it began before."""
        self.thread = threading.get_native_id()
        mark(self.begin_mark)

    def end(self) -> None:
        """The block ends here, unless it ended before."""
        mark(self.end_mark)

    def judge(self) -> None:
        """Count, and fail the test if a budget or the baseline is exceeded."""
        session = self.session
        with session.counting():
            from tracealyze.pytest_plugin.judging import Limits, judged

            file = session.kept(self.name, self.text)
            limits = Limits(self.budgets, session.baseline, session.accepts)
            self.found = judged(self.name, file, session.own_threads - {self.thread}, limits)
            failure = self.found.failure if session.mode != "report" else ""
            if not failure:
                file.unlink(missing_ok=True)
        if failure:
            pytest.fail(failure, pytrace=False)

    def __getitem__(self, metric: str) -> int:
        """The count of a metric such as `opens` or `calls[openat, ENOENT]`."""
        if self.found is None:
            raise WrongUsage(f'"{metric}" is known after the block.')
        return self.found.counts.value_of(metric)

    def __repr__(self) -> str:
        counts = self.found.shown if self.found else {}
        return f"<syscalls: {', '.join(f'{name} {value}' for name, value in counts.items()) or 'not known yet'}>"


def _budgets(texts: Sequence[object]) -> list[Budget]:
    try:
        return [budget_of(_text(each)) for each in texts]
    except WrongUsage as error:
        message = str(error)
    pytest.fail(message, pytrace=False)


def _text(budget: object) -> str:
    if not isinstance(budget, str):
        raise WrongUsage(f'a budget is a text such as "opens <= 40", not {budget!r}.')
    return budget


def threads() -> set[int]:
    """The ids of the threads of this process."""
    with suppress(OSError):
        return set(map(int, os.listdir("/proc/self/task")))
    return set()


def _lines_of(file: Path, begin: bytes, end: bytes) -> bytes:
    """The lines after the last beginning and up to the first end, without marks and what follows inner blocks."""
    with file.open("rb", buffering=0) as opened:
        # Up to the size at this moment: while this process is traced, each read adds a line.
        text = opened.read(file.stat().st_size)
    start = max(0, text.rfind(begin))
    stop = text.find(end, start)
    return b"".join(_kept_parts(text[start : stop if stop >= 0 else len(text)]))


def _kept_parts(text: bytes) -> Iterator[bytes]:
    """The lines without those of marks, and without those from the end of an inner block until it is counted."""
    at = _after_line(text, 0)
    while (found := text.find(_MARK, at)) >= 0:
        yield text[at : text.rfind(b"\n", at, found) + 1 or at]
        if text.startswith(_END, found + len(_MARK)):
            found = text.find(_MARK + _RESUME, found)
        at = _after_line(text, found) if found >= 0 else len(text)
    yield text[at : text.rfind(b"\n", at) + 1 or at]


def _after_line(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    return end + 1 if end >= 0 else len(text)
