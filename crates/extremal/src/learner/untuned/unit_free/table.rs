//! The numbers that the learner stores for each feature. Memory grows with the number of features
//! seen, not with the largest index.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::kernel::{self, ITEM, LANES};
use crate::learner::untuned::unit_free::terms::{Block, Feature, Steps};
use crate::memory::reserve;
use crate::saved::check_shape;
use crate::{Error, Result, Row};

/// The slots of the indices below this number are in a vector, which is faster than a hash map. The
/// vector takes at most 4 MB.
const NEAR: usize = 1 << 20;

/// This entry of the vector marks an index that has no slot.
const NONE: u32 = u32::MAX;

/// The numbers of every feature that was seen, in the order in which the features were first seen.
#[derive(Default)]
pub(super) struct Table {
    /// The slots of the indices below [`NEAR`], and the slots of all other indices.
    near: Vec<u32>,
    far: HashMap<u32, u32, BuildHasherDefault<Spread>>,
    /// The index of every slot.
    indices: Vec<u32>,
    features: Vec<Feature>,
    /// The steps of the features far from 0. The steps of the last features may be missing.
    steps: Vec<Steps>,
}

/// A hash function that spreads an index, which is a small number, over all bits. The result is the
/// same on every machine.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    #[inline]
    fn write_u32(&mut self, index: u32) {
        // 2⁶⁴ divided by the golden ratio (Knuth); the table uses the highest and the lowest bits
        let spread = (self.0 ^ u64::from(index)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Table {
    /// The indices of the features, in the order of their slots.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The features, in the order of their slots.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The steps of the features, in the order of their slots. The last ones may be missing.
    pub fn steps(&self) -> &[Steps] {
        &self.steps
    }

    /// The feature of an index and its steps. They are 0 if the index was never seen.
    pub fn copy(&self, index: usize) -> (Feature, Steps) {
        let slot = self.slot(index).map_or(usize::MAX, |slot| slot as usize);
        let feature = self.features.get(slot).copied().unwrap_or_default();
        (feature, self.steps.get(slot).copied().unwrap_or_default())
    }

    /// Stores the features of a row after a round. After 1, 2, 4, 8, … rounds, it is decided again
    /// which features are far from 0.
    pub fn store(&mut self, blocks: &[Block], slots: &[u32], rounds: u64) {
        for (block, slots) in blocks.iter().zip(slots.chunks(LANES)) {
            block.store(&mut self.features, slots);
        }
        let decides = rounds.is_power_of_two();
        if !decides && self.steps.is_empty() {
            return;
        }
        for (k, slot) in slots.iter().map(|slot| *slot as usize).enumerate() {
            let (mut steps, value) = blocks[k / LANES].steps(k % LANES);
            if decides {
                steps = self.features[slot].steps(steps, value, rounds as f64);
            }
            let missing = (slot + 1).saturating_sub(self.steps.len());
            let is_far = steps[0] != 0.0;
            if missing == 0 || is_far && self.steps.try_reserve(missing).is_ok() {
                let len = self.steps.len() + missing;
                self.steps.resize(len, Steps::default());
                self.steps[slot] = steps;
            }
        }
    }

    /// The slot of an index, or `None` if the index was never seen.
    #[inline]
    fn slot(&self, index: usize) -> Option<u32> {
        if index < NEAR {
            let slot = *self.near.get(index)?;
            return (slot != NONE).then_some(slot);
        }
        self.far.get(&(index as u32)).copied()
    }

    /// The feature of an index, or `None` if the index was never seen.
    pub fn get(&self, index: usize) -> Option<&Feature> {
        Some(&self.features[self.slot(index)? as usize])
    }

    /// The slot of an index. An index without a slot gets a new slot, and its numbers are 0.
    #[inline]
    pub fn slot_or_new(&mut self, index: usize) -> Result<u32> {
        match self.slot(index) {
            Some(slot) => Ok(slot),
            None => self.new_slot(index),
        }
    }

    /// Prefetches the features in these slots.
    pub fn prefetch(&self, slots: &[u32]) {
        kernel::prefetch(&self.features, slots.iter().copied(), false);
    }

    /// Prefetches the features of a row that comes later.
    pub fn prefetch_ahead(&self, row: &Row<'_>) {
        if let Row::Sparse { indices, .. } = *row {
            let slots = indices.iter().filter_map(|i| self.slot(*i as usize));
            kernel::prefetch(&self.features, slots, true);
        }
    }

    #[cold]
    fn new_slot(&mut self, index: usize) -> Result<u32> {
        let (slot, features) = (self.indices.len(), index + 1);
        let full = || Error::Memory { features };
        let [slot32, index32] = [slot, index].map(u32::try_from);
        let (slot32, index32) = (slot32.map_err(|_| full())?, index32.map_err(|_| full())?);
        reserve(&mut self.indices, slot + 1, features)?;
        reserve(&mut self.features, slot + 1, features)?;
        if index < NEAR {
            if self.near.len() <= index {
                reserve(&mut self.near, index + 1, features)?;
                self.near.resize(index + 1, NONE);
            }
            self.near[index] = slot32;
        } else {
            self.far.try_reserve(1).map_err(|_| full())?;
            self.far.insert(index32, slot32);
        }
        self.indices.push(index32);
        self.features.push(Feature::default());
        Ok(slot32)
    }

    /// Removes the features in slot `len` and in all later slots.
    pub fn truncate(&mut self, len: usize) {
        for index in self.indices.drain(len..) {
            match self.near.get_mut(index as usize) {
                Some(slot) => *slot = NONE,
                None => drop(self.far.remove(&index)),
            }
        }
        self.features.truncate(len);
        self.steps.truncate(len);
    }

    /// The indices that were seen, in increasing order, with their features.
    pub fn sorted(&self) -> impl Iterator<Item = (usize, &Feature)> {
        let mut all: Vec<_> = self.indices.iter().zip(&self.features).collect();
        all.sort_unstable_by_key(|(index, _)| **index);
        all.into_iter()
            .map(|(index, feature)| (*index as usize, feature))
    }

    /// The table that has these features. Fails if the indices and the numbers do not match.
    pub fn restored(indices: &[u32], words: &[f64], steps: &[Steps]) -> Result<Self> {
        let (features, rest) = words.as_chunks::<{ ITEM }>();
        check_shape(rest.is_empty() && features.len() == indices.len())?;
        check_shape(steps.len() <= features.len())?;
        let mut table = Self {
            steps: steps.to_vec(),
            ..Self::default()
        };
        for (k, (index, words)) in indices.iter().zip(features).enumerate() {
            let slot = table.slot_or_new(*index as usize)?;
            check_shape(slot as usize == k)?;
            table.features[k] = Feature::from_words(*words);
        }
        Ok(table)
    }
}
