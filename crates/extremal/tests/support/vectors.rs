//! Vectors, random ones too, and sums, by the plainest means.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

pub fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    rng.random::<f64>()
}

pub fn normal(rng: &mut ChaCha8Rng, dim: usize) -> Vec<f64> {
    (0..dim).map(|_| StandardNormal.sample(rng)).collect()
}

pub fn unit(rng: &mut ChaCha8Rng, dim: usize) -> Vec<f64> {
    let v = normal(rng, dim);
    scaled(1.0 / norm(&v), &v)
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn norm(a: &[f64]) -> f64 {
    let top = a.iter().fold(0.0_f64, |t, v| t.max(v.abs()));
    if top == 0.0 {
        return 0.0;
    }
    top * a.iter().map(|v| (v / top) * (v / top)).sum::<f64>().sqrt()
}

pub fn norm_p(a: &[f64], p: f64) -> f64 {
    let top = a.iter().fold(0.0_f64, |t, v| t.max(v.abs()));
    if top == 0.0 {
        return 0.0;
    }
    top * a
        .iter()
        .map(|v| (v.abs() / top).powf(p))
        .sum::<f64>()
        .powf(1.0 / p)
}

pub fn scaled(k: f64, a: &[f64]) -> Vec<f64> {
    a.iter().map(|v| k * v).collect()
}

/// a + k·b
pub fn plus(a: &[f64], k: f64, b: &[f64]) -> Vec<f64> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a + k * b).collect()
}

pub fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    plus(a, -1.0, b)
}

pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    norm(&minus(a, b))
}

/// Neumaier's compensated sum.
#[derive(Clone, Copy, Default)]
pub struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    pub fn add(&mut self, v: f64) {
        let t = self.total + v;
        self.lost += if self.total.abs() >= v.abs() {
            (self.total - t) + v
        } else {
            (v - t) + self.total
        };
        self.total = t;
    }

    pub fn value(&self) -> f64 {
        self.total + self.lost
    }
}
