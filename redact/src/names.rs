//! Texts that are names: paths, arguments of programs, hosts. Their punctuation stays, their words become pseudonyms.
//!
//! ```text
//! /home/alice/.ssh/id_rsa         /home/gkz…/.hjm…/ktz…_rst…
//! /usr/lib/libacme-2.1.so.3       /usr/lib/mnk…-7.4.so.8
//! /proc/4711/status               as it is: names of systems, numbers of processes
//! /tmp/tmp.Xa81kQ                 /tmp/tmp.Rb42tW
//! --host=db1.acme.com:5432        --gnw…=xzk….hkm….com:5432
//! ```
//! A name is treated alike wherever it stands, because a relative path is the end of an absolute one.

use crate::pseudonym::Pseudonyms;
use crate::recent::Recent;
use crate::{address, known, token};
use parsers::random_name::{
    BEFORE_RANDOM, TEMPORARY, TMP, generated_part, is_python_random, is_random,
};
use regex::bytes::Regex;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What the user wants to keep.
#[derive(Default)]
pub(crate) struct Kept {
    /// Texts and words that match as a whole.
    pub pattern: Option<Regex>,
    /// Names of programs.
    pub programs: bool,
}

impl Kept {
    pub fn has(&self, text: &[u8]) -> bool {
        let Some(pattern) = &self.pattern else {
            return false;
        };
        pattern
            .find(text)
            .is_some_and(|found| found.len() == text.len() && !text.is_empty())
    }
}

/// Directories of programs.
const PROGRAMS: [&[u8]; 3] = [b"bin", b"sbin", b"libexec"];
/// Repeated punctuation may be a secret too: more of it is left out.
const MAX_PUNCTUATION: usize = 4;
const MAX_ADDRESSES: usize = 1 << 16;

/// Rewrites names.
pub(crate) struct Names {
    pub pseudonyms: Pseudonyms,
    pub kept: Kept,
    addresses: FxHashMap<Box<[u8]>, Box<[u8]>>,
    recent: Recent,
}

impl Names {
    pub fn new(pseudonyms: Pseudonyms, kept: Kept) -> Names {
        Names {
            pseudonyms,
            kept,
            addresses: FxHashMap::default(),
            recent: Recent::default(),
        }
    }

    /// Append a word that is not known, unless the user keeps it.
    pub fn unknown(&mut self, word: &[u8], out: &mut Vec<u8>) {
        if self.kept.has(word) {
            out.extend_from_slice(word)
        } else {
            self.pseudonyms.word(word, out)
        }
    }

    /// Append a name. `is_program`: a program is executed by this path.
    pub fn text(&mut self, text: &[u8], is_program: bool, out: &mut Vec<u8>) {
        if text.is_empty() || self.kept.has(text) {
            return out.extend_from_slice(text);
        }
        if let Some(made) = self.recent.get(text, u8::from(is_program)) {
            return out.extend_from_slice(made);
        }
        let start = out.len();
        self.rewrite(text, is_program, out);
        self.recent
            .insert(text, u8::from(is_program), &out[start..]);
    }

    fn rewrite(&mut self, text: &[u8], is_program: bool, out: &mut Vec<u8>) {
        let (mut at, mut path_start, mut punctuation) = (0, 0, 0);
        while let Some(&byte) = text.get(at) {
            if let Some(used) = self.address(text, at, out) {
                path_start = after_separator(text, at..at + used).unwrap_or(path_start);
                (at, punctuation) = (at + used, 0);
                continue;
            }
            if is_boundary(byte) {
                punctuation += 1;
                if punctuation <= MAX_PUNCTUATION || byte == b'/' || byte == b'.' {
                    out.push(byte);
                }
                path_start = after_separator(text, at..at + 1).unwrap_or(path_start);
                at += 1;
                continue;
            }
            let end = at
                + text[at..]
                    .iter()
                    .position(|&byte| is_boundary(byte))
                    .unwrap_or(text.len() - at);
            let place = Place::of(text, path_start, at..end, is_program);
            self.component(&text[at..end], &place, out);
            (at, punctuation) = (end, 0);
        }
    }

    /// Append the address at a place of a text; its length, if there is one.
    pub fn address(&mut self, text: &[u8], at: usize, out: &mut Vec<u8>) -> Option<usize> {
        let rest = &text[at..];
        let first = *rest.first()?;
        if !(first.is_ascii_hexdigit() || first == b':') {
            return None;
        }
        let before = at.checked_sub(1).map(|before| text[before]);
        if before.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'.' | b':' | b'_')
        }) {
            let is_after_port_colon =
                before == Some(b':') && first.is_ascii_digit() && !rest.contains(&b':');
            if !is_after_port_colon {
                return None;
            }
        }
        if let Some(used) = self.whole_token(rest, out) {
            return Some(used);
        }
        let (used, is_v4) = match address::leading_v4(rest) {
            Some((_, used)) => (used, true),
            None => (address::leading_v6(rest)?.1, false),
        };
        if self.kept.has(&rest[..used]) {
            out.extend_from_slice(&rest[..used]);
            return Some(used);
        }
        if let Some(known) = self.addresses.get(&rest[..used]) {
            out.extend_from_slice(known);
            return Some(used);
        }
        let key = self.pseudonyms.key();
        let made =
            match is_v4 {
                true => address::leading_v4(rest)
                    .map(|(found, _)| address::v4(key, found).to_string())?,
                false => address::leading_v6(rest)
                    .map(|(found, _)| address::v6(key, found).to_string())?,
            };
        if self.addresses.len() >= MAX_ADDRESSES {
            self.addresses.clear();
        }
        self.addresses
            .insert(rest[..used].into(), made.as_bytes().into());
        self.pseudonyms.note(&rest[..used], made.as_bytes());
        out.extend_from_slice(made.as_bytes());
        Some(used)
    }

    /// Append the pseudonym of an address of hardware or a UUID that a text begins with; its length, if there is one.
    fn whole_token(&mut self, text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        if let Some((octets, used)) = token::hardware_address(text) {
            let original = &text[..used];
            if self.kept.has(original) {
                out.extend_from_slice(original);
                return Some(used);
            }
            let made = self.hardware(&octets);
            let made = token::printed(&made, original);
            self.pseudonyms.note(original, made.as_bytes());
            out.extend_from_slice(made.as_bytes());
            return Some(used);
        }
        let used = token::uuid_len(text)?;
        for (number, group) in text[..used].split(|&byte| byte == b'-').enumerate() {
            if number > 0 {
                out.push(b'-');
            }
            self.unknown(group, out);
        }
        Some(used)
    }

    /// The pseudonym of an address of hardware.
    pub fn hardware(&self, octets: &[u8]) -> Vec<u8> {
        token::pseudonym(self.pseudonyms.key(), octets)
    }

    /// Append one pseudonym for a percent-encoded word at the beginning of a text; its length, if there is one.
    pub fn percent_encoded(&mut self, text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let used = token::percent_encoded_len(text)?;
        if self.kept.has(&text[..used]) {
            out.extend_from_slice(&text[..used]);
        } else {
            let word: Vec<u8> = text[..used]
                .iter()
                .copied()
                .filter(|&byte| byte != b'%')
                .collect();
            // A letter in front: its digits are no number.
            self.unknown(&[b"p", &word[..]].concat(), out);
        }
        Some(used)
    }

    /// The pseudonym of an address of four bytes.
    pub fn v4(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let address = <[u8; 4]>::try_from(bytes).ok()?;
        Some(
            address::v4(self.pseudonyms.key(), address.into())
                .octets()
                .to_vec(),
        )
    }

    /// The pseudonym of an address of sixteen bytes.
    pub fn v6(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let address = <[u8; 16]>::try_from(bytes).ok()?;
        Some(
            address::v6(self.pseudonyms.key(), address.into())
                .octets()
                .to_vec(),
        )
    }

    /// Append what stands between two slashes, blanks or other boundaries.
    fn component(&mut self, name: &[u8], place: &Place, out: &mut Vec<u8>) {
        let is_port = place.is_port && name.len() <= 5 && name.iter().all(u8::is_ascii_digit);
        let is_kept = known::is_name(name)
            || self.kept.has(name)
            || place.is_program && self.kept.programs
            || place.has_process_ids && name.len() <= 7 && name.iter().all(u8::is_ascii_digit)
            || is_port;
        if is_kept {
            return out.extend_from_slice(name);
        }
        if place.is_temporary && self.python_random(name, out) {
            return;
        }
        if !place.is_temporary
            && let Some(random) = generated_part(name)
        {
            self.around_random(&name[..random.start], place, out);
            self.pseudonyms.random(&name[random.clone()], out);
            return self.around_random(&name[random.end..], place, out);
        }
        let has_percent = memchr::memchr(b'%', name).is_some();
        let mut start = 0;
        while start < name.len() {
            if has_percent && let Some(used) = self.percent_encoded(&name[start..], out) {
                start += used;
                continue;
            }
            let is_word = is_word_byte(name[start]);
            let end = start
                + name[start..]
                    .iter()
                    .position(|&byte| is_word_byte(byte) != is_word)
                    .unwrap_or(name.len() - start);
            let run = &name[start..end];
            if !is_word {
                out.extend_from_slice(&run[..run.len().min(MAX_PUNCTUATION)]);
            } else {
                let is_extension = start > 1 && name[start - 1] == b'.' && known::is_extension(run);
                let is_small = place.is_device
                    && is_of_device(name)
                    && run.len() <= 3
                    && run.iter().all(u8::is_ascii_digit);
                match () {
                    () if is_extension || is_small || self.kept.has(run) => {
                        out.extend_from_slice(run)
                    }
                    () if place.is_temporary && self.random(run, out) => {}
                    () if place.is_device => self.device(run, out),
                    () => self.unknown(run, out),
                }
            }
            start = end;
        }
    }

    /// `tty1`, `sda1`: a known kind and a small number.
    fn device(&mut self, run: &[u8], out: &mut Vec<u8>) {
        let letters = run.iter().position(u8::is_ascii_digit).unwrap_or(run.len());
        let is_known = known::is_name(&run[..letters]) && run.len() - letters <= 3;
        if is_known && run[letters..].iter().all(u8::is_ascii_digit) {
            out.extend_from_slice(run);
        } else {
            self.unknown(run, out);
        }
    }

    /// What precedes or follows a generated part: words, and what separates them from it.
    fn around_random(&mut self, text: &[u8], place: &Place, out: &mut Vec<u8>) {
        let is_separator = |byte: &u8| matches!(byte, b'.' | b'_' | b'-');
        let mut rest = text;
        if let Some(after) = text.strip_prefix(b".tmp").or(text.strip_prefix(b"tmp")) {
            out.extend_from_slice(&text[..text.len() - after.len()]);
            rest = after;
        }
        for word in rest.split_inclusive(is_separator) {
            let length = word.len() - usize::from(word.last().is_some_and(is_separator));
            self.component(&word[..length], place, out);
            out.extend_from_slice(&word[length..]);
        }
    }

    /// Names of Python's tempfile: after `tmp`, eight small letters, digits and underscores.
    fn python_random(&mut self, name: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(rest) = name.strip_prefix(TMP).filter(|rest| is_python_random(rest)) else {
            return false;
        };
        out.extend_from_slice(TMP);
        self.pseudonyms.random(rest, out);
        true
    }

    /// Random parts of the names of other temporary files.
    fn random(&mut self, run: &[u8], out: &mut Vec<u8>) -> bool {
        let before = BEFORE_RANDOM
            .into_iter()
            .find(|before| run.starts_with(before))
            .unwrap_or(b"");
        let rest = &run[before.len()..];
        let is_made_up = is_random(rest);
        if is_made_up {
            out.extend_from_slice(before);
            self.pseudonyms.random(rest, out);
        }
        is_made_up
    }
}

/// Whether a name has no more digits than names of devices have: `nvme0n1p12`.
fn is_of_device(name: &[u8]) -> bool {
    const MAX_DIGITS: usize = 5;
    name.iter().filter(|byte| byte.is_ascii_digit()).count() <= MAX_DIGITS
}

/// Where a component stands.
struct Place {
    is_temporary: bool,
    has_process_ids: bool,
    is_device: bool,
    is_program: bool,
    is_port: bool,
}

impl Place {
    /// Of a component of a path that begins at `path_start`.
    fn of(text: &[u8], path_start: usize, component: Range<usize>, is_program: bool) -> Place {
        let Range { start, end } = component;
        let (before, path) = (&text[..start], &text[path_start..start]);
        let is_last = end == text.len() || text[end] != b'/';
        let parent = || {
            path.strip_suffix(b"/")
                .map(|path| path.rsplit(|&byte| byte == b'/').next().unwrap_or(b""))
        };
        Place {
            is_temporary: TEMPORARY.contains(&path),
            has_process_ids: path.starts_with(b"/proc/")
                || matches!(path, b"/dev/pts/" | b"/dev/fd/"),
            is_device: path == b"/dev/",
            is_program: is_last
                && (is_program
                    || path.starts_with(b"/")
                        && parent().is_some_and(|parent| PROGRAMS.contains(&parent))),
            // Of octets with colons, none but the last may seem to be a port.
            is_port: before.strip_suffix(b":").is_some_and(is_host) && text.get(end) != Some(&b':'),
        }
    }
}

/// Whether a port may follow a text: not after groups of digits such as `3992:1198`, which are no host.
fn is_host(before: &[u8]) -> bool {
    let is_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let mut groups = before.rsplit(|&byte| !(is_word_byte(byte) || byte == b'.'));
    let last = groups.next().unwrap_or(b"");
    let is_list = before[..before.len() - last.len()].ends_with(b":");
    let is_group = is_list && is_digits(last) && groups.next().is_some_and(is_digits);
    !before.is_empty() && !is_group
}

/// Where a path begins that follows what separates it from others, if that stands in this part of a text.
fn after_separator(text: &[u8], part: Range<usize>) -> Option<usize> {
    let at = text[part.clone()]
        .iter()
        .rposition(|byte| matches!(byte, b' ' | b'=' | b':' | b','))?;
    Some(part.start + at + 1)
}

/// Bytes of words. Others are punctuation.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Punctuation between names. Dots, hyphens, underscores and such are within them.
fn is_boundary(byte: u8) -> bool {
    !is_word_byte(byte) && !matches!(byte, b'.' | b'-' | b'_' | b'+' | b'~' | b'@' | b'%')
}
