//! The elastic-net ball {‖x‖₁ + (ω/2)‖x‖₂² ≤ τ}. Decisions are sparse as in the ℓ1 ball, but the
//! set is curved.
//!
//! The longest vectors of the set have a single non-zero entry ρ. In units of ρ the set is {a‖y‖₁ +
//! b‖y‖₂² ≤ 1} with a + b = 1. This set lies between the ℓ1 ball and the ℓ2 ball. All computations use
//! these units, so that no digits are lost if ω is small or large.
//!
//! ```
//! use extremal::set::{Atom, Set, elastic_net::ElasticNetBall};
//! let ball = ElasticNetBall::new(3, 1.0, 1.5)?;
//! assert_eq!(ball.geometry().norm_bound, 1.0); // 1 + 1/2 = 1.5
//! let mut atom = Atom::new();
//! let found = ball.oracle().minimise(&[3.0, 0.1, 0.0], &mut atom)?;
//! assert!((found.value + 3.0).abs() < 1e-15 && atom.dot(&[0.0, 1.0, 1.0]) == 0.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::sync::Arc;

use super::l1::sign;
use super::{
    Atom, Curvature, Facts, Geometry, MakeSet, Minimum, Oracle, Projection, Set, SharedSet,
    check_direction, check_point, check_radius, settle_dim,
};
use crate::parameter::fields;
use crate::spec::{About, Described, Kind};
use crate::{Result, kernel, range};

fields! {
    /// Spec of [`ElasticNetBall`].
    pub struct ElasticNet {
        /// the weight ω of the square
        pub omega: f64 = 1.0 => Kind::SIZE,
        /// the bound τ
        pub tau: f64 = 1.0 => Kind::SIZE,
        /// the dimension; default: the data's dimension
        pub dim: Option<usize> = None => Kind::COUNT,
    }
}

impl Described for ElasticNet {
    const ABOUT: About = About {
        summary: "elastic-net ball ‖x‖₁ + (ω/2)‖x‖₂² ≤ τ",
        cost: "oracle O(d), with few entries per atom; projection: a few steps of O(d) each",
        guarantee: "D = 2(√(1+2ωτ)−1)/ω, strong-convexity constant ω/√(d+2ωτ)",
        reference: "Zou & Hastie, JRSS B 2005; constants: this project",
        citations: &[],
        examples: &[
            "elastic-net",
            "elastic-net:omega=0.1,tau=2",
            "elastic-net:omega=20,tau=3",
        ],
    };
}

impl MakeSet for ElasticNet {
    fn make(&self, dim: Option<usize>) -> Result<SharedSet> {
        let dim = settle_dim("elastic-net", self.dim, dim)?;
        Ok(Arc::new(ElasticNetBall::new(dim, self.omega, self.tau)?))
    }
}

/// {‖x‖₁ + (omega/2)‖x‖₂² ≤ tau}.
#[derive(Debug, Clone, Copy)]
pub struct ElasticNetBall {
    dim: usize,
    omega: f64,
    tau: f64,
    /// ρ, the largest entry of a point of the ball.
    spike: f64,
    a: f64,
    b: f64,
}

impl ElasticNetBall {
    /// The ball around 0.
    pub fn new(dim: usize, omega: f64, tau: f64) -> Result<Self> {
        let dim = settle_dim("elastic-net", Some(dim), None)?;
        let omega = check_radius("elastic-net", "omega", omega)?;
        let tau = check_radius("elastic-net", "tau", tau)?;
        // ρ + (ω/2)ρ² = τ
        let product = omega * tau;
        let half = 1.0 + (1.0 + 2.0 * product).sqrt();
        let a = 2.0 / half;
        Ok(Self {
            dim,
            omega,
            tau,
            spike: tau * a,
            a,
            b: 2.0 * (product / half) / half,
        })
    }

    /// The gauge s, which solves a‖y/s‖₁ + b‖y/s‖₂² = 1.
    fn gauge_of(&self, x: &[f64]) -> f64 {
        let straight = self.a * x.iter().map(|v| v.abs()).sum::<f64>();
        let round = 2.0 * self.b.sqrt() * kernel::norm(x);
        0.5 * (straight + straight.hypot(round)) / self.spike
    }

    /// Whether c exceeds the threshold aλ of k members with Σ(1 − c²) = `lost`, where
    /// λ² = Σc²/(4b + ka²). The threshold of any set of members is at most the threshold of the atom's
    /// own coordinates. A coordinate that fails this test is therefore not in the atom.
    fn exceeds(&self, c: f64, k: usize, lost: f64) -> bool {
        4.0 * self.b * c * c > self.a * self.a * (k as f64 * below_one(c) - lost)
    }

    /// Σ a·y + b·y² of entries y ≥ 0.
    fn level(&self, entries: impl Iterator<Item = f64>) -> f64 {
        entries.map(|y| y * (self.a + self.b * y)).sum()
    }

    /// The Hessian of ½h² at the atom x is xxᵀ + (τ/ω + ½‖x‖²)P with a projection matrix P. The Hessian
    /// is at most ρ/ω + 2ρ², with no factor that depends on the dimension.
    fn curvature(&self) -> Curvature {
        let share = if self.dim == 1 {
            1.0
        } else {
            0.5 * (1.0 + 3.0 * self.b) / self.b
        };
        Curvature::smooth(self.spike * self.spike * share, 2.0, 2.0 * self.spike)
    }
}

impl Set for ElasticNetBall {
    fn name(&self) -> &str {
        "elastic-net"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn geometry(&self) -> Geometry {
        let Self { a, b, spike, .. } = *self;
        let d = self.dim as f64;
        Geometry {
            diameter: 2.0 * spike,
            norm_bound: spike,
            // the boundary point nearest to 0 has d equal entries and a norm t with a√d·t + b·t² = 1
            inner_radius: Some(spike * 2.0 / (a * d.sqrt() + (a * a * d + 4.0 * b).sqrt())),
            // ‖x‖₁ + (ω/2)‖x‖₂² is ω-strongly convex. On the boundary the squared norm of the gradient is
            // at most d + 2ωτ, with equality if no entry is 0. The constant is ω divided by the largest
            // norm.
            strong_convexity: Some(if self.dim == 1 {
                1.0 / spike
            } else {
                self.omega / (d + 2.0 * self.omega * self.tau).sqrt()
            }),
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            curvature: Some(self.curvature()),
            gauge: true,
            ..Facts::own()
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(ElasticNetOracle {
            ball: *self,
            members: Vec::with_capacity(self.dim),
        })
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        Some(self.gauge_of(x))
    }

    fn gauge_gradient(&self, x: &[f64], out: &mut [f64]) -> Option<f64> {
        let gauge = self.gauge_of(x);
        out.fill(0.0);
        if gauge > 0.0 && gauge.is_finite() {
            // the gradient of a‖y/s‖₁ + b‖y/s‖₂² at s = gauge. ⟨gradient, y/s⟩ = 1 + b‖y/s‖₂²
            let y = |x: f64| x / self.spike / gauge;
            let along = 1.0 + self.b * x.iter().map(|x| y(*x) * y(*x)).sum::<f64>();
            for (out, x) in out.iter_mut().zip(x) {
                let slope = self.a * sign(*x) + 2.0 * self.b * y(*x);
                *out = slope / along / self.spike;
            }
        }
        Some(gauge)
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(ElasticNetProjection {
            ball: *self,
            moved: vec![0.0; self.dim],
        }))
    }
}

struct ElasticNetOracle {
    ball: ElasticNetBall,
    /// The coordinates i that may be in the atom, each with the number c = |d_i|/max_j |d_j|.
    members: Vec<(u32, f64)>,
}

/// 1 − c², with full precision for c near 1.
fn below_one(c: f64) -> f64 {
    (1.0 - c) * (1.0 + c)
}

impl ElasticNetOracle {
    /// Reduces `members` to the coordinates of the atom, and returns Σ(1 − c²) over these
    /// coordinates.
    fn find_members(&mut self, direction: &[f64], top: f64) -> f64 {
        let Self { ball, members } = self;
        members.clear();
        let mut lost = 0.0;
        for (i, d) in direction.iter().enumerate() {
            let c = d.abs() / top;
            if ball.exceeds(c, members.len(), lost) {
                members.push((i as u32, c));
                lost += below_one(c);
            }
        }
        loop {
            let k = members.len();
            lost = members.iter().map(|(_, c)| below_one(*c)).sum();
            members.retain(|(_, c)| ball.exceeds(*c, k, lost));
            if members.len() == k {
                return lost;
            }
        }
    }
}

impl Oracle for ElasticNetOracle {
    /// y_i = (c_i/λ − a)/2b for the members. The code uses an equal formula, because a small b would
    /// magnify the rounding error of c_i/λ − a.
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> Result<Minimum> {
        let ElasticNetBall {
            dim, a, b, spike, ..
        } = self.ball;
        check_direction(dim, direction)?;
        let top = kernel::max_abs(direction);
        if top == 0.0 {
            atom.set_coordinate(0, spike);
            return Ok(Minimum::exact(0.0));
        }
        let lost = self.find_members(direction, top);
        let k = self.members.len() as f64;
        let weight = 4.0 * b + k * a * a;
        let lambda = ((k - lost) / weight).sqrt();
        let bend = 0.5 * a * a / b;
        for (_, c) in &mut self.members {
            let above = 2.0 * *c * *c + bend * (lost - k * below_one(*c));
            *c = (above / (weight * (*c + a * lambda) * lambda)).max(0.0);
        }
        let level = self.ball.level(self.members.iter().map(|(_, y)| *y));
        let scale = spike / level.max(1.0);
        let entries = self.members.iter().map(|&(i, y)| {
            let y = if direction[i as usize] > 0.0 { -y } else { y };
            (i, y * scale)
        });
        atom.set_entries(dim, self.members.len() <= dim / 4, entries);
        Ok(Minimum::exact(atom.dot(direction)))
    }
}

/// z_i = (|y_i| − ma)₊/(1 + 2bm), where m ≥ 0 is such that z is on the boundary. Newton's method finds m from
/// the left, because the level is convex and decreasing in m.
struct ElasticNetProjection {
    ball: ElasticNetBall,
    moved: Vec<f64>,
}

impl Projection for ElasticNetProjection {
    fn project(&mut self, x: &mut [f64]) -> Result<()> {
        let ElasticNetBall {
            dim, a, b, spike, ..
        } = self.ball;
        check_point(dim, x)?;
        if self.ball.gauge_of(x) <= 1.0 {
            return Ok(());
        }
        let top = kernel::max_abs(x);
        let reach = (top / spike).min(range::FAR);
        // Start with the m for which the largest entry of z is `first` ≤ 1. The `gap` of an entry is
        // its difference from the largest entry. Far outside the ball, only these gaps matter. Then
        // z = first − (gap + n·(a + 2b·first))/(grown + 2bn), where n is the part of m that is still
        // unknown.
        let (first, grown) = if reach > 1.0 {
            (1.0, (2.0 * b * reach + a) / (a + 2.0 * b))
        } else {
            (reach, 1.0)
        };
        let pull = a + 2.0 * b * first;
        let mut n = 0.0;
        for _ in 0..1000 {
            let below = grown + 2.0 * b * n;
            let (mut level, mut slope) = (-1.0, 0.0);
            for (z, v) in self.moved.iter_mut().zip(x.iter()) {
                let gap = ((top - v.abs()) / top) * reach;
                *z = (first - (gap + n * pull) / below).max(0.0);
                if *z > 0.0 {
                    level += *z * (a + b * *z);
                    slope += (a + 2.0 * b * *z) * (a + 2.0 * b * *z);
                }
            }
            let next = n + level * below / slope;
            if level <= 1e-15 || !(next > n) {
                break;
            }
            n = next;
        }
        let level = self.ball.level(self.moved.iter().copied());
        let scale = spike / level.max(1.0);
        for (x, z) in x.iter_mut().zip(&self.moved) {
            *x = (z * scale).copysign(*x);
        }
        Ok(())
    }
}
