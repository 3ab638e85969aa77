//! Closeness without projecting: a point of the set and one outside of it that are brought near
//! each other by the linear oracle alone.
//!
//! A learner may descend with points ỹ that are not in the set, as long as the decisions x that it
//! plays are near, and ỹ comes no farther from any point of the set. For ε > 0 and any y,
//! [`Cip::bring`] moves x ∈ K and y such that ‖y′ − z‖ ≤ ‖y − z‖ for every z ∈ K and
//! ‖x′ − y′‖² ≤ 3ε: Frank-Wolfe steps with line search take x towards y until it is near, or the
//! gap ⟨x − y, x − v⟩ ≤ ε shows that y − x separates y from K, and then y goes back along it.
//!
//! Garber & Kretzu go back by a small share and look again. The gap allows for the best share at
//! once, 1 − ε/‖x − y‖², after which ‖x − y‖² ≤ ε/3: one search, and at most ⌈27R²/ε − 2⌉ calls.

use crate::set::{Atom, CheckedOracle, Oracle, Set};
use crate::{Result, kernel, range};

/// See the [module](self).
pub struct Cip {
    oracle: CheckedOracle,
    atom: Atom,
    centre: Vec<f64>,
    radius: f64,
    /// x − y.
    way: Vec<f64>,
    /// x − v.
    back: Vec<f64>,
}

/// How [`Cip::bring`] went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brought {
    /// How often the oracle was asked.
    pub oracle_calls: u32,
    /// ‖x − y‖ at the end.
    pub distance: f64,
    /// Whether y went back.
    pub pulled: bool,
}

impl Cip {
    /// For this set, in a ball around its centre.
    pub fn new(set: &dyn Set) -> Self {
        let (centre, radius) = ball_around(set);
        Self {
            oracle: CheckedOracle::of(set),
            atom: Atom::new(),
            way: vec![0.0; centre.len()],
            back: vec![0.0; centre.len()],
            centre,
            radius,
        }
    }

    /// R: the set lies in the ball of this radius around its centre.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// ⌈27R²/ε − 2⌉, for the tolerance ε/R².
    pub fn most_calls(tolerance: f64) -> u32 {
        (27.0 / tolerance - 2.0).ceil().max(1.0) as u32
    }

    /// Brings x ∈ K and y near each other, by at least one step of x towards y if `step`. ε is
    /// R² times the tolerance. After an error, x and y are not what they were.
    pub fn bring(
        &mut self,
        x: &mut [f64],
        y: &mut [f64],
        tolerance: f64,
        step: bool,
    ) -> Result<Brought> {
        let radius = self.radius;
        self.confine(y);
        let (most, mut oracle_calls, mut pulled) = (Self::most_calls(tolerance), 0, false);
        let mut last = f64::INFINITY;
        let mut distance = self.look(x, y);
        loop {
            let ratio = distance / radius;
            let near = ratio * ratio <= 3.0 * tolerance;
            // Where rounding is all that is left, steps bring no more.
            let stuck = !(distance < last);
            if range::is_zero(&self.way) || (near && (oracle_calls > 0 || !step)) || stuck {
                break;
            }
            if oracle_calls >= most {
                break;
            }
            let found = self.oracle.minimise(&self.way, &mut self.atom)?;
            oracle_calls += 1;
            self.back.copy_from_slice(x);
            self.atom.add_to(-1.0, &mut self.back);
            let gap = kernel::dot(&self.way, &self.back);
            let above = gap + found.slack();
            self.oracle.check_gap(above, &self.way)?;
            if !near && above / radius / radius <= tolerance {
                // y = x + (ε/‖x − y‖²)(y − x)
                let share = tolerance / ratio / ratio;
                y.copy_from_slice(x);
                kernel::axpy(-share, &self.way, y);
                pulled = true;
                distance = self.look(x, y);
                break;
            }
            let length = kernel::norm(&self.back);
            let sigma = (gap / length / length).min(1.0);
            if !(sigma > 0.0) {
                break;
            }
            kernel::axpy(-sigma, &self.back, x);
            last = distance;
            distance = self.look(x, y);
        }
        Ok(Brought {
            oracle_calls,
            distance,
            pulled,
        })
    }

    pub(super) fn oracle_calls(&self) -> u64 {
        self.oracle.calls()
    }

    /// way = x − y; returns its length.
    fn look(&mut self, x: &[f64], y: &[f64]) -> f64 {
        for (way, (x, y)) in self.way.iter_mut().zip(x.iter().zip(y)) {
            *way = x - y;
        }
        kernel::norm(&self.way)
    }

    /// y ← the nearest point of the ball around the set.
    fn confine(&mut self, y: &mut [f64]) {
        self.way.copy_from_slice(y);
        kernel::axpy(-1.0, &self.centre, &mut self.way);
        let length = kernel::norm(&self.way);
        if length > self.radius {
            y.copy_from_slice(&self.centre);
            kernel::axpy(self.radius / length, &self.way, y);
        }
    }
}

/// The set's centre, and the radius of a ball around it that the set lies in.
pub(super) fn ball_around(set: &dyn Set) -> (Vec<f64>, f64) {
    let geometry = set.geometry();
    let mut centre = vec![0.0; set.dim()];
    set.centre(&mut centre);
    let off = kernel::norm(&centre);
    let radius = if off == 0.0 {
        geometry.norm_bound
    } else {
        geometry.diameter.min(geometry.norm_bound + off)
    };
    (centre, radius)
}

/// A step size, 0 where it is no number: before the first gradient.
pub(super) fn or_zero(eta: f64) -> f64 {
    if eta.is_finite() { eta } else { 0.0 }
}
