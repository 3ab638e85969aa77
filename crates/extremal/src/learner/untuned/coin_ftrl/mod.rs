//! Coin-FTRL: a learner for ℓ2 balls that needs no constants, in O(non-zeros) per round.
//!
//! **Problem.** Convex losses over ‖x‖ ≤ r with sparse gradients. The ball may be far larger than
//! the best decision, and some features may be common and others rare.
//!
//! **Update.** The learner mixes two decisions that both follow from the sum of gradients c:
//!
//! - The *scaled* decision is m·y with y_i = −c_i/√(Σg_i² + max g_i²). Each coordinate has its own
//!   scale, as in AdaGrad. The factor m is a bet ([`coin_betting`](crate::theory::coin_betting)) on
//!   q_t = ⟨g_t, y_t⟩. The bet is limited to 0 ≤ m ≤ r/max ‖y_s‖, which keeps m·y in the ball.
//! - The *round* decision is a multiple of −c:
//!   [Gauge-FTRL](crate::learner::frank_wolfe::gauge_ftrl) with a self-balancing β.
//!
//! The learner plays (1 − w)·scaled + w·round. The weight w is a second bet, limited to 0 ≤ w ≤ 1.
//! This bet is on the excess loss of the round decision. Both bets start at 0 with a small `stake`,
//! and grow with their winnings. Hence the learner first plays the scaled decision, whose length
//! adapts to any radius up to r. The weight of the round decision increases if its losses are
//! smaller. This happens if the best decision is at the boundary of the ball.
//!
//! **Guarantee.** Let q_t = ⟨g_t, round − scaled⟩ be the losses of the bet on w, and A = Σ|q_t|.
//! Let L be the largest |q_t|, L₁ the first of them that is not 0, and ε the stake. With S =
//! L(A + L) and K = εL₁√(L₁/(A + L)), regret ≤ 2β + (1 + ε)L + √(S ln(1 + S/K²)), without T and G.
//! This is the sum of the bounds of Gauge-FTRL and of the bet on w, for the linearised losses. The
//! order is O(r√(Σ‖g‖²) + rG√(T ln(T·L/L₁))). A small L₁ increases the bound, but only by a
//! logarithm: with L₁/L = 1e-90, the second term is 4.5 times as large as with L₁ = L (T = 10⁴).
//! The learner's linearised losses also exceed those of the scaled decision by at most (1 + ε)L. No
//! bound is proven for the scaled decision itself, whose form is that of AdaGrad. The guide has the
//! proofs.
//!
//! **Reference.** This project, from known parts: AdaGrad (McMahan & Streeter; Duchi, Hazan &
//! Singer, 2010), betting (Orabona & Pál, 2016; Orabona & Tommasi, 2017), and two ideas of Cutkosky
//! & Orabona (2018): to learn length and direction separately, and to enforce constraints by
//! ignoring losses that push outwards.
//!
//! ```
//! use extremal::learner::{LearnerSpec, Storage};
//! use extremal::{Gradient, SetSpec};
//! let set = "l2:radius=1000,dim=50000".parse::<SetSpec>()?.build(None)?;
//! let mut learner = "coin-ftrl".parse::<LearnerSpec>()?.build_stored(&set, Storage::Lazy)?;
//! for t in 0..200 {
//!     learner.decide()?;
//!     learner.observe(&Gradient::sparse(&[7, t + 100], &[1.0, 0.5]))?;
//! }
//! let squared = learner.decision().norm_squared();
//! assert!(squared > 900.0 && squared < 1e6);
//! # Ok::<(), extremal::Error>(())
//! ```

pub(super) mod coin_bet;
mod coordinate_sums;

use serde::{Deserialize, Serialize};

use crate::learner::skeleton::{Acting, Body, Planned, decode, encode, parameters, settings};
use crate::learner::untuned::coin_ftrl::coin_bet::CoinBet;
use crate::learner::untuned::coin_ftrl::coordinate_sums::{CoordinateSums, Products, SavedSums};
use crate::learner::{
    Certificate, Learner, Level, MakeLearner, Record, RunStatistics, Storage, Uses, not_stored,
};
use crate::parameter::fields;
use crate::point::{Accuracy, HeldRow};
use crate::range::root_of_squares;
use crate::rounding::{self, UNIT, Wide};
use crate::set::{SharedSet, Structure};
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Gradient, Point, Result, Row, kernel};

const NAME: &str = "coin-ftrl";

fields! {
    /// The spec of `coin-ftrl`.
    pub struct CoinFtrl {
        /// the initial stake of the bets, as a fraction of the radius; results hardly depend on it
        pub stake: f64 = 1.0 / 1024.0 => Kind::SIZE,
    }
}

impl Described for CoinFtrl {
    const ABOUT: About = About {
        summary: "a tuning-free learner for sparse streams, with an AdaGrad-style direction, a step length from coin betting, and gauge-ftrl as a fallback",
        cost: "O(non-zeros) per round, O(d) with a ridge term",
        guarantee: "ℓ2 balls, convex losses: 2β + O(rG√(T ln(T·L/L₁))), computed in every round; L₁ and L are the first and the largest loss of the bet on the fallback's weight",
        reference: "this project; Orabona & Tommasi, NeurIPS 2017; Cutkosky & Orabona, COLT 2018",
        citations: &[
            "Extremal",
            "OrabonaTommasi2017",
            "CutkoskyOrabona2018",
            "OrabonaPal2016",
            "DuchiHazanSinger2011",
            "McMahanStreeter2010",
        ],
        examples: &["coin-ftrl", "coin-ftrl:stake=0.1"],
    };
}

impl MakeLearner for CoinFtrl {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let Structure::Euclidean { radius } = set.structure() else {
            return Err(parameters::cannot_play(NAME, &**set, "an ℓ2 ball around 0"));
        };
        if storage == Storage::Sparse {
            return Err(not_stored(NAME, set, storage));
        }
        // Both storages have the same layout here, but a state can be loaded only in the storage in
        // which it was saved.
        let state = State {
            stake: self.stake,
            sums: CoordinateSums::new(set.dim()),
            ..State::default()
        };
        let mix = state.mix(radius);
        let body = Coin {
            set: set.clone(),
            radius,
            state,
            mix,
            written: Vec::new(),
            planned: None,
            held: HeldRow::default(),
        };
        Ok(Box::new(Acting::new(settings(self, storage), body)))
    }

    fn uses(&self) -> Uses {
        Uses::Nothing
    }
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// ε.
    stake: f64,
    /// y and c, which are saved separately.
    #[serde(skip)]
    sums: CoordinateSums,
    /// max ‖y_s‖.
    longest: f64,
    /// √(Σ‖g‖²): the scale of a coordinate is at most twice this.
    spread: f64,
    /// β of Gauge-FTRL.
    beta: f64,
    /// The bet for m, in units of the radius.
    length: CoinBet,
    /// The bet for w.
    share: CoinBet,
    /// Σ⟨g_t, x_t⟩.
    played: Wide,
    /// Σ‖g_t‖ and an upper bound on Σ‖c_t‖, for the rounding errors in the certificate.
    gradients: f64,
    sizes: f64,
    rounds: u64,
}

/// Numbers that follow from the state.
#[derive(Clone, Copy)]
struct Coefficients {
    /// Both bets, before they are limited to their intervals.
    bets: [f64; 2],
    /// The upper limit of m.
    most: f64,
    m: f64,
    /// √(h² + β²) with h = r‖c‖.
    potential: f64,
    /// The round decision is this number times c.
    round: f64,
    /// The factors (k, l) of the decision x = k·y + l·c.
    along: (f64, f64),
}

impl State {
    fn mix(&self, radius: f64) -> Coefficients {
        let most = if self.longest > 0.0 {
            radius / self.longest
        } else {
            f64::INFINITY
        };
        let bets = [
            self.length.value(self.stake * radius),
            self.share.value(self.stake),
        ];
        let (m, w) = (bets[0].clamp(0.0, most), bets[1].clamp(0.0, 1.0));
        let potential = root_of_squares(radius * self.sums.sum_norm(), self.beta);
        let round = if potential > 0.0 {
            -radius * (radius / potential)
        } else {
            0.0
        };
        Coefficients {
            bets,
            most,
            m,
            potential,
            round,
            along: ((1.0 - w) * m, w * round),
        }
    }
}

struct Coin {
    set: SharedSet,
    radius: f64,
    state: State,
    mix: Coefficients,
    /// A gradient with a ridge term, with every entry.
    written: Vec<f64>,
    /// A planned round, and its row.
    planned: Option<Outcome>,
    held: HeldRow,
}

impl Point for Coin {
    fn dim(&self) -> usize {
        self.state.sums.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.state.sums.dim())?;
        let ((k, l), (ay, ac)) = (self.mix.along, self.state.sums.dot(row));
        Ok(k * ay + l * ac)
    }

    fn norm_squared(&self) -> f64 {
        let Products { yy, yc, cc } = self.state.sums.products();
        let (k, l) = self.mix.along;
        (k * (k * yy + 2.0 * (l * yc)) + l * (l * cc)).max(0.0)
    }

    fn write(&self, out: &mut [f64]) {
        self.state.sums.write(self.mix.along, out);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        self.state.sums.for_each_nonzero(self.mix.along, each);
    }

    /// Both parts lie in the ball. Their inner products are recomputed when their error may reach
    /// 1e-10, which is less than 2²⁰ rounding units.
    fn accuracy(&self) -> Accuracy {
        Accuracy {
            dot: 4.0,
            norm: 1_048_576.0,
        }
    }
}

/// The result of a round, without the sums of gradients.
#[derive(Clone, Copy)]
pub(crate) struct Outcome {
    record: Record,
    /// The factors of the gradient's row and ridge term.
    scale: f64,
    ridge: f64,
    /// β after the round.
    beta: f64,
    length: CoinBet,
    share: CoinBet,
}

impl Coin {
    /// β after a gradient of this norm.
    fn beta(&self, norm: f64) -> f64 {
        if norm == 0.0 {
            return self.state.beta;
        }
        // (L/2)‖g‖²/√(h² + β²) with L = r², but at most the ball's width: as in gauge-ftrl
        let pull = self.radius * norm;
        self.state.beta + f64::min(0.5 * pull * (pull / self.mix.potential), 2.0 * pull)
    }

    /// Computes the record and both bets from ⟨a, y⟩, ⟨a, c⟩ and ‖x‖² before the round. If the
    /// gradient has a ridge term, the sums do not contain it yet.
    fn weigh(
        &self,
        gradient: &Gradient<'_>,
        (ay, ac): (f64, f64),
        (norm, beta): (f64, f64),
        xx: f64,
    ) -> Outcome {
        let Self { state, mix, .. } = self;
        let Gradient { scale, ridge, .. } = *gradient;
        let (k, l) = mix.along;
        // ⟨g, y⟩ and ⟨g, c⟩
        let mut gy = scale * ay;
        let mut gc = scale * ac;
        if ridge != 0.0 {
            // A ridge term costs O(d) in any case.
            let Products { yy, yc, cc } = state.sums.summed_up();
            gy += ridge * (k * yy + l * yc);
            gc += ridge * (k * yc + l * cc);
        }
        let mut length = state.length;
        length.update(gy, mix.bets[0], mix.most);
        let mut share = state.share;
        share.update(mix.round * gc - mix.m * gy, mix.bets[1], 1.0);
        let mut record = Record::new(state.rounds + 1, norm, k * gy + l * gc, xx);
        record.sigma = mix.m;
        Outcome {
            record,
            scale,
            ridge,
            beta,
            length,
            share,
        }
    }

    /// Adds the gradient to the sums. Returns ⟨a, y⟩ and ⟨a, c⟩ before the change.
    fn absorb(&mut self, gradient: &Gradient<'_>, beta: f64) -> (f64, f64) {
        let sums = &mut self.state.sums;
        let floor = beta / self.radius;
        if gradient.ridge == 0.0 {
            return sums.absorb(floor, gradient.scale, &gradient.row);
        }
        let (k, l) = self.mix.along;
        self.written.resize(sums.dim(), 0.0);
        let pulled = (gradient.ridge * k, gradient.ridge * l);
        sums.write(pulled, &mut self.written);
        gradient.row.add_to(gradient.scale, &mut self.written);
        sums.absorb(floor, 1.0, &Row::Dense(&self.written))
    }

    /// Completes the round after the gradient was added to the sums.
    fn settle(&mut self, weighed: &Outcome) {
        let (state, record) = (&mut self.state, &weighed.record);
        let norm = record.gradient_norm;
        state.rounds = record.round;
        state.beta = weighed.beta;
        state.spread = (state.spread * state.spread + norm * norm).sqrt();
        state.length = weighed.length;
        state.share = weighed.share;
        state.longest = state.longest.max(state.sums.products().yy.max(0.0).sqrt());
        state.played.add(record.gradient_dot);
        // the two parts of a gradient may cancel, but their rounding errors do not
        state.gradients += norm + 2.0 * weighed.ridge.abs() * self.radius;
        // The error of ‖c‖ is at most 1e-4 times ‖c‖ and the spread: see `CoordinateSums::absorb`,
        // whose floor β/r is at most √5 times the spread.
        state.sizes += 1.0001 * state.sums.sum_norm() + 1e-4 * state.spread;
        self.mix = state.mix(self.radius);
    }
}

impl Body for Coin {
    type Plan = ();

    fn point(&self) -> &dyn Point {
        self
    }

    fn plan(&mut self, _round: u64, gradient: &Gradient<'_>, sure: bool) -> Planned<Self> {
        gradient.row.check_shape(self.state.sums.dim())?;
        let row_norm = kernel::norm(gradient.row.values());
        let xx = self.norm_squared();
        let gradient = &gradient.admit(row_norm, xx)?;
        if sure && gradient.ridge == 0.0 {
            let norm = gradient.norm_from(row_norm, 0.0, 0.0);
            let beta = self.beta(norm);
            // a row with factor 0 is not read
            let dots = match norm {
                0.0 => (0.0, 0.0),
                _ => self.absorb(gradient, beta),
            };
            let weighed = self.weigh(gradient, dots, (norm, beta), xx);
            self.settle(&weighed);
            return Ok((weighed.record, ()));
        }
        let dots = match gradient.scale {
            0.0 => (0.0, 0.0),
            _ => self.state.sums.dot(&gradient.row),
        };
        let (k, l) = self.mix.along;
        let norm = gradient.norm_from(row_norm, k * dots.0 + l * dots.1, xx);
        let beta = self.beta(norm);
        let weighed = self.weigh(gradient, dots, (norm, beta), xx);
        self.held.hold(&gradient.row);
        self.planned = Some(weighed);
        Ok((weighed.record, ()))
    }

    fn commit(&mut self, (): ()) {
        let Some(weighed) = self.planned else {
            return;
        };
        self.planned = None;
        if weighed.record.gradient_norm > 0.0 {
            let held = std::mem::take(&mut self.held);
            let gradient = Gradient {
                row: held.row(),
                scale: weighed.scale,
                ridge: weighed.ridge,
            };
            self.absorb(&gradient, weighed.beta);
            self.held = held;
        }
        self.settle(&weighed);
    }

    fn discard(&mut self) {
        self.planned = None;
    }

    fn guarantee(&self, _: &RunStatistics) -> Option<Guarantee> {
        let bets = self.state.share.regret_bound(self.state.stake);
        Some(theory::coin_ftrl(self.state.beta, bets))
    }

    fn certificate(&self) -> Option<Certificate> {
        let state = &self.state;
        if state.rounds == 0 {
            return None;
        }
        // ‖c‖ is computed from the entries, because the running products lose digits by
        // cancellation. In every round an entry of c gets two rounding errors, one from the sum and
        // one from g. A product ⟨g, x⟩ has two rounding errors per entry, because both parts of x
        // lie in the ball. The norm of c has the rounding errors of ‖c‖².
        let norm = state.sums.summed_up().cc.sqrt();
        let products = 2.0 * rounding::of_dot(state.sums.dim());
        let rounding = self.radius
            * (UNIT * (state.sizes + state.gradients) + products * (state.gradients + norm))
            * (1.0 + 2.0 * state.rounds as f64 * UNIT);
        Some(Certificate {
            level: Level::Linear,
            strong_convexity: 0.0,
            regret: state.played.value() + self.radius * norm + rounding,
            rounding,
        })
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.state, self.state.sums.save()))
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let (mut state, sums): (State, SavedSums) = decode(saved)?;
        state.sums = CoordinateSums::restored(&sums, self.set.dim())?;
        self.mix = state.mix(self.radius);
        self.state = state;
        Ok(())
    }

    fn reserve(&mut self, set: &SharedSet) -> Result<()> {
        self.state.sums.reserve(set.dim())
    }

    fn grow(&mut self, set: SharedSet) {
        self.state.sums.grow(set.dim());
        self.set = set;
    }
}
