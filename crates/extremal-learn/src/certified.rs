//! The certified regret of a session, and its description.

use extremal::hindsight::ByNorm;
use extremal::learner::Certificate;
use extremal::theory::{Run, is_vacuous, trivial_regret};

use crate::error::{Error, Result};
use crate::session::{Model, Session};
use crate::{format, norms};

/// The largest number of steps towards a point with a better certificate, for strongly convex losses.
const CERTIFICATE_STEPS: usize = 20;

/// The columns of [`Certified::curve`].
pub(crate) const CURVE: &str = "radius,regret_upper,share_of_loss";

/// The certified regret of a session.
pub struct Certified {
    /// The certificate. With classes, the sum over the models.
    pub certificate: Certificate,
    /// The bound of the learner's theorem, if it has one.
    pub bound: Option<Proven>,
    /// The largest regret that is possible on these rounds: the smaller of G·D·T and the excess loss.
    /// G is the largest norm of a gradient, D the diameter of the set, and T the number of rounds.
    pub most: f64,
    /// The excess loss: the total loss minus its least possible value, rounded down.
    pub lost: f64,
    /// An upper bound of the regret for each norm of the comparator, if the set is a ball around 0.
    /// With classes, each model has its own comparator.
    pub by_norm: Option<ByNorm>,
    /// The largest norm up to which no comparator halves the excess loss, if there is one.
    pub halving: Option<f64>,
    /// The number of models.
    pub models: usize,
    /// Whether norms are in units of each feature's largest value.
    unit_free: bool,
}

/// The regret bound that a theorem gives for a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Proven {
    /// An upper bound of the regret.
    Bound(f64),
    /// An upper bound that no learner can exceed on these rounds.
    Vacuous(f64),
    /// The theorem does not apply. The text names the assumptions that fail.
    Broken(String),
}

impl Session {
    /// Computes the certified regret of all rounds so far, with at least one oracle call per model.
    pub fn certify(&mut self) -> Result<Certified> {
        let above_least = self.objective.above_least(self.counters.whole_loss);
        let violation = self.counters.violation;
        let mut sum: Option<Certificate> = None;
        let mut bound = Some(Proven::Bound(0.0));
        let mut by_norm: Option<ByNorm> = None;
        let mut trivial = 0.0;
        for model in &mut self.models {
            let own = model.certificate(CERTIFICATE_STEPS);
            let mut own = own.map_err(Error::library("certificate"))?;
            if let Some(sum) = sum {
                own.regret += sum.regret;
                own.rounding += sum.rounding;
            }
            sum = Some(own);
            by_norm = match (by_norm, model.by_norm()) {
                (Some(mut sum), Some(own)) => sum.add(&own).then_some(sum),
                (_, own) => own,
            };
            // Examples do not depend on the decisions, and the largest row is unknown.
            let losses = self.objective.facts(f64::INFINITY, true);
            let mut run = Run::new(*model.learner.seen(), losses);
            run.diameter = model.set.geometry().diameter;
            run.violation = Some(violation);
            run.above_least = above_least;
            let (gradient, rounds) = (run.seen.largest_gradient, run.seen.rounds as f64);
            trivial += match &model.meter {
                Some(_) => trivial_regret(gradient, run.diameter, rounds, above_least),
                None => above_least,
            };
            bound = match (bound, proven(model, &run)) {
                (Some(Proven::Bound(a)), Some(Proven::Bound(b))) => Some(Proven::Bound(a + b)),
                (Some(Proven::Bound(_)), other) => other,
                (other, _) => other,
            };
        }
        let Some(certificate) = sum else {
            unreachable!("a session has at least one model");
        };
        // The sum over the models counts the excess loss of all of them once per model.
        let most = above_least.min(trivial);
        let lost = above_least - self.rounding();
        Ok(Certified {
            certificate,
            bound: match bound {
                Some(Proven::Bound(b)) if is_vacuous(b, most) => Some(Proven::Vacuous(b)),
                bound => bound,
            },
            most,
            lost,
            halving: by_norm.as_ref().and_then(|b| norms::halving(b, lost)),
            by_norm,
            models: self.models.len(),
            unit_free: self.plan.is_unit_free(),
        })
    }

    /// An upper bound of the rounding error of the total loss. It adds the errors of the losses and
    /// two units of roundoff per addition. It assumes that losses do not cancel each other.
    pub fn rounding(&self) -> f64 {
        let additions = self.rounds() as f64 * self.models.len() as f64;
        let losses: f64 = self.models.iter().map(Model::loss_rounding).sum();
        losses * (1.0 + 1e-6) + (additions + 8.0) * f64::EPSILON * self.counters.whole_loss.abs()
    }
}

fn proven(model: &Model, run: &Run) -> Option<Proven> {
    let report = model.learner.guarantee()?.report(run);
    let broken: Vec<_> = report.failed().map(|check| check.detail.clone()).collect();
    Some(match broken.is_empty() {
        true => Proven::Bound(report.bound),
        false => Proven::Broken(broken.join("; ")),
    })
}

impl Certified {
    /// Whether no learner can exceed the certified regret on these rounds.
    pub fn is_vacuous(&self) -> bool {
        is_vacuous(self.certificate.regret, self.most)
    }

    /// The certified regret, in words.
    pub fn regret(&self, rounds: u64) -> String {
        let Certificate { regret, level, .. } = self.certificate;
        let proven = format!("≤ {} ({level} certificate)", format::at_least(regret, 5));
        if self.is_vacuous() {
            return self.vacuous(&proven);
        }
        let each = format::at_least(regret / rounds as f64, 4);
        format!("{proven}, {each} per round")
    }

    /// A sentence about the norms at which no comparator halves the loss.
    pub fn comparators(&self) -> Option<String> {
        let norm = match self.by_norm.as_ref()?.p() {
            2.0 if self.unit_free => "unit-free norm".into(),
            2.0 => "norm".into(),
            p => format!("ℓ{p} norm"),
        };
        let (each, loss) = match self.models {
            1 => ("", "loss"),
            _ => (" per class", "models' loss"),
        };
        let which = match self.halving? {
            f64::MAX => String::new(),
            0.0 => " of norm 0".into(),
            radius => format!(" of {norm} ≤ {}{each}", format::at_most(radius, 3)),
        };
        Some(format!("no weights{which} would have halved the {loss}"))
    }

    /// The theorem's bound, in words.
    pub fn bound(&self) -> String {
        match &self.bound {
            None => "none proven".into(),
            Some(Proven::Bound(bound)) => format::significant(*bound, 5),
            Some(Proven::Vacuous(bound)) => self.vacuous(&format::significant(*bound, 5)),
            Some(Proven::Broken(why)) => format!("does not apply: {why}"),
        }
    }

    /// The rows of a table with the regret for each norm of the comparator. `reach` is the radius of
    /// the set.
    pub fn curve(&self, reach: f64) -> Vec<String> {
        let Some(by_norm) = &self.by_norm else {
            return Vec::new();
        };
        // Without a least possible loss there is no share.
        let known = self.lost > 0.0 && self.lost.is_finite();
        let rows = norms::curve(by_norm, self.lost, reach).into_iter();
        rows.map(|[radius, regret, share]| match known {
            true => format!("{radius:?},{regret:?},{share:?}"),
            false => format!("{radius:?},{regret:?},"),
        })
        .collect()
    }

    fn vacuous(&self, what: &str) -> String {
        let most = format::significant(self.most, 5);
        format!("vacuous: {what}; no regret can exceed {most} on these rounds")
    }
}
