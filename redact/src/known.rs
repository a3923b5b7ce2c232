//! What is known to be harmless: names of calls and constants, words of tracers and systems, names of system files.
//!
//! The lists are in `known/`. `asked.txt` contains what readers, engine and rules look for, and is made from their
//! sources.

use parsers::syscalls;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

type Words = LazyLock<FxHashSet<&'static [u8]>>;

static EXACT: Words = LazyLock::new(|| {
    let lists = [
        include_str!("../known/constants.txt"),
        include_str!("../known/systems.txt"),
        include_str!("../known/asked.txt"),
    ];
    lists.iter().flat_map(|list| words(list)).collect()
});
static ANY_CASE: Words = LazyLock::new(|| words(include_str!("../known/words.txt")).collect());
static NAMES: Words = LazyLock::new(|| words(include_str!("../known/names.txt")).collect());
static EXTENSIONS: Words =
    LazyLock::new(|| words(include_str!("../known/extensions.txt")).collect());

/// Longest word of the lists.
const MAX_WORD_BYTES: usize = 64;

fn words(list: &'static str) -> impl Iterator<Item = &'static [u8]> {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_ascii_whitespace)
        .map(str::as_bytes)
}

/// Whether a word outside strings may stay: the name of a call, a constant, a field, a word of a tracer.
pub(crate) fn is_word(word: &[u8]) -> bool {
    // As ltrace writes it: `SYS_close`.
    let call = word.strip_prefix(b"SYS_").unwrap_or(word);
    word.len() <= MAX_WORD_BYTES
        && (EXACT.contains(word) || is_common(word) || syscalls::by_name(call).is_some())
}

/// Whether it is a word of messages, in any capitals.
pub(crate) fn is_common(word: &[u8]) -> bool {
    let mut lower = [0; 16];
    let Some(lower) = lower.get_mut(..word.len()) else {
        return false;
    };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    ANY_CASE.contains(&*lower)
}

/// Whether the name of a file or directory may stay.
pub(crate) fn is_name(name: &[u8]) -> bool {
    NAMES.contains(name)
}

/// Whether the extension of a file may stay.
pub(crate) fn is_extension(extension: &[u8]) -> bool {
    EXTENSIONS.contains(extension)
}
