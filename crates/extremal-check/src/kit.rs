//! Helpers for tests: simple vector operations, random numbers with a fixed seed, and components built
//! from their specs. These functions panic where a law would report a failure.

use extremal::Point;
use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::loss::{Loss, LossSpec};
use extremal::set::{Atom, Set, SetSpec, SharedSet};
use extremal::stream::{Stream, StreamSpec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;

/// Whether `EXTREMAL_SOAK=1` is set, which selects the long versions of tests.
pub fn soak() -> bool {
    std::env::var("EXTREMAL_SOAK").is_ok_and(|v| v == "1")
}

/// The number of rounds: `long` in a soak test, and `short` in other tests.
pub fn rounds(short: u64, long: u64) -> u64 {
    if soak() { long } else { short }
}

/// Builds the set of a spec such as `l1:radius=2`.
pub fn set(text: &str, dim: usize) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(Some(dim)).unwrap()
}

/// Builds the loss of a spec.
pub fn loss(text: &str) -> Arc<dyn Loss> {
    text.parse::<LossSpec>().unwrap().build().unwrap()
}

/// Builds the learner of a spec, in dense storage.
pub fn learner(text: &str, set: &SharedSet) -> Box<dyn Learner> {
    text.parse::<LearnerSpec>().unwrap().build(set).unwrap()
}

/// Builds the learner of a spec, in the given storage.
pub fn stored(text: &str, set: &SharedSet, storage: Storage) -> Box<dyn Learner> {
    let spec: LearnerSpec = text.parse().unwrap();
    spec.build_stored(set, storage).unwrap()
}

/// Builds the stream of a spec.
pub fn stream(text: &str, dim: usize, seed: u64) -> Box<dyn Stream> {
    let spec: StreamSpec = text.parse().unwrap();
    spec.build(dim, seed).unwrap()
}

/// A generator of random numbers with a fixed seed.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A uniform random number between 0 and 1.
pub fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    rng.random()
}

/// A standard normal random number.
pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// A vector of standard normal random numbers.
pub fn normals(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| normal(rng)).collect()
}

/// A random point of the unit sphere.
pub fn unit(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    let v = normals(rng, n);
    scaled(&v, 1.0 / norm(&v))
}

/// ⟨a, b⟩.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest absolute value of an entry.
pub fn max_abs(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |top, v| top.max(v.abs()))
}

/// ‖a‖₂, without overflow or underflow.
pub fn norm(a: &[f64]) -> f64 {
    let top = max_abs(a);
    if top == 0.0 {
        return 0.0;
    }
    top * a.iter().map(|v| (v / top) * (v / top)).sum::<f64>().sqrt()
}

/// ‖a‖_p, without overflow or underflow.
pub fn norm_p(a: &[f64], p: f64) -> f64 {
    let top = max_abs(a);
    if top == 0.0 {
        return 0.0;
    }
    let sum: f64 = a.iter().map(|v| (v.abs() / top).powf(p)).sum();
    top * sum.powf(1.0 / p)
}

/// k·a.
pub fn scaled(a: &[f64], k: f64) -> Vec<f64> {
    a.iter().map(|v| k * v).collect()
}

/// a + k·b.
pub fn plus(a: &[f64], k: f64, b: &[f64]) -> Vec<f64> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a + k * b).collect()
}

/// a − b.
pub fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    plus(a, -1.0, b)
}

/// ‖a − b‖₂.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    norm(&minus(a, b))
}

/// k·e_i.
pub fn spike(n: usize, i: usize, k: f64) -> Vec<f64> {
    let mut v = vec![0.0; n];
    v[i] = k;
    v
}

/// The bits of all entries, to compare vectors exactly.
pub fn bits(a: &[f64]) -> Vec<u64> {
    a.iter().map(|v| v.to_bits()).collect()
}

/// All entries of a decision.
pub fn written(x: &dyn Point) -> Vec<f64> {
    let mut out = vec![f64::NAN; x.dim()];
    x.write(&mut out);
    out
}

/// The centre of the set.
pub fn centre(set: &dyn Set) -> Vec<f64> {
    let mut out = vec![f64::NAN; set.dim()];
    set.centre(&mut out);
    out
}

/// The entries of the set's atom for a direction, from a new oracle.
pub fn atom(set: &dyn Set, direction: &[f64]) -> Vec<f64> {
    let mut atom = Atom::new();
    set.oracle().minimise(direction, &mut atom).unwrap();
    let mut out = vec![f64::NAN; set.dim()];
    atom.write(&mut out);
    out
}

/// max ⟨n, x⟩ over the set.
pub fn support(set: &dyn Set, n: &[f64]) -> f64 {
    dot(n, &atom(set, &scaled(n, -1.0)))
}

/// Directions in which sets have extreme points: multiples of unit vectors, sign vectors, differences
/// of two coordinates, one large entry among small equal entries, and random directions.
pub fn telling_directions(rng: &mut ChaCha8Rng, n: usize, random: usize) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    let picked = |k: usize| if n <= 10 { k < n } else { k < 3 || k == n - 1 };
    for i in (0..n).filter(|&i| picked(i)) {
        for sign in [1.0, -1.0] {
            all.push(spike(n, i, sign));
            let mut uneven = vec![0.05 * sign; n];
            uneven[i] = sign;
            all.push(uneven);
        }
        let mut pair = spike(n, i, 1.0);
        pair[(i + 1) % n] -= 1.0;
        all.push(pair);
    }
    all.push(vec![1.0; n]);
    all.push(vec![-1.0; n]);
    all.push(
        (0..n)
            .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect(),
    );
    for _ in 0..random {
        all.push(normals(rng, n));
        all.push(normals(rng, n).iter().map(|v| v.signum()).collect());
    }
    all.retain(|d| d.iter().any(|v| *v != 0.0));
    all
}

/// Directions that are difficult for an oracle, each with a description. They have norms of 0 or
/// 1e±140, mixed scales, ties, or entries with random bits.
pub fn hard_directions(n: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut r = rng(7);
    let sign = |i: usize| if i % 3 == 1 { -1.0 } else { 1.0 };
    let ramp = |k: f64| -> Vec<f64> { (0..n).map(|i| k * sign(i) * (1 + i) as f64).collect() };
    let mut all = vec![
        ("zero", vec![0.0; n]),
        ("negative zero", vec![-0.0; n]),
        ("of size 1e-140", ramp(1e-140)),
        ("of size 1e-138", scaled(&normals(&mut r, n), 1e-138)),
        ("of size 1e-100", scaled(&normals(&mut r, n), 1e-100)),
        ("of size 1e140", scaled(&normals(&mut r, n), 1e140)),
        ("of ones", vec![1.0; n]),
        ("of minus ones", vec![-1.0; n]),
        ("of signs", (0..n).map(sign).collect()),
        ("of a ramp", ramp(1.0)),
        (
            "of nearly equal entries",
            (0..n).map(|i| 1.0 + i as f64 * f64::EPSILON).collect(),
        ),
    ];
    for _ in 0..10 {
        let wide = (0..n)
            .map(|_| 10f64.powf(270.0 * uniform(&mut r) - 135.0) * normal(&mut r).signum())
            .collect();
        all.push(("of mixed scales", wide));
        all.push(("at random", normals(&mut r, n)));
        let coarse = normals(&mut r, n).iter().map(|v| v.round()).collect();
        all.push(("with ties and zeros", coarse));
        let any = |v: f64| v.signum() * v.abs().clamp(1e-140, 1e140);
        let any = (0..n).map(|_| any(f64::from_bits(r.random())));
        let any = any.map(|v: f64| if v.is_nan() { 0.0 } else { v });
        all.push(("of random bits", any.collect()));
    }
    for i in [0, n / 2, n - 1] {
        for k in [1.0, -1.0, 1e-140, -1e140] {
            all.push(("with one entry", spike(n, i, k)));
        }
    }
    all
}

/// Points of the set: atoms, mixtures of atoms, and the centre.
pub fn feasible_points(rng: &mut ChaCha8Rng, set: &dyn Set, random: usize) -> Vec<Vec<f64>> {
    let directions = telling_directions(rng, set.dim(), random);
    let mut points: Vec<_> = directions.iter().map(|d| atom(set, d)).collect();
    let mixtures = mixtures(rng, &points, random);
    points.push(centre(set));
    points.extend(mixtures);
    points
}

/// Random mixtures. Each mixture is of three of the given points.
pub fn mixtures(rng: &mut ChaCha8Rng, points: &[Vec<f64>], count: usize) -> Vec<Vec<f64>> {
    let mix = |_| {
        let chosen: [usize; 3] = std::array::from_fn(|_| rng.random_range(0..points.len()));
        let weights: [f64; 3] = std::array::from_fn(|_| -uniform(rng).ln());
        let total: f64 = weights.iter().sum();
        let mut mix = scaled(&points[chosen[0]], weights[0] / total);
        for k in [1, 2] {
            mix = plus(&mix, weights[k] / total, &points[chosen[k]]);
        }
        mix
    };
    (0..count).map(mix).collect()
}

/// Neumaier's compensated sum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    /// Adds a number.
    pub fn add(&mut self, v: f64) {
        let t = self.total + v;
        self.lost += if self.total.abs() >= v.abs() {
            (self.total - t) + v
        } else {
            (v - t) + self.total
        };
        self.total = t;
    }

    /// The sum.
    pub fn value(&self) -> f64 {
        self.total + self.lost
    }
}
