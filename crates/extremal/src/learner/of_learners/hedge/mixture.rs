//! A mixture of any bases. Its decision is the weighted mean of the decisions of the bases.

use crate::kernel::{self, Buffer};
use crate::learner::of_learners::hedge::weights::Weights;
use crate::learner::of_learners::hedge::{guarantee, no_base};
use crate::learner::skeleton::method::admitted;
use crate::learner::skeleton::{Acting, Body, check_shape, decode, encode};
use crate::learner::{Learner, Record, RunStatistics};
use crate::memory::reserve;
use crate::set::{SharedSet, check_len};
use crate::theory::{Assumption, Guarantee};
use crate::{Gradient, Point, Result};

/// Creates a hedge over learners of your own, all on this set. `settings` identifies the mixture. A
/// saved state is loaded only if it has the same settings.
pub fn over(
    settings: impl Into<String>,
    set: &SharedSet,
    bases: Vec<Box<dyn Learner>>,
) -> Result<Box<dyn Learner>> {
    if bases.is_empty() {
        return Err(no_base());
    }
    for base in &bases {
        check_len("decision of a base", set.dim(), base.dim())?;
    }
    let mut mixture = Mixture {
        set: set.clone(),
        weights: Weights::new(bases.len()),
        losses: vec![0.0; bases.len()],
        bases,
        mean: Buffer::zeros(set.dim()),
        norm_squared: 0.0,
        written: vec![0.0; set.dim()],
        least_ridge: f64::INFINITY,
    };
    mixture.mix();
    Ok(Box::new(Acting::new(settings, mixture)))
}

struct Mixture {
    set: SharedSet,
    bases: Vec<Box<dyn Learner>>,
    weights: Weights,
    /// The loss of each base in the planned round.
    losses: Vec<f64>,
    /// Σ w_i x_i.
    mean: Buffer,
    norm_squared: f64,
    /// The decision of one base, with every entry.
    written: Vec<f64>,
    /// The smallest ridge term of a gradient so far. The bases receive linearised losses with this
    /// ridge term. A theorem that needs a larger λ does not apply to them.
    least_ridge: f64,
}

impl Mixture {
    fn mix(&mut self) {
        self.mean.fill(0.0);
        for (base, weight) in self.bases.iter().zip(self.weights.get()) {
            if *weight > 0.0 {
                let x = base.decision();
                let entries = match x.as_slice() {
                    Some(entries) => entries,
                    None => {
                        x.write(&mut self.written);
                        &self.written
                    }
                };
                kernel::axpy(*weight, entries, &mut self.mean);
            }
        }
        self.norm_squared = kernel::dot(&self.mean, &self.mean);
    }

    /// Plans the round of every base. After an error some bases may have a plan.
    fn plan_all(&mut self, round: u64, gradient: &Gradient<'_>) -> Result<Record> {
        let ax = self.mean.dot(&gradient.row)?;
        let (gradient, _, mut record) = admitted(round, gradient, ax, self.norm_squared)?;
        for (base, loss) in self.bases.iter_mut().zip(&mut self.losses) {
            let own = base.plan(&gradient)?;
            // φ_t(x_i) = ⟨k·a, x_i⟩ + (ρ/2)‖x_i‖², whose gradient the base received
            *loss = own.gradient_dot - 0.5 * gradient.ridge * own.norm_squared;
            record.oracle_calls += own.oracle_calls;
        }
        record.sigma = self.weights.get().iter().copied().fold(0.0, f64::max);
        Ok(record)
    }
}

impl Body for Mixture {
    /// The factor ρ of the gradient's ridge term.
    type Plan = f64;

    fn point(&self) -> &dyn Point {
        &self.mean
    }

    fn plan(&mut self, round: u64, gradient: &Gradient<'_>, _sure: bool) -> Result<(Record, f64)> {
        let planned = self.plan_all(round, gradient);
        if planned.is_err() {
            self.discard();
        }
        Ok((planned?, gradient.ridge))
    }

    fn commit(&mut self, ridge: f64) {
        self.bases.iter_mut().for_each(|base| base.commit());
        self.least_ridge = self.least_ridge.min(ridge);
        self.weights.step(&self.losses);
        self.mix();
    }

    fn discard(&mut self) {
        self.bases.iter_mut().for_each(|base| base.discard());
    }

    fn amend(&self, seen: &mut RunStatistics) {
        for base in &self.bases {
            seen.largest_gradient = seen.largest_gradient.max(base.seen().largest_gradient);
        }
    }

    fn guarantee(&self, _seen: &RunStatistics) -> Option<Guarantee> {
        let regret = self.weights.regret_bound();
        let all = self.bases.iter();
        let all = all.filter_map(|base| guarantee(&**base, regret, self.least_ridge));
        // The rank first compares whether the assumptions hold, then their number, then the bound.
        let rank = |theorem: &Guarantee| {
            let assumptions = theorem.assumptions();
            let broken = assumptions
                .iter()
                .any(|a| matches!(a, Assumption::Gradient(_)));
            (broken, assumptions.len(), theorem.bound(0.0))
        };
        all.min_by(|a, b| {
            rank(a)
                .partial_cmp(&rank(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn save(&self) -> Result<Vec<u8>> {
        let bases: Vec<Vec<u8>> = self.bases.iter().map(|b| b.save()).collect::<Result<_>>()?;
        encode(&(&self.weights, bases, self.least_ridge))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (weights, bases, least_ridge): (Weights, Vec<Vec<u8>>, f64) = decode(saved)?;
        let count = self.bases.len();
        check_shape(bases.len() == count && weights.len() == count)?;
        for (base, bytes) in self.bases.iter_mut().zip(&bases) {
            base.load(bytes)?;
        }
        self.weights = weights.weighed();
        self.least_ridge = least_ridge;
        self.mix();
        Ok(())
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        let dim = set.dim();
        for base in &mut self.bases {
            base.reserve(dim)?;
        }
        self.mean.reserve(dim)?;
        reserve(&mut self.written, dim, dim)
    }

    fn grow(&mut self, set: SharedSet) {
        let dim = set.dim();
        for base in &mut self.bases {
            let grown = base.grow(dim);
            debug_assert!(grown.is_ok(), "reserve has checked the dimension");
        }
        self.mean.grow(dim);
        self.written.resize(dim, 0.0);
        self.set = set;
    }
}
