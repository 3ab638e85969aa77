//! Delayed gradients, for any learner.
//!
//! **Problem.** Convex losses whose gradients arrive some rounds after their decision, possibly
//! with different delays.
//!
//! **Update.** The base is any learner. The base plays one round for each gradient that arrives. If
//! several arrive together, the oldest comes first. The decision is the base's latest decision. The
//! wrapper receives every gradient immediately and stores it for `delay` rounds. If `random` is
//! true, it stores it for 0 to `delay` rounds. A gradient with delay 0 affects the next decision.
//! Without a delay the learner equals its base.
//!
//! Let g be the gradient of a loss f at an old decision y, and let x be the base's decision when g
//! arrives. The base receives ∇m(x). Here m is a function with ∇m(y) = g, and up to a constant it
//! is a lower bound on f:
//! - If no curvature is known, m(x) = ⟨g, x⟩, and the base receives g.
//! - If the loss has a ridge term (ρ/2)‖x‖², this term is part of m, and the base receives its
//!   gradient at x.
//! - If the base has the parameter `lambda` with λ > ρ, m also contains ((λ − ρ)/2)‖x − y‖², and
//!   the base receives (λ − ρ)(x − y) in addition.
//!
//! A base for λ-strongly convex losses adds ⟨∇m(x), ·⟩ + (λ/2)‖· − x‖² to its surrogate. Up to a
//! constant this sum is m, and m is ⟨g, ·⟩ + (λ/2)‖· − y‖². The paper adds the same term for
//! `sc-ofw`.
//!
//! You need no wrapper if your feedback itself is late. Call `observe` with ∇m(x) when a gradient
//! arrives.
//!
//! **Guarantee.** Without a delay, the base's guarantee holds. With a delay, no bound with
//! constants is proven here. The orders for delays of d rounds are: O(T^(2/3) + d·T^(1/3)) on
//! strongly convex sets with `ofw-ls`, whose step size decreases like T^(−2/3), and O(T^(2/3) +
//! d·log T) with `sc-ofw`. On general sets, Wan et al. show O(T^(3/4) + d·T^(1/4)) for a step size
//! that decreases like T^(−3/4), as in `ofw`.
//!
//! **Reference.** Wan, Tu & Zhang, *Online Frank-Wolfe with Arbitrary Delays*, NeurIPS 2022.
//!
//! ```
//! use extremal::{Gradient, LearnerSpec, SetSpec};
//! let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
//! let spec: LearnerSpec = "delayed:base=(ogd),delay=2".parse()?;
//! let mut learner = spec.build(&set)?;
//! let mut sizes = vec![];
//! for _ in 0..4 {
//!     sizes.push(learner.decide()?.norm_squared());
//!     learner.observe(&Gradient::dense(&[1.0, 0.0]))?;
//! }
//! assert!(sizes[..3] == [0.0; 3] && sizes[3] > 0.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::learner::frank_wolfe::ofw_line_search::OfwLs;
use crate::learner::skeleton::method::admitted;
use crate::learner::skeleton::{Acting, Body, Planned, check_shape, decode, encode, settings};
use crate::learner::{
    Certificate, Known, Learner, LearnerSpec, MakeLearner, Record, RunStatistics, Storage, Uses,
};
use crate::parameter::fields;
use crate::point::HeldRow;
use crate::set::SharedSet;
use crate::spec::{About, Described, Kind};
use crate::theory::Guarantee;
use crate::{Gradient, Point, Result, kernel};

/// The longest delay, which is also the largest number of gradients in memory.
const LONGEST: u64 = 100_000;

/// A gradient beyond this size is tested on the base before it is stored.
const EXTREME: f64 = 1e20;

fields! {
    /// The spec of `delayed`.
    pub struct Delayed {
        /// the learner that receives the delayed gradients; default: ofw-ls
        pub base: Option<Box<LearnerSpec>> = None => Kind::Spec("learner"),
        /// the delay of every gradient in rounds; with random=true, the largest delay
        pub delay: u64 = 0 => Kind::Whole { low: 0, high: LONGEST },
        /// whether each gradient's delay is drawn uniformly from 0 to `delay`
        pub random: bool = false => Kind::Flag,
        /// the seed of the random delays
        pub seed: u64 = 0 => Kind::WHOLE,
    }
}

impl Described for Delayed {
    const ABOUT: About = About {
        summary: "wraps any learner for delayed gradients",
        cost: "one round of the base per gradient that arrives; memory for the non-zeros of `delay` gradients, or for delay·d numbers if the base's λ exceeds the ridge term; and a copy of the base's state when several gradients arrive at once",
        guarantee: "without a delay, the base's bound; with a delay, no bound with constants is proven here; the paper proves O(T^(2/3) + delay·T^(1/3)) with ofw-ls on strongly convex sets, O(T^(2/3) + delay·log T) with sc-ofw on any",
        reference: "Wan, Tu & Zhang, NeurIPS 2022",
        citations: &["WanTuZhang2022"],
        examples: &[
            "delayed:delay=3",
            "delayed",
            "delayed:base=(ofw-ls:horizon=1000),delay=10,random=true,seed=1",
            "delayed:base=(sc-ofw:lambda=0.1),delay=5",
        ],
    };
}

impl Delayed {
    fn base(&self) -> LearnerSpec {
        match &self.base {
            Some(base) => (**base).clone(),
            None => LearnerSpec::OfwLs(OfwLs(Known::default())),
        }
    }
}

impl MakeLearner for Delayed {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let base = self.base();
        let body = Queue {
            base: base.build_for_gradients(set, storage)?,
            lambda: lambda_of(&base),
            set: set.clone(),
            reach: set.geometry().norm_bound,
            delay: self.delay,
            random: self.random.then(|| ChaCha8Rng::seed_from_u64(self.seed)),
            rounds: 0,
            slots: Vec::new(),
        };
        Ok(Box::new(Acting::new(settings(self, storage), body)))
    }

    fn uses(&self) -> Uses {
        self.base().uses()
    }

    fn needs_ridge(&self) -> Option<f64> {
        self.base().needs_ridge()
    }
}

/// The base's parameter `lambda`, or 0 if it has none.
fn lambda_of(base: &LearnerSpec) -> f64 {
    let lambda = base.value("lambda");
    lambda.and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// A stored gradient, in the form that the base will receive.
#[derive(Default, Serialize, Deserialize)]
struct Held {
    /// The round of the gradient.
    asked: u64,
    /// The gradient arrives at the end of this round.
    due: u64,
    row: HeldRow,
    scale: f64,
    ridge: f64,
}

impl Held {
    fn gradient(&self) -> Gradient<'_> {
        Gradient {
            row: self.row.row(),
            scale: self.scale,
            ridge: self.ridge,
        }
    }
}

struct Queue {
    set: SharedSet,
    /// The set's norm bound.
    reach: f64,
    base: Box<dyn Learner>,
    /// The strong convexity that the base relies on.
    lambda: f64,
    delay: u64,
    /// The generator in its initial state. Each round uses its own sequence of random numbers.
    random: Option<ChaCha8Rng>,
    rounds: u64,
    /// The gradient of round t is at position t mod (delay + 1).
    slots: Vec<Held>,
}

impl Queue {
    fn place(&self, round: u64) -> usize {
        (round % (self.delay + 1)) as usize
    }

    fn slot(&mut self, place: usize) -> &mut Held {
        if self.slots.len() <= place {
            self.slots.resize_with(place + 1, Held::default);
        }
        &mut self.slots[place]
    }

    /// The number of rounds for which this round's gradient is stored.
    fn wait(&self, round: u64) -> u64 {
        let Some(mut rng) = self.random.clone() else {
            return self.delay;
        };
        rng.set_stream(round);
        rng.random_range(0..=self.delay)
    }

    /// Stores the gradient in the round's slot, which is free because its previous gradient has
    /// arrived.
    fn hold(&mut self, round: u64, gradient: &Gradient<'_>) -> Result<()> {
        let due = round + self.wait(round);
        let place = self.place(round);
        self.slot(place);
        let (point, held) = (self.base.decision(), &mut self.slots[place]);
        let curved = self.lambda - gradient.ridge;
        (held.asked, held.due) = (round, due);
        if self.delay > 0 && curved > 0.0 {
            // k·a + ρx + (λ − ρ)(x − y) = (k·a − (λ − ρ)y) + λx
            let row = held.row.dense(point.dim());
            point.write(row);
            row.iter_mut().for_each(|v| *v *= -curved);
            gradient.row.add_to(gradient.scale, row);
            (held.scale, held.ridge) = (1.0, self.lambda);
        } else {
            held.row.hold(&gradient.row);
            (held.scale, held.ridge) = (gradient.scale, gradient.ridge);
        }
        // A gradient that the base would reject is rejected now. The base must accept it at every
        // decision, and the base's step sizes must be able to handle a very large gradient.
        let (gradient, reach) = (held.gradient(), self.reach);
        let norm = kernel::norm(gradient.row.values());
        gradient.admit(norm, reach * reach)?;
        if self.delay > 0 && gradient.size(norm, reach * reach) > EXTREME {
            self.base.plan(&gradient)?;
            self.base.discard();
        }
        Ok(())
    }

    /// The rounds whose gradients may arrive at the end of this round.
    fn window(&self, round: u64) -> RangeInclusive<u64> {
        let oldest = round.saturating_sub(self.delay);
        let newest = if self.random.is_some() { round } else { oldest };
        oldest.max(1)..=newest
    }

    /// The position of the gradient of round `asked`, if it arrives at the end of `round`.
    fn arrives(&self, asked: u64, round: u64) -> Option<usize> {
        let place = self.place(asked);
        let held = self.slots.get(place)?;
        (held.asked == asked && held.due == round).then_some(place)
    }

    /// Passes the gradients that arrive to the base. Each gradient is one round, and the oldest
    /// comes first. `record` receives the total number of oracle calls, and the step of the last
    /// round.
    fn deliver(&mut self, record: &mut Record, plan: bool) -> Result<()> {
        for asked in self.window(record.round) {
            let Some(place) = self.arrives(asked, record.round) else {
                continue;
            };
            let gradient = self.slots[place].gradient();
            let inner = if plan {
                self.base.plan(&gradient)?
            } else {
                self.base.observe(&gradient)?
            };
            record.oracle_calls += inner.oracle_calls;
            (record.sigma, record.gap) = (inner.sigma, inner.gap);
        }
        Ok(())
    }

    /// Restores a state that the base has saved.
    fn put_back(&mut self, state: &[u8]) {
        let loaded = self.base.load(state);
        debug_assert!(loaded.is_ok(), "the base has saved this state");
    }
}

impl Body for Queue {
    /// The base's state after the round, if several gradients arrive. A single gradient is planned
    /// by the base itself.
    type Plan = Option<Vec<u8>>;

    fn point(&self) -> &dyn Point {
        self.base.decision()
    }

    /// If several gradients arrive, the base plays several rounds, and all of them must succeed.
    /// The base's state is saved first.
    fn plan(&mut self, round: u64, gradient: &Gradient<'_>, sure: bool) -> Planned<Self> {
        let point = self.base.decision();
        let (ax, xx) = (point.dot(&gradient.row)?, point.norm_squared());
        let (gradient, _, mut record) = admitted(round, gradient, ax, xx)?;
        self.hold(round, &gradient)?;
        let several = self
            .window(round)
            .filter_map(|asked| self.arrives(asked, round));
        if several.count() <= 1 {
            self.deliver(&mut record, !sure)?;
            return Ok((record, None));
        }
        let before = self.base.save()?;
        let delivered = self.deliver(&mut record, false);
        if sure && delivered.is_ok() {
            return Ok((record, None));
        }
        let after = self.base.save()?;
        self.put_back(&before);
        delivered?;
        Ok((record, Some(after)))
    }

    fn commit(&mut self, after: Self::Plan) {
        match after {
            Some(after) => self.put_back(&after),
            None => self.base.commit(),
        }
        self.rounds += 1;
    }

    fn discard(&mut self) {
        self.base.discard();
    }

    fn guarantee(&self, _seen: &RunStatistics) -> Option<Guarantee> {
        self.base.guarantee().filter(|_| self.delay == 0)
    }

    fn certificate(&self) -> Option<Certificate> {
        self.base.certificate().filter(|_| self.delay == 0)
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn save(&self) -> Result<Vec<u8>> {
        let waits = |held: &&Held| held.asked <= self.rounds && held.due > self.rounds;
        let held: Vec<&Held> = self.slots.iter().filter(waits).collect();
        encode(&(self.base.save()?, self.rounds, held))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (base, rounds, all): (Vec<u8>, u64, Vec<Held>) = decode(saved)?;
        self.base.load(&base)?;
        self.rounds = rounds;
        self.slots.clear();
        for held in all {
            check_shape(held.row.row().check_shape(self.set.dim()).is_ok())?;
            let place = self.place(held.asked);
            *self.slot(place) = held;
        }
        Ok(())
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        self.base.reserve(set.dim())
    }

    fn grow(&mut self, set: SharedSet) {
        let grown = self.base.grow(set.dim());
        debug_assert!(grown.is_ok(), "reserve has checked the dimension");
        for held in &mut self.slots {
            held.row.grow(set.dim());
        }
        self.reach = set.geometry().norm_bound;
        self.set = set;
    }
}
