//! What the tests of the mathematics share. Everything here is written plainly and anew: nothing
//! of the library's arithmetic is used to check the library's arithmetic.
#![allow(dead_code)] // each test file uses its own part

use extremal::learner::{Learner, LearnerSpec};
use extremal::pair::Point;
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::{Stream, StreamSpec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Whether the long figures are asked for.
pub fn soak() -> bool {
    std::env::var("EXTREMAL_SOAK").is_ok_and(|v| v == "1")
}

pub fn rounds(short: u64, long: u64) -> u64 {
    if soak() { long } else { short }
}

pub fn set(text: &str, dim: usize) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(Some(dim)).unwrap()
}

pub fn learner(text: &str, set: &SharedSet) -> Box<dyn Learner> {
    text.parse::<LearnerSpec>().unwrap().build(set).unwrap()
}

pub fn stream(text: &str, dim: usize, seed: u64) -> Box<dyn Stream> {
    text.parse::<StreamSpec>()
        .unwrap()
        .build(dim, seed)
        .unwrap()
}

/// `name:key=value` with `key=[…]` appended.
pub fn with_list(text: &str, key: &str, values: &[f64]) -> String {
    let list: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
    let joint = if text.contains(':') { ',' } else { ':' };
    format!("{text}{joint}{key}=[{}]", list.join(","))
}

pub fn decision(x: &dyn Point) -> Vec<f64> {
    let mut out = vec![0.0; x.dim()];
    x.write(&mut out);
    out
}

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

/// A set as the textbook has it: its oracle and projection by the plainest means.
#[derive(Clone, Debug)]
pub enum Body {
    Lp {
        p: f64,
        radius: f64,
    },
    L1 {
        radius: f64,
    },
    Box {
        lower: f64,
        upper: f64,
    },
    Simplex {
        total: f64,
        at_most: bool,
    },
    /// Another one, every coordinate moved.
    Moved {
        by: f64,
        body: Box<Body>,
    },
    /// The first half of the coordinates, the larger one, in one body, the others in another.
    Halves(Box<[Body; 2]>),
}

impl Body {
    /// The library's name for it.
    pub fn spec(&self) -> String {
        match self {
            Self::Lp { p: 2.0, radius } => format!("l2:radius={radius}"),
            Self::Lp { p, radius } => format!("lp:p={p},radius={radius}"),
            Self::L1 { radius } => format!("l1:radius={radius}"),
            Self::Box { lower, upper } => format!("box:lower={lower},upper={upper}"),
            Self::Simplex { total, at_most } => format!("simplex:total={total},at-most={at_most}"),
            Self::Moved { by, body } => format!("translate:by={by},set=({})", body.spec()),
            Self::Halves(halves) => {
                let [first, second] = halves.each_ref().map(Self::spec);
                format!("product:sets=[({first}),({second})]")
            }
        }
    }

    pub fn centre(&self, dim: usize) -> Vec<f64> {
        let d = dim as f64;
        match *self {
            Self::Lp { .. } | Self::L1 { .. } => vec![0.0; dim],
            Self::Box { lower, upper } => vec![0.5 * (lower + upper); dim],
            Self::Simplex { total, at_most } => {
                vec![total / if at_most { d + d.sqrt() } else { d }; dim]
            }
            Self::Moved { by, ref body } => body.centre(dim).iter().map(|v| v + by).collect(),
            Self::Halves(ref halves) => {
                let (a, b) = (halves[0].centre(dim.div_ceil(2)), halves[1].centre(dim / 2));
                [a, b].concat()
            }
        }
    }

    pub fn diameter(&self, dim: usize) -> f64 {
        let d = dim as f64;
        match *self {
            Self::Lp { p, radius } => 2.0 * radius * d.powf(0.5 - 1.0 / p).max(1.0),
            Self::L1 { radius } => 2.0 * radius,
            Self::Box { lower, upper } => (upper - lower) * d.sqrt(),
            // in dimension 1 it is a point, or a segment
            Self::Simplex { total, at_most } if dim == 1 => f64::from(at_most) * total,
            Self::Simplex { total, .. } => total * 2f64.sqrt(),
            Self::Moved { ref body, .. } => body.diameter(dim),
            Self::Halves(ref halves) => {
                let [a, b] = &**halves;
                a.diameter(dim.div_ceil(2)).hypot(b.diameter(dim / 2))
            }
        }
    }

    /// α_K, for p ≤ 2.
    pub fn strong_convexity(&self, dim: usize) -> Option<f64> {
        match *self {
            Self::Lp { p, radius } if p <= 2.0 => {
                Some((p - 1.0) * (dim as f64).powf(0.5 - 1.0 / p) / radius)
            }
            Self::Moved { ref body, .. } => body.strong_convexity(dim),
            _ => None,
        }
    }

    /// argmin over the set of ⟨c, v⟩.
    pub fn oracle(&self, c: &[f64]) -> Vec<f64> {
        let corner = |i: usize, value: f64| {
            let mut v = vec![0.0; c.len()];
            v[i] = value;
            v
        };
        match *self {
            Self::Lp { p, radius } => {
                let top = c.iter().fold(0.0_f64, |t, v| t.max(v.abs()));
                let w: Vec<f64> = c
                    .iter()
                    .map(|v| -v.signum() * (v.abs() / top).powf(1.0 / (p - 1.0)))
                    .collect();
                scaled(radius / norm_p(&w, p), &w)
            }
            Self::L1 { radius } => {
                let i = (0..c.len()).fold(0, |b, i| if c[i].abs() > c[b].abs() { i } else { b });
                corner(i, if c[i] > 0.0 { -radius } else { radius })
            }
            Self::Box { lower, upper } => c
                .iter()
                .map(|v| if *v > 0.0 { lower } else { upper })
                .collect(),
            Self::Simplex { total, at_most } => {
                let i = (0..c.len()).fold(0, |b, i| if c[i] < c[b] { i } else { b });
                corner(i, if at_most && c[i] >= 0.0 { 0.0 } else { total })
            }
            Self::Moved { by, ref body } => body.oracle(c).iter().map(|v| v + by).collect(),
            Self::Halves(ref halves) => {
                let (first, second) = c.split_at(c.len().div_ceil(2));
                [halves[0].oracle(first), halves[1].oracle(second)].concat()
            }
        }
    }

    /// The nearest point; ℓp only for p = 2.
    pub fn project(&self, y: &[f64]) -> Vec<f64> {
        match *self {
            Self::Lp { p: 2.0, radius } => scaled((radius / norm(y)).min(1.0), y),
            Self::Lp { .. } => panic!("not by plain means"),
            Self::Box { lower, upper } => y.iter().map(|v| v.clamp(lower, upper)).collect(),
            Self::L1 { radius } => {
                let sizes: Vec<f64> = y.iter().map(|v| v.abs()).collect();
                if sizes.iter().sum::<f64>() <= radius {
                    return y.to_vec();
                }
                let x = shift_to_total(&sizes, radius);
                x.iter().zip(y).map(|(x, y)| x * y.signum()).collect()
            }
            Self::Simplex { total, at_most } => {
                let inside: Vec<f64> = y.iter().map(|v| v.max(0.0)).collect();
                if at_most && inside.iter().sum::<f64>() <= total {
                    return inside;
                }
                shift_to_total(y, total)
            }
            Self::Moved { by, ref body } => {
                let back: Vec<f64> = y.iter().map(|v| v - by).collect();
                body.project(&back).iter().map(|v| v + by).collect()
            }
            Self::Halves(ref halves) => {
                let (first, second) = y.split_at(y.len().div_ceil(2));
                [halves[0].project(first), halves[1].project(second)].concat()
            }
        }
    }

    /// A point of the set that is no special one.
    pub fn some_point(&self, rng: &mut ChaCha8Rng, dim: usize) -> Vec<f64> {
        let mut x = scaled(0.4, &self.centre(dim));
        for share in [0.1, 0.2, 0.3] {
            x = plus(&x, share, &self.oracle(&normal(rng, dim)));
        }
        x
    }
}

/// max(y − θ, 0) with θ such that the total is as asked, by bisection.
fn shift_to_total(y: &[f64], total: f64) -> Vec<f64> {
    let top = y.iter().fold(f64::NEG_INFINITY, |t, v| t.max(*v));
    let sum = |theta: f64| y.iter().map(|v| (v - theta).max(0.0)).sum::<f64>();
    let (mut low, mut high) = (top - total - 1.0, top);
    while sum(low) < total {
        low -= high - low;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if sum(middle) > total {
            low = middle
        } else {
            high = middle
        }
    }
    y.iter().map(|v| (v - high).max(0.0)).collect()
}

/// Every kind of set, with centres at 0 and elsewhere.
pub fn bodies() -> Vec<Body> {
    vec![
        Body::Lp {
            p: 2.0,
            radius: 2.0,
        },
        Body::Lp {
            p: 1.1,
            radius: 1.0,
        },
        Body::Lp {
            p: 1.5,
            radius: 3.0,
        },
        Body::Lp {
            p: 3.0,
            radius: 0.5,
        },
        Body::L1 { radius: 2.0 },
        Body::Box {
            lower: -0.5,
            upper: 2.0,
        },
        Body::Simplex {
            total: 2.0,
            at_most: false,
        },
        Body::Simplex {
            total: 1.0,
            at_most: true,
        },
        Body::Moved {
            by: 0.75,
            body: Box::new(Body::Lp {
                p: 2.0,
                radius: 1.5,
            }),
        },
        Body::Halves(Box::new([
            Body::L1 { radius: 1.0 },
            Body::Simplex {
                total: 2.0,
                at_most: false,
            },
        ])),
    ]
}
