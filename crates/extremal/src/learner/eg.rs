//! Exponentiated gradient: weights over the corners of a simplex or an ℓ1 ball, by what each has
//! lost. Its regret grows with the logarithm of the dimension.
//!
//! **Problem.** Convex losses over the simplex of total τ, with `at-most` or without, or over the
//! ℓ1 ball of radius τ.
//!
//! **Update.** The N corners are experts: τe_i, with `at-most` 0 as well, on the ℓ1 ball ±τe_i
//! (EG±). x_{t+1} is their mean with weights ∝ exp(−η⟨S_t, corner⟩), S_t = Σ_{τ≤t} g_τ. With the
//! bound G of the gradients' entries and T, η = √(2 ln(N)/T)/(τG); with G alone,
//! η_t = √(ln(N)/t)/(τG); with neither, AdaHedge's ln(N)/Δ, Δ the sum of the mixability gaps.
//!
//! **Guarantee.** Regret ≤ τG√(2T ln N), 2τG√(T ln N), 2Δ ≤ √((4 + ln N)Σr_t²) with r_t the range
//! of the corners' losses. Proven at [`theory::eg`], whatever `eta-scale`.
//!
//! **Reference.** Kivinen & Warmuth, Information and Computation 1997; AdaHedge: de Rooij, van
//! Erven, Grünwald & Koolen, JMLR 2014.
//!
//! ```
//! use extremal::{learner::LearnerSpec, pair::Gradient, set::SetSpec};
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

use super::method::{Revealed, Step};
use super::staged::{Staged, staged};
use super::{Known, Learner, MakeLearner, Seen, Storage, keys};
use crate::set::{SharedSet, Signs, SparseAtoms, Structure};
use crate::spec::{Described, Entry, Parameter};
use crate::theory::{self, Guarantee};
use crate::{Error, Result, kernel};

const NAME: &str = "eg";

/// Spec of `eg`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Eg {
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u64>,
    /// G, of the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_bound: Option<f64>,
    /// Factor on η.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_scale: Option<f64>,
}

impl Described for Eg {
    const ENTRY: Entry = Entry {
        name: NAME,
        summary: "exponentiated gradient: weights over the corners of a simplex or an ℓ1 ball",
        parameters: &[
            Parameter {
                about: "the number of rounds T; left out, or without G, the step size falls",
                ..keys::HORIZON
            },
            Parameter {
                name: "entry-bound",
                about: "a bound G of the gradients' entries; left out, the step size is AdaHedge's",
                default: None,
                allowed: "a number > 0",
            },
            keys::ETA_SCALE,
        ],
        cost: "O(d) exponentials per round, no oracle call",
        guarantee: "N corners of size τ: τ·G·√(2T ln N) with T and G, 2τ·G·√(T ln N) with G, 2Δ ≤ √((4 + ln N)Σr²) with nothing",
        reference: "Kivinen & Warmuth, 1997; de Rooij et al., JMLR 2014",
        citations: &["KivinenWarmuth1997", "DeRooijEtAl2014"],
        examples: &["eg", "eg:horizon=1000,entry-bound=1", "eg:entry-bound=1"],
    };
}

impl MakeLearner for Eg {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let scale = keys::eta_scale(NAME, self.eta_scale)?;
        let horizon = self.horizon.map(|t| keys::horizon(NAME, Some(t)));
        let horizon = horizon.transpose()?;
        let entry = self.entry_bound;
        let entry = entry.map(|g| keys::positive(NAME, "entry-bound", g));
        let entry = entry.transpose()?;
        let corners = Corners::of(set)?;
        let logarithm = corners.count().ln();
        let rate = match (entry, horizon) {
            (Some(g), Some(t)) => scale * (2.0 * logarithm / t).sqrt() / g,
            (Some(g), None) => scale * logarithm.sqrt() / g,
            (None, _) => scale * logarithm,
        };
        let method = Exponentiated {
            corners,
            rate: Known::eta(NAME, rate)?,
            scale,
            horizon,
            entry,
            now: Now {
                sum: vec![0.0; set.dim()],
                delta: 0.0,
                largest: 0.0,
            },
            next: Now {
                sum: vec![0.0; set.dim()],
                delta: 0.0,
                largest: 0.0,
            },
        };
        let mut start = vec![0.0; set.dim()];
        method.weigh(&method.now, 1.0, &mut start);
        staged(self, method, set, Some(&start), storage)
    }
}

/// What the experts play.
struct Corners {
    dim: usize,
    /// τ.
    size: f64,
    signs: Signs,
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
            _ => Err(keys::cannot_play(
                NAME,
                &**set,
                "a simplex or an ℓ1 ball, whose corners it weighs",
            )),
        }
    }

    /// N.
    fn count(&self) -> f64 {
        let d = self.dim as f64;
        match self.signs {
            Signs::Positive => d,
            Signs::PositiveOrZero => d + 1.0,
            Signs::Any => 2.0 * d,
        }
    }

    /// ⟨a, corner⟩/τ and ⟨b, corner⟩/τ for every corner.
    fn each<'a>(&self, a: &'a [f64], b: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
        let zero = usize::from(self.signs == Signs::PositiveOrZero);
        let mirrored = if self.signs == Signs::Any { a.len() } else { 0 };
        let pairs = || a.iter().zip(b);
        pairs()
            .map(|(a, b)| (*a, *b))
            .chain(std::iter::repeat_n((0.0, 0.0), zero))
            .chain(pairs().map(|(a, b)| (-a, -b)).take(mirrored))
    }

    /// The smallest and the largest ⟨a, corner⟩/τ.
    fn ends(&self, a: &[f64]) -> (f64, f64) {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        self.each(a, a)
            .fold(ends, |(low, high), (v, _)| (low.min(v), high.max(v)))
    }
}

/// What changes from round to round.
#[derive(Serialize, Deserialize)]
struct Now {
    /// S.
    sum: Vec<f64>,
    /// Δ/τ; stays 0 where the rate does not depend on it.
    delta: f64,
    /// The largest entry of a gradient.
    largest: f64,
}

struct Exponentiated {
    corners: Corners,
    /// τη for good; τη√t where it falls with t; τηΔ where it is AdaHedge's.
    rate: f64,
    scale: f64,
    horizon: Option<f64>,
    entry: Option<f64>,
    now: Now,
    next: Now,
}

impl Exponentiated {
    /// τη·`by` in the round, through a quotient where η itself may be no number.
    fn pull(&self, delta: f64, round: f64, by: f64) -> f64 {
        if by == 0.0 {
            return 0.0;
        }
        match (self.entry, self.horizon) {
            (Some(_), Some(_)) => self.rate * by,
            (Some(_), None) => self.rate / round.sqrt() * by,
            (None, _) if delta == 0.0 => f64::MAX,
            (None, _) => self.rate * (by / delta),
        }
    }

    /// The decision of the round, when it comes with this behind it.
    fn weigh(&self, now: &Now, round: f64, x: &mut [f64]) {
        let pull = |by: f64| self.pull(now.delta, round, by);
        let (low, _) = self.corners.ends(&now.sum);
        let size = self.corners.size;
        let mut total = 0.0;
        if self.corners.signs == Signs::Any {
            // a corner with its mirror image: the difference of their weights keeps its digits
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
            if self.corners.signs == Signs::PositiveOrZero {
                total += (-pull(-low)).exp();
            }
        }
        x.iter_mut().for_each(|x| *x = size * (*x / total));
    }

    /// δ/τ: by how much what is played in the round loses more than the mix.
    fn mixability_gap(&self, round: f64, g: &[f64]) -> f64 {
        let Now { sum, delta, .. } = &self.now;
        let pull = |by: f64| self.pull(*delta, round, by);
        let ((low, high), (lead, _)) = (self.corners.ends(g), self.corners.ends(sum));
        let range = high - low;
        if !(range > 0.0) {
            return 0.0;
        }
        let (mut total, mut played, mut fallen) = (0.0, 0.0, 0.0);
        // what the best of those in the lead loses, and all that counts while Δ = 0
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
            // near 0 the logarithm would drown in rounding
            -delta * ((fallen / total).ln_1p() / self.rate)
        } else {
            let (after, _) = self.corners.ends(&self.next.sum);
            let later: f64 = self
                .corners
                .each(&self.next.sum, g)
                .map(|(s, _)| (-pull(s - after)).exp())
                .sum();
            (after - lead - low) + delta * ((total / later).ln() / self.rate)
        };
        (played / total - mix).clamp(0.0, range)
    }
}

impl Staged for Exponentiated {
    type State = Now;

    fn plan(&mut self, revealed: &Revealed<'_>, next: &mut [f64]) -> Result<Step> {
        let t = revealed.round as f64;
        self.next.sum.copy_from_slice(&self.now.sum);
        kernel::axpy(1.0, revealed.g, &mut self.next.sum);
        self.next.largest = self.now.largest.max(kernel::max_abs(revealed.g));
        if self.entry.is_none() {
            let gap = self.mixability_gap(t, revealed.g);
            self.next.delta = self.now.delta + gap;
        }
        self.weigh(&self.next, t + 1.0, next);
        let sigma = match (self.entry, self.horizon) {
            (Some(_), Some(_)) => self.rate,
            (Some(_), None) => self.rate / t.sqrt(),
            (None, _) => self.rate / self.now.delta,
        };
        let sigma = sigma / self.corners.size;
        Ok(Step {
            sigma: if sigma.is_finite() { sigma } else { 0.0 },
            gap: f64::NAN,
        })
    }

    fn commit(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    fn state(&self) -> Now {
        Now {
            sum: self.now.sum.clone(),
            ..self.now
        }
    }

    fn restore(&mut self, state: Now) -> Result<()> {
        let is_size = |v: f64| v >= 0.0 && v.is_finite();
        let fits = state.sum.len() == self.now.sum.len()
            && kernel::find_not_finite(&state.sum).is_none()
            && is_size(state.delta)
            && is_size(state.largest);
        if !fits {
            return Err(Error::State("its sum of gradients is none".into()));
        }
        self.now = state;
        Ok(())
    }

    fn guarantee(&self, _seen: &Seen) -> Option<Guarantee> {
        let (scale, size) = (self.scale, self.corners.size);
        Some(match self.entry {
            Some(entry) => Guarantee::from(theory::Eg {
                entry,
                largest: self.now.largest,
                size,
                experts: self.corners.count(),
                horizon: self.horizon,
                scale,
            }),
            None => Guarantee::from(theory::EgAdaptive {
                bound: (1.0 + 1.0 / scale) * (size * self.now.delta),
            }),
        })
    }
}
