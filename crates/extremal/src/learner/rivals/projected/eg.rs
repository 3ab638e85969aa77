//! Exponentiated gradient: a weighted mean of the corners of a simplex or an ℓ1 ball. The weights
//! depend on the losses of the corners. The regret grows with the logarithm of the dimension.
//!
//! **Problem.** Convex losses over the simplex of total τ, with or without `at-most`, or over the
//! ℓ1 ball of radius τ.
//!
//! **Update.** The experts are the N corners: the points τe_i (and 0 with `at-most`), or on the ℓ1
//! ball the points ±τe_i (EG±). x_{t+1} is their mean with weights ∝ exp(−η⟨S_t, corner⟩), where
//! S_t = Σ_{s≤t} g_s. Let G be a bound on the gradients' entries. With T and G, η =
//! √(2 ln(N)/T)/(τG); with G alone, η_t = √(ln(N)/t)/(τG). Without G, η is AdaHedge's ln(N)/Δ,
//! where Δ is the sum of the mixability gaps.
//!
//! **Guarantee.** Regret ≤ τG√(2T ln N) with T and G, 2τG√(T ln N) with G alone, and 2Δ ≤
//! √((4 + ln N)Σr_t²) without G, where r_t is the range of the corners' losses. [`theory::eg`] has
//! the proof, for every `eta-scale`.
//!
//! **Reference.** Kivinen & Warmuth, Information and Computation 1997; AdaHedge: de Rooij, van
//! Erven, Grünwald & Koolen, JMLR 2014.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "simplex:dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "eg:horizon=8,entry-bound=1".parse::<LearnerSpec>()?.build(&set)?;
//! learner.decide()?;
//! learner.observe(&Gradient::dense(&[1.0, 0.0]))?;
//! let mut x = [0.0; 2];
//! learner.decide()?.write(&mut x);
//! let eta = (2.0 * 2f64.ln() / 8.0).sqrt();
//! assert!((x[0] - 1.0 / (1.0 + eta.exp())).abs() < 1e-15);
//! # Ok::<(), extremal::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::learner::skeleton::method::{Method, Round, Step, acting};
use crate::learner::skeleton::parameters;
use crate::learner::skeleton::schedule::Schedule;
use crate::learner::{Learner, MakeLearner, RunStatistics, Storage, Uses};
use crate::parameter::fields;
use crate::set::{AtomSigns, SharedSet, SparseAtoms, Structure};
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Result, kernel};

const NAME: &str = "eg";

fields! {
    /// The spec of `eg`.
    pub struct Eg {
        /// the number of rounds T; without T or G, the step size decreases
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G on the gradients' entries; without it, AdaHedge sets the step size
        pub entry_bound: Option<f64> = None => Kind::GRADIENT,
        /// a factor that multiplies the theorem's step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
    }
}

impl Described for Eg {
    const ABOUT: About = About {
        summary: "exponentiated gradient: a weighted mean of the corners of a simplex or an ℓ1 ball",
        cost: "O(d) exponentials per round, no oracle call",
        guarantee: "N corners of size τ: τ·G·√(2T ln N) with T and G; 2τ·G·√(T ln N) with G alone; 2Δ ≤ √((4 + ln N)Σr²) without G",
        reference: "Kivinen & Warmuth, 1997; de Rooij et al., JMLR 2014",
        citations: &["KivinenWarmuth1997", "DeRooijEtAl2014"],
        examples: &["eg", "eg:horizon=1000,entry-bound=1", "eg:entry-bound=1"],
    };
}

impl MakeLearner for Eg {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let corners = Corners::of(set)?;
        let logarithm = corners.count().ln();
        let schedule = Schedule::of(None, self.horizon, self.entry_bound);
        let factor = match schedule {
            Schedule::Fixed { .. } => (2.0 * logarithm).sqrt(),
            Schedule::Rounds { .. } => logarithm.sqrt(),
            _ => logarithm,
        };
        let method = Exponentiated {
            corners,
            schedule,
            factor: self.eta_scale * factor,
            scale: self.eta_scale,
        };
        let mut start = vec![0.0; set.dim()];
        let before = method.start(&start);
        method.weigh(&before, 1.0, &mut start);
        acting(self, method, set, Some(&start), storage)
    }

    fn uses(&self) -> Uses {
        Uses::Nothing
    }
}

/// The corners of the set, which are the experts' decisions.
struct Corners {
    dim: usize,
    /// The size τ of the corners.
    size: f64,
    signs: AtomSigns,
}

impl Corners {
    fn of(set: &SharedSet) -> Result<Self> {
        match set.structure() {
            Structure::Sparse(SparseAtoms {
                count: 1,
                size,
                signs,
            }) => Ok(Self {
                dim: set.dim(),
                size,
                signs,
            }),
            _ => Err(parameters::cannot_play(
                NAME,
                &**set,
                "a simplex or an ℓ1 ball",
            )),
        }
    }

    /// The number N of corners.
    fn count(&self) -> f64 {
        let d = self.dim as f64;
        match self.signs {
            AtomSigns::Positive => d,
            AtomSigns::PositiveOrZero => d + 1.0,
            AtomSigns::Any => 2.0 * d,
        }
    }

    /// ⟨a, corner⟩/τ and ⟨b, corner⟩/τ for every corner.
    fn each<'a>(&self, a: &'a [f64], b: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
        let zero = usize::from(self.signs == AtomSigns::PositiveOrZero);
        let mirrored = if self.signs == AtomSigns::Any {
            a.len()
        } else {
            0
        };
        let pairs = || a.iter().zip(b);
        pairs()
            .map(|(a, b)| (*a, *b))
            .chain(std::iter::repeat_n((0.0, 0.0), zero))
            .chain(pairs().map(|(a, b)| (-a, -b)).take(mirrored))
    }

    /// The smallest and the largest ⟨a, corner⟩/τ over all corners.
    fn ends(&self, a: &[f64]) -> (f64, f64) {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        self.each(a, a)
            .fold(ends, |(low, high), (v, _)| (low.min(v), high.max(v)))
    }
}

/// The state that changes from round to round.
#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// The sum S of the gradients.
    sum: Vec<f64>,
    /// Δ/τ. It stays 0 if the step size does not depend on it.
    delta: f64,
    /// The largest absolute entry of a gradient.
    largest: f64,
}

struct Exponentiated {
    corners: Corners,
    /// For AdaHedge, Δ/τ replaces √(Σ‖g‖²).
    schedule: Schedule,
    /// τη_t is this factor divided by [`Schedule::scale`].
    factor: f64,
    scale: f64,
}

impl Exponentiated {
    /// τη·`by` in this round. It is ∞ before the first mixability gap, because η is infinite then.
    fn pull(&self, delta: f64, round: f64, by: f64) -> f64 {
        if by == 0.0 {
            return 0.0;
        }
        self.factor * (by / self.schedule.scale(round, delta))
    }

    /// Writes the decision of the round that follows this state.
    fn weigh(&self, now: &State, round: f64, x: &mut [f64]) {
        let pull = |by: f64| self.pull(now.delta, round, by);
        let (low, _) = self.corners.ends(&now.sum);
        let size = self.corners.size;
        let mut total = 0.0;
        if self.corners.signs == AtomSigns::Any {
            // each corner is paired with its opposite, so that the difference of their weights
            // loses no digits
            for (x, s) in x.iter_mut().zip(&now.sum) {
                let (lead, apart) = ((-pull(-s.abs() - low)).exp(), -pull(2.0 * s.abs()));
                total += lead * (1.0 + apart.exp());
                *x = (lead * apart.exp_m1()).copysign(-s);
            }
        } else {
            for (x, s) in x.iter_mut().zip(&now.sum) {
                *x = (-pull(s - low)).exp();
                total += *x;
            }
            if self.corners.signs == AtomSigns::PositiveOrZero {
                total += (-pull(-low)).exp();
            }
        }
        x.iter_mut().for_each(|x| *x = size * (*x / total));
    }

    /// δ/τ. The mixability gap δ of the round is the decision's loss minus the mix loss.
    fn mixability_gap(&self, now: &State, next_sum: &[f64], round: f64, g: &[f64]) -> f64 {
        let State { sum, delta, .. } = now;
        let pull = |by: f64| self.pull(*delta, round, by);
        let ((low, high), (lead, _)) = (self.corners.ends(g), self.corners.ends(sum));
        let range = high - low;
        if !(range > 0.0) {
            return 0.0;
        }
        let (mut total, mut played, mut fallen) = (0.0, 0.0, 0.0);
        // the smallest loss among the leading corners; the other corners have weight 0 while Δ = 0
        let mut least = range;
        for (s, l) in self.corners.each(sum, g) {
            let weight = (-pull(s - lead)).exp();
            total += weight;
            played += weight * (l - low).min(range);
            fallen += weight * (-pull(l - low)).exp_m1();
            if s == lead {
                least = least.min(l - low);
            }
        }
        let mix = if *delta == 0.0 {
            least
        } else if fallen > -0.5 * total {
            // near 0, rounding errors would dominate the logarithm
            -delta * ((fallen / total).ln_1p() / self.factor)
        } else {
            let (after, _) = self.corners.ends(next_sum);
            let later: f64 = self
                .corners
                .each(next_sum, g)
                .map(|(s, _)| (-pull(s - after)).exp())
                .sum();
            (after - lead - low) + delta * ((total / later).ln() / self.factor)
        };
        (played / total - mix).clamp(0.0, range)
    }
}

impl Method for Exponentiated {
    type State = State;

    fn start(&self, x: &[f64]) -> State {
        State {
            sum: vec![0.0; x.len()],
            delta: 0.0,
            largest: 0.0,
        }
    }

    fn fits(state: &State, x: &[f64]) -> bool {
        state.sum.len() == x.len()
    }

    fn round(&mut self, round: Round<'_, State>) -> Result<Step> {
        let (now, next, x_next) = (round.now, round.next, round.x_next);
        let (t, g) = (round.t, round.g);
        next.sum.copy_from_slice(&now.sum);
        kernel::axpy(1.0, g, &mut next.sum);
        next.largest = now.largest.max(kernel::max_abs(g));
        next.delta = now.delta;
        if self.schedule == Schedule::Gradients {
            next.delta += self.mixability_gap(now, &next.sum, t, g);
        }
        self.weigh(next, t + 1.0, x_next);
        let rate = self.schedule.eta(self.factor, t, now.delta);
        Ok(Step::of(rate / self.corners.size))
    }

    fn guarantee(&self, state: &State, _seen: &RunStatistics) -> Option<Guarantee> {
        let (scale, size) = (self.scale, self.corners.size);
        let (experts, largest) = (self.corners.count(), state.largest);
        Some(match self.schedule {
            Schedule::Fixed { horizon, bound } => {
                theory::eg(bound, largest, size, experts, scale, horizon)
            }
            Schedule::Rounds { bound } => theory::eg_anytime(bound, largest, size, experts, scale),
            _ => theory::eg_adaptive(scale, size * state.delta),
        })
    }
}
