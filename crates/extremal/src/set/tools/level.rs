//! Water levels, which map numbers to shares between 0 and 1 with a given sum. Projections onto
//! simplices and onto the k-sparse polytope compute such shares.

use crate::Result;
use crate::set::{Projection, check_point};

/// A water level. An entry y has a share between 0 and 1 that grows with y, and the shares of all
/// entries have a given sum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    /// The entry from which the level is measured. The difference of two large numbers keeps digits that
    /// their sum loses.
    pub base: f64,
    /// How far the level lies below `base`, in units of the cap: from 0 to 1.
    pub depth: f64,
    /// An entry this far above the level has a share of 1.
    pub cap: f64,
}

impl Level {
    /// Finds the level for entries in decreasing order, with 0 < total ≤ the number of entries. The
    /// cost is linear in the number of entries within one cap of the level, and logarithmic in the
    /// number of all entries.
    pub fn find(order: &[f64], cap: f64, total: f64) -> Self {
        // If the level were `base`, the shares would add up to less than the total. If the level were one
        // cap below `base`, the shares would add up to at least the total.
        let base = order[(total.ceil() as usize - 1).min(order.len() - 1)];
        let height = |y: f64| (y - base) / cap;
        let full = order.partition_point(|&y| height(y) >= 1.0);
        let wet = order.partition_point(|&y| height(y) > -1.0);
        let above = full + order[full..wet].partition_point(|&y| y > base);
        // As the level decreases, entries above the base reach the share 1, and entries below it
        // get shares. The entries order[filled..counted] have shares between 0 and 1.
        let (mut filled, mut counted) = (full, above);
        let heights = |part: &[f64]| part.iter().map(|&y| height(y)).sum::<f64>();
        let missing = |filled: usize, sum: f64| total - filled as f64 - sum;
        let mut sum = heights(&order[full..above]);
        let mut depth = 0.0;
        loop {
            let to_fill = order[filled..above].first().map(|&y| 1.0 - height(y));
            let to_count = order[counted..wet].first().map(|&y| -height(y));
            let next = to_fill.unwrap_or(1.0).min(to_count.unwrap_or(1.0));
            let growing = (counted - filled) as f64;
            let is_last = next >= 1.0 || missing(filled, sum) <= growing * next;
            if is_last && counted > filled {
                // the running sum contains the rounding errors of terms that were removed
                let sum = heights(&order[filled..counted]);
                depth = (missing(filled, sum) / growing).clamp(depth, next);
                return Self { base, depth, cap };
            }
            depth = next;
            if to_count == Some(next) {
                sum += height(order[counted]);
                counted += 1;
            } else {
                sum -= height(order[filled]);
                filled += 1;
            }
        }
    }

    /// The share of an entry.
    pub fn share(&self, y: f64) -> f64 {
        ((y - self.base) / self.cap + self.depth).clamp(0.0, 1.0)
    }
}

/// The projection onto {0 ≤ x ≤ cap, Σx = total·cap}, or onto a variant of this set.
pub(crate) struct LevelProjection {
    dim: usize,
    cap: f64,
    total: f64,
    /// Whether the sum may also be smaller than total·cap.
    pub at_most: bool,
    /// Whether the constraints apply to |x|.
    signed: bool,
    order: Vec<f64>,
}

impl LevelProjection {
    pub fn new(dim: usize, cap: f64, total: f64) -> Self {
        Self {
            dim,
            cap,
            total,
            at_most: false,
            signed: false,
            order: Vec::with_capacity(dim),
        }
    }

    /// Changes the constraints to {|x| ≤ cap, Σ|x| ≤ total·cap}.
    pub fn signed(self) -> Self {
        Self {
            signed: true,
            at_most: true,
            ..self
        }
    }
}

impl Projection for LevelProjection {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        let (cap, total) = (self.cap, self.total);
        check_point(self.dim, x)?;
        let low = if self.signed { -cap } else { 0.0 };
        // If the clipped point satisfies the bound on the sum, the clipped point is the projection.
        // Otherwise the sum is at its bound, and the amount subtracted from every entry before clipping
        // is a water level.
        let clipped = x.iter().map(|v| v.clamp(low, cap).abs() / cap);
        if self.at_most && clipped.sum::<f64>() <= total {
            x.iter_mut().for_each(|x| *x = x.clamp(low, cap));
            return Ok(());
        }
        let height = |x: f64| if self.signed { x.abs() } else { x };
        self.order.clear();
        self.order.extend(x.iter().map(|x| height(*x)));
        self.order.sort_unstable_by(|a, b| b.total_cmp(a));
        let level = Level::find(&self.order, cap, total);
        for x in x.iter_mut() {
            let size = cap * level.share(height(*x));
            *x = if self.signed {
                // the level may round below 0, but no entry may move away from 0
                size.min(x.abs()).copysign(*x)
            } else {
                size
            };
        }
        Ok(())
    }
}
