//! A column that most captures lack: in memory, or in a scratch file.

use crate::store::scratch::{Scratch, Stored};
use std::io;
use std::sync::{Arc, OnceLock};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// The values of the first rows of a segment.
pub(super) enum SideColumn<T> {
    Memory(Vec<T>),
    Stored {
        bytes: Stored,
        len: usize,
        loaded: OnceLock<Vec<T>>,
    },
}

impl<T> Default for SideColumn<T> {
    fn default() -> SideColumn<T> {
        SideColumn::Memory(Vec::new())
    }
}

impl<T: Copy + FromBytes + IntoBytes + Immutable> SideColumn<T> {
    /// Number of values.
    pub(super) fn len(&self) -> usize {
        match self {
            SideColumn::Memory(values) => values.len(),
            SideColumn::Stored { len, .. } => *len,
        }
    }

    /// A value, if there is one.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<T> {
        match self {
            SideColumn::Memory(values) => values.get(at).copied(),
            SideColumn::Stored { bytes, len, loaded } => (at < *len).then(|| {
                loaded
                    .get()
                    .map_or_else(|| read_one(bytes, at), |values| values[at])
            }),
        }
    }

    /// Load all values from the file, for callers that read many.
    pub(super) fn load(&self) {
        if let SideColumn::Stored { bytes, len, loaded } = self {
            loaded.get_or_init(|| read(bytes, *len));
        }
    }

    /// Replace a value.
    pub(super) fn set(&mut self, at: usize, value: T) {
        match self {
            SideColumn::Memory(values) => values[at] = value,
            SideColumn::Stored { bytes, loaded, .. } => {
                bytes.write(at * size_of::<T>(), value.as_bytes());
                loaded.take();
            }
        }
    }

    /// The values in memory, where more can be added.
    pub(super) fn in_memory(&mut self) -> &mut Vec<T> {
        if let SideColumn::Stored { bytes, len, loaded } = self {
            *self = SideColumn::Memory(loaded.take().unwrap_or_else(|| read(bytes, *len)));
        }
        match self {
            SideColumn::Memory(values) => values,
            SideColumn::Stored { .. } => unreachable!("just read"),
        }
    }

    /// Move the values to a file.
    pub(super) fn store(&mut self, scratch: &Arc<Scratch>) -> io::Result<()> {
        if let SideColumn::Memory(values) = self
            && !values.is_empty()
        {
            let bytes = Stored::new(scratch, values.as_bytes())?;
            *self = SideColumn::Stored {
                bytes,
                len: values.len(),
                loaded: OnceLock::new(),
            };
        }
        Ok(())
    }

    /// Free the memory of loaded values.
    pub(super) fn unload(&mut self) {
        if let SideColumn::Stored { loaded, .. } = self {
            loaded.take();
        }
    }
}

fn read_one<T: FromZeros + FromBytes + IntoBytes>(bytes: &Stored, at: usize) -> T {
    let mut value = T::new_zeroed();
    bytes.read(at * size_of::<T>(), value.as_mut_bytes());
    value
}

fn read<T: Copy + FromZeros + FromBytes + IntoBytes>(bytes: &Stored, len: usize) -> Vec<T> {
    let mut values = vec![T::new_zeroed(); len];
    bytes.read(0, values.as_mut_bytes());
    values
}
