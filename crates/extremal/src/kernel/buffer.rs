//! A vector whose memory suits the kernels: aligned to a cache line, so that no load straddles
//! two, and filled up with zeros to whole registers, so that no load or store is a part of one.

#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

use super::sweep::LANES;
use crate::Result;
use crate::room::room;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Block([f64; LANES]);

/// A vector of f64 for the kernels. It dereferences to its entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    blocks: Vec<Block>,
    len: usize,
}

impl Buffer {
    /// How many entries.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// `len` zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        Self {
            blocks: vec![Block([0.0; LANES]); len.div_ceil(LANES)],
            len,
        }
    }

    /// Has `len` zeros from now on, if it was empty.
    pub(crate) fn fill_up(&mut self, len: usize) {
        if self.len != len {
            *self = Self::zeros(len);
        }
    }

    /// Has `len` entries from now on, no fewer than before, and zeros for the new ones.
    pub(crate) fn grow(&mut self, len: usize) {
        let blocks = len.div_ceil(LANES);
        self.blocks.resize(blocks, Block([0.0; LANES]));
        self.len = len;
    }

    /// Memory for so many; they come with [`Buffer::grow`].
    pub(crate) fn reserve(&mut self, len: usize) -> Result<()> {
        room(&mut self.blocks, len.div_ceil(LANES), len)
    }

    /// The entries and the zeros after them.
    #[inline]
    pub(crate) fn padded(&self) -> &[f64] {
        // SAFETY: a Block is eight f64 without padding (size 64 = alignment), and `blocks`
        // holds blocks.len() of them in a row.
        unsafe {
            std::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.blocks.len() * LANES)
        }
    }

    /// The same to write to; whoever does must leave the zeros at the end zeros.
    #[inline]
    pub(crate) fn padded_mut(&mut self) -> &mut [f64] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.blocks.as_mut_ptr().cast(),
                self.blocks.len() * LANES,
            )
        }
    }
}

impl Deref for Buffer {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        &self.padded()[..self.len]
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        let len = self.len;
        &mut self.padded_mut()[..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_padded_with_zeros() {
        for len in [0, 1, 7, 8, 9, 100] {
            let values: Vec<f64> = (0..len).map(|i| i as f64 + 1.0).collect();
            let mut buffer = Buffer::zeros(len);
            buffer.copy_from_slice(&values);
            assert_eq!(&*buffer, &values[..]);
            assert_eq!(buffer.padded().as_ptr() as usize % 64, 0);
            assert_eq!(buffer.padded().len() % LANES, 0);
            assert!(buffer.padded()[len..].iter().all(|v| *v == 0.0));
            buffer.grow(len + 9);
            assert_eq!(&buffer[..len], &values[..]);
            assert_eq!(buffer[len..], [0.0; 9]);
            assert_eq!(buffer.padded().len(), (len + 9).next_multiple_of(LANES));
        }
    }
}
