//! unit-free: the learner for raw data. The units of features and labels do not matter, and neither
//! do the offsets of features.
//!
//! **Problem.** The losses are convex functions of ⟨a, x⟩ and a label, and the features have unknown
//! sizes. A round costs O(non-zeros). The set is E_t = {x : Σ(M_i·x_i)² ≤ r²}, where M_i is the
//! largest |a_i| up to round t, and r is 1024 times the largest label (1024 for two classes). A change
//! of a column's units does not change the predictions.
//!
//! **Update.** Two members predict. Each member has its own gradients d·a, where d is the slope of
//! the loss at the member's prediction:
//!
//! - *member 1* is [coin-ftrl](crate::learner::untuned::coin_ftrl) in units of the data. Coin bets set
//!   the lengths of the *scaled* direction y_i/s_i and of the *raw* direction y_i, where
//!   y_i = −c_i/√(Σg_i² + max g_i²) and s_i is the mean |a_i|. Another bet sets the share of
//!   [Gauge-FTRL](crate::learner::frank_wolfe::gauge_ftrl) on E_t;
//! - *member 2* starts from the running mean of the labels (for two classes, the logarithm of the
//!   odds). It adds coin bets on the scaled direction and on a *centred* direction, which is the
//!   scaled direction of the features minus their means. A round updates it at the non-zeros alone.
//!   The centred direction is scaled by the features' deviations. For features far from 0, it is scaled
//!   by their mean steps from row to row.
//!
//! The learner plays a mixture of member 1, member 2 and their mean. AdaHedge (de Rooij et al., 2014)
//! weights the three by their losses. Predictions are clipped to the range of the labels seen.
//!
//! A guard rejects corrupt values. If a value is more than four times the feature's largest size, the
//! guard replaces it by the feature's mean size, until such values repeat. The learner does not learn
//! from a label equally far from the running mean, until such labels repeat.
//!
//! **Guarantee.** Against every point of E_T, regret ≤ 2β + W + 2Δ + J + F. Here β belongs to
//! Gauge-FTRL, W to the bets on the share of Gauge-FTRL, Δ is the mixability gap, J is the cost of the
//! growths of r, and F is the loss of the rounds from which member 1 did not learn in full (the first
//! label of a regression, labels beyond the clip, values that the guard changed). The guide has the
//! proof, and a bound against the running mean.
//!
//! **Reference.** This project combined known parts: see
//! [coin-ftrl](crate::learner::untuned::coin_ftrl) and scale-free features (Ross, Mineiro & Langford,
//! 2013; Kempka, Kotłowski & Warmuth, 2019).

mod ada_hedge;
mod engine;
mod guard;
mod table;
mod terms;

use serde::{Deserialize, Serialize};

use crate::hindsight::ByNorm;
use crate::learner::skeleton::{Acting, Body, check_shape, decode, encode, parameters, settings};
use crate::learner::untuned::unit_free::engine::{Engine, STAKE, Settings, State};
use crate::learner::untuned::unit_free::table::Table;
use crate::learner::untuned::unit_free::terms::{Feature, Steps};
use crate::learner::{
    ByExample, Certificate, Example, Learner, Learnt, Level, MakeLearner, Record, RunStatistics,
    Storage, Uses,
};
use crate::loss::{Loss, Objective};
use crate::parameter::fields;
use crate::rounding::{self, UNIT};
use crate::set::{SharedSet, Structure};
use crate::spec::{About, Described, Kind};
use crate::theory::{self, Guarantee};
use crate::{Error, Gradient, Point, Result, Row};

const NAME: &str = "unit-free";

fields! {
    /// Spec of `unit-free`.
    pub struct UnitFree {
        /// whether feature 0 is an intercept, with the value 1 in every row. The learner needs an intercept to start from the running mean and to centre features. `extremal learn` adds an intercept unless this parameter is false
        pub intercept: Option<bool> = None => Kind::Flag,
        /// do not clip predictions to the range of the labels seen
        pub no_clip: bool = false => Kind::Flag,
    }
}

impl UnitFree {
    /// Whether the learner accepts this kind of loss. The loss must depend on a prediction and a label,
    /// must never be negative, and must have no ridge term.
    pub fn learns<L: Loss + ?Sized>(objective: &Objective<L>) -> bool {
        Example::check(objective).is_ok()
    }
}

impl Described for UnitFree {
    const ABOUT: About = About {
        summary: "tuning-free learner for raw data: neither the units of features and labels nor the features' offsets matter, and corrupt rows do little harm",
        cost: "O(non-zeros) per round; memory for the features seen",
        guarantee: "set unit-free, convex losses: 2β + W + 2Δ + J + F, computed in every round, of order O(√(T ln T))",
        reference: "this project; de Rooij et al., JMLR 2014; Orabona & Tommasi, NeurIPS 2017; Cutkosky & Orabona, COLT 2018",
        citations: &[
            "Extremal",
            "OrabonaTommasi2017",
            "CutkoskyOrabona2018",
            "OrabonaPal2016",
        ],
        examples: &[
            "unit-free",
            "unit-free:intercept=true",
            "unit-free:no-clip=true",
        ],
    };
}

impl MakeLearner for UnitFree {
    fn make(&self, set: &SharedSet, storage: Storage) -> Result<Box<dyn Learner>> {
        let Structure::UnitFree { radius } = set.structure() else {
            return Err(parameters::cannot_play(NAME, &**set, "the set unit-free"));
        };
        // `storage` makes no difference: the learner always stores a table of the features seen.
        let engine = Engine::new(Settings {
            radius,
            intercept: self.intercept == Some(true),
            clip: !self.no_clip,
        });
        let body = Unitless {
            set: set.clone(),
            engine,
        };
        Ok(Box::new(Acting::new(settings(self, storage), body)))
    }

    fn uses(&self) -> Uses {
        Uses::Nothing
    }
}

struct Unitless {
    set: SharedSet,
    engine: Engine,
}

/// The current decision, as factors of the numbers of each feature.
struct Factors {
    /// The factors of member 1's scaled direction, of its raw direction, and of Σg/M².
    scaled1: f64,
    raw1: f64,
    round: f64,
    /// The factors of member 2's scaled direction and of its centred direction.
    scaled2: f64,
    centred: f64,
    /// The part of the intercept's weight that comes from no direction.
    offset: f64,
}

impl Unitless {
    fn factors(&self) -> Factors {
        let state = &self.engine.state;
        let [first, second, mean] = state.mixture.weights();
        let (first, second) = (first + 0.5 * mean, second + 0.5 * mean);
        let m = state.plain_bets().map(|bet| bet.max(0.0));
        let share = state.share.value(STAKE).clamp(0.0, 1.0);
        let coin = first * (1.0 - share);
        let centred = second * m[3];
        let offset = match self.engine.settings.intercept && state.rounds > 0 {
            true => second * state.null() - centred * state.offset(),
            false => 0.0,
        };
        Factors {
            scaled1: coin * m[0],
            raw1: coin * m[1],
            round: first * share * state.round_factor(),
            scaled2: second * m[2],
            centred,
            offset,
        }
    }

    /// The weight of a feature.
    fn weight(&self, factors: &Factors, index: usize, feature: &Feature) -> f64 {
        if feature.largest() == 0.0 {
            return 0.0;
        }
        let [first, second] = feature.directions();
        let per_size = 1.0 / feature.mean_size();
        let (centred, offset) = match index == 0 && self.engine.settings.intercept {
            true => (second, factors.offset),
            false => (feature.z(), 0.0),
        };
        (factors.scaled1 * per_size + factors.raw1) * first
            + factors.round * (feature.c() / feature.largest() / feature.largest())
            + factors.scaled2 * per_size * second
            + factors.centred * centred
            + offset
    }

    /// The factor that scales the decision into the ellipsoid, and the decision's norm before scaling.
    /// The factor is 1, except after rounding or for extremely large bets.
    fn shrinkage(&self, factors: &Factors) -> (f64, f64) {
        let table = &self.engine.table;
        let parts = table.indices().iter().zip(table.features());
        let parts = parts.map(|(index, feature)| {
            self.weight(factors, *index as usize, feature) * feature.largest()
        });
        let norm = parts.map(|part| part * part).sum::<f64>().sqrt();
        match norm > self.engine.state.radius {
            true => (self.engine.state.radius / norm, norm),
            false => (1.0, norm),
        }
    }
}

impl Point for Unitless {
    fn dim(&self) -> usize {
        self.set.dim()
    }

    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        row.check_shape(self.dim())?;
        let (table, factors) = (&self.engine.table, self.factors());
        let weight = |i| {
            let feature = table.get(i);
            feature.map_or(0.0, |feature| self.weight(&factors, i, feature))
        };
        Ok(row.entries().map(|(i, v)| v * weight(i)).sum())
    }

    fn norm_squared(&self) -> f64 {
        let mut sum = 0.0;
        self.for_each_nonzero(&mut |_, weight| sum += weight * weight);
        sum
    }

    fn write(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.dim());
        out.fill(0.0);
        self.for_each_nonzero(&mut |i, weight| out[i] = weight);
    }

    fn for_each_nonzero(&self, each: &mut dyn FnMut(usize, f64)) {
        let (table, factors) = (&self.engine.table, self.factors());
        let (shrinkage, _) = self.shrinkage(&factors);
        for (index, feature) in table.sorted() {
            let weight = shrinkage * self.weight(&factors, index, feature);
            if weight != 0.0 {
                each(index, weight);
            }
        }
    }
}

impl ByExample for Unitless {
    fn predict(&self, row: &Row<'_>) -> Result<f64> {
        if !matches!(row, Row::Dense(_)) {
            row.check_shape(usize::MAX)?;
        }
        self.engine.predict(row)
    }

    fn prefetch(&self, row: &Row<'_>) {
        self.engine.table.prefetch_ahead(row);
    }

    fn range(&self) -> Option<(f64, f64)> {
        let range = self.engine.state.range;
        range.filter(|_| self.engine.settings.clip)
    }

    fn radius(&self) -> f64 {
        self.engine.state.radius
    }

    fn features(&self) -> usize {
        self.engine.table.indices().len()
    }

    fn scale(&self, index: usize) -> f64 {
        let feature = self.engine.table.get(index);
        feature.map_or(0.0, |feature| feature.largest())
    }

    fn violation(&self) -> f64 {
        let (shrinkage, norm) = self.shrinkage(&self.factors());
        match self.radius() > 0.0 {
            true => (shrinkage * norm / self.radius() - 1.0).max(0.0),
            false => 0.0,
        }
    }

    /// The slopes d are exact for the computed losses, up to 8 units in the last place. In every round
    /// that has feature i, the sum Σd·a_i gains two rounding errors: one of d·a_i and one of the sum.
    fn by_norm(&self) -> ByNorm {
        let state = &self.engine.state;
        let grown = 1.0 + 4.0 * state.rounds as f64 * UNIT;
        let norm = self.engine.norm_of(Feature::played);
        let norm = norm * (1.0 + rounding::of_dot(self.engine.table.indices().len()))
            + UNIT * grown * (state.row_sums + 12.0 * state.rows);
        let played = state.played.value();
        let error = UNIT * grown * (4.0 * played.abs() + 12.0 * state.sizes);
        ByNorm::new(
            2.0,
            played + error + 2.0 * grown * state.loss_errors,
            norm,
            0.0,
        )
    }

    fn loss_rounding(&self) -> f64 {
        self.engine.state.loss_errors
    }
}

/// The saved form of the learner: the state, the indices of the features, their numbers, and the steps
/// of features far from 0.
#[derive(Serialize, Deserialize)]
struct Saved {
    state: State,
    indices: Vec<u32>,
    words: Vec<f64>,
    steps: Vec<Steps>,
}

impl Body for Unitless {
    type Plan = ();

    fn point(&self) -> &dyn Point {
        self
    }

    fn plan(&mut self, _: u64, _: &Gradient<'_>, _: bool) -> Result<(Record, Self::Plan)> {
        Err(Error::Unsupported(
            "unit-free takes examples, not gradients: call learn".into(),
        ))
    }

    fn commit(&mut self, (): ()) {}

    fn discard(&mut self) {}

    fn learn(&mut self, example: &Example<'_>) -> Result<Learnt> {
        example.row.check_shape(self.set.dim())?;
        self.engine.learn(example)
    }

    fn by_example(&self) -> Option<&dyn ByExample> {
        Some(self)
    }

    fn guarantee(&self, _: &RunStatistics) -> Option<Guarantee> {
        let state = &self.engine.state;
        let bets = state.share.regret_bound(STAKE);
        Some(theory::unit_free(
            state.beta,
            bets,
            state.mixture.gap,
            state.jumps,
            state.forgiven,
        ))
    }

    fn certificate(&self) -> Option<Certificate> {
        let state = &self.engine.state;
        if state.rounds == 0 {
            return None;
        }
        let regret = self.by_norm().at(state.radius);
        let norm = self.engine.norm_of(Feature::played);
        let rounding = (regret - (state.played.value() + state.radius * norm)).max(0.0);
        Some(Certificate {
            level: Level::Linear,
            strong_convexity: 0.0,
            regret,
            rounding,
        })
    }

    fn set(&self) -> Option<&SharedSet> {
        Some(&self.set)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&Saved {
            state: self.engine.state,
            indices: self.engine.table.indices().to_vec(),
            words: self
                .engine
                .table
                .features()
                .iter()
                .flat_map(Feature::words)
                .collect(),
            steps: self.engine.table.steps().to_vec(),
        })
    }

    fn load(&mut self, saved: &[u8]) -> Result<()> {
        let saved: Saved = decode(saved)?;
        let dim = self.set.dim();
        check_shape(saved.indices.iter().all(|i| (*i as usize) < dim))?;
        let mut numbers = saved.words.iter().chain(saved.steps.as_flattened());
        check_shape(numbers.all(|number| number.is_finite()))?;
        self.engine.table = Table::restored(&saved.indices, &saved.words, &saved.steps)?;
        self.engine.state = saved.state;
        Ok(())
    }

    fn reserve(&mut self, _: &SharedSet) -> Result<()> {
        Ok(())
    }

    fn grow(&mut self, set: SharedSet) {
        self.set = set;
    }
}
