//! A [`Rule`] on a pair, in whichever storage.

use serde::{Deserialize, Serialize};

use super::stage::{PutOff, Stage};
use super::{
    Certificate, Learner, Record, Rule, Seen, Storage, at_round, check_between, check_name,
    check_turn, decode, encode, take_turn,
};
use crate::pair::{DensePair, Gradient, LazyPair, Pair, Point, SparsePair};
use crate::set::{SharedSet, Structure};
use crate::theory::Guarantee;
use crate::{Error, Result};

/// A rule on a pair: the two-phase learner around both.
///
/// A pair of your own, a factored matrix for example, plays the same algorithms:
///
/// ```
/// use extremal::learner::{Learner, Player, sc_ofw::ScOfw};
/// use extremal::pair::{DensePair, Gradient};
/// use extremal::set::{Set, l2::L2Ball};
///
/// let set = L2Ball::new(3, 1.0)?;
/// let spec = ScOfw { lambda: Some(0.5), ..ScOfw::default() };
/// let rule = spec.rule(&set.geometry())?;
/// let pair = DensePair::new(std::sync::Arc::new(set), None)?; // or your own
/// let mut learner = Player::new("sc-ofw", rule, pair);
/// learner.decide()?;
/// learner.observe(&Gradient::dense(&[0.1, 0.0, 0.0]))?;
/// assert_eq!(learner.pair().decision(), [-0.2, 0.0, 0.0]);
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct Player<R, P> {
    name: &'static str,
    rule: R,
    pair: P,
    seen: Seen,
    decided: bool,
    /// The rule's bytes before a rehearsal, and what is to come of it.
    before: Vec<u8>,
    rehearsed: Option<(PutOff, Record)>,
}

#[derive(Serialize, Deserialize)]
struct SavedPlayer<R> {
    name: String,
    rule: R,
    pair: Vec<u8>,
    seen: Seen,
    decided: bool,
}

impl<R: Rule + 'static, P: Pair + 'static> Player<R, P> {
    /// Starts at the pair's x₁.
    pub fn new(name: &'static str, rule: R, mut pair: P) -> Self {
        pair.start(rule.start_weight());
        Self {
            name,
            rule,
            pair,
            seen: Seen::default(),
            decided: false,
            before: Vec::new(),
            rehearsed: None,
        }
    }

    /// The pair, to look at.
    pub fn pair(&self) -> &P {
        &self.pair
    }
}

/// Puts a rule on the pair that the storage asks for.
pub(super) fn player<R: Rule + 'static>(
    name: &'static str,
    rule: R,
    set: &SharedSet,
    start: Option<&[f64]>,
    storage: Storage,
) -> Result<Box<dyn Learner>> {
    super::keys::need_oracle(name, &**set)?;
    match storage {
        Storage::Dense => Ok(Box::new(Player::new(
            name,
            rule,
            DensePair::new(set.clone(), start)?,
        ))),
        Storage::Lazy => match set.structure() {
            Structure::Euclidean { .. } => Ok(Box::new(Player::new(
                name,
                rule,
                LazyPair::new(set.clone(), start)?,
            ))),
            _ => Err(not_stored(name, set, storage)),
        },
        Storage::Sparse => match set.structure() {
            Structure::Sparse(_) => Ok(Box::new(Player::new(
                name,
                rule,
                SparsePair::new(set.clone(), start)?,
            ))),
            _ => Err(not_stored(name, set, storage)),
        },
    }
}

/// Why a learner on a set can't be stored otherwise than densely.
pub(super) fn not_stored(name: &str, set: &SharedSet, storage: Storage) -> Error {
    let (how, why) = match (storage, set.structure()) {
        (Storage::Lazy, Structure::Euclidean { .. }) => ("lazily", "this learner has no lazy form"),
        (Storage::Lazy, _) => (
            "lazily",
            "only on ℓ2 balls is the atom a multiple of the direction",
        ),
        (_, Structure::Sparse(_)) => ("sparsely", "this learner has no sparse form"),
        _ => (
            "sparsely",
            "that is for sets whose atoms have few entries (l1, simplex, k-sparse)",
        ),
    };
    Error::Unsupported(format!(
        "{name} on set {} can't be stored {how}: {why}",
        set.name()
    ))
}

impl<R, P> Player<R, P> {
    fn check_concluded(&self) -> Result<()> {
        match self.rehearsed {
            None => Ok(()),
            Some(_) => Err(Error::OutOfTurn(
                "a rehearsed round must be concluded first",
            )),
        }
    }
}

impl<R: Rule, P: Pair> Learner for Player<R, P> {
    fn dim(&self) -> usize {
        self.pair.dim()
    }

    fn decide(&mut self) -> Result<&dyn Point> {
        take_turn(&mut self.decided)?;
        Ok(&self.pair)
    }

    fn observe(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        check_turn(self.decided)?;
        self.check_concluded()?;
        let round = self.seen.rounds + 1;
        let played = self
            .rule
            .round(&mut self.pair, gradient)
            .map_err(|e| at_round(e, round))?;
        let record = played.record(round);
        self.seen.note(&record);
        self.decided = false;
        Ok(record)
    }

    fn withdraw(&mut self) {
        self.decided = false;
    }

    fn decision(&self) -> &dyn Point {
        &self.pair
    }

    fn rounds(&self) -> u64 {
        self.seen.rounds
    }

    fn guarantee(&self) -> Option<Guarantee> {
        self.rule.guarantee(&self.seen)
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }

    fn certificate(&self) -> Option<Certificate> {
        self.rule.certificate(self.pair.dim(), self.pair.accuracy())
    }

    fn save(&self) -> Result<Vec<u8>> {
        let saved = SavedPlayer {
            name: self.name.into(),
            rule: &self.rule,
            pair: self.pair.save()?,
            seen: self.seen,
            decided: self.decided,
        };
        encode(&saved)
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let saved: SavedPlayer<R> = decode(saved)?;
        check_name(self.name, &saved.name)?;
        self.pair.load(&saved.pair)?;
        self.rule = saved.rule;
        self.seen = saved.seen;
        self.decided = saved.decided;
        self.rehearsed = None;
        Ok(())
    }

    fn grow(&mut self, dim: usize) -> Result<()> {
        if dim == self.dim() {
            return Ok(());
        }
        check_between(self.decided)?;
        let set = self.pair.grown(dim)?;
        self.pair.reserve(dim)?;
        self.rule.grow(&*set)?;
        self.pair.grow(set);
        Ok(())
    }

    fn reserve(&mut self, dim: usize) -> Result<()> {
        self.pair.reserve(dim)
    }

    fn can_rehearse(&mut self) -> bool {
        self.pair.hold()
    }

    fn rehearse(&mut self, gradient: &Gradient<'_>) -> Result<Record> {
        check_turn(self.decided)?;
        self.check_concluded()?;
        if !self.pair.hold() {
            return Err(Error::Unsupported(format!(
                "{} can't rehearse: its storage can't take a probe back",
                self.name
            )));
        }
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        self.before =
            postcard::to_extend(&self.rule, before).map_err(|e| Error::State(e.to_string()))?;
        let mut stage = Stage {
            pair: &mut self.pair,
            put_off: None,
        };
        let round = self.seen.rounds + 1;
        let record = self
            .rule
            .round(&mut stage, gradient)
            .map_err(|e| at_round(e, round))?
            .record(round);
        self.rehearsed = stage.put_off.map(|put_off| (put_off, record));
        Ok(record)
    }

    fn conclude(&mut self, gradient: &Gradient<'_>, keep: bool) -> Result<()> {
        let Some((put_off, record)) = self.rehearsed.take() else {
            return Err(Error::OutOfTurn("conclude was called before rehearse"));
        };
        if keep {
            put_off.commit(&mut self.pair, gradient);
            self.seen.note(&record);
            self.decided = false;
            return Ok(());
        }
        self.rule = decode(&self.before)?;
        self.pair.forget()
    }
}
