//! The weights of the gradients and of ‖x − x₁‖² in the surrogates of the OFW learners, for every
//! combination of known and unknown T and G.
//!
//! If both are known, F_t(x) = η Σ⟨g_τ, x⟩ + (κ/2)‖x − x₁‖² with the η of the paper. Without T, η
//! would have to decrease from round to round. F is therefore multiplied by ω_t = 1/η_t. The
//! gradients then have weight 1, and the regulariser grows: c += g_t − κ(ω_t − ω_{t−1})x₁ and β =
//! κω_t. Without G, √(Σ‖g‖²) replaces G√t in ω_t. With `doubling`, F restarts at the current
//! decision when the number of rounds has doubled (T unknown) or a gradient exceeds the guess of G
//! (G unknown).

use serde::{Deserialize, Serialize};

use crate::learner::frank_wolfe::{Facts, Rule};
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Known, RunStatistics};
use crate::set::Geometry;
use crate::surrogate::{Move, Probe, Update};
use crate::theory::{self, Guarantee};
use crate::{Error, Result};

/// The three learners that share this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Ofw,
    OfwWeibel,
    OfwLs,
}

impl Family {
    /// The curvature κ.
    fn curvature(self) -> f64 {
        match self {
            Self::Ofw | Self::OfwLs => 2.0,
            Self::OfwWeibel => 1.0,
        }
    }

    /// The paper's η = 1/ω_T for T and G, where `reach` replaces D.
    fn eta(self, reach: f64, bound: f64, horizon: f64) -> f64 {
        reach / (2.0 * bound * self.growth(horizon))
    }

    /// ω_t/(2G/D).
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

/// The constants of a step-size rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EtaSchedule {
    family: Family,
    schedule: Schedule,
    /// Whether restarts replace the unknown constants.
    doubling: bool,
    horizon: Option<f64>,
    bound: Option<f64>,
    /// η, if T and G are known.
    eta: f64,
    /// The diameter D of the set.
    diameter: f64,
    /// The factor `eta-scale`.
    scale: f64,
}

/// The numbers that change from round to round.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Clock {
    /// The number of completed rounds.
    t: u64,
    /// √(Σ‖g‖²).
    root: f64,
    omega: f64,
    /// G, or the current guess of G. It is 0 before the first gradient.
    bound: f64,
    /// The value of η since the last restart.
    eta: f64,
    /// The number of rounds since the last restart.
    pub stretch: u64,
    /// T, or the number of rounds that replaces an unknown T.
    pub span: f64,
}

impl Clock {
    /// The clock after one more round.
    #[inline]
    pub fn next(self) -> Self {
        let t = self.t + 1;
        Self {
            t,
            stretch: t,
            ..self
        }
    }
}

impl EtaSchedule {
    /// The step-size rule for the known constants.
    pub fn new(owner: &'static str, family: Family, known: &Known, diameter: f64) -> Result<Self> {
        known.check(owner)?;
        let schedule = Schedule::of(None, known.horizon, known.gradient_bound);
        let mut eta = 0.0;
        if let Schedule::Fixed { horizon, bound } = schedule {
            if known.doubling {
                let allowed = "false if both horizon and gradient-bound are given";
                return Err(Error::parameter(owner, "doubling", true, allowed));
            }
            eta = family.eta(known.eta_scale * diameter, bound, horizon);
        }
        Ok(Self {
            family,
            schedule,
            doubling: known.doubling,
            horizon: known.horizon.map(|t| t as f64),
            bound: known.gradient_bound,
            eta,
            diameter,
            scale: known.eta_scale,
        })
    }

    /// The clock before the first round, and the weight of F_0(x) = (weight/2)‖x − x₁‖².
    pub fn start(&self) -> (Clock, f64) {
        let clock = Clock {
            t: 0,
            root: 0.0,
            omega: 0.0,
            bound: self.bound.unwrap_or(0.0),
            eta: 0.0,
            stretch: 0,
            span: self.horizon.unwrap_or(1.0),
        };
        match self.schedule {
            Schedule::Fixed { .. } => (clock, self.family.curvature()),
            _ => (clock, 0.0),
        }
    }

    /// η, if T and G are known.
    #[inline]
    pub fn known(&self) -> Option<f64> {
        matches!(self.schedule, Schedule::Fixed { .. }).then_some(self.eta)
    }

    /// Returns the next clock, and the weights with which the round's gradient enters F.
    #[inline]
    pub fn absorb<'g>(&self, now: Clock, facts: &Facts<'_, 'g>) -> Result<(Clock, Update<'g>)> {
        let (gradient, kappa) = (facts.gradient, self.family.curvature());
        let mut next = now.next();
        let t = next.t as f64;
        match self.schedule {
            Schedule::Fixed { .. } => return Ok((next, Update::new(self.eta, gradient, kappa))),
            _ if self.doubling => {
                let norm = match self.bound {
                    Some(_) => 0.0,
                    None => facts.norm()?,
                };
                let restart = self.count(now, &mut next, norm);
                let update = Update::new(next.eta, gradient, kappa);
                return Ok((next, if restart { update.restarted() } else { update }));
            }
            // Before the first gradient x₁ minimises F for every ω. Rounding must not move it.
            Schedule::Rounds { .. } if now.omega == 0.0 && facts.norm()? == 0.0 => {}
            Schedule::Rounds { bound } => {
                next.omega = self.over_reach(2.0 * bound) * self.family.growth(t);
            }
            _ => {
                let norm = facts.norm()?;
                next.root = (now.root * now.root + norm * norm).sqrt();
                next.omega = self.over_reach(2.0 * next.root) * self.family.adaptive_growth(t);
            }
        }
        // c += g − κΔω·x₁, β = κω
        next.span = t;
        let update = Update::new(1.0, gradient, kappa * next.omega);
        Ok((next, update.with_origin(-kappa * (next.omega - now.omega))))
    }

    /// a/(D·eta-scale). It is 0 if the set is a single point, because the weight does not matter
    /// then.
    fn over_reach(&self, a: f64) -> f64 {
        if self.diameter > 0.0 {
            a / (self.scale * self.diameter)
        } else {
            0.0
        }
    }

    /// Counts a round, and returns whether F restarts in it.
    fn count(&self, now: Clock, next: &mut Clock, norm: f64) -> bool {
        let mut restart = next.t == 1;
        if self.horizon.is_none() && next.t.is_power_of_two() {
            next.span = next.t as f64;
            restart = true;
        }
        if norm > next.bound {
            if next.bound == 0.0 {
                next.bound = norm;
            }
            // norms are between 1e-100 and 1e100, so there are at most 665 doublings
            while next.bound < norm {
                next.bound *= 2.0;
            }
            restart = true;
        }
        next.stretch = now.stretch + 1;
        if restart {
            next.stretch = 1;
            next.eta = if next.bound > 0.0 {
                let reach = self.scale * self.diameter;
                self.family.eta(reach, next.bound, next.span)
            } else {
                0.0
            };
        }
        restart
    }

    /// The guarantee for this step-size rule. `theorem` returns the guarantee for given T and G.
    /// With a growing regulariser, only `ofw-weibel` has a theorem, and only if G is known.
    pub fn guarantee(
        &self,
        clock: &Clock,
        theorem: impl Fn(f64, f64) -> Guarantee + Send + Sync + 'static,
    ) -> Option<Guarantee> {
        if self.scale != 1.0 {
            return None;
        }
        let (horizon, guessed) = (self.horizon, self.bound.is_none());
        match self.schedule {
            Schedule::Fixed { horizon, bound } => Some(theorem(horizon, bound)),
            _ if self.doubling => Some(theory::restarted(horizon, clock.bound, guessed, theorem)),
            Schedule::Rounds { bound } if self.family == Family::OfwWeibel => {
                Some(theory::ofw_weibel_anytime(bound, self.diameter))
            }
            _ => None,
        }
    }
}

/// The rule of an OFW learner without line search.
pub(crate) struct WithoutLineSearch<S> {
    pub eta: EtaSchedule,
    /// σ_t.
    pub sigma: S,
    /// The guarantee for given G, D and T.
    pub theorem: fn(f64, f64, f64) -> Guarantee,
}

impl<S: Fn(&Clock) -> f64 + Send + Sync> Rule for WithoutLineSearch<S> {
    type State = Clock;

    fn start(&self) -> (Clock, f64) {
        self.eta.start()
    }

    #[inline]
    fn absorb<'g>(&self, clock: Clock, facts: &Facts<'_, 'g>) -> Result<(Clock, Update<'g>)> {
        self.eta.absorb(clock, facts)
    }

    #[inline]
    fn step(&self, clock: Clock, _: &Facts<'_, '_>, probe: &Probe) -> (Clock, Move) {
        let sigma = (self.sigma)(&clock);
        (clock, Move::Towards(probe.step_unless_flat(sigma)))
    }

    fn guarantee(
        &self,
        clock: &Clock,
        _: &RunStatistics,
        geometry: &Geometry,
    ) -> Option<Guarantee> {
        let (theorem, diameter) = (self.theorem, geometry.diameter);
        self.eta.guarantee(clock, move |horizon, gradient| {
            theorem(gradient, diameter, horizon)
        })
    }
}
