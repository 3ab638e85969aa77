//! How an OFW learner weighs the sum of gradients against ‖x − x₁‖², for all that T and G may be.
//!
//! With both known, F_t(x) = η Σ⟨g_τ, x⟩ + (κ/2)‖x − x₁‖² with the paper's η. Without T, η would
//! have to fall as rounds go by; F is then taken times ω_t = 1/η_t, so that what was absorbed
//! stays as it is and the regulariser grows: c += g_t − κ(ω_t − ω_{t−1})x₁, β = κω_t. Without G,
//! √(Σ‖g‖²) stands for G√t in ω_t. Or F starts anew, around the present decision, when the rounds
//! have doubled (T) or a gradient has outgrown the guess of G.

use serde::{Deserialize, Serialize};

use super::{Known, Played, keys};
use crate::pair::{Gradient, Pair, Update};
use crate::set::Geometry;
use crate::theory::{Doubled, Guarantee, OfwWeibelAnytime, Restarted};
use crate::{Error, Result};

/// What the three learners differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Family {
    Ofw,
    OfwWeibel,
    OfwLs,
}

impl Family {
    /// κ.
    fn curvature(self) -> f64 {
        match self {
            Self::Ofw | Self::OfwLs => 2.0,
            Self::OfwWeibel => 1.0,
        }
    }

    /// The paper's η for T and G, with `reach` for D.
    fn eta(self, reach: f64, bound: f64, horizon: f64) -> f64 {
        match self {
            Self::Ofw => reach / (2.0 * bound * horizon.powf(0.75)),
            Self::OfwWeibel => reach / (2.0 * bound) * (3.0 / horizon).powf(0.75),
            Self::OfwLs => reach / (2.0 * bound * (horizon + 2.0).powf(2.0 / 3.0)),
        }
    }

    /// ω_t/(2G/D), with t for T.
    fn growth(self, t: f64) -> f64 {
        match self {
            Self::Ofw => t.powf(0.75),
            Self::OfwWeibel => (t / 3.0).powf(0.75),
            Self::OfwLs => (t + 2.0).powf(2.0 / 3.0),
        }
    }

    /// ω_t/((2/D)√(Σ‖g‖²)).
    fn adaptive_growth(self, t: f64) -> f64 {
        match self {
            Self::Ofw => t.powf(0.25),
            Self::OfwWeibel => t.powf(0.25) / 3f64.powf(0.75),
            Self::OfwLs => t.powf(1.0 / 6.0),
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Mode {
    /// T and G are known.
    Fixed { eta: f64, horizon: f64 },
    /// G is known.
    Growing { bound: f64, omega: f64 },
    /// `root` = √(Σ‖g‖²).
    Adaptive { root: f64, omega: f64 },
    /// T, G or both are found by restarts.
    Doubling(Doubling),
}

/// A stretch between two restarts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Doubling {
    /// T where known.
    horizon: Option<f64>,
    /// G, or the guess of it; 0 before the first gradient.
    bound: f64,
    is_guess: bool,
    /// How many rounds the stretch is made for.
    span: f64,
    eta: f64,
    /// Rounds played of it.
    t: u64,
}

/// The weights, from round to round.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Weights {
    family: Family,
    /// D.
    diameter: f64,
    /// D times eta-scale.
    reach: f64,
    mode: Mode,
    t: u64,
    /// The learner's theorem where it holds.
    theorem: Option<Restarted>,
}

/// The weights of one round, to be [kept](Weights::keep) once it has been played.
pub(super) struct Turn {
    weight: f64,
    beta: f64,
    origin: f64,
    fresh: bool,
    mode: Mode,
    /// t, counted from the last restart.
    pub t: f64,
    /// T, or what stands for it.
    pub horizon: f64,
}

impl Turn {
    pub fn update<'a>(&self, gradient: &'a Gradient<'a>) -> Update<'a> {
        let update = Update::new(self.weight, gradient, self.beta).with_origin(self.origin);
        if self.fresh { update.afresh() } else { update }
    }
}

impl Weights {
    /// The weights for what is known. `theorem` is told T and G, 0 where they are not; it has a
    /// say only where eta-scale is 1.
    pub fn new(
        owner: &'static str,
        family: Family,
        known: &Known,
        diameter: f64,
        theorem: impl FnOnce(f64, f64) -> Option<Restarted>,
    ) -> Result<Self> {
        let horizon = known
            .horizon
            .map(|_| keys::horizon(owner, known.horizon))
            .transpose()?;
        let bound = known
            .gradient_bound
            .map(|_| keys::bound(owner, known.gradient_bound))
            .transpose()?;
        let scale = known.eta_scale(owner)?;
        let reach = scale * diameter;
        let mode = match (known.doubling, horizon, bound) {
            (false, Some(horizon), Some(bound)) => Mode::Fixed {
                eta: Known::eta(owner, family.eta(reach, bound, horizon))?,
                horizon,
            },
            (false, None, Some(bound)) => Mode::Growing { bound, omega: 0.0 },
            (false, _, None) => Mode::Adaptive {
                root: 0.0,
                omega: 0.0,
            },
            (true, Some(_), Some(_)) => {
                return Err(Error::parameter(
                    owner,
                    "doubling",
                    true,
                    "false where both horizon and gradient-bound are given",
                ));
            }
            (true, horizon, bound) => Mode::Doubling(Doubling {
                horizon,
                bound: bound.unwrap_or(0.0),
                is_guess: bound.is_none(),
                span: horizon.unwrap_or(1.0),
                eta: 0.0,
                t: 0,
            }),
        };
        Ok(Self {
            family,
            diameter,
            reach,
            mode,
            t: 0,
            theorem: theorem(horizon.unwrap_or(0.0), bound.unwrap_or(0.0)).filter(|_| scale == 1.0),
        })
    }

    /// F starts as (weight/2)‖x − x₁‖².
    pub fn start_weight(&self) -> f64 {
        match self.mode {
            Mode::Fixed { .. } => self.family.curvature(),
            Mode::Growing { .. } | Mode::Adaptive { .. } | Mode::Doubling(_) => 0.0,
        }
    }

    /// One round, played by `step` with this round's weights.
    #[inline(always)]
    pub fn round<P: Pair>(
        &mut self,
        pair: &mut P,
        gradient: &Gradient<'_>,
        step: impl Fn(&mut P, &Update<'_>) -> Result<Played>,
    ) -> Result<Played> {
        // Apart from the others, and in registers: a short round costs little more than this.
        if let Mode::Fixed { eta, .. } = self.mode {
            let played = step(pair, &Update::new(eta, gradient, self.family.curvature()))?;
            self.t += 1;
            return Ok(played);
        }
        self.changing_round(pair, gradient, step)
    }

    #[inline(never)]
    fn changing_round<P: Pair>(
        &mut self,
        pair: &mut P,
        gradient: &Gradient<'_>,
        step: impl Fn(&mut P, &Update<'_>) -> Result<Played>,
    ) -> Result<Played> {
        let turn = self.turn(pair, gradient)?;
        let played = step(pair, &turn.update(gradient))?;
        self.keep(&turn);
        Ok(played)
    }

    /// How this round's gradient is weighed. Nothing changes yet.
    #[inline(always)]
    pub fn turn<P: Pair>(&self, pair: &P, gradient: &Gradient<'_>) -> Result<Turn> {
        match self.mode {
            Mode::Fixed { eta, horizon } => Ok(Turn {
                weight: eta,
                beta: self.family.curvature(),
                origin: 0.0,
                fresh: false,
                mode: self.mode,
                t: (self.t + 1) as f64,
                horizon,
            }),
            // Before the first gradient x₁ minimises F whatever ω; rounding must not tell otherwise.
            Mode::Growing { omega: 0.0, .. } if pair.size_of(gradient)? == 0.0 => {
                Ok(self.raised(0.0, 0.0, self.mode))
            }
            Mode::Growing { bound, omega } => Ok(self.grown(bound, omega)),
            Mode::Adaptive { root, omega } => {
                let root = root.hypot(pair.size_of(gradient)?);
                Ok(self.adapted(root, omega))
            }
            Mode::Doubling(stretch) if stretch.is_guess => {
                Ok(self.doubled(stretch, pair.size_of(gradient)?))
            }
            Mode::Doubling(stretch) => Ok(self.doubled(stretch, 0.0)),
        }
    }

    fn grown(&self, bound: f64, omega: f64) -> Turn {
        let growth = self.family.growth((self.t + 1) as f64);
        let next = self.over_reach(2.0 * bound) * growth;
        self.raised(omega, next, Mode::Growing { bound, omega: next })
    }

    fn adapted(&self, root: f64, omega: f64) -> Turn {
        let growth = self.family.adaptive_growth((self.t + 1) as f64);
        let next = self.over_reach(2.0 * root) * growth;
        self.raised(omega, next, Mode::Adaptive { root, omega: next })
    }

    /// a/(D·eta-scale); 0 where the set is a point, and any weight as good.
    fn over_reach(&self, a: f64) -> f64 {
        if self.reach > 0.0 {
            a / self.reach
        } else {
            0.0
        }
    }

    /// c += g − κΔω·x₁, β = κω.
    fn raised(&self, omega: f64, next: f64, mode: Mode) -> Turn {
        let (curvature, t) = (self.family.curvature(), (self.t + 1) as f64);
        Turn {
            weight: 1.0,
            beta: curvature * next,
            origin: -curvature * (next - omega),
            fresh: false,
            mode,
            t,
            horizon: t,
        }
    }

    /// A round of a stretch, or the first of a new one.
    fn doubled(&self, mut stretch: Doubling, size: f64) -> Turn {
        let round = self.t + 1;
        let mut fresh = round == 1;
        if stretch.horizon.is_none() && round.is_power_of_two() {
            stretch.span = round as f64;
            fresh = true;
        }
        if size > stretch.bound {
            // 0 before the first; and a state from outside must not keep the loop going
            if !(stretch.bound > 0.0) {
                stretch.bound = size;
            }
            while stretch.bound < size {
                stretch.bound *= 2.0;
            }
            fresh = true;
        }
        if fresh {
            stretch.t = 0;
            stretch.eta = if stretch.bound > 0.0 {
                self.family.eta(self.reach, stretch.bound, stretch.span)
            } else {
                0.0
            };
        }
        stretch.t += 1;
        Turn {
            weight: stretch.eta,
            beta: self.family.curvature(),
            origin: 0.0,
            fresh,
            mode: Mode::Doubling(stretch),
            t: stretch.t as f64,
            horizon: stretch.span,
        }
    }

    /// The round was played.
    #[inline(always)]
    pub fn keep(&mut self, turn: &Turn) {
        self.t += 1;
        if !matches!(self.mode, Mode::Fixed { .. }) {
            self.mode = turn.mode;
        }
    }

    /// The set has grown: its constant α may have changed, or be gone.
    pub fn grow(&mut self, geometry: &Geometry) {
        if let Some(Restarted::OfwLs(theorem)) = &mut self.theorem {
            match geometry.strong_convexity {
                Some(alpha) => theorem.alpha = alpha,
                None => self.theorem = None,
            }
        }
    }

    /// What is proven with these weights: the learner's theorem, with restarts where there are
    /// any. With a regulariser that grows, one learner has a theorem, if it is told G.
    pub fn guarantee(&self) -> Option<Guarantee> {
        let theorem = self.theorem?;
        match self.mode {
            Mode::Fixed { .. } => Some(theorem.into()),
            Mode::Growing { bound, .. } if self.family == Family::OfwWeibel => Some(
                OfwWeibelAnytime {
                    gradient: bound,
                    diameter: self.diameter,
                }
                .into(),
            ),
            Mode::Growing { .. } | Mode::Adaptive { .. } => None,
            Mode::Doubling(Doubling {
                horizon,
                bound,
                is_guess,
                ..
            }) => Some(
                Doubled {
                    theorem: theorem.with_gradient(bound),
                    rounds: horizon.is_none(),
                    gradient: is_guess,
                }
                .into(),
            ),
        }
    }
}
