//! The sizes in a perf.data file, checked before memory is asked for: the crate that reads such files believes them, and
//! memory that there is not ends the process.
//!
//! In:   header, sections, and headers of records
//! Out:  an error, if a size is larger than the file

use crate::perf_file::unusable;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// `HEADER_EVENT_DESC`: the events, with lists of unknown length.
const EVENT_DESC: u32 = 12;
/// `PERF_RECORD_AUXTRACE`: the one record with data of any size after it.
const AUXTRACE: u32 = 71;
/// Offset and size.
const SECTION_BYTES: u64 = 16;
/// Type, flags and size of a record.
const RECORD_HEADER_BYTES: u64 = 8;

/// Check all sizes of a file, which is then at its beginning again.
///
/// # Errors
/// A size is larger than the file.
pub(super) fn check<R: Read + Seek>(source: &mut R) -> io::Result<()> {
    let length = source.seek(SeekFrom::End(0))?;
    source.rewind()?;
    let checked = Sizes::new(BufReader::new(&mut *source), length).and_then(Sizes::check);
    source.rewind()?;
    match checked {
        // A file that ends here is cut: the crate takes what it has, or says what is missing.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
        other => other,
    }
}

#[derive(Clone, Copy)]
struct Section {
    offset: u64,
    size: u64,
}

struct Sizes<R> {
    source: R,
    length: u64,
    is_little: bool,
}

impl<R: Read + Seek> Sizes<BufReader<R>> {
    fn new(mut source: BufReader<R>, length: u64) -> io::Result<Self> {
        let mut magic = [0; 8];
        source.read_exact(&mut magic)?;
        Ok(Sizes {
            source,
            length,
            is_little: magic[0] == b'P',
        })
    }

    fn check(mut self) -> io::Result<()> {
        let _header_size = self.u64()?;
        let attr_size = self.u64()?;
        let [attrs, data, types] = [self.section()?, self.section()?, self.section()?];
        let mut features = [0; 4];
        for bits in &mut features {
            *bits = self.u64()?;
        }
        self.ids(attrs, attr_size)?;
        self.ids(types, attr_size.saturating_add(SECTION_BYTES))?;
        self.features(data, features)?;
        self.records(data)
    }

    /// The entries of a section end in a section of ids each.
    fn ids(&mut self, section: Section, entry_bytes: u64) -> io::Result<()> {
        self.must_fit(section)?;
        if section.size > 0 && entry_bytes < SECTION_BYTES {
            return Err(damaged());
        }
        for entry in 1..=section.size.checked_div(entry_bytes).unwrap_or(0) {
            let end = section.offset + entry * entry_bytes;
            self.source.seek(SeekFrom::Start(end - SECTION_BYTES))?;
            let ids = self.section()?;
            self.must_fit(ids)?;
        }
        Ok(())
    }

    /// Their list comes after the data, one section for each bit.
    fn features(&mut self, data: Section, features: [u64; 4]) -> io::Result<()> {
        let list = data.offset.checked_add(data.size).ok_or_else(damaged)?;
        self.source.seek(SeekFrom::Start(list))?;
        let bits = (0..256u32).filter(|bit| features[(bit / 64) as usize] >> (bit % 64) & 1 == 1);
        let mut described = None;
        for bit in bits {
            let section = self.section()?;
            self.must_fit(section)?;
            described = described.or((bit == EVENT_DESC).then_some(section));
        }
        described.map_or(Ok(()), |section| self.descriptions(section))
    }

    fn descriptions(&mut self, section: Section) -> io::Result<()> {
        self.source.seek(SeekFrom::Start(section.offset))?;
        let end = section.offset + section.size;
        let (number, attr_size) = (u64::from(self.u32()?), u64::from(self.u32()?));
        let least = attr_size + 8;
        self.must_have(end, number.checked_mul(least).ok_or_else(damaged)?)?;
        for _ in 0..number {
            self.skip(end, attr_size)?;
            let ids = u64::from(self.u32()?);
            let name = u64::from(self.u32()?);
            self.skip(end, name)?;
            self.skip(end, ids * 8)?;
        }
        Ok(())
    }

    fn records(&mut self, data: Section) -> io::Result<()> {
        self.source.seek(SeekFrom::Start(data.offset))?;
        let end = data.offset.saturating_add(data.size).min(self.length);
        let mut at = data.offset;
        while at.saturating_add(RECORD_HEADER_BYTES) <= end {
            let (kind, word) = (self.u32()?, self.u32()?);
            let size = u64::from(if self.is_little {
                word >> 16
            } else {
                word & 0xffff
            });
            let mut next = at.saturating_add(size);
            let mut reached = at + RECORD_HEADER_BYTES;
            if kind == AUXTRACE && size >= RECORD_HEADER_BYTES + 8 {
                next = next.checked_add(self.u64()?).ok_or_else(damaged)?;
                reached += 8;
                if next > end {
                    return Err(damaged());
                }
            }
            let Some(rest) = next.checked_sub(reached) else {
                // The crate says what is wrong with it.
                return Ok(());
            };
            self.source
                .seek_relative(i64::try_from(rest).map_err(|_| damaged())?)?;
            at = next;
        }
        Ok(())
    }

    /// Go past bytes, which must be there.
    fn skip(&mut self, end: u64, bytes: u64) -> io::Result<()> {
        self.must_have(end, bytes)?;
        let bytes = i64::try_from(bytes).map_err(|_| damaged())?;
        self.source.seek_relative(bytes)
    }

    fn must_have(&mut self, end: u64, bytes: u64) -> io::Result<()> {
        let at = self.source.stream_position()?;
        if bytes > end.saturating_sub(at) {
            return Err(damaged());
        }
        Ok(())
    }

    fn must_fit(&self, section: Section) -> io::Result<()> {
        let end = section.offset.checked_add(section.size);
        if section.size > 0 && end.is_none_or(|end| end > self.length) {
            return Err(damaged());
        }
        Ok(())
    }

    fn section(&mut self) -> io::Result<Section> {
        Ok(Section {
            offset: self.u64()?,
            size: self.u64()?,
        })
    }

    fn u64(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.source.read_exact(&mut bytes)?;
        Ok(if self.is_little {
            u64::from_le_bytes(bytes)
        } else {
            u64::from_be_bytes(bytes)
        })
    }

    fn u32(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.source.read_exact(&mut bytes)?;
        Ok(if self.is_little {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        })
    }
}

/// The error for a file that is not as perf wrote it.
pub(super) fn damaged() -> io::Error {
    unusable("this perf.data is damaged.")
}
