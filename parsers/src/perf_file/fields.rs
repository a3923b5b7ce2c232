//! The layout of kernel events: perf.data contains the descriptions of the kernel that recorded it.
//!
//! In:   name: sched_switch, ID: 372, field:pid_t prev_pid; offset:24; size:4; signed:1;
//! Out:  event 372 is `sched_switch`, and `prev_pid` is a number of 4 bytes at 24

use memchr::memmem;

/// Bytes at the beginning of each event: its number.
const TYPE: FieldPlace = FieldPlace { at: 0, bytes: 2 };
/// No description of an event that is read here is longer.
const MAX_DESCRIPTION_BYTES: usize = 4096;

/// Where a field is within an event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FieldPlace {
    /// Its first byte.
    pub at: usize,
    /// Its length.
    pub bytes: usize,
}

impl FieldPlace {
    /// The bytes of the field.
    pub(crate) fn bytes(self, raw: &[u8]) -> Option<&[u8]> {
        raw.get(self.at..self.at.checked_add(self.bytes)?)
    }

    /// The number in the field.
    pub(crate) fn number(self, raw: &[u8], is_big_endian: bool) -> Option<i64> {
        let bytes = self.bytes(raw)?;
        let mut wide = [0; 8];
        let place = if is_big_endian {
            wide.get_mut(8usize.checked_sub(bytes.len())?..)?
        } else {
            wide.get_mut(..bytes.len())?
        };
        place.copy_from_slice(bytes);
        Some(if is_big_endian {
            i64::from_be_bytes(wide)
        } else {
            i64::from_le_bytes(wide)
        })
    }

    /// One of the numbers of 8 bytes in an array.
    pub(crate) fn item(self, number: usize) -> FieldPlace {
        FieldPlace {
            at: self.at.saturating_add(number.saturating_mul(8)),
            bytes: 8,
        }
    }
}

/// The number of the kind of an event.
pub(crate) fn event_type(raw: &[u8], is_big_endian: bool) -> Option<u16> {
    u16::try_from(TYPE.number(raw, is_big_endian)?).ok()
}

/// The description of one kind of events.
pub(crate) struct Described<'a> {
    /// Its name.
    pub name: &'a str,
    /// The number that its events begin with.
    pub number: u16,
    fields: Vec<(&'a str, FieldPlace)>,
}

impl Described<'_> {
    /// Where a field is.
    pub(crate) fn field(&self, name: &str) -> Option<FieldPlace> {
        let found = self.fields.iter().find(|(known, _)| *known == name);
        found.map(|&(_, place)| place)
    }
}

/// Hand each description in a text to `take`. What is not understood describes nothing.
pub(crate) fn described_events(text: &[u8], mut take: impl FnMut(&Described<'_>)) {
    let starts: Vec<usize> = memmem::find_iter(text, b"name: ").collect();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(text.len());
        let Some(text) = text.get(start..end) else {
            continue;
        };
        let text = text.get(..MAX_DESCRIPTION_BYTES).unwrap_or(text);
        if let Some(found) = described(&String::from_utf8_lossy(text)) {
            take(&found);
        }
    }
}

fn described(text: &str) -> Option<Described<'_>> {
    let mut lines = text.lines();
    Some(Described {
        name: lines.next()?.strip_prefix("name: ")?.trim(),
        number: lines.next()?.strip_prefix("ID: ")?.trim().parse().ok()?,
        fields: lines.filter_map(field).collect(),
    })
}

/// `field:pid_t prev_pid; offset:24; size:4; signed:1;`
fn field(line: &str) -> Option<(&str, FieldPlace)> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';');
    let name = parts.next()?.rsplit(' ').next()?;
    let name = name.split('[').next()?;
    let mut number = |key: &str| {
        let text = parts.next()?.trim().strip_prefix(key)?;
        text.parse::<usize>().ok()
    };
    let (at, bytes) = (number("offset:")?, number("size:")?);
    Some((name, FieldPlace { at, bytes }))
}
