//! Which blocks of a long vector were ever touched: passes over it, and its saved form, then cost
//! what was touched and not what there is.

use crate::Result;
use crate::room::room;

/// A bit per block.
#[derive(Clone, Default)]
pub(crate) struct Marks {
    words: Vec<u64>,
    count: usize,
}

impl Marks {
    /// None of so many blocks.
    pub fn new(blocks: usize) -> Self {
        Self {
            words: vec![0; blocks.div_ceil(64)],
            count: 0,
        }
    }

    /// Room for so many blocks, no fewer than before.
    pub fn grow(&mut self, blocks: usize) {
        self.words.resize(blocks.div_ceil(64), 0);
    }

    /// Memory for so many blocks, of a vector with so many features.
    pub fn reserve(&mut self, blocks: usize, features: usize) -> Result<()> {
        room(&mut self.words, blocks.div_ceil(64), features)
    }

    /// Marks a block.
    pub fn set(&mut self, block: usize) {
        let (word, bit) = (&mut self.words[block / 64], 1 << (block % 64));
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Takes a mark back.
    pub fn unset(&mut self, block: usize) {
        let (word, bit) = (&mut self.words[block / 64], 1 << (block % 64));
        self.count -= usize::from(*word & bit != 0);
        *word &= !bit;
    }

    /// How many are marked.
    pub fn count(&self) -> usize {
        self.count
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
        self.count = 0;
    }

    /// The marked blocks, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(k, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    64 * k + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_back_in_order_and_count_once() {
        let mut marks = Marks::new(70);
        for block in [69, 3, 63, 64, 3] {
            marks.set(block);
        }
        assert_eq!(marks.iter().collect::<Vec<_>>(), [3, 63, 64, 69]);
        assert_eq!(marks.count(), 4);
        marks.grow(1000);
        marks.set(999);
        assert_eq!(marks.iter().last(), Some(999));
        marks.unset(999);
        marks.unset(999);
        assert_eq!((marks.iter().last(), marks.count()), (Some(69), 4));
        marks.clear();
        assert_eq!((marks.iter().count(), marks.count()), (0, 0));
    }
}
