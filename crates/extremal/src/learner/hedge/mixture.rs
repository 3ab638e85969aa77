//! Any bases: each plays for itself, the decision is their weighted mean.

use super::super::{
    Certificate, Learner, LearnerSpec, Record, Seen, Storage, at_round, check_between, check_name,
    check_turn, decode, encode, not_stored, take_turn,
};
use super::weights::Weights;
use super::{NAME, guarantee};
use crate::kernel;
use crate::pair::{Gradient, Point, Row};
use crate::room::room;
use crate::set::{SharedSet, grown};
use crate::theory::{AdaHedge, Guarantee, Theorem};
use crate::{Error, Result};

pub(super) fn make(
    text: String,
    members: &[LearnerSpec],
    set: &SharedSet,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    if storage != Storage::Dense {
        return Err(not_stored("hedge over several bases", set, storage));
    }
    let mut bases = Vec::with_capacity(members.len());
    for member in members {
        let mut base = member.build(set)?;
        if !base.can_rehearse() {
            return Err(Error::Unsupported(format!(
                "hedge can't have {} as a base: its rounds can't be taken back when another base fails",
                member.entry().name
            )));
        }
        bases.push(base);
    }
    let mut mixture = Mixture {
        text,
        set: set.clone(),
        needs_curvature: members
            .iter()
            .any(|member| matches!(member, LearnerSpec::GaugeFtrl(_))),
        weights: Weights::new(bases.len()),
        losses: vec![0.0; bases.len()],
        bases,
        mean: Mean {
            x: vec![0.0; set.dim()],
            norm_squared: 0.0,
        },
        point: vec![0.0; set.dim()],
        least_ridge: f64::INFINITY,
        seen: Seen::default(),
        decided: false,
    };
    mixture.mix();
    Ok(Box::new(mixture))
}

struct Mixture {
    /// The spec; bytes of another one are not for this.
    text: String,
    set: SharedSet,
    /// Whether there is a gauge-ftrl among the bases.
    needs_curvature: bool,
    bases: Vec<Box<dyn Learner>>,
    weights: Weights,
    losses: Vec<f64>,
    mean: Mean,
    point: Vec<f64>,
    /// The smallest ridge part of a gradient so far. A base that counts on more of it has no
    /// theorem here: other curvature of the losses reaches the bases linearised.
    least_ridge: f64,
    seen: Seen,
    decided: bool,
}

/// Σ w_i x_i
struct Mean {
    x: Vec<f64>,
    norm_squared: f64,
}

impl Point for Mean {
    fn dim(&self) -> usize {
        self.x.len()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.x.len())?;
        Ok(row.dot(&self.x))
    }

    fn norm_squared(&self) -> f64 {
        self.norm_squared
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.x);
    }
}

impl Mixture {
    fn mix(&mut self) {
        let Self { mean, point, .. } = self;
        mean.x.fill(0.0);
        for (base, weight) in self.bases.iter().zip(self.weights.get()) {
            if *weight > 0.0 {
                base.decision().write(point);
                kernel::axpy(*weight, point, &mut mean.x);
            }
        }
        mean.norm_squared = kernel::dot(&mean.x, &mean.x);
    }

    /// All that may fail in a round. The number of bases that have rehearsed goes to `ready`.
    fn rehearse_all(&mut self, gradient: &Gradient<'_>, ready: &mut usize) -> Result<Record> {
        let (mut calls, mut largest) = (0, 0.0_f64);
        for (base, loss) in self.bases.iter_mut().zip(&mut self.losses) {
            let record = base.rehearse(gradient)?;
            *ready += 1;
            // φ_t(x_i) = ⟨k·a, x_i⟩ + (ρ/2)‖x_i‖², of which the base saw the gradient
            *loss = record.gradient_dot - 0.5 * gradient.ridge * record.norm_squared;
            calls += record.oracle_calls;
            largest = largest.max(record.gradient_norm);
        }
        let xx = self.mean.norm_squared;
        let ax = gradient.row.dot(&self.mean.x);
        let row_norm = kernel::norm(gradient.row.values());
        let gradient = gradient.admit(row_norm, xx)?;
        let norm = gradient.norm_from(row_norm, ax, xx);
        let dot = gradient.scale * ax + gradient.ridge * xx;
        self.seen.largest_gradient = self.seen.largest_gradient.max(largest);
        Ok(Record {
            round: self.seen.rounds + 1,
            sigma: self.weights.get().iter().copied().fold(0.0, f64::max),
            gap: f64::NAN,
            oracle_calls: calls,
            gradient_norm: norm,
            gradient_dot: dot,
            norm_squared: xx,
        })
    }
}

impl Learner for Mixture {
    fn dim(&self) -> usize {
        self.mean.x.len()
    }

    fn decide(&mut self) -> Result<&dyn Point> {
        take_turn(&mut self.decided)?;
        for base in &mut self.bases {
            base.decide()?;
        }
        Ok(&self.mean)
    }

    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        check_turn(self.decided)?;
        let mut ready = 0;
        let outcome = self.rehearse_all(gradient, &mut ready);
        for base in &mut self.bases[..ready] {
            base.conclude(gradient, outcome.is_ok())?;
        }
        let record = outcome.map_err(|e| at_round(e, self.seen.rounds + 1))?;
        self.least_ridge = self.least_ridge.min(gradient.ridge);
        self.weights.step(&self.losses);
        self.mix();
        self.seen.note(&record);
        self.decided = false;
        Ok(record)
    }

    fn withdraw(&mut self) {
        self.decided = false;
        self.bases.iter_mut().for_each(|base| base.withdraw());
    }

    fn decision(&self) -> &dyn Point {
        &self.mean
    }

    fn rounds(&self) -> u64 {
        self.seen.rounds
    }

    fn guarantee(&self) -> Option<Guarantee> {
        let regret = self.weights.regret_bound();
        let all = self
            .bases
            .iter()
            .filter_map(|base| guarantee(&**base, regret))
            .filter(|theorem| theorem.lambda <= self.least_ridge * (1.0 + 1e-12));
        // what was not broken first, then what asks less of the losses, then what promises more
        let rank = |theorem: &AdaHedge| {
            let broken = theorem.gradient.is_some();
            (broken, theorem.assumptions().len(), theorem.bound)
        };
        let best = all.min_by(|a, b| {
            rank(a)
                .partial_cmp(&rank(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        best.map(Guarantee::from)
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }

    fn certificate(&self) -> Option<Certificate> {
        None
    }

    fn save(&self) -> Result<Vec<u8>> {
        let bases: Vec<Vec<u8>> = self.bases.iter().map(|b| b.save()).collect::<Result<_>>()?;
        encode(&(
            NAME,
            &self.text,
            &self.weights,
            bases,
            self.least_ridge,
            self.seen,
            self.decided,
        ))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        type Saved = (String, String, Weights, Vec<Vec<u8>>, f64, Seen, bool);
        let (name, text, weights, bases, least_ridge, seen, decided): Saved = decode(saved)?;
        check_name(NAME, &name)?;
        check_name(&self.text, &text)?;
        let weights = weights.checked(self.bases.len())?;
        if bases.len() != self.bases.len() {
            return Err(Error::State(format!("it has {} bases", bases.len())));
        }
        let before: Vec<Vec<u8>> = self.bases.iter().map(|b| b.save()).collect::<Result<_>>()?;
        for (i, bytes) in bases.iter().enumerate() {
            let mut outcome = self.bases[i].load(bytes);
            if outcome.is_ok() && self.bases[i].rounds() != seen.rounds {
                outcome = Err(Error::State("its bases differ in rounds".into()));
            }
            if let Err(e) = outcome {
                for (base, before) in self.bases[..=i].iter_mut().zip(&before) {
                    base.load(before)?;
                }
                return Err(e);
            }
        }
        self.weights = weights;
        self.least_ridge = least_ridge;
        self.seen = seen;
        self.decided = decided;
        self.mix();
        Ok(())
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        if dim == self.dim() {
            return Ok(());
        }
        check_between(self.decided)?;
        let set = grown(&self.set, dim)?;
        // All or none: gauge-ftrl is the one base that may not follow the set.
        if self.needs_curvature && set.curvature() != self.set.curvature() {
            return Err(Error::Unsupported(format!(
                "{NAME} can't grow: set {} is not as curved in a higher dimension",
                set.name()
            )));
        }
        self.reserve(dim)?;
        for base in &mut self.bases {
            base.grow(dim)?;
        }
        self.mean.x.resize(dim, 0.0);
        self.point.resize(dim, 0.0);
        self.set = set;
        Ok(())
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        for base in &mut self.bases {
            base.reserve(dim)?;
        }
        room(&mut self.mean.x, dim, dim)?;
        room(&mut self.point, dim, dim)
    }
}
