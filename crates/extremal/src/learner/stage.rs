//! A round in two halves: what may fail, and what changes the learner. Learners that move
//! together or not at all need them apart.

use crate::Result;
use crate::pair::{Accuracy, Gradient, Motion, Pair, Point, Probe, Row, Update};

/// A pair that answers probes and puts off the move.
pub(super) struct Stage<'a> {
    pub(super) pair: &'a mut dyn Pair,
    pub(super) put_off: Option<PutOff>,
}

/// A commit still to come.
#[derive(Clone, Copy)]
pub(super) struct PutOff {
    weight: f64,
    decision: f64,
    origin: f64,
    beta: f64,
    fresh: bool,
    motion: Motion,
}

impl PutOff {
    pub(super) fn commit(self, pair: &mut impl Pair, gradient: &Gradient<'_>) {
        let update = Update {
            gradient,
            weight: self.weight,
            decision: self.decision,
            origin: self.origin,
            beta: self.beta,
            fresh: self.fresh,
        };
        pair.commit(&update, self.motion);
    }
}

impl Point for Stage<'_> {
    fn dim(&self) -> usize {
        self.pair.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        self.pair.dot(row)
    }

    fn norm_squared(&self) -> f64 {
        self.pair.norm_squared()
    }

    fn write(&self, out: &mut [f64]) {
        self.pair.write(out);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        self.pair.for_each_nonzero(each);
    }

    fn accuracy(&self) -> Accuracy {
        self.pair.accuracy()
    }
}

impl Pair for Stage<'_> {
    fn probe(&mut self, update: &Update<'_>) -> Result<Probe> {
        self.pair.probe(update)
    }

    fn commit(&mut self, update: &Update<'_>, motion: Motion) {
        self.put_off = Some(PutOff {
            weight: update.weight,
            decision: update.decision,
            origin: update.origin,
            beta: update.beta,
            fresh: update.fresh,
            motion,
        });
    }

    fn start(&mut self, weight: f64) {
        self.pair.start(weight);
    }

    fn gradient_norm(&self, gradient: &Gradient<'_>, q: f64) -> f64 {
        self.pair.gradient_norm(gradient, q)
    }

    fn save(&self) -> Result<Vec<u8>> {
        self.pair.save()
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        self.pair.load(saved)
    }
}
