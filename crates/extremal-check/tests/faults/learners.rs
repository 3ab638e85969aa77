//! Faults of learners.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use extremal::learner::{
    ByExample, Certificate, Learner, LearnerSpec, Learnt, Record, RunStatistics,
};
use extremal::set::{Atom, Oracle, SharedSet};
use extremal::theory::Guarantee;
use extremal::{Error, Example, Gradient, Point};
use extremal_check::kit;

use crate::sets::{ByHand, DIM, Wrong};

/// What may be wrong with a learner.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Bad {
    Nothing,
    Infeasible,
    TwoDecisions,
    Record,
    Random,
    Save,
    Discard,
    Turn,
    Nan,
    Bytes,
    Fails,
}

/// Online gradient descent on [−1, 1]^d by hand, with a fault. It asks the oracle
/// once per round, for nothing but to see it fail.
struct Descent {
    bad: Bad,
    oracle: Box<dyn Oracle>,
    x: Vec<f64>,
    /// What commit makes of x.
    next: Option<(Vec<f64>, Record)>,
    shown: u32,
    noise: f64,
    seen: RunStatistics,
}

/// Numbers that no two learners share.
static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Descent {
    fn build(bad: Bad, set: &SharedSet) -> extremal::Result<Box<dyn Learner>> {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Self {
            bad,
            oracle: set.oracle(),
            x: vec![0.0; set.dim()],
            next: None,
            shown: 0,
            noise: count as f64,
            seen: RunStatistics::default(),
        }))
    }

    fn is(&self, bad: Bad) -> bool {
        self.bad == bad
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

impl Learner for Descent {
    fn decide(&mut self) -> extremal::Result<&dyn Point> {
        self.shown += 1;
        if self.is(Bad::TwoDecisions) && self.shown == 2 {
            self.x[0] *= 0.999;
        }
        Ok(&self.x)
    }

    fn observe(&mut self, gradient: &Gradient<'_>) -> extremal::Result<Record> {
        let record = self.plan(gradient)?;
        self.commit();
        Ok(record)
    }

    fn decision(&self) -> &dyn Point {
        &self.x
    }

    fn guarantee(&self) -> Option<Guarantee> {
        None
    }

    fn seen(&self) -> &RunStatistics {
        &self.seen
    }

    fn certificate(&self) -> Option<Certificate> {
        None
    }

    fn save(&self) -> extremal::Result<Vec<u8>> {
        if self.next.is_some() && !self.is(Bad::Turn) {
            return Err(Error::OutOfTurn("a round is planned"));
        }
        let seen = &self.seen;
        let rounds = if self.is(Bad::Save) { 0 } else { seen.rounds };
        let mut bytes: Vec<u8> = self.x.iter().flat_map(|v| v.to_le_bytes()).collect();
        bytes.extend(rounds.to_le_bytes());
        bytes.extend(seen.largest_gradient.to_le_bytes());
        bytes.extend(seen.oracle_calls.to_le_bytes());
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        Ok(bytes)
    }

    fn load(&mut self, saved: &[u8]) -> extremal::Result<()> {
        let refused = || Err(Error::State("it does not fit".into()));
        let words = self.x.len() + 4;
        if saved.len() != 8 * words && !(self.is(Bad::Bytes) && saved.len() > 8 * words) {
            return refused();
        }
        let (state, sum) = saved[..8 * words].split_at(8 * words - 8);
        let word = |k: usize| state[8 * k..8 * k + 8].try_into().unwrap();
        if checksum(state).to_le_bytes() != sum {
            return refused();
        }
        let dim = self.x.len();
        for (k, x) in self.x.iter_mut().enumerate() {
            *x = f64::from_le_bytes(word(k));
        }
        self.seen.rounds = u64::from_le_bytes(word(dim));
        self.seen.largest_gradient = f64::from_le_bytes(word(dim + 1));
        self.seen.oracle_calls = u64::from_le_bytes(word(dim + 2));
        Ok(())
    }

    fn grow(&mut self, _dim: usize) -> extremal::Result<()> {
        Err(Error::Unsupported("it does not grow".into()))
    }

    fn learn(&mut self, _: &Example<'_>) -> extremal::Result<Learnt> {
        Err(Error::Unsupported("it takes gradients".into()))
    }

    fn by_example(&self) -> Option<&dyn ByExample> {
        None
    }

    fn reserve(&mut self, dim: usize) -> extremal::Result<()> {
        self.grow(dim)
    }

    fn plan(&mut self, gradient: &Gradient<'_>) -> extremal::Result<Record> {
        if self.next.is_some() && !self.is(Bad::Turn) {
            return Err(Error::OutOfTurn("a round is planned"));
        }
        let t = self.seen.rounds + 1;
        gradient.row.check_shape(self.x.len())?;
        let mut g = kit::scaled(&self.x, gradient.ridge);
        gradient.row.add_to(gradient.scale, &mut g);
        let length = kit::norm(&g);
        if !self.is(Bad::Nan) {
            gradient.check(self.x.len())?;
        }
        if length > 1e100 {
            return Err(Error::Range {
                what: "gradient",
                size: length,
                largest: 1e100,
            });
        }
        if self.is(Bad::Fails) {
            self.x[0] = 0.5 * self.x[0] + 0.01;
        }
        self.oracle
            .minimise(&vec![1.0; g.len()], &mut Atom::new())?;
        let mut next = kit::plus(&self.x, -0.5, &g);
        if self.is(Bad::Random) {
            next[0] += 1e-9 * self.noise;
        }
        if !self.is(Bad::Infeasible) {
            next.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0));
        }
        let dot = kit::dot(&g, &self.x);
        let told = if self.is(Bad::Record) { -dot } else { dot };
        let mut record = Record::new(t, length, told, kit::dot(&self.x, &self.x));
        record.oracle_calls = 1;
        self.next = Some((next, record));
        Ok(record)
    }

    fn commit(&mut self) {
        if let Some((next, record)) = self.next.take() {
            self.x = next;
            self.shown = 0;
            self.seen.rounds = record.round;
            self.seen.largest_gradient = self.seen.largest_gradient.max(record.gradient_norm);
            self.seen.oracle_calls += u64::from(record.oracle_calls);
        }
    }

    fn discard(&mut self) {
        let next = self.next.take();
        if let (Bad::Discard, Some((next, _))) = (self.bad, next) {
            self.x = kit::plus(&kit::scaled(&self.x, 0.999), 0.001, &next);
        }
    }
}

#[test]
fn every_fault_of_a_learner_breaks_the_law_that_names_it() {
    let set = kit::set("box", DIM);
    let check = |bad| extremal_check::learner(&set, move |set| Descent::build(bad, set));
    check(Bad::Nothing).unwrap();
    for (bad, law) in [
        (Bad::Infeasible, "every decision is feasible"),
        (
            Bad::TwoDecisions,
            "within a round, every call returns the same decision",
        ),
        (Bad::Record, "the record describes the round"),
        (Bad::Random, "a run gives the same bits every time"),
        (
            Bad::Save,
            "a run that is saved and loaded continues with the same bits",
        ),
        (
            Bad::Discard,
            "planning and discarding a round changes nothing, and planning and committing a round equals observing it",
        ),
        (
            Bad::Turn,
            "while a round is planned, any other call is an error",
        ),
        (Bad::Nan, "a bad gradient is an error that changes nothing"),
        (
            Bad::Bytes,
            "loading bytes that are not a state of the learner fails and changes nothing",
        ),
        (
            Bad::Fails,
            "a failure of the oracle changes nothing in the learner",
        ),
    ] {
        let failures = check(bad).unwrap_err();
        assert!(failures.of(law).is_some(), "{bad:?}: {failures}");
    }
}

#[test]
fn learners_of_the_library_keep_the_laws_on_a_users_set() {
    let set: SharedSet = Arc::new(ByHand {
        wrong: Wrong::Nothing,
        calls: 0,
    });
    for text in ["ofw-ls", "ofw-free", "ogd", "loo-bogd"] {
        let spec: LearnerSpec = text.parse().unwrap();
        extremal_check::learner(&set, |set| spec.build(set))
            .unwrap_or_else(|failures| panic!("{text}: {failures}"));
    }
}
