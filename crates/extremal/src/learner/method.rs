//! The two phases, the checks and the bytes around a learner that keeps every entry of its
//! decision. What is left to write for it is a [`Method`]: its mathematics.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    Certificate, Learner, Record, Seen, Storage, at_round, check_name, check_turn, decode, encode,
    not_stored, plain::Plain, take_turn,
};
use crate::kernel;
use crate::pair::{DensePair, Gradient, Point};
use crate::range::check_size;
use crate::set::{Identity, SharedSet, check_saved_point};
use crate::theory::Guarantee;
use crate::{Error, Result};

/// A learner's mathematics, on plain vectors.
pub(super) trait Method: Send {
    /// The learner's name.
    const NAME: &'static str;

    /// All that changes from round to round, but for the decision. What an oracle or a
    /// projection remembers belongs to it.
    type State: Serialize + DeserializeOwned;

    /// Works out the next decision: `next` holds the one played. Nothing that
    /// [`Method::state`] shows may change yet, as the round may still fail.
    fn plan(&mut self, revealed: &Revealed<'_>, next: &mut [f64]) -> Result<Step>;

    /// Takes the plan's consequences: the round has succeeded.
    fn commit(&mut self);

    /// The state, to be saved.
    fn state(&self) -> Self::State;

    /// Takes back a state that may have been tampered with: sizes and numbers are to be checked.
    /// On an error nothing has changed.
    fn restore(&mut self, state: Self::State) -> Result<()>;

    /// What is proven, given what was seen.
    fn guarantee(&self, seen: &Seen) -> Option<Guarantee>;

    /// What the learner knows about its own regret.
    fn certificate(&self) -> Option<Certificate> {
        None
    }
}

/// What a round has revealed: a gradient in range, or 0.
pub(super) struct Revealed<'a> {
    /// t, from 1.
    pub round: u64,
    /// The gradient, every entry written out, the ridge part included.
    pub g: &'a [f64],
    /// ‖g‖.
    pub norm: f64,
}

/// How a round was played.
pub(super) struct Step {
    /// The step σ_t or η_t.
    pub sigma: f64,
    /// ⟨∇F_t(x_t), x_t − v_t⟩; NaN where there is no surrogate.
    pub gap: f64,
    /// How often the oracle was asked.
    pub oracle_calls: u32,
}

struct Acting<M> {
    set: SharedSet,
    method: M,
    x: Plain,
    next: Vec<f64>,
    g: Vec<f64>,
    seen: Seen,
    decided: bool,
}

#[derive(Serialize, Deserialize)]
struct Saved<S> {
    name: String,
    /// x may be feasible in no other set.
    set: Identity,
    x: Vec<f64>,
    seen: Seen,
    decided: bool,
    state: S,
}

/// A method at `start` or the set's centre.
pub(super) fn acting<M: Method + 'static>(
    method: M,
    set: &SharedSet,
    start: Option<&[f64]>,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    if storage != Storage::Dense {
        return Err(not_stored(M::NAME, set, storage));
    }
    let x = first_decision(set, start)?;
    Ok(Box::new(Acting {
        set: set.clone(),
        method,
        next: x.clone(),
        g: vec![0.0; x.len()],
        x: Plain(x),
        seen: Seen::default(),
        decided: false,
    }))
}

/// x₁: checked as every learner's.
pub(super) fn first_decision(set: &SharedSet, start: Option<&[f64]>) -> Result<Vec<f64>> {
    Ok(DensePair::new(set.clone(), start)?.decision().to_vec())
}

impl<M: Method> Learner for Acting<M> {
    fn dim(&self) -> usize {
        self.x.dim()
    }

    fn decide(&mut self) -> Result<&dyn Point> {
        take_turn(&mut self.decided)?;
        Ok(&self.x)
    }

    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        check_turn(self.decided)?;
        gradient.row.check_shape(self.x.dim())?;
        let round = self.seen.rounds + 1;
        let xx = self.x.norm_squared();
        let row_norm = kernel::norm(gradient.row.values());
        let gradient = gradient.admit(row_norm, xx)?;
        for (g, x) in self.g.iter_mut().zip(&self.x.0) {
            *g = gradient.ridge * x;
        }
        gradient.row.add_to(gradient.scale, &mut self.g);
        let mut norm = kernel::norm(&self.g);
        if !check_size("gradient", norm)? {
            self.g.fill(0.0);
            norm = 0.0;
        }
        let dot = kernel::dot(&self.g, &self.x.0);
        let revealed = Revealed {
            round,
            g: &self.g,
            norm,
        };
        self.next.copy_from_slice(&self.x.0);
        let step = self
            .method
            .plan(&revealed, &mut self.next)
            .map_err(|e| at_round(e, round))?;
        if kernel::find_not_finite(&self.next).is_some() {
            return Err(Error::Numerical {
                round,
                what: "the next decision overflowed".into(),
            });
        }
        self.method.commit();
        std::mem::swap(&mut self.x.0, &mut self.next);
        let record = Record {
            round,
            sigma: step.sigma,
            gap: step.gap,
            oracle_calls: step.oracle_calls,
            gradient_norm: norm,
            gradient_dot: dot,
            norm_squared: xx,
        };
        self.seen.note(&record);
        self.decided = false;
        Ok(record)
    }

    fn withdraw(&mut self) {
        self.decided = false;
    }

    fn decision(&self) -> &dyn Point {
        &self.x
    }

    fn rounds(&self) -> u64 {
        self.seen.rounds
    }

    fn guarantee(&self) -> Option<Guarantee> {
        self.method.guarantee(&self.seen)
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }

    fn certificate(&self) -> Option<Certificate> {
        self.method.certificate()
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&Saved {
            name: M::NAME.into(),
            set: Identity::of(&*self.set),
            x: self.x.0.clone(),
            seen: self.seen,
            decided: self.decided,
            state: self.method.state(),
        })
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let saved: Saved<M::State> = decode(saved)?;
        check_name(M::NAME, &saved.name)?;
        saved.set.check(&*self.set)?;
        check_saved_point(&*self.set, &saved.x)?;
        self.method.restore(saved.state)?;
        self.x.0 = saved.x;
        self.seen = saved.seen;
        self.decided = saved.decided;
        Ok(())
    }
}
