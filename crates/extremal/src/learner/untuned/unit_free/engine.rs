//! One round of the learner: it predicts with both members and their mean, mixes these predictions,
//! and learns from the label.

use serde::{Deserialize, Serialize};

use crate::kernel::LANES;
use crate::learner::untuned::coin_ftrl::coin_bet::CoinBet;
use crate::learner::untuned::unit_free::ada_hedge::AdaHedge;
use crate::learner::untuned::unit_free::guard::{Belief, Guard};
use crate::learner::untuned::unit_free::table::Table;
use crate::learner::untuned::unit_free::terms::{Block, Feature, Row, Slopes, Steps, learn};
use crate::learner::{Example, Learnt, Record};
use crate::loss::Labels;
use crate::range::{SMALLEST_DIRECTION, check_size};
use crate::rounding::{UNIT, Wide};
use crate::{Error, Result};

/// The stake of the bet that sets the share of Gauge-FTRL in member 1.
pub(super) const STAKE: f64 = 1.0 / 1024.0;

/// The stake on the raw direction, times the norm of the row, is at most this many units of the labels.
const RAW_CAP: f64 = 4.0;

/// The factor of the stake on the centred direction, for a loss that models a probability.
const CENTRED_STAKE: f64 = 4.0;

/// Member 2 bets this fraction of the amount that coin betting proposes. Of all fractions, one half
/// has the largest growth that the inequality ln(1 + z) ≥ z − z² proves.
const CAUTION: f64 = 0.5;

/// Σ(c/M)² is computed exactly again after this many non-zeros per feature.
const REFRESH: u64 = 16;

/// The settings of the learner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// The radius of the ellipsoid, as a multiple of the largest label.
    pub radius: f64,
    /// Whether feature 0 is the intercept.
    pub intercept: bool,
    /// Whether predictions are clipped to the range of the labels seen.
    pub clip: bool,
}

impl Settings {
    /// Calls `each` with every entry of the row that is not 0. Refuses a row that has an entry that is
    /// not finite, and a row that lacks the intercept.
    #[inline]
    fn for_each_entry(
        &self,
        row: &crate::Row<'_>,
        mut each: impl FnMut(usize, f64) -> Result<()>,
    ) -> Result<()> {
        let (mut starts_with_one, mut finite) = (false, true);
        for (index, value) in row.entries() {
            finite &= value.is_finite();
            if value.abs() >= SMALLEST_DIRECTION {
                starts_with_one |= index == 0 && value == 1.0;
                each(index, value)?;
            }
        }
        if !finite {
            row.check_finite()?;
        }
        if self.intercept && !starts_with_one {
            return Err(Error::Unsupported(
                "unit-free with an intercept needs the value 1 for feature 0 in every row".into(),
            ));
        }
        Ok(())
    }
}

/// The learner's state, except the numbers of the features.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct State {
    pub rounds: u64,
    /// Whether the labels are ±1; `None` before the first round.
    pub signs: Option<bool>,
    /// Whether the loss models a probability.
    probability: bool,
    /// Σ weight, Σ weight·label, and the total weight of the label +1, over the labels that the learner
    /// learnt from. The running mean may restart these sums.
    weight: f64,
    label_sum: f64,
    positive: f64,
    /// The smallest and the largest label.
    pub range: Option<(f64, f64)>,
    /// The unit of the labels: their largest distance from the running mean.
    unit: f64,
    label_guard: Guard,
    /// The radius r of the ellipsoid.
    pub radius: f64,
    /// The sums, over the rounds, of the norms of the scaled, the raw and the centred row.
    norms: [f64; 3],
    /// AdaHedge over three experts: member 1, member 2 and their mean.
    pub mixture: AdaHedge,
    /// Member 1 bets on the scaled and the raw direction; member 2 bets on the scaled and the centred
    /// direction. The bet `share` sets the share of Gauge-FTRL in member 1.
    bets: [CoinBet; 4],
    pub share: CoinBet,
    /// Σd and Σd² of each member.
    slopes: [f64; 2],
    slope_squares: [f64; 2],
    /// The largest |d| of each member.
    steepest: [f64; 2],
    /// Σz·S: the inner product of the centred direction z and the sums S of the features' values.
    centre: f64,
    /// The numbers β and Σ(c/M)² of Gauge-FTRL.
    pub beta: f64,
    squares: f64,
    /// The total cost of the growths of r to Gauge-FTRL.
    pub jumps: f64,
    /// The sum of the losses from which member 1 did not learn in full.
    pub forgiven: f64,
    /// Member 1's Σ|d|·‖a/M‖ over the rounds in which the guard altered the row or the label.
    altered: f64,
    /// Σd·p and Σ|d·p|, where p is the prediction played and d the slope there.
    pub played: Wide,
    pub sizes: f64,
    /// R_t, which is Σ|d|·‖a/M‖ up to round t, and ΣR_t.
    pub rows: f64,
    pub row_sums: f64,
    /// A bound on the sum of the rounding errors of the losses.
    pub loss_errors: f64,
    /// The number of non-zeros since `squares` was last computed exactly.
    added: u64,
}

/// The predictions of a round, and the numbers from which they were computed.
#[derive(Debug, Clone, Copy, Default)]
struct Now {
    /// The row's inner products with the four directions, in the order of [`State`]'s `bets`.
    products: [f64; 4],
    /// The bets on the four directions, and on the share of Gauge-FTRL.
    bets: [f64; 4],
    share: f64,
    /// The scales of the bets on the four directions.
    scales: [f64; 4],
    /// The predictions of coin betting and of Gauge-FTRL, and the latter's √(r²Σ(c/M)² + β²).
    coin: f64,
    round: f64,
    potential: f64,
    /// The predictions of both members, before and after clipping.
    raw: [f64; 2],
    clipped: [f64; 2],
    /// The weights of member 1, of member 2 and of their mean.
    weights: [f64; 3],
}

impl Now {
    /// The predictions of the three experts.
    fn experts(&self) -> [f64; 3] {
        let [first, second] = self.clipped;
        [first, second, 0.5 * (first + second)]
    }

    /// The prediction played.
    fn played(&self) -> f64 {
        self.weights
            .iter()
            .zip(self.experts())
            .map(|(w, p)| w * p)
            .sum()
    }
}

/// The learner's settings and numbers, and memory for a row.
pub(super) struct Engine {
    pub settings: Settings,
    pub state: State,
    pub table: Table,
    /// The row of the round: the slots and values of its features, and blocks of eight features.
    slots: Vec<u32>,
    values: Vec<f64>,
    blocks: Vec<Block>,
}

impl Engine {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            state: State::default(),
            table: Table::default(),
            slots: Vec::new(),
            values: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Plays a round. If it fails, the state and the table stay as they were.
    pub fn learn(&mut self, example: &Example<'_>) -> Result<Learnt> {
        let (state, known) = (self.state, self.table.indices().len());
        let learnt = self.play(example);
        if learnt.is_ok() && example.weight > 0.0 {
            self.refresh();
        } else {
            // For an example of weight 0, the learner predicts and counts a round, but does not learn.
            self.state = state;
            self.state.rounds += u64::from(learnt.is_ok());
            self.table.truncate(known);
        }
        learnt
    }

    /// Plays a round. If it fails, the state is undefined and the table may hold new features, but the
    /// features that were known are unchanged.
    fn play(&mut self, example: &Example<'_>) -> Result<Learnt> {
        let settings = self.settings;
        self.state.start(&settings, example)?;
        let mut row = self.read(&example.row)?;
        let state = &mut self.state;
        let now = state.predict(&settings, &row, example.weight);
        let prediction = now.played();
        let (loss, slope) = example.loss_at(prediction, example.label);
        if !(prediction.is_finite() && loss.is_finite() && slope.is_finite()) {
            let what = format!("the loss at the prediction {prediction} is not a number");
            return Err(Error::numerical(state.rounds, what));
        }
        let norm = row.given.sqrt();
        let first = state.signs == Some(false) && state.range.is_none();
        let believed = state.believe(example.label);
        let length = f64::max(norm, 1.0);
        check_size("row", norm)?;
        check_size("gradient", slope.abs() * length)?;
        let members = match believed {
            Some((label, _)) if !first => {
                if label != example.label {
                    row.altered = true;
                    state.forgiven += loss;
                }
                let experts = now.experts().map(|p| example.loss_at(p, label));
                for (_, slope) in experts {
                    check_size("gradient", slope.abs() * length)?;
                }
                state
                    .mixture
                    .add(&now.weights, experts.map(|(loss, _)| loss));
                update(state, &now, &row, experts)
            }
            _ => {
                state.forgiven += loss;
                [0.0; 2]
            }
        };
        certify(state, (prediction, loss, slope), row.reach[1].sqrt());
        let radius = state.radius;
        if let Some((label, restarts)) = believed {
            state.count(&settings, label, example.weight, restarts);
        }
        if example.weight > 0.0 {
            self.write(members, slope);
        }
        // r grows for the next round, whose sums include this round's gradient.
        let state = &mut self.state;
        let growth = state.radius - radius;
        state.jumps += growth * (state.squares.max(0.0).sqrt() + state.altered);
        let rounds = self.state.rounds;
        let mut record = Record::new(rounds, slope.abs() * norm, slope * prediction, f64::NAN);
        record.sigma = now.weights[0];
        Ok(Learnt {
            prediction,
            loss,
            slope,
            record,
        })
    }

    /// The first pass over the row.
    fn read(&mut self, row: &crate::Row<'_>) -> Result<Row> {
        let Self {
            settings,
            state,
            table,
            slots,
            values,
            blocks,
        } = self;
        slots.resize(row.stored(), 0);
        values.resize(row.stored(), 0.0);
        let mut counted = 0;
        settings.for_each_entry(row, |index, value| {
            slots[counted] = table.slot_or_new(index)?;
            values[counted] = value;
            counted += 1;
            Ok(())
        })?;
        slots.truncate(counted);
        values.truncate(counted);
        table.prefetch(slots);
        let known = (table.features(), table.steps());
        Ok(state.read(settings, known, (slots, values), blocks))
    }

    /// The prediction that the learner would play next for this row, with the weight 1.
    pub fn predict(&self, row: &crate::Row<'_>) -> Result<f64> {
        let (mut features, mut steps, mut values) = (Vec::new(), Vec::new(), Vec::new());
        self.settings.for_each_entry(row, |index, value| {
            let (feature, own) = self.table.copy(index);
            features.push(feature);
            steps.push(own);
            values.push(value);
            Ok(())
        })?;
        let slots: Vec<u32> = (0..).take(features.len()).collect();
        let mut state = self.state;
        state.rounds += 1;
        let row = state.read(
            &self.settings,
            (&features, &steps),
            (&slots, &values),
            &mut Vec::new(),
        );
        Ok(state.predict(&self.settings, &row, 1.0).played())
    }

    /// The second pass over the row, given the members' slopes and the slope at the prediction played.
    fn write(&mut self, members: [f64; 2], played: f64) {
        let state = &mut self.state;
        let total = (state.slopes[1], state.slope_squares[1]);
        let centres = self.settings.intercept && members[1] != 0.0;
        let slopes = Slopes {
            members,
            played,
            total: centres.then_some(total),
        };
        let [squares, centre] = learn(&mut self.blocks, slopes);
        self.table.store(&self.blocks, &self.slots, state.rounds);
        state.squares += squares;
        state.centre += centre;
        state.added += self.slots.len() as u64;
    }

    /// Computes Σ(c/M)² exactly, if this costs little compared with the rounds since the last time.
    fn refresh(&mut self) {
        if self.state.added >= REFRESH * self.table.indices().len() as u64 {
            self.state.added = 0;
            self.state.squares = self.norm_of(Feature::c).powi(2);
        }
    }

    /// √Σ(w/M)² over the features, where `of` gives the number w of a feature.
    pub fn norm_of(&self, of: impl Fn(&Feature) -> f64) -> f64 {
        let seen = self.table.features().iter().filter(|f| f.largest() > 0.0);
        let parts = seen.map(|feature| (of(feature) / feature.largest()).powi(2));
        parts.sum::<f64>().sqrt()
    }
}

impl State {
    /// Starts a round. Fails if the kind of the labels has changed.
    fn start(&mut self, settings: &Settings, example: &Example<'_>) -> Result<()> {
        let signs = example.labels == Labels::Signs;
        if *self.signs.get_or_insert(signs) != signs || example.labels == Labels::None {
            return Err(Error::Unsupported(
                "unit-free needs one kind of labels in all rounds: numbers, or two classes".into(),
            ));
        }
        if self.rounds == 0 && signs {
            (self.unit, self.radius) = (1.0, settings.radius);
        }
        self.rounds += 1;
        self.probability = example.probability;
        Ok(())
    }

    /// The first pass over a row, given the slots and values of its features.
    fn read(
        &mut self,
        settings: &Settings,
        known: (&[Feature], &[Steps]),
        (slots, values): (&[u32], &[f64]),
        blocks: &mut Vec<Block>,
    ) -> Row {
        let (intercept, mut found) = (settings.intercept, Row::default());
        blocks.resize(slots.len().div_ceil(LANES), Block::default());
        let eights = slots.chunks(LANES).zip(values.chunks(LANES));
        for (block, (slots, values)) in blocks.iter_mut().zip(eights) {
            found.load(block, known, slots, values);
        }
        let total = intercept.then_some((self.slopes[1], self.slope_squares[1]));
        found.count(blocks, self.rounds as f64, total);
        if intercept {
            found.units[2] += 1.0;
        }
        self.squares = (self.squares + found.squares).max(0.0);
        self.centre += found.centre;
        found
    }

    /// The predictions for the row that was loaded.
    fn predict(&mut self, settings: &Settings, row: &Row, weight: f64) -> Now {
        let Settings {
            intercept, clip, ..
        } = *settings;
        let rounds = self.rounds as f64;
        let [scaled1, raw1, scaled2, centred, pull] = row.products;
        self.centre += centred;
        let centred = match intercept {
            true => row.first + centred - self.centre / rounds,
            false => 0.0,
        };
        let products = [scaled1, raw1, scaled2, centred];
        for (sum, square) in self.norms.iter_mut().zip(row.units) {
            *sum += square.sqrt();
        }
        // The slope of a logistic loss is at most the weight; for other losses, use the largest so far.
        let steepest = match self.probability {
            true => [weight; 2],
            false => self.steepest,
        };
        let scales =
            std::array::from_fn(|k| self.bets[k].scale_for(steepest[k / 2] * products[k].abs()));
        let bets = self.coin_bets(row.units[1].sqrt(), scales);
        let m = bets.map(|bet| bet.max(0.0));
        let share = self.share.value(STAKE);
        let w = share.clamp(0.0, 1.0);
        let coin = m[0] * products[0] + m[1] * products[1];
        let potential = self.potential();
        let round = self.round_factor() * pull;
        let null = if intercept { self.null() } else { 0.0 };
        let raw = [
            (1.0 - w) * coin + w * round,
            null + m[2] * products[2] + m[3] * products[3],
        ];
        // the largest prediction of any point of the ellipsoid
        let limit = self.radius * row.reach[0].sqrt();
        let (low, high) = match self.range {
            Some((low, high)) if clip => (low.clamp(-limit, limit), high.clamp(-limit, limit)),
            _ => (-limit, limit),
        };
        Now {
            products,
            bets,
            share,
            scales,
            coin,
            round,
            potential,
            raw,
            clipped: raw.map(|p| p.max(low).min(high)),
            weights: self.mixture.weights(),
        }
    }

    /// The label to learn from, and whether the running mean restarts. `None` if the label is a strike.
    fn believe(&mut self, label: f64) -> Option<(f64, bool)> {
        if self.signs == Some(true) || self.range.is_none() {
            return Some((label, false));
        }
        let off = label - self.mean();
        let (unit, rounds) = (self.unit, (self.rounds - 1) as f64);
        match self.label_guard.believe(off.abs(), unit, rounds) {
            // A label that is believed unchanged must not be rounded.
            Belief::Size(size) if size == off.abs() => Some((label, false)),
            Belief::Size(size) => Some((self.mean() + size.copysign(off), false)),
            Belief::Changed(size) => Some((self.mean() + size.copysign(off), true)),
            Belief::Struck => None,
        }
    }

    /// Adds a label to the running mean, the range, the unit and the radius.
    fn count(&mut self, settings: &Settings, label: f64, weight: f64, restarts: bool) {
        if self.signs == Some(false) {
            let off = (label - self.mean()).abs();
            if self.range.is_some() {
                self.unit = self.unit.max(off);
            }
            let needed = settings.radius * label.abs().max(off);
            if needed > self.radius {
                self.radius = needed.log2().ceil().exp2();
            }
            if restarts {
                (self.weight, self.label_sum) = (0.0, 0.0);
            }
            let (low, high) = self.range.unwrap_or((label, label));
            self.range = Some((low.min(label), high.max(label)));
            self.label_sum += weight * label;
        }
        self.weight += weight;
        self.positive += if label > 0.0 { weight } else { 0.0 };
    }

    /// The running mean of the labels; 0 before the first label.
    fn mean(&self) -> f64 {
        quotient(self.label_sum, self.weight)
    }

    /// The prediction that ignores the features: the running mean or, for two classes, the logarithm of
    /// the odds. For a loss without probabilities, the logarithm is clipped to [−1, 1].
    pub fn null(&self) -> f64 {
        if self.signs != Some(true) {
            return self.mean();
        }
        let odds = (self.positive + 1.0) / (self.weight - self.positive + 1.0);
        match self.probability {
            true => odds.ln(),
            false => odds.ln().clamp(-1.0, 1.0),
        }
    }

    /// The bets on the lengths of the four directions, for a row that has this norm and these scales.
    pub fn coin_bets(&self, raw_norm: f64, scales: [f64; 4]) -> [f64; 4] {
        let stake = |k: usize| quotient(self.unit * self.rounds as f64, self.norms[k]);
        let raw = match raw_norm > 0.0 {
            true => stake(1).min(RAW_CAP * self.unit / raw_norm),
            false => stake(1),
        };
        let centred = stake(2) * if self.probability { CENTRED_STAKE } else { 1.0 };
        let stakes = [stake(0), raw, stake(0), centred];
        let parts = [1.0, 1.0, CAUTION, CAUTION];
        std::array::from_fn(|k| parts[k] * self.bets[k].value_at(stakes[k], scales[k]))
    }

    /// The bets before a row is known.
    pub fn plain_bets(&self) -> [f64; 4] {
        self.coin_bets(0.0, self.bets.map(|bet| bet.scale_for(0.0)))
    }

    fn potential(&self) -> f64 {
        (self.radius * self.radius * self.squares + self.beta * self.beta).sqrt()
    }

    /// The factor of Σc·a/M² in the prediction of Gauge-FTRL.
    pub fn round_factor(&self) -> f64 {
        -self.radius * quotient(self.radius, self.potential())
    }

    /// The amount that member 2 subtracts for the features' means, per unit of the centred bet.
    pub fn offset(&self) -> f64 {
        quotient(self.centre, self.rounds as f64)
    }
}

/// The quotient a/b, or 0 if b is 0.
fn quotient(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Updates the members' bets and β, given the losses and slopes of the experts. Returns the slopes
/// from which the members learn.
fn update(next: &mut State, now: &Now, row: &Row, experts: [(f64, f64); 3]) -> [f64; 2] {
    let reach = row.reach[0].sqrt();
    let rounds = next.rounds as f64;
    let mut slopes = [0.0; 2];
    for member in 0..2 {
        let (raw, p) = (now.raw[member], now.clipped[member]);
        let (loss, slope) = experts[member];
        // If the prediction was clipped and the label lies beyond the clip, there is nothing to learn.
        let beyond = p != raw && slope * (raw - p) < 0.0;
        let mut own = if beyond { 0.0 } else { slope };
        if row.struck {
            // A row with a struck value changes the sums no more than a usual row.
            let usual = (next.slope_squares[member] / rounds).sqrt();
            own = own.clamp(-usual, usual);
        }
        if member == 0 && row.altered {
            // The comparator's loss at the true row and label may be 0, but the bets paid for the
            // comparator's prediction at the believed row.
            next.forgiven += loss + own.abs() * (p.abs() + next.radius * reach);
            next.altered += own.abs() * reach;
        } else if member == 0 && beyond {
            next.forgiven += loss;
        }
        slopes[member] = own;
        next.slopes[member] += own;
        next.slope_squares[member] += own * own;
        next.steepest[member] = next.steepest[member].max(own.abs());
    }
    let [first, second] = slopes;
    for (k, slope) in [first, first, second, second].into_iter().enumerate() {
        let (q, bet) = (slope * now.products[k], now.bets[k]);
        next.bets[k].update_at(q, bet, f64::INFINITY, now.scales[k]);
    }
    next.share
        .update(first * (now.round - now.coin), now.share, 1.0);
    let pull = next.radius * first.abs() * reach;
    if pull > 0.0 {
        let step = match now.potential > 0.0 {
            true => f64::min(0.5 * pull * (pull / now.potential), 2.0 * pull),
            false => 2.0 * pull,
        };
        next.beta += step;
    }
    slopes
}

/// Adds the prediction played, its loss and its slope to the sums of the certificate.
fn certify(next: &mut State, (prediction, loss, slope): (f64, f64, f64), reach: f64) {
    next.played.add_product(slope, prediction);
    next.sizes += (slope * prediction).abs();
    next.rows += slope.abs() * reach;
    next.row_sums += next.rows;
    next.loss_errors += 16.0 * UNIT * loss.abs();
}
