//! A vector with holes that keeps track of its best entry, for
//! [`SparseSurrogate`](crate::surrogate::sparse::SparseSurrogate). Most changes of an entry cost
//! O(1). The worst change costs O(log d).
//!
//! Levels lie above the entries: each number of a level is the best of [`FAN`] numbers of the level
//! below. A change of an entry propagates to the next level only if it changes the best number of
//! its block. A block is searched only if its best entry became worse. A vector of 10⁶ entries has
//! three short levels. A heap would move about twenty entries per change.

use crate::Result;
use crate::memory::reserve;
use crate::rounding::Wide;

/// The number of entries per block.
const FAN: usize = 64;

/// The largest number of levels: enough for 2³² entries.
const LEVELS: usize = 5;

/// The key of a block that has only holes.
const NONE: f64 = f64::NEG_INFINITY;

/// The rule that gives every entry a key. The best entry has the largest key, and the key of a hole
/// is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// An entry with the largest |v| is best.
    Magnitude,
    /// The smallest entry is best.
    Smallest,
}

impl Order {
    #[inline]
    pub fn key(self, v: f64) -> f64 {
        match self {
            Self::Magnitude => v.abs(),
            Self::Smallest => -v,
        }
    }
}

pub(crate) struct Ranked {
    order: Order,
    /// The entries. A hole is NaN.
    values: Vec<f64>,
    levels: [Vec<f64>; LEVELS],
    /// The number of levels in use.
    height: usize,
    total: Wide,
}

impl Ranked {
    /// A vector of `dim` zeros.
    pub fn new(order: Order, dim: usize) -> Self {
        let mut ranked = Self {
            order,
            values: Vec::new(),
            levels: Default::default(),
            height: 0,
            total: Wide::default(),
        };
        ranked.grow(dim);
        ranked
    }

    /// Extends the vector to `dim` entries. `dim` must be larger than before. The new entries are
    /// 0.
    pub fn grow(&mut self, dim: usize) {
        let (mut from, mut len) = (self.values.len(), dim);
        self.values.resize(dim, 0.0);
        for level in 0.. {
            let blocks = len.div_ceil(FAN);
            if level >= self.height {
                (self.height, from) = (level + 1, 0);
            }
            self.levels[level].resize(blocks, NONE);
            for block in from / FAN..blocks {
                self.levels[level][block] = self.best_of(level, block);
            }
            if blocks <= FAN {
                return;
            }
            (from, len) = (from / FAN, blocks);
        }
    }

    /// Reserves memory for this many entries. [`Ranked::grow`] adds them.
    pub fn reserve(&mut self, dim: usize) -> Result<()> {
        reserve(&mut self.values, dim, dim)?;
        let mut len = dim;
        for level in &mut self.levels {
            len = len.div_ceil(FAN);
            reserve(level, len, dim)?;
            if len <= FAN {
                break;
            }
        }
        Ok(())
    }

    /// Sets all entries to 0 in O(d). There are no holes afterwards.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
        let key = self.order.key(0.0);
        self.levels.iter_mut().for_each(|level| level.fill(key));
        self.total = Wide::default();
    }

    /// The i-th entry, which is NaN for a hole.
    #[inline]
    pub fn get(&self, i: usize) -> f64 {
        self.values[i]
    }

    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether `like` holds for all entries except holes. The search stops at the first entry for
    /// which it does not hold.
    pub fn is_all(&self, like: impl Fn(f64) -> bool) -> bool {
        self.values.iter().all(|v| v.is_nan() || like(*v))
    }

    /// The sum of all entries except holes. It is maintained for [`Order::Smallest`] only.
    pub fn total(&self) -> Wide {
        self.total
    }

    /// Restores an earlier sum. Undoing the changes one by one would add rounding errors.
    pub fn set_total(&mut self, total: Wide) {
        self.total = total;
    }

    /// Sets an entry to the finite number `v`, or makes it a hole if `v` is NaN.
    #[inline]
    pub fn set(&mut self, i: usize, v: f64) {
        let before = std::mem::replace(&mut self.values[i], v);
        if self.order == Order::Smallest {
            for part in [v, -before] {
                if !part.is_nan() {
                    self.total.add(part);
                }
            }
        }
        let (mut old, mut new) = (self.order.key(before), self.order.key(v));
        let mut block = i;
        for level in 0..self.height {
            block /= FAN;
            let best = self.levels[level][block];
            let next = if new >= best {
                new
            } else if old == best {
                self.best_of(level, block)
            } else {
                return;
            };
            if next == best {
                return;
            }
            self.levels[level][block] = next;
            (old, new) = (best, next);
        }
    }

    fn best_of(&self, level: usize, block: usize) -> f64 {
        let first = block * FAN;
        match (level, self.order) {
            (0, Order::Magnitude) => best(part(&self.values, first), f64::abs),
            (0, Order::Smallest) => best(part(&self.values, first), |v| -v),
            _ => best(part(&self.levels[level - 1], first), |key| key),
        }
    }

    /// The best key. It is −∞ if there are only holes.
    pub fn best(&self) -> f64 {
        best(&self.levels[self.height - 1], |key| key)
    }

    /// The first entry whose key is accepted. If a key is accepted, every better key must be
    /// accepted too.
    pub fn first(&self, accepts: impl Fn(f64) -> bool) -> Option<usize> {
        let mut place = 0;
        for level in self.levels[..self.height].iter().rev() {
            let found = part(level, place).iter().position(|key| accepts(*key))?;
            place = (place + found) * FAN;
        }
        let values = part(&self.values, place).iter();
        let found = values.map(|v| self.order.key(*v)).position(accepts)?;
        Some(place + found)
    }
}

fn part(of: &[f64], first: usize) -> &[f64] {
    &of[first..(first + FAN).min(of.len())]
}

/// The largest key, ignoring NaN. It uses several lanes, so that the compiler can vectorise it.
#[inline]
fn best(of: &[f64], key: impl Fn(f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [NONE; LANES];
    let (chunks, rest) = of.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, v) in lanes.iter_mut().zip(chunk) {
            let key = key(*v);
            *lane = if key > *lane { key } else { *lane };
        }
    }
    for (lane, v) in lanes.iter_mut().zip(rest) {
        let key = key(*v);
        *lane = if key > *lane { key } else { *lane };
    }
    lanes
        .into_iter()
        .fold(NONE, |a, b| if b > a { b } else { a })
}

#[cfg(test)]
mod tests {
    use crate::surrogate::sparse::ranked::*;

    fn plainly(order: Order, values: &[f64]) -> Option<usize> {
        let mut found: Option<usize> = None;
        for (i, v) in values.iter().enumerate() {
            let beats = |j: usize| order.key(*v) > order.key(values[j]);
            if !v.is_nan() && found.is_none_or(beats) {
                found = Some(i);
            }
        }
        found
    }

    fn check(ranked: &Ranked) {
        let best = ranked.best();
        let found = ranked.first(|key| key >= best);
        assert_eq!(found, plainly(ranked.order, &ranked.values));
    }

    /// A hole, or one of a few random numbers, so that ties occur.
    fn number(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        match (*state >> 40) % 8 {
            0 => f64::NAN,
            v => v as f64 - 4.0,
        }
    }

    #[test]
    fn the_first_of_the_best_is_found_after_every_change() {
        for order in [Order::Magnitude, Order::Smallest] {
            for dim in [1, 2, 63, 64, 65, 300, 5000] {
                let (mut ranked, mut state) = (Ranked::new(order, dim), dim as u64);
                check(&ranked);
                for _ in 0..500 {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                    let i = (state >> 33) as usize % dim;
                    let v = number(&mut state);
                    ranked.set(i, v);
                    check(&ranked);
                }
                ranked.clear();
                assert_eq!(
                    (ranked.best(), plainly(order, &ranked.values)),
                    (0.0, Some(0))
                );
            }
        }
    }

    #[test]
    fn it_may_grow_by_any_number_of_entries() {
        for order in [Order::Magnitude, Order::Smallest] {
            let (mut ranked, mut state) = (Ranked::new(order, 1), 7);
            for dim in [2, 3, 64, 65, 66, 4096, 4097, 4200, 270_000] {
                // Reserving alone changes nothing.
                ranked.reserve(2 * dim).unwrap();
                ranked.set(0, number(&mut state));
                check(&ranked);
                ranked.grow(dim);
                check(&ranked);
                for i in [0, dim / 2, dim - 1] {
                    ranked.set(i, number(&mut state));
                    check(&ranked);
                }
            }
            let mut whole = Ranked::new(order, 270_000);
            for (i, v) in ranked.values.iter().enumerate() {
                whole.set(i, *v);
            }
            assert_eq!(whole.levels, ranked.levels);
        }
    }

    #[test]
    fn only_holes_have_no_best() {
        let mut ranked = Ranked::new(Order::Magnitude, 70);
        (0..70).for_each(|i| ranked.set(i, f64::NAN));
        assert_eq!(ranked.best(), f64::NEG_INFINITY);
        assert_eq!(ranked.first(|key| key >= 0.0), None);
        ranked.set(69, 0.0);
        assert_eq!(ranked.first(|key| key >= 0.0), Some(69));
    }

    #[test]
    fn the_total_survives_what_comes_and_goes() {
        let mut ranked = Ranked::new(Order::Smallest, 100);
        for i in 0..100 {
            ranked.set(i, 1e-3 * i as f64);
        }
        for k in 0..100_000 {
            ranked.set(k % 50, 1e12 + k as f64);
        }
        ranked.set(60, f64::NAN);
        (0..50).for_each(|i| ranked.set(i, 0.0));
        let expected: f64 = (50..100)
            .filter(|i| *i != 60)
            .map(|i| 1e-3 * i as f64)
            .sum();
        assert!((ranked.total().value() - expected).abs() < 1e-12);
    }
}
