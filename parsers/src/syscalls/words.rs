//! The fixed words: names that every trace uses have the same number in all traces, see
//! [`crate::Interner::first_free`].

use super::SYSCALLS;
use crate::text::Text;
use std::sync::LazyLock;

/// Names of errors. They follow the syscalls among the fixed words.
#[rustfmt::skip]
static ERRORS: &[&str] = &[
    "E2BIG", "EACCES", "EADDRINUSE", "EADDRNOTAVAIL", "EAFNOSUPPORT", "EAGAIN", "EALREADY", "EBADF", "EBADFD", "EBUSY", "ECANCELED", "ECHILD", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EDEADLK", "EDESTADDRREQ", "EDOM", "EDQUOT", "EEXIST", "EFAULT", "EFBIG", "EHOSTDOWN", "EHOSTUNREACH", "EIDRM", "EILSEQ", "EINPROGRESS", "EINTR", "EINVAL", "EIO", "EISCONN", "EISDIR", "EKEYEXPIRED", "EKEYREVOKED", "ELOOP", "EMFILE", "EMLINK", "EMSGSIZE", "ENAMETOOLONG", "ENETDOWN", "ENETUNREACH", "ENFILE", "ENOATTR", "ENOBUFS", "ENODATA", "ENODEV", "ENOENT", "ENOEXEC", "ENOKEY", "ENOLCK", "ENOLINK", "ENOMEM", "ENOMSG", "ENONET", "ENOPROTOOPT", "ENOSPC", "ENOSR", "ENOSTR", "ENOSYS", "ENOTBLK", "ENOTCONN", "ENOTDIR", "ENOTEMPTY", "ENOTSOCK", "ENOTSUP", "ENOTTY", "ENOTUNIQ", "ENXIO", "EOPNOTSUPP", "EOVERFLOW", "EOWNERDEAD", "EPERM", "EPIPE", "EPROTO", "EPROTONOSUPPORT", "EPROTOTYPE", "ERANGE", "EREMOTEIO", "ERESTART", "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ERESTART_RESTARTBLOCK", "EROFS", "ESHUTDOWN", "ESPIPE", "ESRCH", "ESTALE", "ETIME", "ETIMEDOUT", "ETXTBSY", "EUSERS", "EWOULDBLOCK", "EXDEV", "EXFULL",
];

/// Number of the fixed words, "" among them.
pub(crate) const WORDS_LEN: u32 = (1 + SYSCALLS.len() + ERRORS.len()) as u32;
/// Size of the hash table of words, large enough for few collisions.
const PLACES: usize = 1 << 12;

struct WordTable {
    words: Vec<&'static str>,
    keys: Vec<WordKey>,
    /// Numbers of words by hash, each in the first free place after it; 0 marks a free place.
    places: Vec<u16>,
}

/// The first and the last bytes of a word: the whole word up to sixteen bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WordKey {
    first: u64,
    last: u64,
    len: usize,
}

impl WordKey {
    fn of(bytes: &[u8]) -> WordKey {
        let len = bytes.len();
        let half = |half: &[u8; 4]| u64::from(u32::from_le_bytes(*half));
        let (first, last) = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
                (Some(first), Some(last)) => (half(first), half(last)),
                _ => (
                    bytes
                        .iter()
                        .fold(0, |all, &byte| all << 8 | u64::from(byte)),
                    0,
                ),
            },
        };
        WordKey { first, last, len }
    }

    fn place(self) -> usize {
        let mixed = (self.first ^ self.last.rotate_left(23) ^ self.len as u64)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 52) as usize
    }
}

static WORDS: LazyLock<WordTable> = LazyLock::new(|| {
    let names = SYSCALLS.iter().map(|syscall| syscall.name);
    let words: Vec<&'static str> = std::iter::once("")
        .chain(names)
        .chain(ERRORS.iter().copied())
        .collect();
    let keys: Vec<WordKey> = words
        .iter()
        .map(|word| WordKey::of(word.as_bytes()))
        .collect();
    let mut places = vec![0u16; PLACES];
    for (number, key) in keys.iter().enumerate().skip(1) {
        let mut place = key.place();
        while places[place] != 0 {
            place = (place + 1) % PLACES;
        }
        places[place] = number as u16;
    }
    WordTable {
        words,
        keys,
        places,
    }
});

/// The fixed words: "", the syscalls, the errors.
pub fn words() -> &'static [&'static str] {
    &WORDS.words
}

/// The number of a fixed word.
pub fn word(bytes: &[u8]) -> Option<Text> {
    let WordTable {
        words,
        keys,
        places,
    } = &*WORDS;
    let key = WordKey::of(bytes);
    let mut place = key.place();
    loop {
        let number = places[place % PLACES];
        if number == 0 {
            return bytes.is_empty().then_some(Text::NONE);
        }
        let same = keys[usize::from(number)] == key;
        if same && (bytes.len() <= 16 || words[usize::from(number)].as_bytes() == bytes) {
            return Some(Text(u32::from(number)));
        }
        place += 1;
    }
}
