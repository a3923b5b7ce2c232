"""The pytest plugin: limits on the syscalls that a test makes.

    @pytest.mark.syscalls("opens <= 40", "processes == 0")
    def test_of_the_parser(): ...

A marked test runs under strace, which is attached to this process for the duration of its call. Without a mark and
without the fixture, nothing is traced, and nothing of tracealyze but this file is imported.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracealyze.pytest_plugin.session import Block, Session

# The fixtures of pytest-benchmark and pytest-codspeed.
_BENCHMARKS = ("benchmark", "codspeed_benchmark")
MODES = ("auto", "require", "off", "report")

_MARKER = (
    "syscalls(*budgets): run the test under strace, and fail it if it exceeds a budget such as 'opens <= 40' "
    "(tracealyze check --metrics lists the metrics). Without budgets, it is compared with the --syscalls-baseline."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("tracealyze", "limits on system calls (tracealyze)")
    group.addoption(
        "--syscalls",
        choices=MODES,
        default="auto",
        help="Marked tests: auto skips them where tracing is refused, require fails them, off runs them untraced, "
        "report shows their counts and never fails them.",
    )
    group.addoption(
        "--syscalls-baseline",
        metavar="FILE",
        help="Also compare marked tests with the counts in this file.",
    )
    group.addoption(
        "--syscalls-accept",
        action="store_true",
        help="Write the counts of the marked tests that run to the --syscalls-baseline, instead of comparing.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, check the options, and note the threads that are not of tests, such as pytest-xdist's."""
    config.addinivalue_line("markers", _MARKER)
    config.stash.setdefault(_THREADS, _threads())
    if config.getoption("--syscalls-accept") and not config.getoption("--syscalls-baseline"):
        raise pytest.UsageError("--syscalls-accept: name the file to write with --syscalls-baseline FILE.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Trace a marked test while it is called."""
    mark = item.get_closest_marker("syscalls")
    if mark is None or item.config.getoption("--syscalls") == "off":
        return (yield)
    _must_be_comparable(item.config, mark.args)
    if _benchmark_of(item):
        return (yield from _with_counted_benchmark(item, mark.args))
    session = _session(item.config)
    with session.block(item.nodeid, mark.args) as block:
        item.stash[_BLOCK] = block
        block.begin()
        try:
            result = yield
        finally:
            block.end()
    block.judge()
    return result


def _must_be_comparable(config: pytest.Config, budgets: Sequence[str]) -> None:
    """A mark without budgets and without a file of accepted counts would wrongly pass whatever the test does."""
    if budgets or config.getoption("--syscalls-baseline") or config.getoption("--syscalls") == "report":
        return
    pytest.fail(
        "syscalls: nothing to compare with. Give the mark a budget, such as 'opens <= 40', or accept what the test "
        "does now: pytest --syscalls-baseline FILE --syscalls-accept.",
        pytrace=False,
    )


def _benchmark_of(item: pytest.Item) -> str:
    """The name of the fixture of pytest-benchmark or pytest-codspeed that a test uses; empty without one."""
    arguments = getattr(item, "funcargs", {})
    return next((each for each in _BENCHMARKS if hasattr(arguments.get(each), "extra_info")), "")


def _with_counted_benchmark(item: pytest.Item, budgets: Sequence[str]) -> Generator[None, Any, Any]:
    """Trace one call of the function that a benchmark measures."""
    from tracealyze.pytest_plugin.benchmarks import EXTRA, CountedBenchmark

    arguments: dict[str, Any] = getattr(item, "funcargs", {})
    name = _benchmark_of(item)
    fixture = arguments[name]

    def count(call: Callable[[], object]) -> None:
        with _session(item.config).block(item.nodeid, budgets) as block:
            item.stash[_BLOCK] = block
            block.begin()
            try:
                call()
            finally:
                block.end()
        try:
            block.judge()
        finally:
            if block.found is not None:
                fixture.extra_info[EXTRA] = block.found.shown

    counted = CountedBenchmark(fixture, count)
    arguments[name] = counted
    try:
        result = yield
    finally:
        arguments[name] = fixture
    if not counted.was_called:
        pytest.fail(
            "syscalls: the benchmark was not called, so nothing was counted. Count a block with the fixture syscalls.",
            pytrace=False,
        )
    return result


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Leave out what pytest does around the function."""
    block = pyfuncitem.stash.get(_BLOCK, None)
    if block is None:
        return (yield)
    block.begin()
    try:
        return (yield)
    finally:
        block.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the counts to the report, which pytest-xdist sends to the main process."""
    report = yield
    block = item.stash.get(_BLOCK, None)
    if report.when == "call" and block is not None and block.found is not None:
        report.syscalls = block.found.shown  # type: ignore[attr-defined]
        if block.found.accepted is not None:
            report.syscalls_accepted = block.found.accepted  # type: ignore[attr-defined]
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the baseline, once and in the main process."""
    if _is_worker(session.config) or not session.config.getoption("--syscalls-accept"):
        return
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    reports = [each for group in getattr(terminal, "stats", {}).values() for each in group]
    accepted = {each.nodeid: each.syscalls_accepted for each in reports if hasattr(each, "syscalls_accepted")}
    if accepted:
        from tracealyze.pytest_plugin import accepted_tests

        accepted_tests.write(session.config.getoption("--syscalls-baseline"), accepted)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show the counts of the marked tests, if they are requested."""
    if config.getoption("--syscalls") != "report":
        return
    reports = [each for group in terminalreporter.stats.values() for each in group if hasattr(each, "syscalls")]
    if not reports:
        return
    from tracealyze.pytest_plugin.texts import table

    terminalreporter.section("syscalls of marked tests")
    for line in table({each.nodeid: each.syscalls for each in reports}):
        terminalreporter.write_line(line)


@pytest.fixture
def syscalls(request: pytest.FixtureRequest) -> Callable[..., AbstractContextManager[Block | None]]:
    """Count the syscalls of a block, and fail the test if the block exceeds a budget.

    with syscalls("opens <= 40") as counted:
        parse("input.txt")
    assert counted["processes"] == 0

    Counts are known after the block. With `--syscalls=off` the block is not traced, and `counted` is None."""
    number = iter(range(1, 1_000_000))

    @contextmanager
    def traced(*budgets: str) -> Iterator[Block | None]:
        config, node = request.config, request.node
        if config.getoption("--syscalls") == "off":
            yield None
            return
        with _session(config).block(f"{node.nodeid}#{next(number)}", budgets) as block:
            block.begin()
            try:
                yield block
            finally:
                block.end()
        try:
            block.judge()
        finally:
            if block.found is not None and (name := _benchmark_of(node)):
                from tracealyze.pytest_plugin.benchmarks import EXTRA

                node.funcargs[name].extra_info[EXTRA] = block.found.shown

    return traced


_BLOCK = pytest.StashKey["Block"]()
_SESSION = pytest.StashKey["Session"]()
_THREADS = pytest.StashKey[Iterable[int]]()


def _threads() -> set[int]:
    with suppress(OSError):
        return set(map(int, os.listdir("/proc/self/task")))
    return set()


def _session(config: pytest.Config) -> Session:
    """The state of this process, made when the first marked test runs."""
    if _SESSION not in config.stash:
        from tracealyze.pytest_plugin.session import Session

        config.stash[_SESSION] = Session(
            mode=config.getoption("--syscalls"),
            baseline=config.getoption("--syscalls-baseline"),
            accepts=bool(config.getoption("--syscalls-accept")),
            folder=_folder(config),
            own_threads=set(config.stash[_THREADS]),
        )
    return config.stash[_SESSION]


def _folder(config: pytest.Config) -> str | None:
    """Where captures of failed tests are kept; None without pytest's cache."""
    cache = getattr(config, "cache", None)
    return str(cache.mkdir("tracealyze")) if cache is not None else None


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
