//! Learners that plan and commit on their own, until each of them is a [`Method`](super::method::Method).

use serde::{Serialize, de::DeserializeOwned};

use super::method::{Revealed, Step, first_decision};
use super::skeleton::{Acting, Body, decode, encode, settings};
use super::{Certificate, Learner, Record, Seen, Storage, not_stored};
use crate::kernel;
use crate::pair::{Gradient, Point};
use crate::range::check_size;
use crate::set::{SharedSet, check_saved_point};
use crate::spec::Described;
use crate::theory::Guarantee;
use crate::{Error, Result};

/// A learner's mathematics, on plain vectors.
pub(super) trait Staged: Send + Sync {
    /// All that changes from round to round, but for the decision.
    type State: Serialize + DeserializeOwned;

    /// Works out the next decision: `next` holds the one played. Nothing that
    /// [`Staged::state`] shows may change yet, as the round may still fail.
    fn plan(&mut self, revealed: &Revealed<'_>, next: &mut [f64]) -> Result<Step>;

    /// Takes the plan's consequences: the round has succeeded.
    fn commit(&mut self);

    /// The state, to be saved.
    fn state(&self) -> Self::State;

    /// Takes back a state that may have been tampered with: sizes and numbers are to be checked.
    /// On an error nothing has changed.
    fn restore(&mut self, state: Self::State) -> Result<()>;

    /// How often its oracle was asked so far, the round that is planned included; 0 without one.
    fn oracle_calls(&self) -> u64 {
        0
    }

    /// What is proven, given what was seen.
    fn guarantee(&self, seen: &Seen) -> Option<Guarantee>;

    /// What the learner knows about its own regret.
    fn certificate(&self) -> Option<Certificate> {
        None
    }
}

/// A method and its decision, every entry of it.
struct Dense<M> {
    set: SharedSet,
    method: M,
    x: Vec<f64>,
    next: Vec<f64>,
    g: Vec<f64>,
}

/// A method at `start` or the set's centre.
pub(super) fn staged<S: Described + Serialize, M: Staged + 'static>(
    spec: &S,
    method: M,
    set: &SharedSet,
    start: Option<&[f64]>,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    if storage != Storage::Dense {
        return Err(not_stored(S::ENTRY.name, set, storage));
    }
    let x = first_decision(set, start)?;
    let body = Dense {
        set: set.clone(),
        method,
        next: x.clone(),
        g: vec![0.0; x.len()],
        x,
    };
    Ok(Box::new(Acting::new(settings(spec, storage), body)))
}

impl<M: Staged> Body for Dense<M> {
    type Plan = ();

    fn point(&self) -> &dyn Point {
        &self.x
    }

    fn plan(&mut self, round: u64, gradient: &Gradient<'_>, _sure: bool) -> Result<(Record, ())> {
        gradient.row.check_shape(self.x.len())?;
        let xx = kernel::dot(&self.x, &self.x);
        let row_norm = kernel::norm(gradient.row.values());
        let gradient = gradient.admit(row_norm, xx)?;
        for (g, x) in self.g.iter_mut().zip(&self.x) {
            *g = gradient.ridge * x;
        }
        gradient.row.add_to(gradient.scale, &mut self.g);
        let mut norm = kernel::norm(&self.g);
        if !check_size("gradient", norm)? {
            self.g.fill(0.0);
            norm = 0.0;
        }
        let dot = kernel::dot(&self.g, &self.x);
        let revealed = Revealed {
            round,
            g: &self.g,
            norm,
        };
        self.next.copy_from_slice(&self.x);
        let calls = self.method.oracle_calls();
        let step = self.method.plan(&revealed, &mut self.next)?;
        if kernel::find_not_finite(&self.next).is_some() {
            return Err(Error::Numerical {
                round,
                what: "the next decision overflowed".into(),
            });
        }
        let record = Record {
            round,
            sigma: step.sigma,
            gap: step.gap,
            oracle_calls: (self.method.oracle_calls() - calls) as u32,
            gradient_norm: norm,
            gradient_dot: dot,
            norm_squared: xx,
        };
        Ok((record, ()))
    }

    fn commit(&mut self, (): ()) {
        self.method.commit();
        std::mem::swap(&mut self.x, &mut self.next);
    }

    /// Nothing that shows has changed.
    fn discard(&mut self) {}

    fn guarantee(&self, seen: &Seen) -> Option<Guarantee> {
        self.method.guarantee(seen)
    }

    fn certificate(&self) -> Option<Certificate> {
        self.method.certificate()
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.x, self.method.state()))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (x, state): (Vec<f64>, M::State) = decode(saved)?;
        check_saved_point(&*self.set, &x)?;
        self.method.restore(state)?;
        self.x = x;
        Ok(())
    }
}
