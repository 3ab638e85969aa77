//! A point of a set as a mixture of points, the weights of which are those of the mixture nearest
//! to a target.

use crate::kernel::{axpy, dot};

/// Most points that a mixture has.
const MOST: usize = 64;

/// Most exchanges of weight after a new point.
const EXCHANGES: usize = 1_000;

pub(super) struct Mixture {
    dim: usize,
    most: usize,
    points: Vec<f64>,
    /// The ways from the target to the points, in coordinates in which the norm is ℓ2.
    ways: Vec<f64>,
    weights: Vec<f64>,
    /// ⟨way, way⟩, `most` numbers per point.
    products: Vec<f64>,
    /// ⟨way, the mixture's way⟩.
    slopes: Vec<f64>,
}

fn most(dim: usize) -> usize {
    dim.saturating_add(2).min(MOST)
}

impl Mixture {
    pub(super) fn new(dim: usize) -> Self {
        let most = most(dim);
        Self {
            dim,
            most,
            points: Vec::with_capacity(most * dim),
            ways: Vec::with_capacity(most * dim),
            weights: Vec::with_capacity(most),
            products: vec![0.0; most * most],
            slopes: Vec::with_capacity(most),
        }
    }

    /// How many numbers one has, but for a few.
    pub(super) fn room(dim: usize) -> usize {
        2 * most(dim) * dim
    }

    /// One point, which lies `way` from the target.
    pub(super) fn restart(&mut self, x: &[f64], way: &[f64]) {
        self.points.clear();
        self.ways.clear();
        self.weights.clear();
        self.add(x, way, 1.0);
    }

    fn add(&mut self, point: &[f64], way: &[f64], weight: f64) {
        self.points.extend_from_slice(point);
        self.ways.extend_from_slice(way);
        self.weights.push(weight);
        self.multiply(self.weights.len() - 1);
    }

    /// The products of way i.
    fn multiply(&mut self, i: usize) {
        let way = &self.ways[i * self.dim..][..self.dim];
        for (j, other) in self.ways.chunks(self.dim).enumerate() {
            let product = dot(way, other);
            self.products[i * self.most + j] = product;
            self.products[j * self.most + i] = product;
        }
    }

    /// Takes in a point, and exchanges weight between the best and the worst point until they are
    /// no further apart than `gap`. False where that changed nothing.
    pub(super) fn take(&mut self, point: &[f64], way: &[f64], gap: f64) -> bool {
        if !self.points.chunks(self.dim).any(|p| p == point) {
            if self.weights.len() == self.most {
                self.merge();
            }
            self.add(point, way, 0.0);
        }
        let count = self.weights.len();
        self.slopes.clear();
        for i in 0..count {
            let row = &self.products[i * self.most..][..count];
            self.slopes.push(dot(row, &self.weights));
        }
        let mut changed = false;
        for _ in 0..EXCHANGES {
            let (mut best, mut worst) = ((0, f64::INFINITY), (0, f64::NEG_INFINITY));
            for (i, (slope, weight)) in self.slopes.iter().zip(&self.weights).enumerate() {
                if *slope < best.1 {
                    best = (i, *slope);
                }
                if *weight > 0.0 && *slope > worst.1 {
                    worst = (i, *slope);
                }
            }
            let (good, bad) = (best.0, worst.0);
            let apart = worst.1 - best.1;
            if !(apart > gap) || good == bad {
                break;
            }
            let at = |i: usize, j: usize| self.products[i * self.most + j];
            let bend = at(good, good) + at(bad, bad) - 2.0 * at(good, bad);
            // points that rounding can't tell apart give all they have
            let share = if bend > 0.0 { apart / bend } else { 1.0 };
            let share = share.min(self.weights[bad]);
            self.weights[bad] -= share;
            self.weights[good] += share;
            for i in 0..count {
                let (better, worse) = (i * self.most + good, i * self.most + bad);
                self.slopes[i] += share * (self.products[better] - self.products[worse]);
            }
            changed = true;
        }
        self.drop_weightless();
        changed
    }

    fn drop_weightless(&mut self) {
        for i in (0..self.weights.len()).rev() {
            if self.weights[i] <= 0.0 {
                self.remove(i);
            }
        }
    }

    /// The last point takes the place of this one.
    fn remove(&mut self, i: usize) {
        let last = self.weights.len() - 1;
        for numbers in [&mut self.points, &mut self.ways] {
            numbers.copy_within(last * self.dim..(last + 1) * self.dim, i * self.dim);
            numbers.truncate(last * self.dim);
        }
        self.weights.swap_remove(i);
        if i < last {
            self.multiply(i);
        }
    }

    /// Two points of the least weight become one.
    fn merge(&mut self) {
        let lightest = |this: &Self, but: usize| {
            let others = (0..this.weights.len()).filter(|i| *i != but);
            others.min_by(|a, b| this.weights[*a].total_cmp(&this.weights[*b]))
        };
        let Some(one) = lightest(self, usize::MAX) else {
            return;
        };
        let Some(other) = lightest(self, one) else {
            return;
        };
        let both = self.weights[one] + self.weights[other];
        let share = if both > 0.0 {
            self.weights[one] / both
        } else {
            0.5
        };
        for numbers in [&mut self.points, &mut self.ways] {
            for k in 0..self.dim {
                let (a, b) = (numbers[one * self.dim + k], numbers[other * self.dim + k]);
                numbers[other * self.dim + k] = share * a + (1.0 - share) * b;
            }
        }
        self.weights[other] = both;
        self.multiply(other);
        self.remove(one);
    }

    /// x, after the weights were made to sum up to 1 again.
    pub(super) fn write(&mut self, x: &mut [f64]) {
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|w| *w /= total);
        x.fill(0.0);
        for (point, weight) in self.points.chunks(self.dim).zip(&self.weights) {
            axpy(*weight, point, x);
        }
    }
}
