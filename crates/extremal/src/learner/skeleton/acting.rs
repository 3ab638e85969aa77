//! The one implementation of [`Learner`]. A [`Body`] is the part that differs between learners.
//!
//! A saved state has a version, the settings, the set, the statistics of the run, the bytes of the
//! body, and a checksum of all these.

use serde::{Deserialize, Serialize};

use super::super::{
    ByExample, Certificate, Example, Learner, Learnt, Record, RunStatistics, Storage, at_round,
};
use crate::saved::{check_settings, mismatch, seal, unseal};
use crate::set::{Identity, SharedSet, check_saved_point, grown};
use crate::spec::Registered;
use crate::theory::Guarantee;
use crate::{Error, Gradient, Point, Result};

/// The part that differs between learners: a rule on a surrogate, a method on vectors, or a mixture
/// of learners.
///
/// A round is planned and then committed or discarded. A plan that fails or is discarded leaves the
/// body unchanged, bit for bit.
pub trait Body: Send + Sync {
    /// The numbers of a planned round that [`Body::commit`] needs.
    type Plan: Send + Sync;

    /// The decision.
    fn point(&self) -> &dyn Point;

    /// Computes a round, but does not change the decision yet. If `sure` is true, [`Body::commit`]
    /// always follows, and the body need not record how to undo the plan.
    fn plan(
        &mut self,
        round: u64,
        gradient: &Gradient<'_>,
        sure: bool,
    ) -> Result<(Record, Self::Plan)>;

    /// Commits the round that was planned last.
    fn commit(&mut self, plan: Self::Plan);

    /// Undoes the last [`Body::plan`]. The plan must have been computed with `sure` false.
    fn discard(&mut self);

    /// Adds statistics of the body that the records do not contain. For example, the members of a
    /// mixture may receive larger gradients than the mixture.
    fn amend(&self, _seen: &mut RunStatistics) {}

    /// The guarantee, given the statistics of the run.
    fn guarantee(&self, seen: &RunStatistics) -> Option<Guarantee>;

    /// A certificate of the regret, computed from the learner's own sums.
    fn certificate(&self) -> Option<Certificate> {
        None
    }

    /// The set, if there is one. A saved state is only loaded on the same set.
    fn set(&self) -> Option<&SharedSet>;

    /// The state as bytes.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores a state that [`Body::save`] returned. If the call fails, the body may have changed.
    /// The learner then restores it.
    fn load(&mut self, saved: &[u8]) -> Result<()>;

    /// Checks that the body can continue in this larger set, and reserves memory for it.
    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        let _ = set;
        Err(Error::Unsupported("this learner can't grow".into()))
    }

    /// Continues in the set that [`Body::reserve`] prepared. The new entries are 0.
    fn grow(&mut self, set: SharedSet) {
        let _ = set;
    }

    /// Plays a round of a body that observes examples.
    fn learn(&mut self, example: &Example<'_>) -> Result<Learnt> {
        let _ = example;
        Err(Error::Unsupported(
            "this learner observes gradients: call observe".into(),
        ))
    }

    /// The additional methods of a body that observes examples.
    fn by_example(&self) -> Option<&dyn ByExample> {
        None
    }
}

/// The result of [`Body::plan`].
pub(crate) type Planned<B> = Result<(Record, <B as Body>::Plan)>;

/// The only implementation of [`Learner`], for any [`Body`].
pub struct Acting<B: Body> {
    /// The spec. States with other settings are rejected.
    settings: String,
    body: B,
    seen: RunStatistics,
    planned: Option<(Record, B::Plan)>,
}

impl<B: Body> Acting<B> {
    /// A learner before its first round. `settings` names the algorithm and its parameters. A saved
    /// state is loaded only if it has the same settings.
    pub fn new(settings: impl Into<String>, body: B) -> Self {
        Self {
            settings: settings.into(),
            body,
            seen: RunStatistics::default(),
            planned: None,
        }
    }

    /// The body.
    pub fn body(&self) -> &B {
        &self.body
    }

    fn check_not_planned(&self) -> Result<()> {
        match self.planned {
            None => Ok(()),
            Some(_) => Err(Error::OutOfTurn(
                "a planned round must be committed or discarded first",
            )),
        }
    }

    fn header(&self) -> Header {
        Header {
            settings: self.settings.clone(),
            set: self.body.set().map(|set| Identity::of(&**set)),
            seen: self.seen,
        }
    }
}

impl<B: Body> Learner for Acting<B> {
    fn decision(&self) -> &dyn Point {
        self.body.point()
    }

    #[inline]
    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        self.check_not_planned()?;
        let round = self.seen.rounds + 1;
        let (record, plan) = self
            .body
            .plan(round, gradient, true)
            .map_err(|e| at_round(e, round))?;
        self.body.commit(plan);
        self.seen.note(&record);
        self.body.amend(&mut self.seen);
        Ok(record)
    }

    fn plan(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        self.check_not_planned()?;
        let round = self.seen.rounds + 1;
        let (record, plan) = self
            .body
            .plan(round, gradient, false)
            .map_err(|e| at_round(e, round))?;
        self.planned = Some((record, plan));
        Ok(record)
    }

    fn commit(&mut self) {
        if let Some((record, plan)) = self.planned.take() {
            self.body.commit(plan);
            self.seen.note(&record);
            self.body.amend(&mut self.seen);
        }
    }

    fn discard(&mut self) {
        if self.planned.take().is_some() {
            self.body.discard();
        }
    }

    fn learn(&mut self, example: &Example<'_>) -> Result<Learnt> {
        self.check_not_planned()?;
        let learnt = self.body.learn(example)?;
        self.seen.note(&learnt.record);
        Ok(learnt)
    }

    fn by_example(&self) -> Option<&dyn ByExample> {
        self.body.by_example()
    }

    fn seen(&self) -> &RunStatistics {
        &self.seen
    }

    fn guarantee(&self) -> Option<Guarantee> {
        self.body.guarantee(&self.seen)
    }

    fn certificate(&self) -> Option<Certificate> {
        self.body.certificate()
    }

    fn save(&self) -> Result<Vec<u8>> {
        self.check_not_planned()?;
        seal(&(self.header(), self.body.save()?))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        self.check_not_planned()?;
        let (header, body): (Header, Vec<u8>) = unseal(saved)?;
        header.check(&self.settings, self.body.set())?;
        let before = self.body.save()?;
        let loaded = self.body.load(&body);
        if let Err(error) = loaded.and_then(|()| self.check_decision()) {
            self.body.load(&before)?;
            return Err(error);
        }
        self.seen = header.seen;
        Ok(())
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        if dim == self.dim() {
            return Ok(());
        }
        let set = self.grown(dim)?;
        self.body.reserve(&set)
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        self.check_not_planned()?;
        if dim == self.dim() {
            return Ok(());
        }
        let set = self.grown(dim)?;
        self.body.reserve(&set)?;
        self.body.grow(set);
        Ok(())
    }
}

impl<B: Body> Acting<B> {
    /// Returns an error if the decision of a loaded state lies outside the set.
    fn check_decision(&self) -> Result<()> {
        let Some(set) = self.body.set().filter(|_| self.body.by_example().is_none()) else {
            return Ok(());
        };
        let mut x = vec![0.0; self.dim()];
        self.body.point().write(&mut x);
        check_saved_point(&**set, &x)
    }

    fn grown(&self, dim: usize) -> Result<SharedSet> {
        match self.body.set() {
            Some(set) => grown(set, dim),
            None => Err(Error::Unsupported("this learner can't grow".into())),
        }
    }
}

/// The text that identifies a spec in saved states: its name, its parameters and the storage. It
/// omits the starting point, which may have many entries and is part of the state.
pub(crate) fn settings<S: Registered + Serialize>(spec: &S, storage: Storage) -> String {
    let mut table = serde_json::to_value(spec).unwrap_or_default();
    if let Some(table) = table.as_object_mut() {
        table.remove("start");
    }
    format!("{} {table} in {storage:?} storage", S::ENTRY.name)
}

/// The header of every saved state.
#[derive(Serialize, Deserialize)]
struct Header {
    settings: String,
    set: Option<Identity>,
    seen: RunStatistics,
}

impl Header {
    /// Returns an error unless the state belongs to a learner with these settings on this set.
    fn check(&self, settings: &str, set: Option<&SharedSet>) -> Result<()> {
        check_settings(&self.settings, settings)?;
        match (&self.set, set) {
            (Some(identity), Some(set)) => identity.check(&**set),
            (None, None) => Ok(()),
            _ => Err(mismatch(
                "either the state or the learner has no set".into(),
            )),
        }
    }
}
