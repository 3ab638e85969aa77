//! Online Frank-Wolfe when gradients come late.
//!
//! **Problem.** Convex losses over any set, or λ-strongly convex ones, whose gradients arrive
//! rounds after they were asked for, not all by the same delay.
//!
//! **Update.** A gradient that arrives is absorbed as `ofw-ls` does it, with λ as `sc-ofw`: one
//! oracle call and one step with line search for each, from the latest decision. With k the number
//! of gradients absorbed, F(x) = Σ⟨g, x⟩ + ω_k‖x − x₁‖², ω = (2G/D)(T+2)^(2/3), without T
//! (2G/D)(k+2)^(2/3), without G (2/D)√(Σ‖g‖²)·k^(1/6); with λ, F(x) = Σ(⟨g, x⟩ + (λ/2)‖x − x_g‖²), x_g
//! the decision that g was taken at. Without a delay these are `ofw-ls` and `sc-ofw` themselves.
//!
//! As a learner it is given every gradient at once and holds it back: for `delay` rounds, or with
//! `random` for 0 to `delay` of them. 0 means that it counts for the next decision. Whoever has
//! feedback that is late in truth uses [`Late`].
//!
//! **Guarantee.** None is proven here with its constants. Orders, for delays of d rounds: with the
//! step size 1/ω, which falls like T^(−2/3), O(T^(2/3) + d·T^(1/3)) on strongly convex sets, and
//! O(T^(7/9)) on general sets where no gradient is late; with λ, O(T^(2/3) + d·log T). The
//! O(T^(3/4) + d·T^(1/4)) that Wan et al. show on general sets is for a step size that falls like
//! T^(−3/4), and is not that of this learner.
//!
//! **Reference.** Wan, Tu & Zhang, *Online Frank-Wolfe with Arbitrary Delays*, NeurIPS 2022.
//!
//! ```
//! use extremal::{learner::LearnerSpec, pair::Gradient, set::SetSpec};
//! let set = "l2:dim=2".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "delayed:delay=2".parse::<LearnerSpec>()?.build(&set)?;
//! let mut sizes = vec![];
//! for _ in 0..4 {
//!     sizes.push(learner.decide()?.norm_squared());
//!     learner.observe(&Gradient::dense(&[1.0, 0.0]))?;
//! }
//! assert!(sizes[..3] == [0.0; 3] && sizes[3] > 0.0);
//! # Ok::<(), extremal::Error>(())
//! ```

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::late::{Count, Steps, Weight};
use super::method::{Revealed, Step};
use super::staged::{Staged, staged};
use super::{Learner, MakeLearner, Seen, Storage};
use crate::parameter::fields;
use crate::set::SharedSet;
use crate::spec::{Described, Entry, Kind};
use crate::theory::Guarantee;
use crate::{Error, Result, kernel};

pub use super::late::Late;

const NAME: &str = "delayed";

/// The longest delay: that many gradients are held.
const LONGEST: u64 = 100_000;

fields! {
    /// Spec of `delayed`.
    pub struct Delayed {
        /// by how many rounds gradients are held back, at most with random
        pub delay: u64 = 0 => Kind::Whole { low: 0, high: LONGEST },
        /// whether each gradient has a delay of its own, 0 to delay, all alike likely
        pub random: bool = false => Kind::Flag,
        /// of the random delays
        pub seed: u64 = 0 => Kind::WHOLE,
        /// the losses' strong convexity λ; left out, losses need only be convex
        pub lambda: Option<f64> = None => Kind::SIZE,
        /// the number of rounds T; left out, the regulariser grows
        pub horizon: Option<u64> = None => Kind::COUNT,
        /// a bound G of the gradients' ℓ2 norm; left out, √(Σ‖g‖²) stands for G√t and T is not used
        pub gradient_bound: Option<f64> = None => Kind::GRADIENT,
        /// factor on the theoretical step size
        pub eta_scale: f64 = 1.0 => Kind::FACTOR,
        /// the first decision x₁, a point of the set; its centre if left out
        pub start: Option<Vec<f64>> = None => Kind::POINT,
    }
}

impl Described for Delayed {
    const ENTRY: Entry = Entry {
        name: NAME,
        summary: "online Frank-Wolfe when gradients come late",
        parameters: Self::PARAMETERS,
        cost: "1 oracle call and O(d) per gradient that arrives; delay·d numbers held",
        guarantee: "none proven here with its constants; by the paper O(T^(2/3) + delay·T^(1/3)) on strongly convex sets, with λ O(T^(2/3) + delay·log T) on any; O(T^(7/9)) on general sets without λ and without a delay",
        reference: "Wan, Tu & Zhang, NeurIPS 2022",
        citations: &["WanTuZhang2022"],
        examples: &[
            "delayed:delay=3",
            "delayed",
            "delayed:delay=10,random=true,seed=1,horizon=1000,gradient-bound=1",
            "delayed:delay=5,lambda=0.1",
        ],
    };
}

impl Delayed {
    pub(super) fn steps(&self, set: &SharedSet) -> Result<Steps> {
        let scale = self.eta_scale;
        let geometry = set.geometry();
        // a single point has no diameter, and needs none
        let diameter = if geometry.diameter > 0.0 {
            geometry.diameter
        } else {
            1.0
        };
        let slope = 2.0 / (scale * diameter);
        let weight = match (self.lambda, self.horizon, self.gradient_bound) {
            (Some(lambda), _, _) => Weight::Lambda(lambda),
            (None, Some(t), Some(g)) => Weight::Fixed(slope * g * (t as f64 + 2.0).powf(2.0 / 3.0)),
            (None, None, Some(g)) => Weight::Growing(slope * g),
            (None, _, None) => Weight::Adaptive(slope),
        };
        Steps::new(set, self.start.as_deref(), weight)
    }
}

impl MakeLearner for Delayed {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let rng = ChaCha8Rng::seed_from_u64(self.seed);
        let method = Queue {
            steps: self.steps(set)?,
            delay: self.delay,
            random: self.random,
            slots: Vec::new(),
            rounds: 0,
            next_due: 0,
            next_rng: rng.clone(),
            rng,
        };
        staged(self, method, set, self.start.as_deref(), storage)
    }
}

/// A gradient that is held back.
struct Slot {
    /// At the end of which round it arrives.
    due: u64,
    norm: f64,
    item: Vec<f64>,
}

struct Queue {
    steps: Steps,
    delay: u64,
    random: bool,
    /// That of round t in place (t − 1) mod (delay + 1).
    slots: Vec<Slot>,
    rounds: u64,
    rng: ChaCha8Rng,
    next_due: u64,
    next_rng: ChaCha8Rng,
}

#[derive(Serialize, Deserialize)]
struct State {
    sum: Vec<f64>,
    count: Count,
    rounds: u64,
    rng: ChaCha8Rng,
    /// Round, due, norm and item of what is held.
    held: Vec<(u64, u64, f64, Vec<f64>)>,
}

impl Queue {
    fn place(&self, round: u64) -> usize {
        ((round - 1) % (self.delay + 1)) as usize
    }

    /// A place for round t's gradient; what it held has arrived.
    fn slot(&mut self, round: u64) -> &mut Slot {
        let (place, dim) = (self.place(round), self.steps.sum.len());
        while self.slots.len() <= place {
            self.slots.push(Slot {
                due: 0,
                norm: 0.0,
                item: vec![0.0; dim],
            });
        }
        &mut self.slots[place]
    }

    /// Absorbs what arrives at the end of round t, the oldest first.
    fn arrive(&mut self, round: u64, x: &mut [f64]) -> Result<Step> {
        let mut step = Step {
            sigma: 0.0,
            gap: f64::NAN,
        };
        for asked in round.saturating_sub(self.delay).max(1)..=round {
            let place = self.place(asked);
            let Some(slot) = self.slots.get(place) else {
                continue;
            };
            let due = if asked == round {
                self.next_due
            } else {
                slot.due
            };
            if due == round {
                let (sigma, gap) = self.steps.absorb(&slot.item, slot.norm, x)?;
                (step.sigma, step.gap) = (sigma, gap);
            }
        }
        Ok(step)
    }
}

impl Staged for Queue {
    type State = State;

    fn plan(&mut self, revealed: &Revealed<'_>, next: &mut [f64]) -> Result<Step> {
        let round = self.rounds + 1;
        let wait = if self.random {
            self.next_rng.clone_from(&self.rng);
            self.next_rng.random_range(0..=self.delay)
        } else {
            self.delay
        };
        self.next_due = round + wait;
        // The slot stays free, whatever is in it, until its due round is committed.
        let mut item = std::mem::take(&mut self.slot(round).item);
        self.steps.item(revealed.g, next, &mut item);
        *self.slot(round) = Slot {
            due: 0,
            norm: revealed.norm,
            item,
        };
        self.steps.begin();
        self.arrive(round, next)
    }

    fn oracle_calls(&self) -> u64 {
        self.steps.oracle.calls()
    }

    fn commit(&mut self) {
        self.rounds += 1;
        let (due, round) = (self.next_due, self.rounds);
        self.slot(round).due = due;
        if self.random {
            self.rng.clone_from(&self.next_rng);
        }
        self.steps.commit();
    }

    fn state(&self) -> State {
        let held = |round: u64| {
            let slot = self.slots.get(self.place(round))?;
            let waits = slot.due > self.rounds;
            waits.then(|| (round, slot.due, slot.norm, slot.item.clone()))
        };
        let first = (self.rounds + 1).saturating_sub(self.delay).max(1);
        State {
            sum: self.steps.sum.clone(),
            count: self.steps.count,
            rounds: self.rounds,
            rng: self.rng.clone(),
            held: (first..=self.rounds).filter_map(held).collect(),
        }
    }

    fn restore(&mut self, state: State) -> Result<()> {
        let dim = self.steps.sum.len();
        let sound = |v: &[f64]| v.len() == dim && kernel::find_not_finite(v).is_none();
        let number = |v: f64| v >= 0.0 && v.is_finite();
        let (rounds, delay) = (state.rounds, self.delay);
        let mut last = 0;
        let fits = state.held.iter().all(|(round, due, norm, item)| {
            let in_order = *round > std::mem::replace(&mut last, *round) && *round <= rounds;
            // so that no two have one place
            let wait = due.checked_sub(*round);
            let waits = *due > rounds && wait.is_some_and(|wait| wait <= delay);
            in_order && waits && number(*norm) && sound(item)
        });
        let counts = sound(&state.sum) && number(state.count.root) && state.count.k <= rounds;
        if !(fits && counts && rounds < u64::MAX / 2) {
            return Err(Error::State("its queue of gradients is none".into()));
        }
        self.slots.clear();
        self.rounds = rounds;
        self.rng = state.rng;
        for (round, due, norm, item) in state.held {
            *self.slot(round) = Slot { due, norm, item };
        }
        self.steps.sum = state.sum;
        self.steps.count = state.count;
        Ok(())
    }

    fn guarantee(&self, _seen: &Seen) -> Option<Guarantee> {
        None
    }
}
