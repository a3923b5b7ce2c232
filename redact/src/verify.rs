//! Proof that a redacted capture contains nothing of the original that is not known to be harmless.
//!
//! ```text
//! 1  as many lines                               so that lines can be compared one by one
//! 2  each word is in a list or proves itself     letters of pseudonyms contain a sum over the others
//! 3  no six bytes of the line's own text         also unescaped, and within hexadecimal digits, base64, %xx
//! 4  no address of hardware of the line          whatever its form
//! 5  no made-up name of another line             the second rule lets such names stay
//! ```
//! It shares the lists with the code that rewrites, and nothing else: it knows no format, no call and no path. Digits
//! have no list: those that stand outside of quotes in the original may stay, others fall under the third rule.

use parsers::input::{self, Source};
use parsers::syscalls;
use regex::bytes::Regex;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::io;
use std::path::Path;

/// Bytes that nobody may recognise.
const WINDOW: usize = 6;
/// Of those, letters and digits.
const MIN_WORD_BYTES: usize = 5;
/// Shorter made-up names may be equal by chance.
const MIN_NAME_BYTES: usize = 8;
/// So many of them are compared with other lines.
const MAX_NAMES: usize = 1 << 20;
/// Findings that are reported one by one.
const MAX_FINDINGS: usize = 100;

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// One capture has more lines.
    Lines,
    /// A word is neither known nor a pseudonym.
    Word,
    /// Text of the original is still there.
    Text,
    /// Text of the original is still there, in hexadecimal digits, base64 or `%xx`.
    Encoded,
}

impl Problem {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Problem::Lines => "lines",
            Problem::Word => "word",
            Problem::Text => "text",
            Problem::Encoded => "encoded",
        }
    }
}

/// Where something is wrong. The text itself is not repeated: it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    pub line: u64,
    /// The column of the redacted line, from 1; 0 if unknown.
    pub column: usize,
    /// What.
    pub problem: Problem,
}

/// The result.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Number of compared lines.
    pub lines: u64,
    /// The first findings.
    pub findings: Vec<Finding>,
    /// The number of all.
    pub count: u64,
}

/// Compares captures.
pub struct Verifier {
    words: FxHashSet<Vec<u8>>,
    keep: Option<Regex>,
    grams: FxHashSet<u64>,
    /// Hashes of made-up names of the original so far.
    original_names: FxHashSet<u64>,
    /// The same of the redacted capture, each with the line and column where it is first.
    redacted_names: FxHashMap<u64, (u64, usize)>,
}

impl Default for Verifier {
    fn default() -> Verifier {
        Verifier::new(None)
    }
}

impl Verifier {
    /// Whatever matches `keep` as a whole may stay, too.
    pub fn new(keep: Option<Regex>) -> Verifier {
        let lists = [
            include_str!("../known/constants.txt"),
            include_str!("../known/systems.txt"),
            include_str!("../known/asked.txt"),
            include_str!("../known/words.txt"),
            include_str!("../known/names.txt"),
            include_str!("../known/extensions.txt"),
        ];
        let mut words = FxHashSet::default();
        for entry in lists
            .iter()
            .flat_map(|list| list.lines())
            .filter(|line| !line.starts_with('#'))
        {
            for word in entry.split_ascii_whitespace().map(str::as_bytes) {
                words.insert(word.to_vec());
                words.extend(runs(word).map(|range| word[range].to_vec()));
            }
        }
        Verifier {
            words,
            keep,
            grams: FxHashSet::default(),
            original_names: FxHashSet::default(),
            redacted_names: FxHashMap::default(),
        }
    }

    /// Compare two captures, compressed or not.
    ///
    /// # Errors
    /// Of reading.
    pub fn verify(&mut self, original: &Path, redacted: &Path) -> io::Result<Verdict> {
        let (mut one, mut other) = (LinesOf::open(original)?, LinesOf::open(redacted)?);
        let mut verdict = Verdict::default();
        loop {
            match (one.next()?, other.next()?) {
                (None, None) => return Ok(verdict),
                (Some(before), Some(after)) => {
                    verdict.lines += 1;
                    self.line(&before, &after, verdict.lines, &mut verdict);
                }
                _ => {
                    verdict.add(Finding {
                        line: verdict.lines + 1,
                        column: 0,
                        problem: Problem::Lines,
                    });
                    return Ok(verdict);
                }
            }
        }
    }

    /// Compare two lines.
    pub fn line(&mut self, original: &[u8], redacted: &[u8], number: u64, verdict: &mut Verdict) {
        let (shown, _) = unescaped(redacted);
        for range in runs(&shown) {
            let may_stay = self.may_stay(&shown[range.clone()])
                || is_of_python(&shown, range.clone())
                || self.may_stay(without_escape(&shown, range.clone()));
            if !may_stay && !self.is_kept_around(&shown, range.clone()) {
                verdict.add(Finding {
                    line: number,
                    column: range.start + 1,
                    problem: Problem::Word,
                });
            }
        }
        if let Some((line, column)) = self.moved_name(original, &shown, number) {
            return verdict.add(Finding {
                line,
                column,
                problem: Problem::Text,
            });
        }
        let kept = octet_lists(redacted);
        if octet_lists(original)
            .iter()
            .any(|(octets, _)| kept.iter().any(|(other, _)| other == octets))
        {
            let column = kept[0].1 + 1;
            return verdict.add(Finding {
                line: number,
                column,
                problem: Problem::Text,
            });
        }
        self.collect(original);
        if self.grams.is_empty() {
            return;
        }
        let numbers = numbers_outside(original);
        for (text, problem) in [(redacted.to_vec(), Problem::Text), (shown, Problem::Text)]
            .into_iter()
            .chain(decodings(redacted))
        {
            if let Some(column) = self.leak(&text, &numbers) {
                return verdict.add(Finding {
                    line: number,
                    column: column + 1,
                    problem,
                });
            }
        }
    }

    /// Line and column of a made-up name that another line of the original has, before or after.
    fn moved_name(&mut self, original: &[u8], shown: &[u8], number: u64) -> Option<(u64, usize)> {
        let mut found = None;
        for range in runs(shown).filter(|range| range.len() >= MIN_NAME_BYTES) {
            if !self.is_made_up(&shown[range.clone()]) || self.is_kept_around(shown, range.clone())
            {
                continue;
            }
            let (name, column) = (hash(&shown[range.clone()]), range.start + 1);
            if self.original_names.contains(&name) {
                found = found.or(Some((number, column)));
            } else if self.redacted_names.len() < MAX_NAMES {
                self.redacted_names.entry(name).or_insert((number, column));
            }
        }
        let (text, _) = unescaped(original);
        for range in runs(&text).filter(|range| range.len() >= MIN_NAME_BYTES) {
            let name = hash(&text[range.clone()]);
            if !self.is_made_up(&text[range]) {
                continue;
            }
            // What this line still has itself, the next rule reports.
            let place = self.redacted_names.remove(&name);
            found = found.or(place.filter(|&(line, _)| line < number));
            if self.original_names.len() < MAX_NAMES {
                self.original_names.insert(name);
            }
        }
        found
    }

    /// Whether a word may stay for no other reason than that it seems to be made up.
    fn is_made_up(&self, word: &[u8]) -> bool {
        is_random(word)
            // Hexadecimal numbers are of one case.
            && word.iter().any(u8::is_ascii_uppercase)
            && word.iter().any(u8::is_ascii_lowercase)
            && !word.starts_with(b"0x")
            && !self.is_own(word)
            && !self.has_known_parts(word)
            && !word.iter().all(u8::is_ascii_hexdigit)
    }

    /// Remember what must not be found again of a line.
    fn collect(&mut self, original: &[u8]) {
        self.grams.clear();
        let (text, places) = unescaped(original);
        let quoted = quoted(original);
        let mut secret = vec![true; text.len()];
        for range in runs(&text) {
            let word = &text[range.clone()];
            let is_number = word.iter().all(u8::is_ascii_digit) || word.starts_with(b"0x");
            let is_harmless = self.is_own(word)
                || is_number && !quoted[places[range.start]]
                || is_number && is_stamp(&text[..range.start])
                || is_process(&text, range.clone())
                || is_port(&text, &range);
            if is_harmless {
                secret[range].fill(false);
            }
        }
        dates(&text).for_each(|range| secret[range].fill(false));
        self.remember(&text, &secret);
        // Octets of digits seem to be numbers, and are letters.
        for decoded in percent_decoded(&text) {
            let mut secret = vec![true; decoded.len()];
            for range in runs(&decoded) {
                if self.is_own(&decoded[range.clone()]) {
                    secret[range].fill(false);
                }
            }
            self.remember(&decoded, &secret);
        }
    }

    /// Remember each window of a text that is secret as a whole.
    fn remember(&mut self, text: &[u8], secret: &[bool]) {
        // `0x` is no part of a secret.
        let is_prefix = |at: usize| {
            text[at..].starts_with(b"0x") || at > 0 && text[at - 1..].starts_with(b"0x")
        };
        for (start, window) in text.windows(WINDOW).enumerate() {
            let is_letter = |&at: &usize| is_word_byte(text[at]) && !is_prefix(at);
            let letters = (start..start + window.len()).filter(is_letter).count();
            if letters >= MIN_WORD_BYTES
                && secret[start..start + WINDOW]
                    .iter()
                    .all(|&is_secret| is_secret)
            {
                self.grams.insert(gram(window));
            }
        }
    }

    /// Whether a word comes from the lists or from the key, whatever the original contains.
    fn is_own(&self, word: &[u8]) -> bool {
        let is_ended = [&b"ing"[..], b"ed"]
            .iter()
            .any(|end| word.strip_suffix(*end).is_some_and(is_pseudonym));
        self.is_known(word)
            || is_pseudonym(word)
            || is_filler(word)
            || self.is_kept(word)
            || is_ended
    }

    /// Where a text contains something of the original.
    fn leak(&self, text: &[u8], numbers: &FxHashSet<Vec<u8>>) -> Option<usize> {
        let found = text
            .windows(WINDOW)
            .position(|window| self.grams.contains(&gram(window)))?;
        // Text in the lists or in a pseudonym has not come from there.
        let mut own = vec![false; text.len()];
        for range in runs(text) {
            let word = &text[range.clone()];
            if self.is_own(word) || numbers.contains(word) {
                own[range].fill(true);
            }
        }
        let is_leak = |at: &usize| {
            self.grams.contains(&gram(&text[*at..*at + WINDOW]))
                && !own[*at..*at + WINDOW].contains(&true)
        };
        (found..text.len() - WINDOW + 1).find(is_leak)
    }

    fn is_kept(&self, word: &[u8]) -> bool {
        let found = self.keep.as_ref().and_then(|keep| keep.find(word));
        found.is_some_and(|found| found.len() == word.len())
    }

    /// Whether the word is a part of a longer text that is kept.
    fn is_kept_around(&self, text: &[u8], range: std::ops::Range<usize>) -> bool {
        let Some(keep) = &self.keep else { return false };
        keep.find_iter(text)
            .any(|found| found.start() <= range.start && range.end <= found.end())
    }

    /// Whether a word of a redacted capture needs no explanation.
    fn may_stay(&self, word: &[u8]) -> bool {
        self.is_known(word)
            || is_pseudonym(word)
            || is_filler(word)
            // Parts of IPv6 addresses have up to four digits, decimal ones or not.
            || word.iter().all(u8::is_ascii_hexdigit) && (word.len() <= 4 || word.iter().any(u8::is_ascii_digit))
            || word
                .strip_prefix(b"0x")
                .or(word.strip_prefix(b"0X"))
                .is_some_and(|rest| rest.iter().all(u8::is_ascii_hexdigit))
            || is_random(word)
            || self.has_known_parts(word)
            || self.is_kept(word)
    }

    /// `gkz…042`, `arg2`, `12ms`, `27T20`: letters that may stay, and digits.
    fn has_known_parts(&self, word: &[u8]) -> bool {
        let parts = word.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit());
        parts.into_iter().all(|part| {
            let is_ended = [&b"ing"[..], b"ed"]
                .iter()
                .any(|end| part.strip_suffix(*end).is_some_and(is_pseudonym));
            let humps = || {
                part.chunk_by(|_, next| !next.is_ascii_uppercase())
                    .all(|hump| hump.len() > 1 && self.is_known(hump))
            };
            let is_prefixed = part
                .strip_prefix(b"tmp")
                .or(part.strip_prefix(b"cc"))
                .is_some_and(|rest| is_random(rest) || is_pseudonym(rest));
            part[0].is_ascii_digit()
                || self.is_known(part)
                || is_pseudonym(part)
                || is_filler(part)
                || is_ended
                || humps()
                || is_prefixed
        }) || word
            .strip_prefix(b"tmp")
            .or(word.strip_prefix(b"cc"))
            .is_some_and(|rest| rest.len() <= 12)
    }

    fn is_known(&self, word: &[u8]) -> bool {
        self.words.contains(word)
            || self.words.contains(&word.to_ascii_lowercase())
            || syscalls::by_name(word).is_some()
            || word.len() == 1 && word[0].is_ascii_alphabetic()
    }
}

impl Verdict {
    fn add(&mut self, finding: Finding) {
        self.count += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// The word after an escape that is escaped itself, as in a string of a tracer in JSON: `\\\\tgkz…`.
fn without_escape(text: &[u8], word: std::ops::Range<usize>) -> &[u8] {
    let rest = &text[word.start + 1..word.end];
    let is_escape = text[..word.start].ends_with(b"\\") && b"nrtbfv".contains(&text[word.start]);
    if is_escape && !rest.is_empty() {
        rest
    } else {
        &text[word]
    }
}

/// The places of words: letters, digits and bytes above 127.
fn runs(text: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> + use<'_> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at
            + text
                .get(at..)?
                .iter()
                .position(|&byte| is_word_byte(byte))?;
        let length = text[start..]
            .iter()
            .position(|&byte| !is_word_byte(byte))
            .unwrap_or(text.len() - start);
        at = start + length;
        Some(start..at)
    })
}

fn hash(word: &[u8]) -> u64 {
    FxBuildHasher.hash_one(word)
}

fn gram(window: &[u8]) -> u64 {
    window
        .iter()
        .fold(0, |gram, &byte| gram << 8 | u64::from(byte))
}

fn is_filler(word: &[u8]) -> bool {
    word.iter().all(|&byte| byte == b'x')
}

/// Capitals, small letters and digits change often: a made-up name. The third rule shows that it is not the original one.
fn is_random(word: &[u8]) -> bool {
    let kind = |byte: &u8| (byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let changes = word
        .windows(2)
        .filter(|pair| kind(&pair[0]) != kind(&pair[1]))
        .count();
    (6..=12).contains(&word.len()) && changes >= 2 && word.is_ascii()
}

/// Whether letters are a pseudonym: eleven, and three that follow from them.
fn is_pseudonym(word: &[u8]) -> bool {
    const ALPHABET: &[u8] = b"ghjkmnpqrstvwxyz";
    if word.len() != 14 {
        return false;
    }
    let lower = word.to_ascii_lowercase();
    let mut sum: u64 = 14_695_981_039_346_656_037;
    for &letter in &lower[..11] {
        sum = (sum ^ u64::from(letter)).wrapping_mul(1_099_511_628_211);
    }
    let sum = sum ^ sum >> 24 ^ sum >> 48;
    let end = [sum & 15, sum >> 4 & 15, sum >> 8 & 15].map(|digit| ALPHABET[digit as usize]);
    lower.iter().all(|letter| ALPHABET.contains(letter)) && lower[11..] == end
}

/// For each byte of a line, whether it is inside of quotes. A string of JSON that holds a whole line of a tracer is that
/// line: in it, escaped quotes count.
fn quoted(text: &[u8]) -> Vec<bool> {
    let mut marks = in_quotes(text);
    marks[..place_in_plot(text)].fill(false);
    if is_csv(text) {
        unmark_numbers(text, &mut marks);
    }
    if text.trim_ascii_start().first() != Some(&b'{') {
        return marks;
    }
    let mut at = 0;
    while let Some(length) = text[at..]
        .iter()
        .zip(&marks[at..])
        .position(|(&byte, is_inside)| byte == b'"' && *is_inside)
    {
        let start = at + length + 1;
        let end = start + string_len(&text[start..]);
        if holds_a_call(&text[start..end]) {
            marks.splice(start..end, in_escaped_quotes(&text[start..end]));
        }
        at = text.len().min(end + 1);
    }
    marks
}

/// Whether a line is one of Process Monitor: its fields are in quotes, and a backslash in them escapes nothing.
fn is_csv(text: &[u8]) -> bool {
    text.starts_with(b"\"") && memchr::memmem::find(text, b"\",\"").is_some()
}

/// Unmark the fields of a line of Process Monitor that are a time or a short number, and the ports of connections.
fn unmark_numbers(text: &[u8], marks: &mut [bool]) {
    const MAX_DIGITS: usize = 10;
    let mut start = 0;
    for field in text.split(|&byte| byte == b'"') {
        let digits = field.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_time = field.iter().filter(|&&byte| byte == b':').count() == 2;
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"AMP:., ".contains(byte);
        if field.iter().all(is_part) && (is_time || digits <= MAX_DIGITS) {
            marks[start..start + field.len()].fill(false);
        }
        for range in runs(field).filter(|range| is_port(field, range)) {
            marks[start + range.start..start + range.end].fill(false);
        }
        start += field.len() + 1;
    }
}

/// Whether a word is a port in a text such as `web1:50001 -> 10.1.2.3:443`, or at the end of a string.
fn is_port(text: &[u8], word: &std::ops::Range<usize>) -> bool {
    const MAX_DIGITS: usize = 5;
    let rest = &text[word.end..];
    word.len() <= MAX_DIGITS
        && text[word.clone()].iter().all(u8::is_ascii_digit)
        && text[..word.start].ends_with(b":")
        && (rest.is_empty() || rest.starts_with(b" -> ") || rest.starts_with(b"\""))
}

/// The length of `<text class="left" x="1035.034" y="34.000">`: the place of a unit in a picture of systemd, not a text.
fn place_in_plot(text: &[u8]) -> usize {
    let start = text.trim_ascii_start();
    let rest = [&b"<text class=\"left\" "[..], b"<text class=\"right\" "]
        .iter()
        .find_map(|tag| start.strip_prefix(*tag));
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"xy=. \"".contains(byte);
    let end = rest.map(|rest| (rest, rest.iter().take_while(|byte| is_part(byte)).count()));
    match end {
        Some((rest, end)) if rest.get(end) == Some(&b'>') => text.len() - rest.len() + end + 1,
        _ => 0,
    }
}

/// The same for a line without such strings. A backslash escapes the next byte.
fn in_quotes(text: &[u8]) -> Vec<bool> {
    let (mut is_inside, mut is_escaped) = (false, false);
    let mark = |&byte: &u8| {
        let is_quote = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_inside ^= is_quote;
        is_inside || is_quote
    };
    text.iter().map(mark).collect()
}

/// The same for the escaped text of a line, `\"` and `\\` as a quote and a backslash.
fn in_escaped_quotes(text: &[u8]) -> Vec<bool> {
    let mut marks = Vec::with_capacity(text.len());
    let (mut is_inside, mut is_escaped) = (false, false);
    while let Some(&byte) = text.get(marks.len()) {
        let next = text.get(marks.len() + 1).copied();
        let pair = (byte == b'\\').then_some(next).flatten();
        let is_quote = pair == Some(b'"') && !is_escaped;
        is_escaped = pair == Some(b'\\') && !is_escaped;
        is_inside ^= is_quote;
        let length = 1 + usize::from(pair.is_some());
        marks.resize(marks.len() + length, is_inside || is_quote);
    }
    marks
}

/// The length of a string up to its quote.
fn string_len(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let is_end = |&byte: &u8| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    };
    text.iter().position(is_end).unwrap_or(text.len())
}

/// Whether a text is a line of a tracer: a call or a part of one, a signal, an end.
fn holds_a_call(text: &[u8]) -> bool {
    const MARKS: [&[u8]; 6] = [
        b") = ",
        b"<unfinished ...>",
        b" resumed>",
        b"+++ exited with ",
        b"--- SIG",
        b" E ",
    ];
    MARKS
        .iter()
        .any(|mark| memchr::memmem::find(text, mark).is_some())
}

/// Whether a word is the number of a process in a path of `/proc`.
fn is_process(text: &[u8], range: std::ops::Range<usize>) -> bool {
    let start = text[..range.start]
        .iter()
        .rposition(|byte| matches!(byte, b' ' | b'"'))
        .map_or(0, |at| at + 1);
    let is_number = range.len() <= 7 && text[range.clone()].iter().all(u8::is_ascii_digit);
    let path = text[start..range.start]
        .strip_prefix(b"<")
        .unwrap_or(&text[start..range.start]);
    is_number && path.ends_with(b"/") && memchr::memmem::find(path, b"/proc/").is_some()
}

/// Whether a number in quotes is a time of the journal: `"__REALTIME_TIMESTAMP":"1764325230123456"`.
fn is_stamp(before: &[u8]) -> bool {
    before.ends_with(b"_TIMESTAMP\":\"") || before.ends_with(b"_TIMESTAMP\" : \"")
}

/// The places of dates with times.
fn dates(text: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> + use<'_> {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let fits = |window: &[u8]| {
        let same = |(byte, form): (&u8, &u8)| match form {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b' '),
            form => byte == form,
        };
        window.iter().zip(FORM).all(same)
    };
    text.windows(FORM.len())
        .enumerate()
        .filter(move |(_, window)| fits(window))
        .map(|(start, _)| {
            let is_part = |byte: &&u8| byte.is_ascii_digit() || b".,+-:Z".contains(byte);
            let end = start + FORM.len();
            start..end + text[end..].iter().take(16).take_while(is_part).count()
        })
}

/// Whether a word is a part of `tmp` and eight small letters, digits and underscores.
fn is_of_python(text: &[u8], range: std::ops::Range<usize>) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let start = text[..range.start]
        .iter()
        .rposition(|byte| !is_part(byte))
        .map_or(0, |at| at + 1);
    let length = text[start..]
        .iter()
        .position(|byte| !is_part(byte))
        .unwrap_or(text.len() - start);
    length == 11 && text[start..].starts_with(b"tmp")
}

/// Words with digits outside of quotes, as they are and unescaped: `12\u00b5s`.
fn numbers_outside(text: &[u8]) -> FxHashSet<Vec<u8>> {
    let quoted = quoted(text);
    let (plain, places) = unescaped(text);
    let mut found = FxHashSet::default();
    for (shown, place) in [(text, None), (&plain[..], Some(&places))] {
        for range in runs(shown) {
            let start = place.map_or(range.start, |places| places[range.start]);
            let word = &shown[range];
            if !quoted[start] && word.iter().any(u8::is_ascii_digit) {
                found.insert(word.to_vec());
            }
        }
    }
    found
}

/// The text with the escapes of all tracers replaced by their bytes, and where each of them stands.
fn unescaped(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut out, mut places) = (
        Vec::with_capacity(text.len()),
        Vec::with_capacity(text.len()),
    );
    let has_escapes = !is_csv(text);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let start = at;
        at += 1;
        if byte == b'\\' && has_escapes {
            at += escape(&text[at..], &mut out);
        } else {
            out.push(byte);
        }
        places.resize(out.len(), start);
    }
    (out, places)
}

/// Append what an escape stands for, without its backslash; returns its length.
fn escape(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let digits = |mark: &[u8], count: usize| {
        let digits = std::str::from_utf8(rest.strip_prefix(mark)?.get(..count)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    if let Some(value) = digits(b"x", 2) {
        out.push(value as u8);
        return 3;
    }
    if let Some(code) = digits(b"u", 4) {
        let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        return 5;
    }
    let octal = rest
        .iter()
        .take(3)
        .take_while(|byte| (b'0'..=b'7').contains(byte))
        .count();
    if octal > 0 {
        out.push(
            rest[..octal]
                .iter()
                .fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0')) as u8,
        );
        return octal;
    }
    let letter = rest.first().copied().unwrap_or(b' ');
    // A letter after a backslash stands for a control character, anything else for itself.
    out.push(if letter.is_ascii_alphabetic() {
        b' '
    } else {
        letter
    });
    1
}

/// What words stand for if they are hexadecimal digits, base64 or percent-encoded.
fn decodings(text: &[u8]) -> Vec<(Vec<u8>, Problem)> {
    let is_base64 =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let words = text
        .split(|&byte| !is_base64(byte))
        .filter(|word| word.len() >= 8);
    // Digits may be a part of a word of base64, such as a path.
    let digits = text
        .split(|byte| !byte.is_ascii_hexdigit())
        .filter(|digits| digits.len() >= 2 * WINDOW);
    let of_base64 = words.flat_map(|word| (0..4).map(move |at| base64(&word[at..])));
    let of_digits = digits.flat_map(|digits| (0..2).map(move |at| hexadecimal(&digits[at..])));
    of_base64
        .chain(of_digits)
        .chain(percent_decoded(text))
        .filter(|bytes| bytes.len() >= WINDOW)
        .map(|bytes| (bytes, Problem::Encoded))
        .collect()
}

fn hexadecimal(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        digit => digit.to_ascii_lowercase() - b'a' + 10,
    };
    digits
        .chunks_exact(2)
        .map(|pair| value(pair[0]) << 4 | value(pair[1]))
        .collect()
}

/// The words with octets such as `%68`, decoded.
fn percent_decoded(text: &[u8]) -> Vec<Vec<u8>> {
    let is_part = |byte: u8| is_word_byte(byte) || matches!(byte, b'%' | b'_' | b'-' | b'.');
    let decoded = |word: &[u8]| {
        let (mut out, mut at, mut count) = (Vec::new(), 0, 0);
        while let Some(&byte) = word.get(at) {
            let octet = word
                .get(at + 1..at + 3)
                .filter(|pair| byte == b'%' && pair.iter().all(u8::is_ascii_hexdigit));
            count += usize::from(octet.is_some());
            match octet {
                Some(pair) => out.extend(hexadecimal(pair)),
                None => out.push(byte),
            }
            at += if octet.is_some() { 3 } else { 1 };
        }
        (count > 0).then_some(out)
    };
    if memchr::memchr(b'%', text).is_none() {
        return Vec::new();
    }
    text.split(|&byte| !is_part(byte))
        .filter_map(decoded)
        .collect()
}

/// The lists of six octets or more, and where they begin: `58:51:88:2d:85:c6`, `58-51-…`, `addr=[0x58, 0x51, …]`. A list
/// of equal octets addresses nobody or everybody.
fn octet_lists(text: &[u8]) -> Vec<(Vec<u8>, usize)> {
    const FORMS: [(&[u8], &[u8]); 3] = [(b"", b":"), (b"", b"-"), (b"addr=[0x", b", 0x")];
    const MIN_OCTETS: usize = 6;
    let octet = |at: usize| {
        text.get(at..at + 2)
            .filter(|pair| pair.iter().all(u8::is_ascii_hexdigit))
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let is_start = at == 0 || !is_word_byte(text[at - 1]);
        let list = FORMS.iter().find_map(|(start, between)| {
            if start.is_empty() && !is_start {
                return None;
            }
            let mut end = at + text[at..].starts_with(start).then_some(start.len())?;
            let mut octets = hexadecimal(octet(end)?);
            end += 2;
            while text[end..].starts_with(between)
                && let Some(next) = octet(end + between.len())
            {
                octets.extend(hexadecimal(next));
                end += between.len() + 2;
            }
            (octets.len() >= MIN_OCTETS).then_some((octets, end))
        });
        match list {
            // A long list of equal octets is passed over at once.
            Some((octets, end)) => {
                if octets[1..] != octets[..octets.len() - 1] {
                    found.push((octets, at));
                }
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

fn base64(word: &[u8]) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' | b'-' => 62,
        _ => 63,
    };
    word.chunks_exact(4)
        .flat_map(|four| {
            let bits = four.iter().fold(0, |bits, &byte| bits << 6 | value(byte));
            [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]
        })
        .collect()
}

/// The lines of a capture.
struct LinesOf {
    source: Source,
    file: Option<std::fs::File>,
    pending: Vec<u8>,
    ready: VecDeque<Vec<u8>>,
    is_over: bool,
}

impl LinesOf {
    fn open(path: &Path) -> io::Result<LinesOf> {
        let source = input::open(path)?;
        let file = if matches!(source, Source::File(_)) {
            Some(std::fs::File::open(path)?)
        } else {
            None
        };
        Ok(LinesOf {
            source,
            file,
            pending: Vec::new(),
            ready: VecDeque::new(),
            is_over: false,
        })
    }

    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        while self.ready.is_empty() && !self.is_over {
            self.fill()?;
        }
        Ok(self.ready.pop_front())
    }

    fn fill(&mut self) -> io::Result<()> {
        let bytes = match (&mut self.file, &mut self.source) {
            (Some(file), _) => {
                let mut bytes = vec![0; 1 << 16];
                let read = io::Read::read(file, &mut bytes)?;
                bytes.truncate(read);
                bytes
            }
            (None, Source::Stream(stream)) => {
                stream.next_chunk()?.map_or(Vec::new(), |chunk| chunk.bytes)
            }
            (None, Source::File(_)) => Vec::new(),
        };
        self.is_over = bytes.is_empty();
        self.pending.extend_from_slice(&bytes);
        let whole = memchr::memrchr(b'\n', &self.pending).map_or(0, |at| at + 1);
        let rest = self.pending.split_off(whole);
        let whole = std::mem::replace(&mut self.pending, rest);
        self.ready.extend(
            whole
                .split_inclusive(|&byte| byte == b'\n')
                .map(<[u8]>::to_vec),
        );
        if self.is_over && !self.pending.is_empty() {
            self.ready.push_back(std::mem::take(&mut self.pending));
        }
        Ok(())
    }
}
