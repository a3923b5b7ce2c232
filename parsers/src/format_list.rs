//! The list of formats, and the choice among them.

use crate::format::{Format, Head, MIN_SHARE, Recognition, blank, is_quoted};
use crate::{
    dtruss, fs_usage, gvisor, kdump, kernel_log, ltrace, perf_data, perf_trace, procmon, strace,
    strace_macos, sysdig, truss_aix, truss_freebsd, truss_solaris,
};
use std::cmp::Reverse;

/// The formats, in the order in which they are tried. To add one, add its file and one line here.
pub const FORMATS: &[&dyn Format] = &[
    &dtruss::Dtruss,
    &fs_usage::FsUsage,
    &gvisor::Gvisor,
    &sysdig::Sysdig,
    &procmon::Procmon,
    &strace_macos::StraceMacos,
    &perf_data::PerfData,
    &perf_trace::PerfTrace,
    &kdump::Kdump,
    &ltrace::Ltrace,
    &truss_aix::TrussAix,
    &truss_freebsd::TrussFreebsd,
    &strace::Strace,
    &truss_solaris::TrussSolaris,
    &kernel_log::KernelLog,
];

/// The format with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The format of a text: the first that is certain, else the one with the largest share of matching lines. That share
/// must be at least 30 %, and 1.5 times that of the next format. `None` if no format qualifies.
pub fn recognise(head: Head<'_>) -> Option<&'static dyn Format> {
    let shares = match shares(head) {
        Ok(format) => return Some(format),
        Err(shares) => shares,
    };
    let next = shares.get(1).map_or(0, |&(share, _)| u32::from(share));
    let best = shares
        .first()
        .filter(|best| best.0 >= MIN_SHARE && u32::from(best.0) * 2 >= next * 3);
    best.map(|&(_, format)| format).or_else(|| quoted(head))
}

/// The format that a short text in prose quotes, by lines that only this format has.
fn quoted(head: Head<'_>) -> Option<&'static dyn Format> {
    if !head.complete {
        return None;
    }
    let lines = head.lines().filter(|line| blank(line).is_none()).count();
    let own = |format: &dyn Format| head.lines().filter(|line| format.is_own_line(line)).count();
    let (most, format) = FORMATS
        .iter()
        .map(|&format| (own(format), format))
        .max_by_key(|&(lines, _)| lines)?;
    is_quoted(most, lines).then_some(format)
}

/// The formats of which a text has any lines, those with most of them first.
pub(crate) fn possible(head: Head<'_>) -> impl Iterator<Item = &'static dyn Format> {
    let shares = shares(head).map_or_else(|shares| shares, |format| vec![(100, format)]);
    shares.into_iter().map(|(_, format)| format)
}

type Shares = Result<&'static dyn Format, Vec<(u8, &'static dyn Format)>>;

/// The format that is certain, or else the possible ones by their shares of the lines, the largest first.
fn shares(head: Head<'_>) -> Shares {
    let mut shares: Vec<(u8, &'static dyn Format)> = Vec::new();
    for &format in FORMATS {
        match format.recognise(head) {
            Recognition::Yes => return Ok(format),
            Recognition::Maybe(share) => shares.push((share, format)),
            Recognition::No | Recognition::NeedMore => {}
        }
    }
    shares.sort_by_key(|&(share, _)| Reverse(share));
    Err(shares)
}
