//! What descriptors refer to, if the tracer does not print it (strace without `-y`, truss).
//!
//! ```text
//! openat("/dev/zfs") = 3      3 → /dev/zfs
//! fork() = 12200              the child has a copy, a thread shares it
//! ioctl(3, …)                 target /dev/zfs
//! ```
//! A descriptor that was opened before the capture, or by a call that was filtered out, is unknown. Descriptors that
//! execve closes are not removed: nothing uses them before they are opened again.

use crate::store::index::OwnTask;
use crate::store::targets::{
    ACCEPTED, PROCESS, TERMINAL, UNNAMED_SOCKET, WATCHED, is_host_and_port,
};
use parsers::syscalls::{Action, action_of};
use parsers::{Interner, Line, NO_ID, Outcome, Text};
use rustc_hash::FxHashMap;
use std::sync::Arc;
pub(crate) mod passed;

/// Higher descriptors are not followed, so that a hostile trace costs no memory.
const MAX_FD: usize = 1 << 16;

/// What a call does to descriptors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Returns one for its target.
    Opens,
    /// Returns a socket whose peer is not known yet, or something without a name.
    Makes(&'static str),
    /// Gives the descriptor it works on a peer.
    Connects,
    /// Gives the descriptor it works on an address.
    Binds,
    /// Returns one for a peer.
    Accepts,
    /// Returns one for a process.
    Watches,
    /// Makes two, which belong together.
    Pairs(&'static str),
    /// Returns another one for the same thing.
    Copies,
    /// Ends one.
    Closes,
    /// fcntl: copies with some sub-operations.
    Controls,
    /// ioctl: a request that only terminals know shows that it is one.
    ControlsDevice,
    /// Begins a program. The first one of a capture was begun by the tracer, with what that had been given.
    Begins,
}

/// What a call does to descriptors, as far as it is the same for all calls with this content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DescriptorEffect {
    /// Nothing.
    None,
    /// It ends the one that it works on.
    Closes,
    /// It returns one for its target.
    Opens,
    /// See [`Descriptors::completed`].
    Other,
}

/// After the path, if there are more.
const AND_OTHERS: &[u8] = b" and others";

/// What the first three descriptors are called that a program is given.
const GIVEN: [&str; 3] = ["stdin", "stdout", "stderr"];

fn role(action: Action) -> Option<Role> {
    Some(match action {
        Action::Opens | Action::Creates | Action::OpensQueue => Role::Opens,
        Action::MakesSocket => Role::Makes(UNNAMED_SOCKET),
        Action::MakesEpoll => Role::Makes("anon_inode:[eventpoll]"),
        Action::MakesEventfd => Role::Makes("anon_inode:[eventfd]"),
        Action::MakesTimerfd => Role::Makes("anon_inode:[timerfd]"),
        Action::MakesSignalfd => Role::Makes("anon_inode:[signalfd]"),
        Action::MakesInotify => Role::Makes("anon_inode:inotify"),
        Action::MakesFanotify => Role::Makes("anon_inode:[fanotify]"),
        Action::Connects => Role::Connects,
        Action::Binds => Role::Binds,
        Action::Accepts => Role::Accepts,
        Action::OpensProcess => Role::Watches,
        Action::MakesPipe => Role::Pairs("pipe"),
        Action::MakesSocketPair => Role::Pairs("UNIX"),
        Action::Duplicates | Action::Replaces => Role::Copies,
        Action::Closes => Role::Closes,
        Action::ControlsFile => Role::Controls,
        Action::ControlsDevice => Role::ControlsDevice,
        Action::Execs => Role::Begins,
        _ => return None,
    })
}

type Files = Arc<Vec<Text>>;

/// A task's own descriptors, and those of its creator that it has not replaced.
fn joined(of_creator: &Files, own: &Files) -> Files {
    let mut joined = of_creator.as_ref().clone();
    joined.resize(joined.len().max(own.len()), Text::NONE);
    own.iter()
        .enumerate()
        .filter(|(_, text)| text.is_some())
        .for_each(|(fd, &text)| joined[fd] = text);
    Arc::new(joined)
}

/// The descriptors of all tasks of a capture.
#[derive(Default)]
pub(crate) struct Descriptors {
    /// Number of the table of each task, by its place in the capture, plus 1.
    of_task: Vec<u32>,
    tables: Vec<Files>,
    pairs: u32,
    /// Creators and descriptors of children without lines so far, by the call that created them. Their creators may close
    /// theirs.
    forked: FxHashMap<u32, (OwnTask, Files)>,
    /// Those on their way from one task to another.
    passed: passed::PassedDescriptors,
}

impl Descriptors {
    fn table(&mut self, task: OwnTask) -> &mut Files {
        let at = task.index();
        if at >= self.of_task.len() {
            self.of_task.resize(at + 1, 0);
        }
        if self.of_task[at] == 0 {
            self.tables.push(Files::default());
            self.of_task[at] = self.tables.len() as u32;
        }
        &mut self.tables[self.of_task[at] as usize - 1]
    }

    /// The number of a task's table; tasks that share their descriptors have the same.
    pub(crate) fn table_number(&mut self, task: OwnTask) -> u32 {
        self.table(task);
        self.of_task[task.index()]
    }

    /// A task was created: it has a copy of its creator's descriptors, or shares them.
    ///
    /// A child that appeared before its creator's call returned retains what it opened itself.
    pub(crate) fn inherit(&mut self, task: OwnTask, creator: OwnTask, shares: bool) {
        let of_creator = Arc::clone(self.table(creator));
        let number = self.of_task[creator.index()];
        let known = self.of_task.get(task.index()).copied().unwrap_or(0);
        if known != 0 {
            self.children_inherit(task, &of_creator);
            let own = Arc::clone(self.table(task));
            *self.table(task) = joined(&of_creator, &own);
        } else if shares {
            self.of_task
                .resize(self.of_task.len().max(task.index() + 1), 0);
            self.of_task[task.index()] = number;
        } else {
            *self.table(task) = of_creator;
        }
    }

    /// A task has descriptors of its creator, which it passed on to children without lines before this was known.
    fn children_inherit(&mut self, task: OwnTask, of_creator: &Files) {
        // More are of a capture that leaves children out.
        const MAX_CHILDREN: usize = 64;
        if self.forked.len() <= MAX_CHILDREN {
            let forked = self.forked.values_mut();
            forked
                .filter(|(creator, _)| *creator == task)
                .for_each(|(_, files)| *files = joined(of_creator, files));
        }
    }

    /// A task does not have the descriptors that it was believed to have.
    pub(crate) fn forget(&mut self, task: OwnTask) {
        if let Some(number) = self.of_task.get_mut(task.index()) {
            *number = 0;
        }
    }

    /// A call created a child that has not spoken yet: it has what its creator has now.
    pub(crate) fn forked(&mut self, call: u32, creator: OwnTask) {
        let files = Arc::clone(self.table(creator));
        self.forked.insert(call, (creator, files));
    }

    /// Give the child that this call created the descriptors stored for it; `false` if there are none.
    pub(crate) fn take_forked(&mut self, call: u32, child: OwnTask) -> bool {
        let Some((_, files)) = (!self.forked.is_empty())
            .then(|| self.forked.remove(&call))
            .flatten()
        else {
            return false;
        };
        *self.table(child) = files;
        true
    }

    /// What the descriptor of a call stands for.
    pub(crate) fn target(&self, task: OwnTask, fd: i32) -> Text {
        let table = self
            .of_task
            .get(task.index())
            .and_then(|&number| number.checked_sub(1));
        let files = table.and_then(|number| self.tables.get(number as usize));
        let at = usize::try_from(fd).unwrap_or(usize::MAX);
        files
            .and_then(|files| files.get(at))
            .copied()
            .unwrap_or(Text::NONE)
    }

    /// What the descriptor of a call refers to, if the line contains only the number of a socket.
    pub(crate) fn peer(&self, task: OwnTask, fd: i32, printed: Text, texts: &Interner) -> Text {
        let known = self.target(task, fd);
        if is_unconnected(texts.bytes(printed), texts.bytes(known)) {
            return known;
        }
        if !is_bare(texts.bytes(printed)) {
            return printed;
        }
        if known.is_some() && !is_bare(texts.bytes(known)) {
            known
        } else {
            printed
        }
    }

    /// Changes of a path are reported at this descriptor: it has the name of that path, or of the first one.
    pub(crate) fn watches(&mut self, task: OwnTask, fd: i32, path: Text, texts: &mut Interner) {
        let (known, path) = (texts.bytes(self.target(task, fd)), texts.bytes(path));
        let name = match known
            .strip_prefix(WATCHED)
            .map(|known| known.strip_suffix(AND_OTHERS).unwrap_or(known))
        {
            Some(first) if first == path => return,
            Some(first) => [WATCHED, first, AND_OTHERS].concat(),
            None => [WATCHED, path].concat(),
        };
        let name = texts.add(&name);
        self.set(task, i64::from(fd), name);
    }

    /// A socket that is printed by the numbers of its ends (`UNIX-STREAM:[7->8]`, or `UNIX-STREAM:[7]` until the tracer
    /// knows the other end) was connected to, or accepted at, a path.
    pub(crate) fn name_pair(
        &self,
        task: OwnTask,
        fd: i32,
        printed: Text,
        texts: &Interner,
        paths: &mut FxHashMap<Text, Text>,
    ) {
        let bytes = texts.bytes(printed);
        if bytes.starts_with(b"UNIX") && !bytes.contains(&b'"') {
            let known = self.target(task, fd);
            if known != printed && is_address(texts.bytes(known)) {
                paths.insert(printed, known);
            }
        }
    }

    /// A call returned this address of a socket. The address of its peer, if known, is retained.
    pub(crate) fn named(&mut self, task: OwnTask, fd: i32, address: Text, texts: &Interner) {
        let known = self.target(task, fd);
        if (!known.is_some() || is_bare(texts.bytes(known))) && is_address(texts.bytes(address)) {
            self.set(task, i64::from(fd), address);
        }
    }

    pub(crate) fn set(&mut self, task: OwnTask, fd: i64, target: Text) {
        let Some(at) = usize::try_from(fd).ok().filter(|&at| at < MAX_FD) else {
            return;
        };
        if self.target(task, fd as i32) == target {
            return;
        }
        let files = Arc::make_mut(self.table(task));
        if at >= files.len() {
            files.resize(at + 1, Text::NONE);
        }
        files[at] = target;
    }

    /// What a completed call did to the descriptors of its task. If the line had no target, it is
    /// that of [`Descriptors::target`]. `pair` are the descriptors that it created, if it created two.
    pub(crate) fn completed(
        &mut self,
        task: OwnTask,
        line: &Line,
        pair: Option<&[i32]>,
        texts: &mut Interner,
    ) {
        let Some(role) = role(action_of(line.name)) else {
            return;
        };
        let connecting = role == Role::Connects && line.target.is_some() && line.fd != NO_ID;
        if connecting {
            // EINPROGRESS is a failure only in name.
            return self.set(task, i64::from(line.fd), line.target);
        }
        if line.outcome != Outcome::Ok {
            return;
        }
        match role {
            Role::Opens => {
                let copied = copied_fd(texts.bytes(line.target))
                    .map_or(Text::NONE, |fd| self.target(task, fd));
                self.set(
                    task,
                    line.ret,
                    if copied.is_some() {
                        copied
                    } else {
                        line.target
                    },
                );
            }
            Role::Binds if is_address(texts.bytes(line.target)) => {
                self.set(task, i64::from(line.fd), line.target)
            }
            Role::Accepts => {
                let peer = self.accepted(task, line, texts);
                self.set(task, line.ret, peer);
            }
            Role::Watches => {
                let process = [PROCESS, texts.bytes(line.target)].concat();
                let process = texts.add(&process);
                self.set(task, line.ret, process);
            }
            Role::Makes(what) => {
                let what = texts.add(what.as_bytes());
                self.set(task, line.ret, what);
            }
            Role::Copies => self.set(task, line.ret, line.target),
            Role::Controls if is_dup(texts.bytes(line.op)) => self.set(task, line.ret, line.target),
            Role::Closes => self.close(task, line.fd),
            Role::ControlsDevice if is_of_terminals(texts.bytes(line.op)) => {
                self.is_terminal(task, line.fd, texts)
            }
            Role::Pairs("pipe") if line.target.is_some() => {
                pair.unwrap_or(&[])
                    .iter()
                    .take(2)
                    .for_each(|&fd| self.set(task, i64::from(fd), line.target));
            }
            Role::Pairs(what) => self.pair(task, what, pair.unwrap_or(&[]), texts),
            Role::Begins if self.tables.is_empty() && task == OwnTask::new(0) => {
                let names = GIVEN.map(|name| texts.add(name.as_bytes()));
                (0..)
                    .zip(names)
                    .for_each(|(fd, name)| self.set(task, fd, name));
            }
            Role::Begins | Role::Controls | Role::ControlsDevice | Role::Connects | Role::Binds => {
            }
        }
    }

    /// A request that only terminals know succeeded. A name that is known says more.
    fn is_terminal(&mut self, task: OwnTask, fd: i32, texts: &mut Interner) {
        let known = self.target(task, fd);
        if fd != NO_ID && (!known.is_some() || texts.bytes(known) == GIVEN[0].as_bytes()) {
            let name = texts.add(TERMINAL);
            self.set(task, i64::from(fd), name);
        }
    }

    /// What an accept returned: the peer or, without its address, a connection accepted at the address of the listener.
    fn accepted(&self, task: OwnTask, line: &Line, texts: &mut Interner) -> Text {
        let listener = texts.bytes(line.target);
        if line.fd == NO_ID || self.target(task, line.fd) != line.target || !is_address(listener) {
            return line.target;
        }
        let name = [listener, ACCEPTED].concat();
        texts.add(&name)
    }

    /// Both ends of a pipe have one unique name; those of a socket pair name each other.
    fn pair(&mut self, task: OwnTask, what: &str, fds: &[i32], texts: &mut Interner) {
        self.pairs += 1;
        let (one, other) = (self.pairs * 2 - 1, self.pairs * 2);
        let names = match what {
            "pipe" => [
                format!("pipe:[#{}]", self.pairs),
                format!("pipe:[#{}]", self.pairs),
            ],
            _ => [
                format!("{what}:[#{one}->#{other}]"),
                format!("{what}:[#{other}->#{one}]"),
            ],
        };
        for (&fd, name) in fds.iter().zip(names) {
            let name = texts.add(name.as_bytes());
            self.set(task, i64::from(fd), name);
        }
    }

    /// The effect of a call with this content; of a second half, if the first one is unknown.
    pub(crate) fn effect(
        &mut self,
        line: &Line,
        is_half: bool,
        texts: &Interner,
    ) -> DescriptorEffect {
        match role(action_of(line.name)) {
            None => DescriptorEffect::None,
            Some(Role::Connects) => DescriptorEffect::Other,
            Some(_) if line.outcome != Outcome::Ok => DescriptorEffect::None,
            Some(Role::Closes) => DescriptorEffect::Closes,
            Some(Role::Opens) if !is_half && copied_fd(texts.bytes(line.target)).is_none() => {
                DescriptorEffect::Opens
            }
            Some(Role::Controls) if !is_half && !is_dup(texts.bytes(line.op)) => {
                DescriptorEffect::None
            }
            Some(Role::ControlsDevice) if !is_half && !is_of_terminals(texts.bytes(line.op)) => {
                DescriptorEffect::None
            }
            Some(_) => DescriptorEffect::Other,
        }
    }

    /// A call closed this one.
    #[inline]
    pub(crate) fn close(&mut self, task: OwnTask, fd: i32) {
        self.set(task, i64::from(fd), Text::NONE);
    }

    /// A call returned this one for its target.
    #[inline]
    pub(crate) fn open(&mut self, task: OwnTask, fd: i64, target: Text) {
        self.set(task, fd, target);
    }
}

/// Whether a name contains no more than a kind, or a number.
pub(crate) fn is_bare(target: &[u8]) -> bool {
    target.starts_with(b"socket:[")
        || matches!(target, b"anon_inode:[pidfd]" | b"anon_inode:inotify")
}

/// Whether a tracer prints a datagram socket by its own address (`UDP:[0.0.0.0:5353]`) although it was connected to
/// another one: the tracer learned the address before.
fn is_unconnected(printed: &[u8], known: &[u8]) -> bool {
    let own = printed
        .strip_prefix(b"UDPv6:[")
        .or_else(|| printed.strip_prefix(b"UDP:["));
    let own = own.and_then(|own| own.strip_suffix(b"]"));
    own.is_some_and(|own| {
        is_host_and_port(known)
            && memchr::memmem::find(own, b"->").is_none()
            && port(own) != port(known)
    })
}

fn port(address: &[u8]) -> Option<Vec<u8>> {
    let colon = memchr::memrchr(b':', address);
    colon.map(|colon| address[colon + 1..].to_vec())
}

/// Whether a target is the address of a socket that others can name; port 0 leaves the choice to the system. A path may
/// be relative.
fn is_address(target: &[u8]) -> bool {
    let is_path = || {
        memchr::memchr(b':', target).is_none()
            && target != TERMINAL
            && !GIVEN.iter().any(|given| given.as_bytes() == target)
    };
    match target.first() {
        None => false,
        Some(b'/' | b'@') => true,
        Some(_) if is_host_and_port(target) => !target.ends_with(b":0"),
        Some(_) => is_path(),
    }
}

fn is_dup(command: &[u8]) -> bool {
    command.starts_with(b"F_DUP")
}

/// Whether only terminals know a request: their settings and their size.
fn is_of_terminals(request: &[u8]) -> bool {
    request.starts_with(b"TCGET") || request.starts_with(b"TCSET") || request == b"TIOCGWINSZ"
}

/// The descriptor that an open of this path copies, as shells do for the pipes of `<(…)`.
fn copied_fd(path: &[u8]) -> Option<i32> {
    let number = path
        .strip_prefix(b"/dev/fd/")
        .or_else(|| path.strip_prefix(b"/proc/self/fd/"))?;
    match parsers::scan::number(number)? {
        (fd, []) => i32::try_from(fd).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsers::LineKind;

    fn call(texts: &mut Interner, name: &str, fd: i32, target: &str, ret: i64) -> Line {
        let (name, target) = (texts.add(name.as_bytes()), texts.add(target.as_bytes()));
        Line {
            name,
            fd,
            target,
            ret,
            ..Line::of(LineKind::Call)
        }
    }

    #[test]
    fn a_child_has_a_copy_and_a_thread_shares() {
        let (mut files, mut texts) = (Descriptors::default(), Interner::default());
        let open = call(&mut texts, "openat", NO_ID, "/dev/zfs", 3);
        files.completed(OwnTask::new(0), &open, None, &mut texts);
        files.inherit(OwnTask::new(1), OwnTask::new(0), false);
        files.inherit(OwnTask::new(2), OwnTask::new(0), true);
        let close = call(&mut texts, "close", 3, "", 0);
        files.completed(OwnTask::new(0), &close, None, &mut texts);
        assert_eq!(files.target(OwnTask::new(1), 3), open.target);
        assert_eq!(files.target(OwnTask::new(2), 3), Text::NONE);
        assert_eq!(files.target(OwnTask::new(0), -1), Text::NONE);
    }

    #[test]
    fn a_child_has_what_its_creator_had_when_it_was_created() {
        let (mut files, mut texts) = (Descriptors::default(), Interner::default());
        let pair = call(&mut texts, "socketpair", NO_ID, "", 0);
        files.completed(OwnTask::new(0), &pair, Some(&[3, 4]), &mut texts);
        files.forked(7, OwnTask::new(0));
        let close = call(&mut texts, "close", 4, "", 0);
        files.completed(OwnTask::new(0), &close, None, &mut texts);
        assert!(files.take_forked(7, OwnTask::new(1)) && !files.take_forked(7, OwnTask::new(2)));
        assert_eq!(
            texts.bytes(files.target(OwnTask::new(1), 3)),
            b"UNIX:[#1->#2]"
        );
        assert_eq!(
            texts.bytes(files.target(OwnTask::new(1), 4)),
            b"UNIX:[#2->#1]"
        );
        assert_eq!(files.target(OwnTask::new(0), 4), Text::NONE);
    }

    #[test]
    fn calls_that_cannot_be_cancelled_are_followed_like_the_others() {
        let (mut files, mut texts) = (Descriptors::default(), Interner::default());
        let open = call(&mut texts, "open_nocancel", NO_ID, "/etc/hosts", 3);
        files.completed(OwnTask::new(0), &open, None, &mut texts);
        assert_eq!(files.target(OwnTask::new(0), 3), open.target);
        let close = call(&mut texts, "close_nocancel", 3, "", 0);
        files.completed(OwnTask::new(0), &close, None, &mut texts);
        assert_eq!(files.target(OwnTask::new(0), 3), Text::NONE);
    }

    #[test]
    fn the_first_program_is_given_three_and_no_other_one() {
        let (mut files, mut texts) = (Descriptors::default(), Interner::default());
        let exec = call(&mut texts, "execve", NO_ID, "/bin/sh", 0);
        files.completed(OwnTask::new(0), &exec, None, &mut texts);
        assert_eq!(texts.bytes(files.target(OwnTask::new(0), 0)), b"stdin");
        let close = call(&mut texts, "close", 0, "", 0);
        files.completed(OwnTask::new(0), &close, None, &mut texts);
        files.completed(OwnTask::new(0), &exec, None, &mut texts);
        files.completed(OwnTask::new(1), &exec, None, &mut texts);
        assert_eq!(
            (
                files.target(OwnTask::new(0), 0),
                files.target(OwnTask::new(1), 0)
            ),
            (Text::NONE, Text::NONE)
        );
    }

    #[test]
    fn a_request_that_only_terminals_know_names_standard_input() {
        let (mut files, mut texts) = (Descriptors::default(), Interner::default());
        let exec = call(&mut texts, "execve", NO_ID, "/bin/sh", 0);
        files.completed(OwnTask::new(0), &exec, None, &mut texts);
        let asks = |texts: &mut Interner, fd, op: &str, outcome| Line {
            op: texts.add(op.as_bytes()),
            outcome,
            ..call(texts, "ioctl", fd, "", 0)
        };
        let of_files = asks(&mut texts, 0, "FIONREAD", Outcome::Ok);
        let refused = asks(&mut texts, 0, "TCGETS", Outcome::Failed);
        for other in [of_files, refused] {
            files.completed(OwnTask::new(0), &other, None, &mut texts);
            assert_eq!(texts.bytes(files.target(OwnTask::new(0), 0)), b"stdin");
        }
        for fd in [0, 1, 5] {
            let works = asks(&mut texts, fd, "TCGETS", Outcome::Ok);
            files.completed(OwnTask::new(0), &works, None, &mut texts);
        }
        let names = [0, 1, 5].map(|fd| texts.bytes(files.target(OwnTask::new(0), fd)));
        assert_eq!(names, [&b"terminal"[..], b"stdout", b"terminal"]);
    }

    #[test]
    fn an_open_of_a_descriptor_by_its_path_is_a_copy() {
        let (mut files, mut texts) = (Descriptors::default(), Interner::default());
        let pipe = call(&mut texts, "pipe2", NO_ID, "", 0);
        files.completed(OwnTask::new(0), &pipe, Some(&[3, 63]), &mut texts);
        let copy = call(&mut texts, "openat", NO_ID, "/dev/fd/63", 5);
        files.completed(OwnTask::new(0), &copy, None, &mut texts);
        let unknown = call(&mut texts, "openat", NO_ID, "/dev/fd/70", 6);
        files.completed(OwnTask::new(0), &unknown, None, &mut texts);
        assert_eq!(
            files.target(OwnTask::new(0), 5),
            files.target(OwnTask::new(0), 3)
        );
        assert_eq!(files.target(OwnTask::new(0), 6), unknown.target);
    }

    #[test]
    fn both_ends_of_a_pipe_and_their_copies_have_one_name() {
        let (mut files, mut texts) = (Descriptors::default(), Interner::default());
        let pipe = call(&mut texts, "pipe2", NO_ID, "", 0);
        files.completed(OwnTask::new(0), &pipe, Some(&[3, 4]), &mut texts);
        let dup = Line {
            target: files.target(OwnTask::new(0), 4),
            ..call(&mut texts, "dup2", 4, "", 1)
        };
        files.completed(OwnTask::new(0), &dup, None, &mut texts);
        assert!(files.target(OwnTask::new(0), 3).is_some());
        assert_eq!(
            files.target(OwnTask::new(0), 3),
            files.target(OwnTask::new(0), 1)
        );
    }
}
