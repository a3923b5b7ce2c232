//! Where the walk leaves a task: a wait that another task ended, and the rest of that wait when the walk returns.

use crate::critical_path::segment::{Tag, What};
use crate::critical_path::walk::{Waiter, Walk, WalkListener};
use crate::waits::edge::{Confidence, Edge, Ender, WakeKind};
use crate::waits::wakers::poll_loops::PollLoop;
use parsers::Outcome;
use parsers::syscalls::{Class, Wait};
use trace::store::event::{EventKind, NONE};
use trace::store::heuristics::{EXIT_TOLERANCE_NS, MAX_CLEANUP_NS, MIN_WAIT_TO_CLEANUP_RATIO};
use trace::store::resolution::is_coarse;
use trace::store::spans::Span;

impl<L: WalkListener> Walk<'_, L> {
    pub(super) fn call(&mut self, at: usize, span: Span) {
        if let Some(poll) = self
            .wakers
            .poll(self.trace, self.now.task, at, span, self.waiter())
            && self.leads_on(span, poll.began_ns, &poll.edge)
        {
            return self.follow_poll(span, poll);
        }
        match self
            .wakers
            .waker(self.trace, self.now.task, at, span)
            .filter(|edge| self.leads_on(span, span.start_ns, edge))
        {
            Some(edge) => {
                let (began_ns, sure) = self.began(at, span, &edge);
                self.follow(at, span, began_ns, Edge { sure, ..edge });
            }
            None => {
                let needs_waker = self.wakers.needs_waker(self.trace, span.row);
                let ended_by = || self.wakers.ended_by(self.trace, self.now.task, at, span);
                let (class, resolved, tag) = match needs_waker.then(ended_by) {
                    None | Some(Ender::Itself) => (self.class(span.row), true, self.tag()),
                    Some(Ender::Timer) => (Class::Sleep, true, self.tag()),
                    Some(Ender::Outside) => (Class::External, false, self.tag()),
                    Some(Ender::Client) => (self.class(span.row), false, Tag::Idle),
                    Some(Ender::Unknown) => (self.class(span.row), false, self.tag()),
                };
                self.charge_as(
                    tag,
                    self.now.task,
                    span.start_ns,
                    What::Call(span.row),
                    class,
                    resolved,
                );
            }
        }
    }

    /// Start of the wait that this call ended, and the confidence in the waker.
    pub(super) fn began(&self, at: usize, span: Span, edge: &Edge) -> (i64, Confidence) {
        let (trace, task) = (self.trace, self.now.task);
        match edge.how {
            WakeKind::Child | WakeKind::Join => (self.began_to_wait(at, span, edge.how), edge.sure),
            // A task that reaps other children before the signal has not started a new wait.
            WakeKind::Signal if self.wakers.wait(trace, span.row) == Some(Wait::Child) => {
                (self.began_to_wait(at, span, WakeKind::Child), edge.sure)
            }
            WakeKind::Futex => {
                let began_ns = self.wakers.asked_first_ns(trace, task, at, span.start_ns);
                let sure = if began_ns < span.start_ns {
                    Confidence::Inferred
                } else {
                    edge.sure
                };
                (self.wakers.began_ns(trace, task, at, began_ns), sure)
            }
            _ if self.wakers.wait(trace, span.row) == Some(Wait::Poll) => {
                let began_ns = self.wakers.polled_first_ns(trace, task, at, span.start_ns);
                let sure = if began_ns < span.start_ns {
                    Confidence::Inferred
                } else {
                    edge.sure
                };
                (self.wakers.began_ns(trace, task, at, began_ns), sure)
            }
            _ => (
                self.wakers.began_ns(trace, task, at, span.start_ns),
                edge.sure,
            ),
        }
    }

    /// Whether an edge takes the walk to somewhere new: another task, inside the wait, not round in a circle.
    pub(super) fn leads_on(&mut self, span: Span, began_ns: i64, edge: &Edge) -> bool {
        let elsewhere = edge.task != self.now.task && edge.task.index() < self.trace.tasks.len();
        let moves = edge.at_ns < self.now.at_ns;
        elsewhere
            && edge.at_ns > began_ns
            && (moves || self.now.visits.first_visit_of_wait(span.row))
    }

    /// Start of a task's wait for its children or threads. A wait for two parallel ones is a wait for the slower one.
    /// Some shells wait for the signal instead and reap the child afterwards.
    ///
    /// ```text
    /// waiter   |--- wait4 = 2 ---||- wait4 = 3 -|       began where the first wait did, so the time is all of 3
    /// child 2  |------ work -----|exit
    /// child 3  |------------- work -------------|exit
    /// ```
    ///
    /// What the waiter does between two waits to clear up after the first may take a little of that wait's time, as long as it
    /// begins nothing new.
    fn began_to_wait(&self, at: usize, span: Span, how: WakeKind) -> i64 {
        const MAX_ROWS: usize = 1024;
        let events = &self.trace.events;
        let earlier = self.trace.rows_of(self.now.task).get(..at).unwrap_or(&[]);
        let (mut began_ns, mut reached_ns) = (span.start_ns, span.start_ns);
        for &row in earlier
            .iter()
            .rev()
            .take(MAX_ROWS)
            .filter(|&&row| events.kind(row) == EventKind::Call)
        {
            let (start_ns, Some(end_ns)) = (events.start_ns(row), events.end_ns(row)) else {
                break;
            };
            let between_ns = reached_ns.saturating_sub(end_ns);
            let waits = match self.wakers.wait(self.trace, row) {
                Some(Wait::Child | Wait::Signal) => how == WakeKind::Child,
                Some(Wait::Lock) => how == WakeKind::Join,
                _ => false,
            };
            // Broken off by a signal, to be restarted: the next wait is the same one.
            let goes_on = events.outcome(row) == Outcome::Interrupted;
            if waits {
                if !goes_on
                    && between_ns
                        > EXIT_TOLERANCE_NS.max((end_ns - start_ns) / MIN_WAIT_TO_CLEANUP_RATIO)
                {
                    break;
                }
                reached_ns = start_ns.min(reached_ns);
                began_ns = reached_ns;
            } else if self.wakers.keeps_signals(self.trace, row) && between_ns <= EXIT_TOLERANCE_NS
            {
                reached_ns = start_ns.min(reached_ns);
            } else if between_ns > MAX_CLEANUP_NS || self.wakers.begins(self.trace, row) {
                break;
            }
        }
        began_ns
    }

    /// ```text
    /// waiter      |s------- wait --------|e        (s, w] is the waker's, as far as it goes back; (w, e] is resume
    /// waker    |----- work ------|w                the waiter is taken up again at s
    /// ```
    ///
    /// Where the walk arrives inside a wait before the moment that ends it, the waker goes on at once.
    pub(super) fn follow(&mut self, at: usize, span: Span, began_ns: i64, edge: Edge) {
        let class = match self.class(span.row) {
            Class::Child => Class::Process,
            class => class,
        };
        match self.work_before(span, &edge) {
            // After the answer, the server waits for its next client.
            None if edge.how == WakeKind::Beside
                && self.wakers.is_idle(self.trace, self.now.task, at, span) =>
            {
                self.charge_as(
                    Tag::Idle,
                    self.now.task,
                    edge.at_ns.min(span.end_ns),
                    What::Call(span.row),
                    class,
                    false,
                );
            }
            Some(work) => self.charge(
                edge.task,
                edge.at_ns.min(span.end_ns),
                work,
                Class::User,
                true,
            ),
            None => self.charge(
                self.now.task,
                edge.at_ns.min(span.end_ns),
                What::Resume(span.row),
                class,
                true,
            ),
        }
        if self.now.at_ns <= self.now.floor_ns {
            return;
        }
        let (floor_ns, until_ns) = (self.now.floor_ns, self.now.at_ns);
        self.push(Waiter {
            task: self.now.task,
            floor_ns,
            wait: span,
            polls: false,
            edge,
            until_ns,
        });
        self.now.floor_ns = self.now.floor_ns.max(began_ns);
        self.go_to(edge.task);
    }

    /// The gap of a waker before the call that ended a wait, where a coarse clock does not show when it made that call.
    ///
    /// ```text
    /// waiter    |---------- wait ----------|        both in the same second
    /// waker     |write|~~~ work ~~~|write|          the second write is placed too early: the waiter goes on as soon as it
    ///                                               is woken, so the rest of its wait is work of the waker
    /// ```
    fn work_before(&self, span: Span, edge: &Edge) -> Option<What> {
        let hands_over = matches!(
            edge.how,
            WakeKind::Stream | WakeKind::Futex | WakeKind::Message
        );
        let waker = self.trace.tasks.get(edge.task)?;
        let is_placed = hands_over
            && self
                .trace
                .captures
                .get(waker.capture as usize)
                .is_some_and(|capture| is_coarse(&capture.facts));
        if !is_placed || waker.end_ns() < span.end_ns {
            return None;
        }
        let rows = self.trace.rows_of(edge.task);
        let woken_by = rows
            .partition_point(|&row| self.trace.events.start_ns(row) < edge.at_ns)
            .checked_sub(1)?;
        Some(What::Gap(
            woken_by
                .checked_sub(1)
                .and_then(|before| rows.get(before))
                .copied()
                .unwrap_or(NONE),
        ))
    }

    /// ```text
    /// poller    f|check| sleep |check| sleep |c: succeeds       (f, w] is the producer's, as far as it goes back: polled;
    /// producer  |------- work -------|w                         (w, c] is lag; the poller is taken up again at f
    /// ```
    ///
    /// Where children check, one for each turn, the child that made the first check is taken up again, and the lag is their
    /// parent, which waits for this child only from now on: it may have been busy when the producer finished.
    fn follow_poll(&mut self, span: Span, poll: PollLoop) {
        let class = self.class(span.row);
        self.charge(
            self.now.task,
            span.start_ns.max(poll.edge.at_ns),
            What::Call(span.row),
            class,
            true,
        );
        let parent = (poll.first_task != self.now.task)
            .then(|| self.pop())
            .flatten();
        let (poller, floor_ns) = parent.map_or((self.now.task, self.now.floor_ns), |parent| {
            (parent.task, parent.floor_ns)
        });
        self.now.floor_ns = floor_ns;
        self.charge_as(
            Tag::Lag,
            poller,
            poll.edge.at_ns,
            What::Resume(span.row),
            Class::Poll,
            true,
        );
        if self.now.at_ns <= floor_ns {
            return;
        }
        let (edge, until_ns) = (poll.edge, self.now.at_ns);
        self.push(Waiter {
            task: poll.first_task,
            floor_ns,
            wait: span,
            polls: true,
            edge,
            until_ns,
        });
        self.now.floor_ns = floor_ns.max(poll.began_ns);
        self.go_to(edge.task);
    }

    /// The creator of the task is unknown: the rest of the wait is charged to the waiter, unresolved.
    pub(super) fn give_back(&mut self) {
        let Some(waiter) = self.pop() else {
            // The tracer attached to it: its work before the first event is not in the capture.
            return self.charge(
                self.now.task,
                self.now.floor_ns,
                What::Gap(NONE),
                Class::User,
                false,
            );
        };
        if waiter.polls {
            self.give_back_to_poller(&waiter);
        }
        self.now.floor_ns = waiter.floor_ns;
        self.go_to(waiter.task);
        if waiter.wait.row == NONE {
            return;
        }
        let class = self.class(waiter.wait.row);
        self.charge(
            waiter.task,
            waiter.wait.start_ns,
            What::Call(waiter.wait.row),
            class,
            false,
        );
    }

    /// It polled for the result of a task that has no events before this moment.
    fn give_back_to_poller(&mut self, waiter: &Waiter) {
        let checked_by = self.trace.events.task(waiter.wait.row);
        let creator = self.trace.tasks[waiter.task].creator;
        let poller = if checked_by == waiter.task {
            waiter.task
        } else {
            creator
        };
        self.charge_as(
            Tag::Lag,
            poller,
            self.now.floor_ns,
            What::Resume(waiter.wait.row),
            Class::Poll,
            false,
        );
    }
}
