//! The two passes over a row. Each pass handles eight features at a time, because eight roots or
//! quotients take little longer than one. The first pass counts the row's values and computes the
//! products with all directions. The second pass learns from the label.

use crate::kernel::{self, Eight, Formula, ITEM, LANES, Lanes, Part, Simd, compiled_with_caller};
use crate::learner::untuned::unit_free::guard::{Belief, Guard};

/// Statistics of the feature's non-zero values a: their number n, Σ|a|, Σa, Σa² and M = max |a|.
const COUNT: usize = 0;
const SIZES: usize = 1;
const SUM: usize = 2;
const SQUARES: usize = 3;
const LARGEST: usize = 4;
/// The state of the feature's guard.
const GUARD: [usize; 2] = [5, 6];
const ALERT: usize = GUARD[1];
/// The numbers Σg, Σg² and max |g| of each member, where g = d·a.
const C: [usize; 2] = [7, 8];
const V: [usize; 2] = [9, 10];
const TOP: [usize; 2] = [11, 12];
/// Σd²a of member 2, and the centred direction from when the feature was last updated.
const P: usize = 13;
const Z: usize = 14;
/// Σd·a, where d is the slope at the prediction played and a the true value in the row.
const PLAYED: usize = 15;

/// A feature whose spread is at most this part of M is constant.
const CONSTANT: f64 = 1e-7;

/// A feature is far from 0 if its |mean| is more than this many times its deviation.
const FAR: f64 = 16.0;

/// The first deviation of a feature far from 0 counts as this many steps.
const FIRST_STEPS: f64 = 4.0;

/// The last value of a feature far from 0, the sum of the sizes of its steps from value to value, and
/// the number of steps that are not 0. All are 0 for other features.
pub(super) type Steps = [f64; 3];

/// The numbers that are stored for a feature. They take two cache lines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(64))]
pub(super) struct Feature([f64; ITEM]);

impl Feature {
    /// A feature that, with the value 0, adds 0 to every sum of a row.
    const MISSING: Self = {
        let mut words = [0.0; ITEM];
        (words[COUNT], words[SIZES], words[LARGEST]) = (1.0, 1.0, 1.0);
        Self(words)
    };

    pub const fn from_words(words: [f64; ITEM]) -> Self {
        Self(words)
    }

    pub fn words(&self) -> [f64; ITEM] {
        self.0
    }

    /// The largest size M; 0 for a new feature.
    pub fn largest(&self) -> f64 {
        self.0[LARGEST]
    }

    /// The mean of |a|.
    pub fn mean_size(&self) -> f64 {
        self.0[SIZES] / self.0[COUNT]
    }

    /// The sum Σg of member 1.
    pub fn c(&self) -> f64 {
        self.0[C[0]]
    }

    pub fn z(&self) -> f64 {
        self.0[Z]
    }

    pub fn played(&self) -> f64 {
        self.0[PLAYED]
    }

    /// The steps after a round in which the feature had this value. The feature is far from 0 if it was
    /// in every row, and if its |mean| is large compared with its deviation.
    pub fn steps(&self, steps: Steps, value: f64, rounds: f64) -> Steps {
        let [count, sum, squares] = [COUNT, SUM, SQUARES].map(|word| self.0[word]);
        let mean = sum / rounds;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt();
        let varies = deviation > CONSTANT * self.largest();
        if count < rounds || mean.abs() <= FAR * deviation || !varies {
            return Steps::default();
        }
        match steps[0] == 0.0 {
            true => [value, FIRST_STEPS * deviation, FIRST_STEPS],
            false => steps,
        }
    }

    /// The direction −c/√(v + top²) of each member; 0 if all gradients were 0.
    pub fn directions(&self) -> [f64; 2] {
        std::array::from_fn(|k| {
            let [c, v, top] = [C, V, TOP].map(|word| self.0[word[k]]);
            (0.0 - c) / (v + top * top).max(f64::MIN_POSITIVE).sqrt()
        })
    }
}

impl AsRef<[f64; ITEM]> for Feature {
    #[inline]
    fn as_ref(&self) -> &[f64; ITEM] {
        &self.0
    }
}

impl AsMut<[f64; ITEM]> for Feature {
    #[inline]
    fn as_mut(&mut self) -> &mut [f64; ITEM] {
        &mut self.0
    }
}

/// Eight features of a row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    /// The numbers of the features. Each [`Eight`] holds the same number of all eight features.
    words: [Eight; ITEM],
    /// The true values in the row, and the values that the guard believes.
    given: Eight,
    value: Eight,
    /// 1/M, the mean and the spread of each feature.
    per_largest: Eight,
    mean: Eight,
    spread: Eight,
    /// The mean step of a feature far from 0 and 0 for the others, and the steps of the former.
    step: Eight,
    steps: [Eight; 3],
    /// 1 for a feature whose M has grown and 0 for the others, and whether any M has grown.
    growth: Eight,
    grown: bool,
}

impl Block {
    /// Writes the features to the table after the round.
    #[inline]
    pub fn store(&self, table: &mut [Feature], slots: &[u32]) {
        kernel::scatter(&self.words, table, slots);
    }

    /// The steps of a feature after the round, and the value that the guard believes.
    pub fn steps(&self, lane: usize) -> (Steps, f64) {
        let steps = match self.step.0[lane] > 0.0 {
            true => self.steps.map(|word| word.0[lane]),
            false => Steps::default(),
        };
        (steps, self.value.0[lane])
    }

    /// Adds the steps to the values of the row.
    #[cold]
    fn step(&mut self, steps: &[Steps], slots: &[u32]) {
        for (lane, slot) in slots.iter().enumerate() {
            let known = steps.get(*slot as usize).copied().unwrap_or_default();
            let ([last, sum, count], value) = (known, self.value.0[lane]);
            let step = (value - last).abs();
            if last != 0.0 {
                let count = count + f64::from(u8::from(step > 0.0));
                self.step.0[lane] = (sum + step) / count;
                let words = self.steps.iter_mut().zip([value, sum + step, count]);
                words.for_each(|(word, number)| word.0[lane] = number);
            }
        }
    }
}

/// The sums that the first pass computes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row {
    /// Σ(a/s)² with the mean sizes s, Σa² and Σ((a − mean)/spread)².
    pub units: [f64; 3],
    /// Σ(a/M)² of the believed values, and of the true values.
    pub reach: [f64; 2],
    /// Σa² of the true values.
    pub given: f64,
    /// The inner products with the scaled and the raw direction of member 1 and with the scaled and the
    /// centred direction of member 2, and Σc·a/M² of member 1.
    pub products: [f64; 5],
    /// The entry of member 2's direction for the first feature.
    pub first: f64,
    /// The change of member 1's Σ(c/M)² because an M has grown.
    pub squares: f64,
    /// The change of Σz·S because a centred direction z was updated. S is the sum of a feature's values.
    pub centre: f64,
    /// Whether the guard struck a value, and whether it altered one.
    pub struck: bool,
    pub altered: bool,
}

impl Row {
    /// Loads up to eight features and their values into a block.
    #[inline]
    pub fn load(
        &mut self,
        block: &mut Block,
        (table, steps): (&[Feature], &[Steps]),
        slots: &[u32],
        values: &[f64],
    ) {
        kernel::gather(table, slots, &Feature::MISSING, &mut block.words);
        block.given = Eight::default();
        block.given.0[..values.len()].copy_from_slice(values);
        block.value = block.given;
        block.grown = false;
        let mut unusual = false;
        for (slot, value) in slots.iter().zip(values) {
            let Feature(words) = &table[*slot as usize];
            unusual |= value.abs() > words[LARGEST] || words[ALERT] > 0.0;
        }
        if unusual {
            self.doubt(block, values.len());
        }
        block.step = Eight::default();
        if !steps.is_empty() {
            block.step(steps, slots);
        }
    }

    /// Asks the guards about the values in the first `lanes` lanes. A struck value is replaced by the
    /// mean size of its feature.
    #[cold]
    fn doubt(&mut self, block: &mut Block, lanes: usize) {
        for lane in 0..lanes {
            let word = |k: usize| block.words[k].0[lane];
            let [count, largest, c] = [word(COUNT), word(LARGEST), word(C[0])];
            let mut guard = Guard::load(GUARD.map(word));
            let given = block.given.0[lane];
            let size = match guard.believe(given.abs(), largest, count) {
                Belief::Size(size) | Belief::Changed(size) => size,
                Belief::Struck => {
                    self.struck = true;
                    word(SIZES) / count
                }
            };
            for (word, number) in GUARD.into_iter().zip(guard.words()) {
                block.words[word].0[lane] = number;
            }
            block.value.0[lane] = size.copysign(given);
            self.altered |= size != given.abs();
            block.grown |= size > largest;
            if size > largest && largest > 0.0 {
                self.squares += (c / size).powi(2) - (c / largest).powi(2);
            }
        }
    }

    /// The first pass over the blocks of a row in round `rounds`. `total` is (Σd, Σd²) of member 2;
    /// if `total` is `None`, no feature is centred.
    pub fn count(&mut self, blocks: &mut [Block], rounds: f64, total: Option<(f64, f64)>) {
        let per_round = 1.0 / rounds;
        let sums = kernel::apply(blocks, Count { rounds, per_round });
        let [scaled, raw, centred, reach, of_given, given, products @ ..] = sums;
        self.units = [scaled, raw, centred];
        self.reach = [reach, of_given];
        self.given = given;
        self.products = products;
        for block in &mut *blocks {
            if block.grown {
                self.recentre(block, total);
            }
        }
        if let Some(block) = blocks.first() {
            self.first = direction(Part::single(0), block, 1).number();
        }
    }

    /// Updates the centred directions of the features whose M has grown, because they depend on M. Adds
    /// the products with these directions.
    #[cold]
    fn recentre(&mut self, block: &mut Block, total: Option<(f64, f64)>) {
        for lane in (0..LANES).filter(|lane| block.growth.0[*lane] > 0.0) {
            let value = block.value.0[lane];
            if let Some(total) = total {
                let z = centred(Part::single(lane), block, total).number();
                let change = z - std::mem::replace(&mut block.words[Z].0[lane], z);
                self.centre += change * (block.words[SUM].0[lane] - value);
            }
            self.products[3] += block.words[Z].0[lane] * value;
        }
    }
}

/// Counts the values of a row, and computes the sums of [`Row`], in the order of its fields.
///
/// The mean of a feature is taken over all rounds. The spread is the root mean square distance from
/// the mean, over the rounds in which the feature is not 0. For a feature far from 0, the spread is
/// its mean step instead, to which a heavy tail matters less. For a feature that is 0 in some rounds,
/// the spread is at least |mean|, so that division by it does not make rare features too large. The
/// spread of a constant feature is 0.
#[derive(Clone, Copy)]
struct Count {
    rounds: f64,
    per_round: f64,
}

impl Formula<Block, 11> for Count {
    compiled_with_caller! {
        fn apply<S: Simd>(self, part: Part<S>, block: &mut Block, sums: &mut [Lanes<S>; 11]) {
            let [zero, one, two] = [part.all(0.0), part.all(1.0), part.all(2.0)];
            let [value, given] = [part.of(&block.value), part.of(&block.given)];
            let size = value.abs();
            let count = part.of(&block.words[COUNT]) + one;
            let sizes = part.of(&block.words[SIZES]) + size;
            let sum = part.of(&block.words[SUM]) + value;
            let squares = part.of(&block.words[SQUARES]) + value * value;
            let former = part.of(&block.words[LARGEST]);
            let largest = size.max(former);

            let mean = sum * part.all(self.per_round);
            let square = squares + mean * (count * mean - two * sum);
            let rare = part.all(self.rounds).if_above(count, mean.abs(), zero);
            let (step, deviation) = (part.of(&block.step), (square / count).max(zero).sqrt());
            let spread = step.if_above(zero, step, deviation).max(rare);
            let constant = part.all(CONSTANT) * largest;

            let per_largest = one / largest;
            let scaled = value * (count / sizes);
            let distance = spread.if_above(constant, (value - mean) / spread, zero);
            let (in_largest, given_in_largest) = (value * per_largest, given * per_largest);
            sums[0] += scaled * scaled;
            sums[1] += value * value;
            sums[2] += distance * distance;
            sums[3] += in_largest * in_largest;
            sums[4] += given_in_largest * given_in_largest;
            sums[5] += given * given;

            let first = direction(part, block, 0);
            let second = direction(part, block, 1);
            // `recentre` updates the centred direction of a feature whose M has grown
            let growth = largest.if_above(former, one, zero);
            let centred = largest.if_above(former, zero, part.of(&block.words[Z]));
            sums[6] += first * scaled;
            sums[7] += first * value;
            sums[8] += second * scaled;
            sums[9] += centred * value;
            sums[10] += part.of(&block.words[C[0]]) * (in_largest * per_largest);

            part.set(&mut block.words[COUNT], count);
            part.set(&mut block.words[SIZES], sizes);
            part.set(&mut block.words[SUM], sum);
            part.set(&mut block.words[SQUARES], squares);
            part.set(&mut block.words[LARGEST], largest);
            part.set(&mut block.per_largest, per_largest);
            part.set(&mut block.mean, mean);
            part.set(&mut block.spread, spread.if_above(constant, spread, zero));
            part.set(&mut block.growth, growth);
        }
    }
}

/// The slopes that a round adds to the sums of its features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slopes {
    /// The slope of each member at the member's own prediction.
    pub members: [f64; 2],
    /// The slope at the prediction played.
    pub played: f64,
    /// Σd and Σd² of member 2, including this round, if member 2's centred directions change.
    pub total: Option<(f64, f64)>,
}

/// The second pass over the blocks of a row. Returns the changes of Σ(c/M)² and of Σz·S.
pub(super) fn learn(blocks: &mut [Block], slopes: Slopes) -> [f64; 2] {
    kernel::apply(blocks, slopes)
}

impl Formula<Block, 2> for Slopes {
    compiled_with_caller! {
        fn apply<S: Simd>(self, part: Part<S>, block: &mut Block, sums: &mut [Lanes<S>; 2]) {
            let value = part.of(&block.value);
            for k in 0..2 {
                let slope = part.all(self.members[k]);
                let (g, c) = (slope * value, part.of(&block.words[C[k]]));
                if k == 0 {
                    let per_largest = part.of(&block.per_largest);
                    sums[0] += (part.all(2.0) * c + g) * per_largest * (g * per_largest);
                } else {
                    let p = part.of(&block.words[P]) + slope * g;
                    part.set(&mut block.words[P], p);
                }
                let v = part.of(&block.words[V[k]]) + g * g;
                let top = part.of(&block.words[TOP[k]]).max(g.abs());
                part.set(&mut block.words[C[k]], c + g);
                part.set(&mut block.words[V[k]], v);
                part.set(&mut block.words[TOP[k]], top);
            }
            let played = part.of(&block.words[PLAYED]) + part.all(self.played) * part.of(&block.given);
            part.set(&mut block.words[PLAYED], played);
            if let Some(total) = self.total {
                let z = centred(part, block, total);
                sums[1] += (z - part.of(&block.words[Z])) * part.of(&block.words[SUM]);
                part.set(&mut block.words[Z], z);
            }
        }
    }
}

compiled_with_caller! {
    /// The direction −c/√(v + top²) of a member; 0 if all gradients were 0.
    fn direction<S: Simd>(part: Part<S>, block: &Block, member: usize) -> Lanes<S> {
        let top = part.of(&block.words[TOP[member]]);
        let squares = part.of(&block.words[V[member]]) + top * top;
        let root = squares.max(part.all(f64::MIN_POSITIVE)).sqrt();
        (part.all(0.0) - part.of(&block.words[C[member]])) / root
    }
}

compiled_with_caller! {
    /// The centred direction −(c − μD)/√(v − 2μp + μ²D₂ + (top·spread/M)²)/spread of member 2, with
    /// D = Σd and D₂ = Σd²; 0 for a constant feature.
    fn centred<S: Simd>(part: Part<S>, block: &Block, (d, d2): (f64, f64)) -> Lanes<S> {
        let [zero, two] = [part.all(0.0), part.all(2.0)];
        let [mean, spread] = [part.of(&block.mean), part.of(&block.spread)];
        let top = part.of(&block.words[TOP[1]]) * part.of(&block.per_largest) * spread;
        let squares = part.of(&block.words[V[1]]) - two * mean * part.of(&block.words[P])
            + mean * mean * part.all(d2);
        let squares = squares.max(zero) + top * top;
        let root = squares.max(part.all(f64::MIN_POSITIVE)).sqrt();
        let z = (mean * part.all(d) - part.of(&block.words[C[1]])) / (root * spread);
        spread.if_above(zero, z, zero)
    }
}
