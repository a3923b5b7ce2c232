//! All tests of the parsers, in one program: linking one program per file took longer than running them.

mod cases;
mod dtruss;
mod envelope;
mod fs_usage;
mod gvisor;
mod input;
mod kdump;
mod kernel_log;
mod ltrace;
mod other_formats;
mod perf_data;
mod perf_trace;
mod procmon;
mod repeated;
mod sched;
mod strace;
mod strace_macos;
mod sysdig;
mod truss_aix;
mod truss_freebsd;
mod truss_solaris;
