//! Streams, and the learners' ways to play spelled out at the level of the pair.

#![allow(dead_code)] // each test file takes what it needs

use extremal::set::{SetSpec, SharedSet};
use extremal::{
    Gradient, Row,
    surrogate::{Move, Probe, Surrogate, Update},
};
pub use extremal_check::kit::soak;

/// Splitmix: a generator in five lines, the same everywhere.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [−1, 1).
    pub fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

pub fn ball(dim: usize, radius: f64) -> SharedSet {
    let spec = format!("l2:dim={dim},radius={radius:e}");
    spec.parse::<SetSpec>().unwrap().build(None).unwrap()
}

/// One round's row.
#[derive(Clone, Default)]
pub struct Entries {
    pub indices: Vec<u32>,
    pub values: Vec<f64>,
    dense: bool,
}

impl Entries {
    pub fn noisy(random: &mut Random, dim: usize, nonzeros: usize, scale: f64) -> Self {
        let mut indices: Vec<u32> = Vec::new();
        while indices.len() < nonzeros {
            let i = random.below(dim) as u32;
            if !indices.contains(&i) {
                indices.push(i);
            }
        }
        let entries = indices.iter().map(|i| (*i, scale * random.signed()));
        Self::sorted(entries.collect())
    }

    fn sorted(mut entries: Vec<(u32, f64)>) -> Self {
        entries.sort_unstable_by_key(|entry| entry.0);
        let (indices, values) = entries.into_iter().unzip();
        let dense = false;
        Self {
            indices,
            values,
            dense,
        }
    }

    fn times(&self, k: f64) -> Self {
        let values = self.values.iter().map(|v| k * v).collect();
        Self {
            values,
            ..self.clone()
        }
    }

    /// The same row with the features in another order and every value's last place moved: what
    /// rounding does to a dense run shows in the difference, in its sums of products and in its
    /// sums of gradients, of which nothing but rounding is left where they cancel.
    pub fn shuffled(&self) -> Self {
        let row = self.times(1.0 + f64::EPSILON);
        let place = |i: usize| ((7 * i + 3) % DIM) as u32;
        let entries = row.row().entries().map(|(i, v)| (place(i), v)).collect();
        let mut moved = Self::sorted(entries);
        if self.dense {
            (moved.indices, moved.dense) = (Vec::new(), true);
        }
        moved
    }

    pub fn row(&self) -> Row<'_> {
        if self.dense {
            Row::Dense(&self.values)
        } else {
            Row::Sparse {
                indices: &self.indices,
                values: &self.values,
            }
        }
    }
}

pub const DIM: usize = 60;
pub const NONZEROS: usize = 6;

/// Streams that break a careless implementation, by name.
pub const NASTY: &[&str] = &[
    "drift",
    "dense-rows",
    "jumps-8",
    "jumps-12",
    "levels",
    "up-8",
    "down-8",
    "up-12",
    "down-12",
    "alternating",
    "replay",
    "replay-large",
    "stops",
    "collinear",
    "one-line",
    "huge",
    "tiny",
    "huge-then-tiny",
    "growing",
    "fading",
    "leftover",
];

pub fn stream(name: &str, rounds: usize, seed: u64) -> Vec<Entries> {
    let mut random = Random(seed);
    let mut rows: Vec<Entries> = Vec::new();
    let line = Entries::noisy(&mut random, DIM, NONZEROS, 1.0);
    for t in 0..rounds {
        let power = random.signed();
        let mut noisy = |scale: f64| Entries::noisy(&mut random, DIM, NONZEROS, scale);
        let late = t >= rounds / 2;
        let row = match name {
            "noisy" => noisy(1.0),
            "drift" => {
                let mut row = noisy(1.0);
                row.values.iter_mut().for_each(|v| *v += 0.5);
                row
            }
            "dense-rows" => {
                let values = (0..DIM).map(|_| random.signed()).collect();
                Entries {
                    values,
                    dense: true,
                    ..Entries::default()
                }
            }
            "jumps-8" => noisy(10f64.powf(8.0 * power)),
            "jumps-12" => noisy(10f64.powf(12.0 * power)),
            "levels" => noisy([1.0, 1e8, 1e-8, 1e4][t / 50 % 4]),
            "up-8" => noisy(if late { 1e8 } else { 1.0 }),
            "down-8" => noisy(if late { 1e-8 } else { 1.0 }),
            "up-12" => noisy(if late { 1e12 } else { 1.0 }),
            "down-12" => noisy(if late { 1e-12 } else { 1.0 }),
            "alternating" if t % 2 == 1 => rows[t - 1].times(-1.0),
            "replay" if t / 100 % 2 == 1 => rows[t - 100].times(-1.0),
            "replay-large" if t / 100 % 2 == 1 => rows[t - 100].times(-1.0),
            "replay-large" => noisy(1e6),
            "stops" if t / 300 % 2 == 1 => noisy(0.0),
            "collinear" => line.times(power),
            "one-line" => line.clone(),
            "huge" => noisy(1e90),
            "tiny" => noisy(1e-90),
            "huge-then-tiny" => match t / 50 % 4 {
                0 => noisy(1e90),
                1 => rows[t - 50].times(-1.0),
                _ => noisy(1e-90),
            },
            "growing" => noisy(1.1f64.powi(t.min(2000) as i32)),
            "fading" => noisy(1.1f64.powi(-(t.min(2000) as i32))),
            // what is left of a sum lies on other features, far below what cancelled
            "leftover" => {
                let shift = |mut row: Entries, by: usize| {
                    row.indices
                        .iter_mut()
                        .for_each(|i| *i = (*i as usize / 2 + by) as u32);
                    row.indices.sort_unstable();
                    row.indices.dedup();
                    row.values.truncate(row.indices.len());
                    row
                };
                match t % 3 {
                    0 => shift(noisy(1e-100), 0),
                    1 => shift(noisy(1.0), DIM / 2),
                    _ => rows[t - 1].times(-1.0),
                }
            }
            _ => noisy(1.0),
        };
        rows.push(row);
    }
    rows
}

/// How a learner plays, spelled out at the level of the pair.
#[derive(Clone, Copy, Debug)]
pub enum Play {
    /// c += ηg, β = 2, σ = min(1, 2/√t).
    Decaying(f64),
    /// c += ηg, β = 1.
    Fixed { eta: f64, sigma: f64 },
    /// c += ηg, β = 2, line search; with a ridge term.
    Search { eta: f64, ridge: f64 },
    /// c += g − λx, β = λt; the gradient has a ridge term.
    Strong { lambda: f64, ridge: f64 },
    /// x = s·v, s = h/√(h² + pull²·t).
    Gauge { pull: f64, ridge: f64 },
}

pub const PLAYS: &[Play] = &[
    Play::Decaying(0.01),
    Play::Decaying(1.0),
    Play::Fixed {
        eta: 0.01,
        sigma: 0.02,
    },
    Play::Fixed {
        eta: 1.0,
        sigma: 0.1,
    },
    Play::Fixed {
        eta: 1.0,
        sigma: 1.0,
    },
    Play::Search {
        eta: 0.001,
        ridge: 0.0,
    },
    Play::Search {
        eta: 0.1,
        ridge: 0.0,
    },
    Play::Search {
        eta: 0.1,
        ridge: 0.1,
    },
    Play::Search {
        eta: 10.0,
        ridge: 0.0,
    },
    Play::Strong {
        lambda: 0.1,
        ridge: 0.1,
    },
    Play::Strong {
        lambda: 10.0,
        ridge: 10.0,
    },
    Play::Strong {
        lambda: 0.1,
        ridge: 0.05,
    },
    Play::Gauge {
        pull: 1.0,
        ridge: 0.0,
    },
    Play::Gauge {
        pull: 1.0,
        ridge: 0.01,
    },
];

impl Play {
    /// The same game on a ball of another radius: c keeps its balance with βx.
    pub fn scaled(self, radius: f64) -> Self {
        match self {
            Self::Decaying(eta) => Self::Decaying(eta * radius),
            Self::Fixed { eta, sigma } => Self::Fixed {
                eta: eta * radius,
                sigma,
            },
            Self::Search { eta, ridge } => Self::Search {
                eta: eta * radius,
                ridge: ridge / radius,
            },
            Self::Strong { lambda, ridge } => Self::Strong {
                lambda: lambda / radius,
                ridge: ridge / radius,
            },
            Self::Gauge { pull, ridge } => Self::Gauge {
                pull: pull * radius,
                ridge: ridge / radius,
            },
        }
    }

    /// Whether c follows the gradients' rows alone.
    pub fn is_sparse(self) -> bool {
        match self {
            Self::Strong { lambda, ridge } => lambda == ridge,
            _ => self.ridge() == 0.0,
        }
    }

    fn ridge(self) -> f64 {
        match self {
            Self::Search { ridge, .. } | Self::Strong { ridge, .. } | Self::Gauge { ridge, .. } => {
                ridge
            }
            _ => 0.0,
        }
    }

    pub fn start(&self, pair: &mut impl Surrogate) {
        pair.start(match self {
            Self::Decaying(_) | Self::Search { .. } => 2.0,
            Self::Fixed { .. } => 1.0,
            _ => 0.0,
        });
    }

    pub fn round(&self, t: usize, pair: &mut impl Surrogate, row: Row<'_>) -> Probe {
        let time = (t + 1) as f64;
        let gradient = Gradient {
            row,
            scale: 1.0,
            ridge: self.ridge(),
        };
        let update = match *self {
            Self::Decaying(eta) => Update::new(eta, &gradient, 2.0),
            Self::Fixed { eta, .. } => Update::new(eta, &gradient, 1.0),
            Self::Search { eta, .. } => Update::new(eta, &gradient, 2.0),
            Self::Strong { lambda, .. } => {
                Update::new(1.0, &gradient, lambda * time).with_decision(-lambda)
            }
            Self::Gauge { .. } => Update::new(1.0, &gradient, 0.0),
        };
        let probe = pair.probe(&update, true).unwrap();
        let motion = match *self {
            Self::Decaying(_) => {
                Move::Towards(probe.step_unless_flat((2.0 / time.sqrt()).min(1.0)))
            }
            Self::Fixed { sigma, .. } => Move::Towards(probe.step_unless_flat(sigma)),
            Self::Search { .. } | Self::Strong { .. } => Move::Towards(probe.line_search()),
            Self::Gauge { pull, .. } => {
                let h = probe.support;
                Move::ToAtom(if h > 0.0 {
                    h / h.hypot(pull * time.sqrt())
                } else {
                    0.0
                })
            }
        };
        pair.commit(motion);
        probe
    }
}
