//! F_t, which Frank-Wolfe learners on plain vectors step on: its gradient is
//! S_t + K_t(x − x₁)/D, where S_t = Σ (g_τ − λ(x_τ − x₁)).

use crate::kernel;
use crate::range::SMALLEST_DIRECTION;

pub(crate) struct Surrogate {
    /// x₁.
    first: Vec<f64>,
    /// ∇F_t(x), its largest entry ±1.
    direction: Vec<f64>,
    /// That entry's size.
    top: f64,
    /// K_t: D times the second derivative.
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

    /// Writes S_t from S_{t−1} and g, and computes the gradient in x with this K. False if that is
    /// 0.
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

    /// Computes the gradient in another point.
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

    /// ∇F_t(x), its largest entry ±1.
    pub(crate) fn direction(&self) -> &[f64] {
        &self.direction
    }

    /// ⟨direction, x − v⟩ given ⟨direction, v⟩, below 0 where rounding makes it so.
    pub(crate) fn above(&self, x: &[f64], value: f64) -> f64 {
        kernel::dot(&self.direction, x) - value
    }

    /// ⟨∇F, x − v⟩ given ⟨direction, x − v⟩.
    pub(crate) fn gap(&self, above: f64) -> f64 {
        self.top * above.max(0.0)
    }

    /// A bound of the distance from x to where F is least, over D, given ⟨direction, x − v⟩: F is
    /// at most the gap above its least value, and at least K/(2D) times the distance's square.
    pub(crate) fn distance(&self, above: f64) -> f64 {
        (2.0 * (self.top / self.stiffness) * (above.max(0.0) / self.diameter)).sqrt()
    }

    /// The α in [0, most] where F is least along `way`.
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
