//! A long vector with few used blocks. The cost of a pass and the size of the saved form depend on
//! the used blocks only.

use crate::Result;
use crate::memory::reserve;
use crate::saved::check_shape;

/// The number of items in a block.
pub(crate) const BLOCK: usize = 8;

/// Items, and a mark for every block that contains a touched item. All items of unmarked blocks are
/// `T::default()`.
#[derive(Default)]
pub(crate) struct Touched<T> {
    pub items: Vec<T>,
    pub marks: Marks,
}

/// One bit for every block.
#[derive(Default)]
pub(crate) struct Marks {
    words: Vec<u64>,
    count: usize,
}

impl Marks {
    /// Marks the block of item i.
    #[inline]
    pub fn set(&mut self, i: usize) {
        let block = i / BLOCK;
        let (word, bit) = (&mut self.words[block / 64], 1 << (block % 64));
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Removes the mark of item i's block.
    pub fn unset(&mut self, i: usize) {
        let block = i / BLOCK;
        let (word, bit) = (&mut self.words[block / 64], 1 << (block % 64));
        self.count -= usize::from(*word & bit != 0);
        *word &= !bit;
    }

    /// The first item of every marked block, in order.
    fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(k, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    BLOCK * (64 * k + bit)
                })
            })
        })
    }
}

impl<T: Copy + Default> Touched<T> {
    pub fn new(len: usize) -> Self {
        let mut touched = Self::default();
        touched.grow(len);
        touched
    }

    /// Extends the vector to `len` items. `len` must be at least the current length.
    pub fn grow(&mut self, len: usize) {
        self.items.resize(len, T::default());
        self.marks.words.resize(len.div_ceil(64 * BLOCK), 0);
    }

    /// Reserves memory for this many items. [`Touched::grow`] adds them.
    pub fn reserve(&mut self, len: usize) -> Result<()> {
        reserve(&mut self.items, len, len)?;
        reserve(&mut self.marks.words, len.div_ceil(64 * BLOCK), len)
    }

    /// The number of items in marked blocks.
    pub fn size(&self) -> usize {
        BLOCK * self.marks.count
    }

    /// The marked blocks in order, each with the index of its first item.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, &[T])> + '_ {
        self.marks
            .starts()
            .map(|start| (start, part(&self.items, start)))
    }

    /// The items of the marked blocks, in order, with their indices.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &T)> + '_ {
        self.blocks()
            .flat_map(|(start, block)| (start..).zip(block))
    }

    /// Calls `change` for the items of the marked blocks, in order.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(usize, &mut T)) {
        for start in self.marks.starts() {
            let end = self.items.len().min(start + BLOCK);
            for (i, item) in (start..).zip(&mut self.items[start..end]) {
                change(i, item);
            }
        }
    }

    /// The items of marked blocks for which `used` holds, in order, with their indices.
    pub fn save(&self, used: impl Fn(&T) -> bool) -> Vec<(u32, T)> {
        let mut saved = Vec::with_capacity(self.size());
        let entries = self.entries().filter(|(_, item)| used(item));
        saved.extend(entries.map(|(i, item)| (i as u32, *item)));
        saved
    }

    /// A vector of `len` items that contains the saved items.
    pub fn restore(saved: &[(u32, T)], len: usize) -> Result<Self> {
        let mut restored = Self::new(len);
        for &(i, item) in saved {
            check_shape((i as usize) < len)?;
            restored.items[i as usize] = item;
            restored.marks.set(i as usize);
        }
        Ok(restored)
    }

    /// Resets all items and removes all marks.
    pub fn clear(&mut self) {
        self.for_each_mut(|_, item| *item = T::default());
        self.marks.words.fill(0);
        self.marks.count = 0;
    }
}

/// The block that starts at `start`.
pub(crate) fn part<T>(items: &[T], start: usize) -> &[T] {
    &items[start..items.len().min(start + BLOCK)]
}

#[cfg(test)]
mod tests {
    use crate::surrogate::touched::*;

    #[test]
    fn marked_blocks_come_back_in_order_and_count_once() {
        let mut touched = Touched::<f64>::new(8 * 70);
        for block in [69, 3, 63, 64, 3] {
            touched.marks.set(8 * block + 5);
            touched.items[8 * block + 5] = block as f64;
        }
        let starts = |touched: &Touched<f64>| touched.blocks().map(|b| b.0 / 8).collect::<Vec<_>>();
        assert_eq!(starts(&touched), [3, 63, 64, 69]);
        assert_eq!(touched.size(), 4 * 8);
        touched.grow(8000);
        touched.marks.set(7999);
        assert_eq!(starts(&touched).last(), Some(&999));
        touched.marks.unset(7999);
        touched.marks.unset(7999);
        assert_eq!(starts(&touched), [3, 63, 64, 69]);
        touched.clear();
        assert!(touched.size() == 0 && touched.items.iter().all(|v| *v == 0.0));
    }
}
