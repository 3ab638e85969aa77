//! The surrogate F_t for Frank-Wolfe learners on plain vectors. Its gradient is S_t +
//! K_t(x − x₁)/D, where S_t = Σ (g_τ − λ(x_τ − x₁)).

use crate::kernel;
use crate::range::SMALLEST_DIRECTION;

pub(crate) struct Surrogate {
    /// x₁.
    first: Vec<f64>,
    /// ∇F_t(x), divided by its largest absolute entry.
    direction: Vec<f64>,
    /// The largest absolute entry of ∇F_t(x).
    top: f64,
    /// K_t, which is D times the second derivative of F_t.
    stiffness: f64,
    lambda: f64,
    diameter: f64,
}

impl Surrogate {
    pub(crate) fn new(first: Vec<f64>, lambda: f64, diameter: f64) -> Self {
        Self {
            direction: vec![0.0; first.len()],
            first,
            top: 0.0,
            stiffness: 0.0,
            lambda,
            diameter,
        }
    }

    /// Computes S_t from S_{t−1} and g, and the gradient at x with K_t = `stiffness`. Returns false
    /// if the gradient is 0.
    pub(crate) fn absorb(
        &mut self,
        now: &[f64],
        sum: &mut [f64],
        g: &[f64],
        x: &[f64],
        stiffness: f64,
    ) -> bool {
        for (i, sum) in sum.iter_mut().enumerate() {
            *sum = now[i] + g[i] - self.lambda * (x[i] - self.first[i]);
        }
        self.stiffness = stiffness;
        self.turn(sum, x)
    }

    /// Computes the gradient at x. Returns false if it is 0.
    pub(crate) fn turn(&mut self, sum: &[f64], x: &[f64]) -> bool {
        for (i, d) in self.direction.iter_mut().enumerate() {
            let apart = x[i] - self.first[i];
            *d = sum[i];
            if apart != 0.0 {
                *d += self.stiffness * (apart / self.diameter);
            }
        }
        self.top = kernel::max_abs(&self.direction);
        if self.top < SMALLEST_DIRECTION {
            return false;
        }
        self.direction.iter_mut().for_each(|d| *d /= self.top);
        true
    }

    /// ∇F_t(x), divided by its largest absolute entry.
    pub(crate) fn direction(&self) -> &[f64] {
        &self.direction
    }

    /// ⟨direction, x − v⟩, where `value` is ⟨direction, v⟩. Rounding may make it negative.
    pub(crate) fn above(&self, x: &[f64], value: f64) -> f64 {
        kernel::dot(&self.direction, x) - value
    }

    /// ⟨∇F_t, x − v⟩, where `above` is ⟨direction, x − v⟩.
    pub(crate) fn gap(&self, above: f64) -> f64 {
        self.top * above.max(0.0)
    }

    /// An upper bound on the distance from x to the minimiser of F_t, divided by D, where `above`
    /// is ⟨direction, x − v⟩. F_t(x) − min F_t is at most the gap, and at least K_t/(2D) times the
    /// squared distance.
    pub(crate) fn distance(&self, above: f64) -> f64 {
        (2.0 * (self.top / self.stiffness) * (above.max(0.0) / self.diameter)).sqrt()
    }

    /// The α in [0, most] that minimises F_t along `way`.
    pub(crate) fn line_search(&self, way: &[f64], most: f64) -> f64 {
        let length = kernel::norm(way);
        if !(length > 0.0) {
            return 0.0;
        }
        let drop = -kernel::dot(&self.direction, way) / length;
        let bend = self.stiffness * (length / self.diameter);
        let alpha = drop * (self.top / bend);
        if drop > 0.0 { alpha.min(most) } else { 0.0 }
    }
}
