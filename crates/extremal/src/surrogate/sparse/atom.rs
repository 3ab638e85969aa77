//! The oracle of a [`SparseSurrogate`]: the best entries of ∇F, from inside and outside the
//! support.

use crate::range::SMALLEST_DIRECTION;
use crate::set::AtomSigns;
use crate::surrogate::sparse::SparseSurrogate;
use crate::surrogate::sparse::ranked::Order;

/// The numbers that determine ∇F from c outside the support.
#[derive(Clone, Copy)]
pub(crate) struct Outside {
    pub offset: f64,
    pub rest: f64,
    pub beta: f64,
}

impl Outside {
    /// The entry of ∇F for an entry c, rounded as in dense storage. The map preserves the order.
    pub fn direction(&self, c: f64) -> f64 {
        self.beta.mul_add(self.rest, c + self.offset)
    }
}

/// An entry of an atom, with the corresponding entry of the direction.
#[derive(Clone, Copy)]
pub(crate) struct Corner {
    pub feature: usize,
    pub value: f64,
    pub direction: f64,
}

impl SparseSurrogate {
    /// Computes the atom for the scanned direction on the support and for `outside` elsewhere.
    /// Returns false if ∇F is 0.
    pub(crate) fn choose(&mut self, outside: Outside) -> bool {
        self.last.atom.clear();
        if self.atoms.count > 1 {
            return self.choose_several();
        }
        let order = self.order;
        let outside_key = |key: f64| match order {
            Order::Magnitude => key,
            Order::Smallest => -outside.direction(-key),
        };
        let inside = self.support.best(order);
        let top = self.outside.best();
        let best = outside_key(top);
        let (mut key, mut feature) = inside.unwrap_or((f64::NEG_INFINITY, usize::MAX));
        if top > f64::NEG_INFINITY && best >= key {
            let found = self.outside.first(|key| outside_key(key) >= best);
            let found = found.unwrap_or(usize::MAX);
            feature = if best > key {
                found
            } else {
                feature.min(found)
            };
            key = best;
        }
        let size = self.atoms.size;
        let (value, direction) = match self.atoms.signs {
            // the key is an absolute value, so the sign of the entry is also needed
            AtomSigns::Any if key >= SMALLEST_DIRECTION => match self.entry(feature) {
                direction if direction > 0.0 => (-size, direction),
                direction => (size, direction),
            },
            AtomSigns::Any => return false,
            _ if key.abs() < SMALLEST_DIRECTION && self.is_still(outside) => return false,
            AtomSigns::PositiveOrZero if key <= 0.0 => return true,
            AtomSigns::Positive | AtomSigns::PositiveOrZero => (size, -key),
        };
        self.last.atom.push(Corner {
            feature,
            value,
            direction,
        });
        true
    }

    /// The entry of ∇F for a feature. The set is a ball, where ∇F equals c outside the support.
    fn entry(&self, feature: usize) -> f64 {
        match self.support.slot(feature) {
            Some(slot) => self.support.direction()[slot],
            None => self.outside.get(feature),
        }
    }

    /// Whether ∇F = 0, given that no entry of ∇F is negative and the set is a simplex.
    fn is_still(&self, outside: Outside) -> bool {
        let is_zero = |d: f64| d < SMALLEST_DIRECTION;
        self.support.direction().iter().all(|d| is_zero(*d))
            && self.outside.is_all(|c| is_zero(outside.direction(c)))
    }

    /// Selects the largest |∇F_i| inside and outside the support. The selected entries outside are
    /// removed one by one, and restored at the end.
    fn choose_several(&mut self) -> bool {
        let Self {
            top,
            support,
            outside,
            last,
            ..
        } = self;
        let (count, size) = (self.atoms.count, self.atoms.size);
        top.start();
        for (d, i) in support.direction().iter().zip(support.indices()) {
            top.offer(d.abs(), *i, count);
        }
        let bar = top.bar(count);
        for _ in 0..count {
            let key = outside.best();
            let Some(feature) = outside.first(|k| k >= key).filter(|_| key >= bar) else {
                break;
            };
            let direction = outside.get(feature);
            last.atom.push(Corner {
                feature,
                value: 0.0,
                direction,
            });
            outside.set(feature, f64::NAN);
            top.offer(key, feature as u32, count);
        }
        for corner in last.atom.drain(..) {
            outside.set(corner.feature, corner.direction);
        }
        for &(_, i) in top.chosen(count) {
            let feature = i as usize;
            let direction = match support.slot(feature) {
                Some(slot) => support.direction()[slot],
                None => outside.get(feature),
            };
            last.atom.push(Corner {
                feature,
                value: if direction > 0.0 { -size } else { size },
                direction,
            });
        }
        let sizes = last.atom.iter().map(|corner| corner.direction.abs());
        sizes.fold(0.0, f64::max) >= SMALLEST_DIRECTION
    }
}
