//! Approximate projections, which use only the linear oracle. They move a point of the set and a
//! point outside the set until the two are near each other.
//!
//! A learner may use gradient steps on points ỹ outside the set K if two conditions hold: its
//! decisions x are near ỹ, and no projection increases the distance of ỹ from a point of K. For
//! ε > 0 and any y, [`NearProjection::approach`] moves x ∈ K to x′ ∈ K and y to y′ such that
//! ‖x′ − y′‖² ≤ 3ε, and ‖y′ − z‖ ≤ ‖y − z‖ for every z ∈ K. Frank-Wolfe steps with line search move
//! x towards y. They stop when x is near y, or when the gap ⟨x − y, x − v⟩ is at most ε. In the
//! second case y − x separates y from K, and y moves towards x.
//!
//! Garber & Kretzu move y by a small share of y − x and search again. Here y moves only once, by
//! the largest share that a gap of at most ε justifies, namely 1 − ε/‖x − y‖². Afterwards ‖x − y‖²
//! ≤ ε/3, so that one search is enough. This search makes at most ⌈27R²/ε − 2⌉ oracle calls.

use crate::set::{Set, centre_of};
use crate::solver::{Distance, Method, Search, Task};
use crate::{Result, kernel, range};

/// An approximate projection onto a set. The [module](self) explains it.
pub(crate) struct NearProjection {
    search: Search,
    centre: Vec<f64>,
    radius: f64,
    /// x − y.
    way: Vec<f64>,
}

impl NearProjection {
    /// The approximate projection onto this set. It uses a ball around the set's centre.
    pub fn new(set: &dyn Set) -> Self {
        let (centre, radius) = ball_around(set);
        Self {
            search: Search::new(set, centre.len()),
            way: vec![0.0; centre.len()],
            centre,
            radius,
        }
    }

    /// R, the radius of a ball around the set's centre that contains the set.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Moves x ∈ K and y near each other, with at least one step of x towards y. ε is R² times the
    /// tolerance. After an error, x and y may have changed.
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
        // at most ⌈27R²/ε − 2⌉ calls: each step except the last one is followed by a call
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

    /// Sets way = x − y. Returns ‖x − y‖²/R².
    fn apart(&mut self, x: &[f64], y: &[f64]) -> f64 {
        for (way, (x, y)) in self.way.iter_mut().zip(x.iter().zip(y)) {
            *way = x - y;
        }
        let distance = kernel::norm(&self.way) / self.radius;
        distance * distance
    }

    /// Moves y to the nearest point of the ball around the set.
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

/// The set's centre, and the radius of a ball around the centre that contains the set.
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
