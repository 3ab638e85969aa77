//! The simplex, where a point's entries are its mass.

use crate::kernel;
use crate::set::{Signs, SparseAtoms, Structure};

/// The local oracle of {x ≥ 0, Σx = τ} and {x ≥ 0, Σx ≤ τ}: O(d log d), no memory of the past.
///
/// ```
/// use extremal::learner::local::SimplexMass;
/// let mut oracle = SimplexMass::new(3, 1.0, false);
/// let mut way = [0.0; 3];
/// // 0.6 of the mass goes from where c is largest to where it is smallest
/// oracle.seek(&[0.25, 0.25, 0.5], &[-1.0, 0.0, 1.0], 0.6, &mut way);
/// for (found, expected) in way.iter().zip([0.6, -0.1, -0.5]) {
///     assert!((found - expected).abs() < 1e-15);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct SimplexMass {
    total: f64,
    at_most: bool,
    order: Vec<u32>,
}

impl SimplexMass {
    /// That of the simplex in dimension `dim` with this total, or at most that.
    pub fn new(dim: usize, total: f64, at_most: bool) -> Self {
        Self {
            total,
            at_most,
            order: Vec::with_capacity(dim + 1),
        }
    }

    /// That of the simplex which a set's structure tells of.
    pub(crate) fn of(dim: usize, structure: &Structure) -> Option<Self> {
        let Structure::Sparse(SparseAtoms {
            count: 1,
            size,
            signs: signs @ (Signs::Positive | Signs::PositiveOrZero),
        }) = *structure
        else {
            return None;
        };
        Some(Self::new(dim, size, signs == Signs::PositiveOrZero))
    }

    /// The least ⟨c, v⟩ of a vertex.
    pub(crate) fn lowest(&self, c: &[f64]) -> f64 {
        let least = c.iter().copied().fold(f64::INFINITY, f64::min);
        let least = if self.at_most { least.min(0.0) } else { least };
        self.total * least
    }

    /// way ← p − x for x in the simplex; returns ⟨c, v⟩ of the vertex that mass moves to.
    pub fn seek(&mut self, x: &[f64], c: &[f64], share: f64, way: &mut [f64]) -> f64 {
        let best = kernel::argmin(c).unwrap_or(0);
        // With ≤, what is missing from the total stands at the origin, where the cost is 0.
        let origin = x.len() as u32;
        let missing = (self.total - x.iter().sum::<f64>()).max(0.0);
        let amount = |i: u32| x.get(i as usize).copied().unwrap_or(missing);
        let cost = |i: u32| c.get(i as usize).copied().unwrap_or(0.0);
        self.order.clear();
        let places = origin + u32::from(self.at_most);
        self.order.extend((0..places).filter(|&i| amount(i) > 0.0));
        let mut left = f64::INFINITY;
        if share < 1.0 {
            left = share * self.total;
            self.order
                .sort_unstable_by(|&i, &j| cost(j).total_cmp(&cost(i)).then(i.cmp(&j)));
        }
        way.fill(0.0);
        let mut moved = 0.0;
        for &i in &self.order {
            let taken = amount(i).min(left);
            if i < origin {
                way[i as usize] = -taken;
            }
            moved += taken;
            left -= taken;
            if left <= 0.0 {
                break;
            }
        }
        if self.at_most && !(c[best] < 0.0) {
            return 0.0; // all of it to the origin
        }
        way[best] += moved;
        self.total * c[best]
    }

    /// next ← x + α·way.
    pub(crate) fn step(&self, alpha: f64, way: &[f64], x: &mut [f64]) {
        for (x, way) in x.iter_mut().zip(way) {
            *x = (*x + alpha * way).max(0.0);
        }
        // rounding must not add up over the rounds
        let sum: f64 = x.iter().sum();
        if sum > self.total || (!self.at_most && sum > 0.0) {
            let k = self.total / sum;
            if k != 1.0 {
                x.iter_mut().for_each(|x| *x *= k);
            }
        }
    }
}
