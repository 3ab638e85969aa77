//! Closeness without projecting: a point of the set and one outside of it that are brought near
//! each other by the linear oracle alone.
//!
//! A learner may descend with points ỹ that are not in the set, as long as the decisions x that it
//! plays are near, and ỹ is no farther from any point of the set. For ε > 0 and any y,
//! [`NearProjection::approach`] moves x ∈ K and y such that ‖y′ − z‖ ≤ ‖y − z‖ for every z ∈ K and
//! ‖x′ − y′‖² ≤ 3ε: Frank-Wolfe steps with line search take x towards y until it is near, or the
//! gap ⟨x − y, x − v⟩ ≤ ε shows that y − x separates y from K, and then y goes back along it.
//!
//! Garber & Kretzu go back by a small share and look again. The gap allows for the best share at
//! once, 1 − ε/‖x − y‖², after which ‖x − y‖² ≤ ε/3: one search, and at most ⌈27R²/ε − 2⌉ calls.

use crate::set::{Set, centre_of};
use crate::solver::{Distance, Method, Search, Task};
use crate::{Result, kernel, range};

/// See the [module](self).
pub(crate) struct NearProjection {
    search: Search,
    centre: Vec<f64>,
    radius: f64,
    /// x − y.
    way: Vec<f64>,
}

impl NearProjection {
    /// For this set, in a ball around its centre.
    pub fn new(set: &dyn Set) -> Self {
        let (centre, radius) = ball_around(set);
        Self {
            search: Search::new(set, centre.len()),
            way: vec![0.0; centre.len()],
            centre,
            radius,
        }
    }

    /// R: the set lies in the ball of this radius around its centre.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Brings x ∈ K and y near each other, by at least one step of x towards y. ε is R² times the
    /// tolerance. After an error, x and y are not what they were.
    pub fn approach(&mut self, x: &mut [f64], y: &mut [f64], tolerance: f64) -> Result<()> {
        self.confine(y);
        let limit = 3.0 * tolerance;
        let near = self.apart(x, y) <= limit;
        if range::is_zero(&self.way) {
            return Ok(());
        }
        let square = Distance {
            target: y,
            factor: None,
            unit: self.radius,
        };
        // ⌈27R²/ε − 2⌉ calls at most; each step but the last is followed by one
        let most = (27.0 / tolerance - 2.0).ceil().max(1.0) as u32;
        let task = Task {
            gap: if near { 0.0 } else { tolerance },
            value: 0.5 * limit,
            ..Task::new(&square, most.saturating_sub(1).max(1).into())
        };
        self.search.restart(x);
        self.search.descend(Method::FrankWolfe, &task, x)?;
        let apart = self.apart(x, y);
        if self.search.least_gap <= tolerance && apart > limit {
            // y = x + (ε/‖x − y‖²)(y − x)
            y.copy_from_slice(x);
            kernel::axpy(-tolerance / apart, &self.way, y);
        }
        Ok(())
    }

    pub(crate) fn oracle_calls(&self) -> u64 {
        self.search.oracle_calls()
    }

    /// way = x − y; returns ‖x − y‖²/R².
    fn apart(&mut self, x: &[f64], y: &[f64]) -> f64 {
        for (way, (x, y)) in self.way.iter_mut().zip(x.iter().zip(y)) {
            *way = x - y;
        }
        let distance = kernel::norm(&self.way) / self.radius;
        distance * distance
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
fn ball_around(set: &dyn Set) -> (Vec<f64>, f64) {
    let (geometry, centre) = (set.geometry(), centre_of(set));
    let off = kernel::norm(&centre);
    let radius = if off == 0.0 {
        geometry.norm_bound
    } else {
        geometry.diameter.min(geometry.norm_bound + off)
    };
    (centre, radius)
}
