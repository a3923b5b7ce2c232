//! The command that started a tracer, as people quote it with its output: `$ sudo strace -p 4711`.
//!
//! ```text
//! [root@box ~]# truss -p 7120      run 1
//! /1: read(7, 0x004996E4, 5120)    (sleeping...)
//! ^C[root@box ~]# truss -p 7104    run 2: of another process
//! ```

use crate::format::Parsed;
use crate::line::{Extra, Line, LineKind, NO_NS};
use crate::scan;
use memchr::memmem;

/// Longest prompt, in bytes.
const MAX_PROMPT_BYTES: usize = 120;
/// What may precede the tracer.
const WRAPPERS: [&[u8]; 5] = [b"sudo", b"doas", b"pfexec", b"time", b"env"];
/// Commands that print some lines of their input.
const SELECTORS: [&[u8]; 5] = [b"grep", b"egrep", b"zgrep", b"rg", b"awk"];
const TRACERS: [&[u8]; 4] = [b"strace", b"truss", b"dtruss", b"ltrace"];

/// Whether a line is a prompt and the command of a tracer. Calls have quotes or parentheses before such a text.
pub(crate) fn is_tracer_command(line: &[u8]) -> bool {
    let prompt = line.get(..MAX_PROMPT_BYTES).unwrap_or(line);
    let after = |end: &[u8]| memmem::find(prompt, end).map(|at| (at, at + end.len()));
    let Some((at, end)) = [&b"$ "[..], b"# ", b"% "].into_iter().find_map(after) else {
        return false;
    };
    let mut words = line[end..]
        .split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty())
        .skip_while(|word| WRAPPERS.contains(word) || word.contains(&b'='));
    let program = words.next().unwrap_or(b"");
    let program = program
        .rsplit(|&byte| byte == b'/')
        .next()
        .unwrap_or(program);
    TRACERS.contains(&program) && !line[..at].contains(&b'(') && !line[..at].contains(&b'"')
}

/// Whether a line is a prompt and a command that selects lines of a log: `$ dmesg | grep usb`.
pub(crate) fn selects_lines(line: &[u8]) -> bool {
    let prompt = line.get(..MAX_PROMPT_BYTES).unwrap_or(line);
    let after = |end: &[u8]| memmem::find(prompt, end).map(|at| (at, at + end.len()));
    let Some((at, end)) = [&b"$ "[..], b"# ", b"% "].into_iter().find_map(after) else {
        return false;
    };
    let commands = line[end..]
        .split(|&byte| byte == b'|')
        .filter_map(|command| {
            let mut words = command
                .split(|&byte| byte == b' ')
                .filter(|word| !word.is_empty());
            words.find(|word| !WRAPPERS.contains(word))
        });
    let has_host = line[..at]
        .iter()
        .all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    has_host
        && commands
            .into_iter()
            .any(|command| SELECTORS.contains(&command))
}

/// The line of such a command: another run begins.
pub(crate) fn read(line: &[u8], parsed: &mut Parsed) -> Option<Line> {
    if !is_tracer_command(scan::trim(line)) {
        return None;
    }
    let mut read = Line::of(LineKind::Notice);
    read.extra = parsed.keep(Extra::Restarted { base_ns: NO_NS });
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::{is_tracer_command, selects_lines};

    #[test]
    fn a_prompt_and_grep_select_lines() {
        for line in [
            &b"$ dmesg | grep i915"[..],
            b"[root@box ~]# sudo grep -i usb /var/log/messages",
        ] {
            assert!(selects_lines(line), "{line:?}");
        }
        for line in [&b"$ dmesg"[..], b"dmesg | grep i915", b"$ echo grep"] {
            assert!(!selects_lines(line), "{line:?}");
        }
    }

    #[test]
    fn a_prompt_and_a_tracer_begin_a_run() {
        let commands: [&[u8]; 5] = [
            b"$ sudo strace -p 4711",
            b"^C[root@box ~]# truss -p 7104",
            b"# LANG=C /usr/bin/strace -f ls",
            b"box% dtruss -p 12",
            b"root@box:/# strace -c -p 1",
        ];
        assert!(commands.iter().all(|line| is_tracer_command(line)));
        let others: [&[u8]; 3] = [
            b"write(1, \"# strace -p 1\", 13) = 13",
            b"# strace: Process 12 attached",
            b"$ ls strace",
        ];
        assert!(others.iter().all(|line| !is_tracer_command(line)));
    }
}
