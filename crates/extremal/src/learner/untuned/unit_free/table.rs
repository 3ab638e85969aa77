//! The numbers kept for each feature. Memory grows with the features that were seen, not with the
//! largest index.

use crate::kernel::{self, ITEM};
use crate::learner::untuned::unit_free::terms::Feature;
use crate::memory::reserve;
use crate::saved::check_shape;
use crate::{Error, Result};

/// Indices that share a leaf of the table of slots.
const LEAF: usize = 256;

/// The slot of an index that has none.
const NONE: u32 = u32::MAX;

/// The numbers of every feature that was seen, in the order in which they were first seen.
#[derive(Default)]
pub(super) struct Table {
    /// The slot of every index, in leaves. A leaf without indices is empty.
    leaves: Vec<Box<[u32]>>,
    /// The index of every slot.
    indices: Vec<u32>,
    features: Vec<Feature>,
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

    /// The features, to be changed.
    pub fn features_mut(&mut self) -> &mut [Feature] {
        &mut self.features
    }

    /// The slot of an index that was seen.
    #[inline]
    fn slot(&self, index: usize) -> Option<u32> {
        let slot = *self.leaves.get(index / LEAF)?.get(index % LEAF)?;
        (slot != NONE).then_some(slot)
    }

    /// The feature of an index that was seen.
    pub fn get(&self, index: usize) -> Option<&Feature> {
        Some(&self.features[self.slot(index)? as usize])
    }

    /// The slot of an index, a new one if there is none. A new feature is 0.
    #[inline]
    pub fn slot_or_new(&mut self, index: usize) -> Result<u32> {
        match self.slot(index) {
            Some(slot) => Ok(slot),
            None => self.new_slot(index),
        }
    }

    /// Prefetches the features in these slots.
    pub fn prefetch(&self, slots: &[u32]) {
        kernel::prefetch(&self.features, slots);
    }

    #[cold]
    fn new_slot(&mut self, index: usize) -> Result<u32> {
        let features = index + 1;
        let (slot, leaf) = (self.indices.len(), index / LEAF);
        if slot >= NONE as usize {
            return Err(Error::Memory { features });
        }
        reserve(&mut self.leaves, leaf + 1, features)?;
        reserve(&mut self.indices, slot + 1, features)?;
        reserve(&mut self.features, slot + 1, features)?;
        if leaf >= self.leaves.len() {
            self.leaves.resize_with(leaf + 1, Box::default);
        }
        let leaf = &mut self.leaves[leaf];
        if leaf.is_empty() {
            let mut slots = Vec::new();
            reserve(&mut slots, LEAF, features)?;
            slots.resize(LEAF, NONE);
            *leaf = slots.into_boxed_slice();
        }
        leaf[index % LEAF] = slot as u32;
        self.indices.push(index as u32);
        self.features.push(Feature::default());
        Ok(slot as u32)
    }

    /// Removes the features from slot `len` on.
    pub fn truncate(&mut self, len: usize) {
        for index in self.indices.drain(len..) {
            let index = index as usize;
            self.leaves[index / LEAF][index % LEAF] = NONE;
        }
        self.features.truncate(len);
    }

    /// The indices that were seen, increasing, with their features.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Feature)> {
        let leaves = self.leaves.iter().enumerate();
        let slots = leaves.flat_map(|(k, leaf)| {
            let slots = leaf.iter().enumerate();
            slots.map(move |(i, slot)| (LEAF * k + i, *slot))
        });
        let used = slots.filter(|(_, slot)| *slot != NONE);
        used.map(|(index, slot)| (index, &self.features[slot as usize]))
    }

    /// The table with these features; an error if the parts do not fit together.
    pub fn restored(indices: &[u32], words: &[f64]) -> Result<Self> {
        let (features, rest) = words.as_chunks::<{ ITEM }>();
        check_shape(rest.is_empty() && features.len() == indices.len())?;
        let mut table = Self::default();
        for (k, (index, words)) in indices.iter().zip(features).enumerate() {
            let slot = table.slot_or_new(*index as usize)?;
            check_shape(slot as usize == k)?;
            table.features[k] = Feature::from_words(*words);
        }
        Ok(table)
    }
}
