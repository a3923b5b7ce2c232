"""Random valid runs: a small machine with processes, threads, pipes, signals and waits, and what strace prints of it.

A run is made once and printed in several ways: as one file (-f) or one file per task (-ff), with or without -T, with
other ids, or at another time. Tasks are generators that request steps; the machine executes these in the order of time,
and no two moments are equal, so that each way of printing shows the same order.
"""

from __future__ import annotations

import heapq
import random
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from itertools import count

US = 1
MS = 1_000 * US
S = 1_000 * MS
START = 1_700_000_000 * S

Step = tuple[str, tuple[object, ...]]
Body = Generator[Step, object, None]


@dataclass
class Record:
    """A call, a signal or an end, as the tracer sees it. Texts contain ids as `{id:NUMBER}`."""

    task: int
    start: int
    end: int | None
    before: str
    """What is known when the call begins: name and first arguments."""
    after: str = ""
    """What is known when it returns."""
    result: str = ""


@dataclass
class Pipe:
    number: int
    held: int = 0
    writers: int = 1
    waiting: list[tuple[Task, int]] = field(default_factory=list)
    """Tasks that wait for data, each with the number of its wait."""


@dataclass
class Task:
    number: int
    process: int
    parent: Task | None
    body: Body = field(init=False)
    waits: int = 0
    """Number of its current wait; a wake for another one comes too late."""
    ended: bool = False
    status: str = ""
    children: list[Task] = field(default_factory=list)
    waits_for_child: bool = False
    released: bool = False
    """A child of vfork has run a program or ended."""
    creator_waits: Task | None = None
    pending: list[str] = field(default_factory=list)
    current: Record | None = None


class Machine:
    """Executes tasks, and records what a tracer would print."""

    def __init__(self, seed: int, *, vfork: bool = True) -> None:
        self.chance = random.Random(seed)
        self.vfork = vfork
        self.records: list[Record] = []
        self.tasks: list[Task] = []
        self.now = START
        self._queue: list[tuple[int, int, Task, int, object]] = []
        self._order = count()
        self._pipes = count(1_000 + seed % 50)
        self._futexes = count()
        self._waiters: dict[int, Task] = {}

    def run(self) -> list[Record]:
        self._start(None, self._main, None)
        while self._queue:
            at, _, task, wait, value = heapq.heappop(self._queue)
            if task.ended or wait != task.waits:
                continue
            self.now = max(at, self.now + US)
            self._step(task, value)
        return self.records

    # The machine.

    def _start(self, parent: Task | None, body: Callable[[Task], Body], thread_of: Task | None) -> Task:
        number = len(self.tasks)
        task = Task(number, number if thread_of is None else thread_of.process, parent)
        task.body = body(task)
        self.tasks.append(task)
        if parent is not None and thread_of is None:
            parent.children.append(task)
        self._wake(task, self.chance.randrange(20, 400))
        return task

    def _wake(self, task: Task, after: int, value: object = None) -> None:
        heapq.heappush(self._queue, (self.now + after, next(self._order), task, task.waits, value))

    def _moment(self) -> int:
        self.now += US
        return self.now

    def _step(self, task: Task, value: object) -> None:
        """Continue a task until its next wait."""
        task.waits += 1
        try:
            kind, arguments = task.body.send(value)
        except StopIteration:
            return
        getattr(self, f"_do_{kind}")(task, *arguments)

    def _begin(self, task: Task, before: str) -> None:
        task.current = Record(task.number, self._moment(), None, before)
        self.records.append(task.current)

    def _finish(self, task: Task, after: str, result: str) -> None:
        record = task.current
        assert record is not None
        record.end, record.after, record.result = self._moment(), after, result
        task.current = None

    def _mark(self, task: Task, text: str) -> None:
        self.records.append(Record(task.number, self._moment(), None, text))

    def _do_compute(self, task: Task, length: int) -> None:
        self._wake(task, length)

    def _do_call(self, task: Task, before: str, after: str, result: str, length: int) -> None:
        self._begin(task, before)
        self._wake(task, length, ("finish", after, result))

    def _do_wait(self, task: Task, before: str, limit: int | None = None) -> None:
        """Begin a call that another task ends, or its limit."""
        self._begin(task, before)
        if limit is not None:
            self._wake(task, limit, "limit")

    def _do_block(self, task: Task) -> None:
        """Wait further, in the call that is open."""

    def _do_finish(self, task: Task, after: str, result: str) -> None:
        self._finish(task, after, result)
        self._wake(task, 0)

    def _do_end(self, task: Task, status: str) -> None:
        self._mark(task, f"+++ {status} +++")
        task.ended, task.status = True, status
        self._release(task)
        parent = task.parent
        if parent is None or task.process != task.number or parent.ended:
            return
        parent.pending.append(_sigchld(task, status))
        if parent.waits_for_child:
            self._wake(parent, self.chance.randrange(5, 60), "child")

    def _release(self, task: Task) -> None:
        if task.creator_waits is not None:
            creator, task.creator_waits = task.creator_waits, None
            self._wake(creator, self.chance.randrange(5, 60), "released")

    # Calls of a task, as parts of its body.

    def _call(self, text: str, result: str = "0", length: int = 0, split: str = "") -> Body:
        took = length or self.chance.randrange(3, 60)
        got = yield "call", (text, split, result, took)
        assert isinstance(got, tuple)
        yield "finish", got[1:]

    def _compute(self, low: int, high: int) -> Body:
        yield "compute", (self.chance.randrange(low, high),)

    def _signals(self, task: Task) -> Body:
        while task.pending:
            self._mark(task, task.pending.pop(0))
            yield "compute", (self.chance.randrange(1, 9),)

    def _main(self, task: Task) -> Body:
        yield from self._exec("/usr/bin/make")
        yield from self._scenes(task, depth=0)
        yield from self._exit(task, self.chance.choice((0, 0, 1)))

    def _exit(self, task: Task, code: int) -> Body:
        yield from self._signals(task)
        self._mark(task, f"exit_group({code}) = ?")
        yield "compute", (self.chance.randrange(5, 90),)
        yield "end", (f"exited with {code}",)

    def _exec(self, program: str, length: int = 0, failed: int = 0) -> Body:
        name = program.rsplit("/", 1)[1]
        for _ in range(failed):
            missing = f'execve("/usr/local/bin/{name}", ["{name}"], 0x7ffc /* 9 vars */'
            yield from self._call(missing, "-1 ENOENT (No such file or directory)")
        argv = f'["{name}", "-{self.chance.choice("abc")}"]'
        took = length or self.chance.choice((300, 900, 5 * MS, 120 * MS))
        yield from self._call(f'execve("{program}", {argv}, 0x7ffc /* 9 vars */', "0", took)

    def _scenes(self, task: Task, depth: int) -> Body:
        scenes: list[Callable[[], Body]] = [
            *(self._reads, self._misses, self._sleeps, self._syncs, self._polls, self._quick, self._works),
            lambda: self._alarm(task),
        ]
        if depth < 2:
            scenes += [lambda: self._child(task, depth), lambda: self._piped(task)] * 2
            scenes += [lambda: self._threads(task), lambda: self._killed(task)]
            scenes += [lambda: self._vforks(task, depth)] * 2 * self.vfork
        for _ in range(self.chance.randrange(1, 6 - depth)):
            yield from self._signals(task)
            yield from self.chance.choice(scenes)()
        yield from self._signals(task)

    def _works(self) -> Body:
        yield from self._compute(1 * MS, self.chance.choice((5 * MS, 90 * MS, 900 * MS)))

    def _reads(self) -> Body:
        file = f"/usr/share/data/{self.chance.choice(('config', 'table', 'list'))}.db"
        yield from self._call(f'openat(AT_FDCWD, "{file}", O_RDONLY|O_CLOEXEC', "5")
        for _ in range(self.chance.randrange(1, 9)):
            length = self.chance.choice((0, 0, 0, 300, 20 * MS))
            yield from self._call(f'read(5<{file}>, "abcd"..., 4096', "4096", length)
            yield from self._compute(1, 200)
        yield from self._call(f"close(5<{file}>", "0")

    def _misses(self) -> Body:
        for number in range(self.chance.randrange(1, 30)):
            name = f"/usr/lib/p{number % 7}/libx.so"
            yield from self._call(f'openat(AT_FDCWD, "{name}", O_RDONLY', "-1 ENOENT (No such file or directory)")

    def _sleeps(self) -> Body:
        length = self.chance.choice((2 * MS, 30 * MS, 250 * MS, 1 * S))
        yield from self._call(f"clock_nanosleep(CLOCK_REALTIME, 0, {_asked(length)}, ", "0", length + 70, "NULL")
        yield from self._compute(1, self.chance.choice((200, 50 * MS, 400 * MS)))

    def _syncs(self) -> Body:
        for _ in range(self.chance.randrange(1, 4)):
            yield from self._call('write(4</var/lib/app/log>, "x"..., 100', "100")
            length = self.chance.choice((90, 4 * MS, 60 * MS, 150 * MS))
            yield from self._call("fsync(4</var/lib/app/log>", "0", length)
            yield from self._compute(1, self.chance.choice((200, 20 * MS, 300 * MS)))

    def _polls(self) -> Body:
        for _ in range(self.chance.randrange(1, 3)):
            limit = self.chance.choice((15, 66, 500))
            yield from self._call(f"poll([{{fd=0, events=POLLIN}}], 1, {limit}", "0 (Timeout)", limit * MS + 60)
            yield from self._compute(20, self.chance.choice((200, 40 * MS)))

    def _quick(self) -> Body:
        for _ in range(self.chance.randrange(1, 6)):
            yield from self._call(*self.chance.choice(_QUICK))
            yield from self._compute(1, self.chance.choice((100, 500, 30 * MS)))

    def _alarm(self, task: Task) -> Body:
        """A timer interrupts a pause."""
        length = self.chance.choice((3 * MS, 200 * MS))
        value = f"{{it_interval={{tv_sec=0, tv_usec=0}}, it_value={{tv_sec=0, tv_usec={length}}}}}"
        yield from self._call(f"setitimer(ITIMER_REAL, {value}, ", "0", 0, "NULL")
        yield from self._call("pause(", "? ERESTARTNOHAND (To be restarted if no handler)", length)
        self._mark(task, "--- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---")
        yield "compute", (5,)
        yield from self._call("rt_sigreturn({mask=[]}", "-1 EINTR (Interrupted system call)")

    def _fork(self, task: Task, body: Callable[[Task], Body]) -> Generator[Step, object, Task]:
        flags = "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD"
        yield "compute", (3,)
        self._begin(task, f"clone(child_stack=NULL, flags={flags}, ")
        child = self._start(task, body, None)
        yield "compute", (self.chance.choice((60, 200, 300, 6 * MS)),)
        yield "finish", ("child_tidptr=0x7f0000000a10", _id(child))
        return child

    def _wait_for(self, task: Task, child: Task) -> Body:
        if not child.ended and self.chance.random() < 0.2:
            for _ in range(self.chance.randrange(1, 4)):
                if child.ended:
                    break
                yield from self._call(f"wait4({_id(child)}, ", "0", 4, "0x7ffd, WNOHANG, NULL")
                yield from self._call(f"clock_nanosleep(CLOCK_REALTIME, 0, {_asked(2 * MS)}, ", "0", 2_060, "NULL")
        yield "compute", (self.chance.randrange(2, 50),)
        self._begin(task, f"wait4({_id(child)}, ")
        task.waits_for_child = True
        if child.ended:
            yield "compute", (self.chance.randrange(4, 30),)
        while not child.ended:
            yield "block", ()
        task.waits_for_child = False
        yield "finish", (f"[{{{_waited(child.status)}}}], 0, NULL", _id(child))
        yield from self._signals(task)

    def _child(self, task: Task, depth: int) -> Body:
        def body(child: Task) -> Body:
            if self.chance.random() < 0.7:
                yield from self._exec(self.chance.choice(_PROGRAMS), failed=self.chance.choice((0, 0, 1)))
            yield from self._scenes(child, depth + 1)
            yield from self._exit(child, self.chance.choice((0, 0, 2)))

        children: list[Task] = []
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            child = yield from self._fork(task, body)
            children.append(child)
        yield from self._compute(10, self.chance.choice((100, 40 * MS)))
        for child in children:
            yield from self._wait_for(task, child)

    def _vforks(self, task: Task, depth: int) -> Body:
        """A child that keeps its creator waiting until it runs a program."""

        def body(child: Task) -> Body:
            if self.chance.random() < 0.4:
                yield from self._call("rt_sigprocmask(SIG_SETMASK, [], NULL, 8", "0")
            yield from self._exec(self.chance.choice(_PROGRAMS), failed=self.chance.choice((0, 0, 1)))
            self._release(child)
            yield from self._scenes(child, depth + 1)
            yield from self._exit(child, 0)

        start = self.chance.choice(_VFORKS)
        yield "compute", (3,)
        self._begin(task, start[0])
        child = self._start(task, body, None)
        child.creator_waits = task
        while child.creator_waits is not None:
            yield "block", ()
        yield "finish", (start[1], _id(child))
        yield from self._compute(5, self.chance.choice((100, 40 * MS)))
        yield from self._wait_for(task, child)

    def _piped(self, task: Task) -> Body:
        """A child writes, this process reads; some poll first."""
        pipe = Pipe(next(self._pipes))
        read_end, write_end = f"7<pipe:[{pipe.number}]>", f"8<pipe:[{pipe.number}]>"
        yield from self._call("pipe2(", "0", 0, f"[{read_end}, {write_end}], O_CLOEXEC")
        messages = self.chance.randrange(1, 5)

        def writer(child: Task) -> Body:
            for _ in range(messages):
                yield from self._compute(20, self.chance.choice((300, 30 * MS, 300 * MS)))
                yield from self._call(f'write({write_end}, "{"x" * 8}", 8', "8")
                pipe.held += 8
                self._hand_over(pipe)
            yield from self._exit(child, 0)
            # The end of the process closes the pipe.

        child = yield from self._fork(task, writer)
        yield from self._call(f"close({write_end}", "0")
        polls = self.chance.random() < 0.4
        for _ in range(messages):
            if polls:
                yield from self._poll(task, pipe, read_end)
            self._begin(task, f"read({read_end}, ")
            while not pipe.held:
                pipe.waiting.append((task, task.waits))
                yield "block", ()
            if task.current is not None and task.current.start == self.now:
                yield "compute", (5,)
            pipe.held -= 8
            yield "finish", ('"xxxxxxxx", 65536', "8")
            yield from self._compute(5, self.chance.choice((100, 10 * MS)))
        yield from self._wait_for(task, child)
        yield from self._call(f'read({read_end}, "", 65536', "0")
        yield from self._call(f"close({read_end}", "0")

    def _hand_over(self, pipe: Pipe) -> None:
        for task, wait in pipe.waiting:
            if task.waits == wait:
                self._wake(task, self.chance.randrange(3, 40), "data")
        pipe.waiting.clear()

    def _poll(self, task: Task, pipe: Pipe, read_end: str) -> Body:
        self._begin(task, f"poll([{{fd={read_end}, events=POLLIN}}], 1, -1")
        if pipe.held:
            yield "compute", (5,)
        while not pipe.held:
            pipe.waiting.append((task, task.waits))
            yield "block", ()
        yield "finish", ("", f"1 ([{{fd={read_end.partition('<')[0]}, revents=POLLIN}}])")

    def _threads(self, task: Task) -> Body:
        """A thread works, then wakes its creator, which waits at a futex."""
        address = f"0x7f11000{next(self._futexes) * 16 + 0x1000:05x}"
        state = {"waiting": False, "done": False}

        def worker(thread: Task) -> Body:
            yield from self._call("rt_sigprocmask(SIG_SETMASK, [], NULL, 8", "0")
            scenes = (self._reads, self._sleeps, self._works, self._quick, self._syncs)
            for _ in range(self.chance.randrange(1, 3)):
                yield from self.chance.choice(scenes)()
            state["done"] = True
            woken = state["waiting"]
            yield from self._call(f"futex({address}, FUTEX_WAKE, 1", "1" if woken else "0")
            if woken:
                self._wake(task, self.chance.randrange(5, 60), "woken")
            yield from self._compute(5, 50)
            self._mark(thread, "exit(0) = ?")
            yield "compute", (8,)
            yield "end", ("exited with 0",)

        flags = (
            "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM|CLONE_SETTLS|CLONE_PARENT_SETTID"
            "|CLONE_CHILD_CLEARTID"
        )
        yield "compute", (3,)
        self._begin(task, f"clone(child_stack=0x7f10000008f0, flags={flags}, ")
        thread = self._start(task, worker, task)
        yield "compute", (self.chance.choice((40, 90, 500)),)
        yield "finish", (f"parent_tid=[{_id(thread)}], tls=0x7f1000000700, child_tidptr=0x7f1000000910", _id(thread))
        yield from self._compute(5, self.chance.choice((100, 20 * MS)))
        if state["done"]:
            yield from self._call(
                f"futex({address}, FUTEX_WAIT, 0, NULL", "-1 EAGAIN (Resource temporarily unavailable)"
            )
        else:
            state["waiting"] = True
            self._begin(task, f"futex({address}, FUTEX_WAIT, 0, NULL")
            while not state["done"]:
                yield "block", ()
            yield "finish", ("", "0")
        while not thread.ended:
            yield from self._compute(60, 200)

    def _killed(self, task: Task) -> Body:
        """A child sleeps until this process kills it."""

        def sleeper(child: Task) -> Body:
            yield from self._exec("/bin/sleep")
            self._begin(child, "clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=60, tv_nsec=0}, ")
            while "killed" not in child.status:
                yield "block", ()
            yield "finish", ("0x7ffd", "? ERESTART_RESTARTBLOCK (Interrupted by signal)")
            self._mark(child, f"--- SIGTERM {{si_signo=SIGTERM, si_code=SI_USER, si_pid={_id(task)}, si_uid=0}} ---")
            yield "compute", (30,)
            yield "end", ("killed by SIGTERM",)

        child = yield from self._fork(task, sleeper)
        while child.current is None or "clock_nanosleep" not in child.current.before:
            yield from self._compute(1 * MS, 200 * MS)
        yield from self._call(f"kill({_id(child)}, SIGTERM", "0")
        child.status = "killed by SIGTERM"
        self._wake(child, 9, "signal")
        yield from self._wait_for(task, child)


_EAGAIN = "-1 EAGAIN (Resource temporarily unavailable)"
_VFORKS = (
    ("vfork(", ""),
    ("clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x7f00, stack_size=0x9000}, ", "88"),
)
_PROGRAMS = ("/usr/bin/cc", "/bin/sh", "/usr/bin/ls", "/opt/p2/bin/tool")
_QUICK: tuple[tuple[str, str], ...] = (
    ("lseek(0, 0, SEEK_CUR", "-1 ESPIPE (Illegal seek)"),
    ("ioctl(1, TCGETS, {B38400 opost isig icanon echo ...}", "0"),
    ("mmap(NULL, 98304, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0", "0x7f92184b5000"),
    ("brk(NULL", "0x55d0c1000"),
    ("fcntl(3, F_GETFL", "0x2 (flags O_RDWR)"),
    ('newfstatat(AT_FDCWD, "/etc/hosts", {st_mode=S_IFREG|0644, st_size=9, ...}, 0', "0"),
    ('write(1</dev/null>, "ok\\n", 3', "3"),
    ("getpid(", "4"),
)


def _id(task: Task) -> str:
    return f"{{id:{task.number}}}"


def _asked(length: int) -> str:
    return f"{{tv_sec={length // S}, tv_nsec={length % S * 1000}}}"


def _waited(status: str) -> str:
    word = status.rsplit(" ", 1)[1]
    if status.startswith("killed"):
        return f"WIFSIGNALED(s) && WTERMSIG(s) == {word}"
    return f"WIFEXITED(s) && WEXITSTATUS(s) == {word}"


def _sigchld(task: Task, status: str) -> str:
    code = "CLD_KILLED" if status.startswith("killed") else "CLD_EXITED"
    word = status.rsplit(" ", 1)[1]
    return (
        f"--- SIGCHLD {{si_signo=SIGCHLD, si_code={code}, si_pid={_id(task)}, si_uid=0, si_status={word}, "
        "si_utime=0, si_stime=0} ---"
    )


@dataclass(frozen=True)
class Printed:
    """How a run is printed."""

    durations: bool = True
    first_id: int = 4_500
    step: int = 1
    later: int = 0

    def one_file(self, records: list[Record]) -> str:
        """As strace -f -ttt -T prints it: calls during which other tasks print lines are in halves."""
        lines: list[str] = []
        moments = sorted(_moments(records), key=lambda each: each[0])
        for at, (moment, record, is_end) in enumerate(moments):
            follows = at + 1 < len(moments) and moments[at + 1][1] is record
            is_whole = follows and not is_end
            if is_end and at and moments[at - 1][1] is record:
                continue
            lines.append(f"{self.name(record.task):<5} {self._stamp(moment)} {self._text(record, is_end, is_whole)}\n")
        return self._named("".join(lines))

    def per_task(self, records: list[Record]) -> dict[int, str]:
        """As strace -ff -ttt -T prints it: a file per task, by id."""
        files: dict[int, list[str]] = {}
        for record in sorted(records, key=lambda each: each.start):
            is_open = record.end is None and not _is_mark(record)
            files.setdefault(self.name(record.task), []).append(
                f"{self._stamp(record.start)} {self._text(record, False, not is_open)}\n"
            )
        return {name: self._named("".join(lines)) for name, lines in files.items()}

    def name(self, task: int) -> int:
        return self.first_id + task * self.step

    def _stamp(self, moment: int) -> str:
        moment += self.later
        return f"{moment // S}.{moment % S:06}"

    def _text(self, record: Record, is_end: bool, is_whole: bool) -> str:
        if _is_mark(record):
            return record.before
        name = record.before.partition("(")[0]
        if not is_end and not is_whole:
            return f"{record.before} <unfinished ...>"
        head = f"<... {name} resumed>" if is_end else record.before
        result = f"{head}{record.after}) = {record.result}"
        if self.durations and record.end is not None:
            length = record.end - record.start
            result += f" <{length // S}.{length % S:06}>"
        return result

    def _named(self, text: str) -> str:
        pieces = text.split("{id:")
        named = [pieces[0]]
        for piece in pieces[1:]:
            number, _, rest = piece.partition("}")
            named.append(f"{self.name(int(number))}{rest}")
        return "".join(named)


def _is_mark(record: Record) -> bool:
    return record.before.startswith(("+++", "---", "exit"))


def _moments(records: list[Record]) -> Iterator[tuple[int, Record, bool]]:
    for record in records:
        yield record.start, record, False
        if record.end is not None:
            yield record.end, record, True


def main() -> None:
    """Print the run of a seed as one file."""
    sys.stdout.write(Printed().one_file(records_of(int(sys.argv[1]))))


def records_of(seed: int, *, vfork: bool = True) -> list[Record]:
    """What happens in the run of this seed."""
    return Machine(seed, vfork=vfork).run()


if __name__ == "__main__":
    main()
