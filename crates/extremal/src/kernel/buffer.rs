//! A vector that starts on a cache line, so that no load of a kernel straddles two lines. At 100
//! entries, loads that straddle two lines cost a fifth of a round's time.

#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

use crate::Result;
use crate::memory::reserve;

/// The number of entries in a cache line.
const LINE: usize = 8;

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Block([f64; LINE]);

/// A vector stored in whole cache lines. All entries are 0 at first.
#[derive(Default)]
pub(crate) struct Buffer {
    blocks: Vec<Block>,
    len: usize,
}

impl Buffer {
    pub fn zeros(len: usize) -> Self {
        let blocks = vec![Block::default(); len.div_ceil(LINE)];
        Self { blocks, len }
    }

    /// Extends the vector to `len` entries. The new entries are 0.
    pub fn grow(&mut self, len: usize) {
        self.blocks.resize(len.div_ceil(LINE), Block::default());
        self.len = len;
    }

    /// Returns all entries, padded with zeros to the end of the last cache line. Loops over this
    /// slice have no remainder.
    pub fn padded(&self) -> &[f64] {
        // SAFETY: as below.
        unsafe { std::slice::from_raw_parts(self.blocks.as_ptr().cast(), LINE * self.blocks.len()) }
    }

    /// Returns the slice of [`Buffer::padded`] as a mutable slice. The padding must stay 0.
    pub fn padded_mut(&mut self) -> &mut [f64] {
        let len = LINE * self.blocks.len();
        // SAFETY: as below.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), len) }
    }

    /// Reserves memory for `len` entries, so that [`Buffer::grow`] does not allocate.
    pub fn reserve(&mut self, len: usize) -> Result<()> {
        reserve(&mut self.blocks, len.div_ceil(LINE), len)
    }
}

impl Deref for Buffer {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        // SAFETY: a block is eight numbers without padding, and the blocks hold at least `len`.
        unsafe { std::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), self.len) }
    }
}

impl AsRef<[f64]> for Buffer {
    #[inline]
    fn as_ref(&self) -> &[f64] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_starts_on_a_cache_line_and_grows_by_zeros() {
        let mut buffer = Buffer::zeros(3);
        buffer.copy_from_slice(&[1.0, 2.0, 3.0]);
        for len in [4, 8, 9, 100] {
            buffer.reserve(len).unwrap();
            buffer.grow(len);
            assert_eq!(buffer.as_ptr() as usize % 64, 0);
            assert_eq!((buffer.len(), &buffer[..3]), (len, &[1.0, 2.0, 3.0][..]));
            assert!(buffer[3..].iter().all(|v| *v == 0.0));
        }
        assert!(Buffer::default().is_empty());
    }
}
