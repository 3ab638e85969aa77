//! The two passes over a row, eight features at a time: a root or a quotient of eight features takes
//! little longer than that of one. The first pass counts the row's values and computes the products
//! with all directions. The second one learns from the label.

use crate::kernel::{self, Eight, Formula, LANES, Lanes, Part, Simd, compiled_with_caller};
use crate::learner::untuned::unit_free::guard::{self, Belief, Guard};

/// What is kept of a feature: two cache lines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Feature {
    /// Statistics of its values that are not 0: their number n, Σ|a|, Σa, Σa² and M = max |a|.
    pub count: f64,
    pub sizes: f64,
    sum: f64,
    squares: f64,
    pub largest: f64,
    guard: Guard,
    /// Sums of both members: Σg, Σg² and max |g| with g = d·a.
    pub c: [f64; 2],
    v: [f64; 2],
    top: [f64; 2],
    /// Σd²a of member 2, and its centred direction when the feature was last updated.
    p: f64,
    pub z: f64,
    /// Σd·a with the slopes d at what was played and the values of the row.
    pub played: f64,
}

impl Feature {
    /// How many numbers it has.
    pub const WORDS: usize = 16;

    /// The directions −c/√(v + top²) of both members; 0 if all gradients were 0.
    #[inline]
    pub fn directions(&self) -> [f64; 2] {
        let squares: [f64; 2] = std::array::from_fn(|k| {
            larger(self.v[k] + self.top[k] * self.top[k], f64::MIN_POSITIVE)
        });
        let roots = squares.map(f64::sqrt);
        std::array::from_fn(|k| (0.0 - self.c[k]) / roots[k])
    }

    pub fn words(&self) -> [f64; Self::WORDS] {
        let [least, tally] = self.guard.words();
        let Self { c, v, top, .. } = *self;
        [
            self.count,
            self.sizes,
            self.sum,
            self.squares,
            self.largest,
            least,
            tally,
            c[0],
            c[1],
            v[0],
            v[1],
            top[0],
            top[1],
            self.p,
            self.z,
            self.played,
        ]
    }

    pub fn from_words(words: &[f64; Self::WORDS]) -> Self {
        let &[
            count,
            sizes,
            sum,
            squares,
            largest,
            least,
            tally,
            ref sums @ ..,
        ] = words;
        let &[c0, c1, v0, v1, top0, top1, p, z, played] = sums;
        Self {
            count,
            sizes,
            sum,
            squares,
            largest,
            guard: Guard::load([least, tally]),
            c: [c0, c1],
            v: [v0, v1],
            top: [top0, top1],
            p,
            z,
            played,
        }
    }
}

/// Eight features of a row. Each of their numbers stands side by side with those of the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    count: Eight,
    sizes: Eight,
    sum: Eight,
    squares: Eight,
    largest: Eight,
    c: [Eight; 2],
    v: [Eight; 2],
    top: [Eight; 2],
    p: Eight,
    z: Eight,
    guards: [Guard; LANES],
    /// The values of the row, and the values that are believed.
    given: Eight,
    value: Eight,
    /// 1/M, the mean and the spread.
    per_largest: Eight,
    mean: Eight,
    spread: Eight,
    /// Whether M has grown.
    grown: [bool; LANES],
}

impl Block {
    /// Lanes without a feature add 0 to every sum.
    pub const EMPTY: Self = {
        let (zeros, ones) = (Eight::all(0.0), Eight::all(1.0));
        Self {
            count: ones,
            sizes: ones,
            sum: zeros,
            squares: zeros,
            largest: ones,
            c: [zeros; 2],
            v: [zeros; 2],
            top: [zeros; 2],
            p: zeros,
            z: zeros,
            guards: [Guard::NEW; LANES],
            given: zeros,
            value: zeros,
            per_largest: ones,
            mean: zeros,
            spread: zeros,
            grown: [false; LANES],
        }
    };

    /// Writes a feature as it is after the round, except for `played`.
    #[inline]
    pub fn store(&self, lane: usize, feature: &mut Feature) {
        let lane = lane % LANES;
        feature.count = self.count.0[lane];
        feature.sizes = self.sizes.0[lane];
        feature.sum = self.sum.0[lane];
        feature.squares = self.squares.0[lane];
        feature.largest = self.largest.0[lane];
        feature.guard = self.guards[lane];
        for k in 0..2 {
            feature.c[k] = self.c[k].0[lane];
            feature.v[k] = self.v[k].0[lane];
            feature.top[k] = self.top[k].0[lane];
        }
        feature.p = self.p.0[lane];
        feature.z = self.z.0[lane];
    }
}

/// What the first pass found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row {
    /// Σ(a/s)² with the mean sizes s, Σa², Σ((a − mean)/spread)²
    pub units: [f64; 3],
    /// Σ(a/M)² of the values that are believed, and of the values of the row.
    pub reach: [f64; 2],
    /// Σa² of the values of the row.
    pub given: f64,
    /// Inner products with the scaled and the raw direction of member 1, with the scaled and the
    /// centred one of member 2, and Σc·a/M² of member 1.
    pub products: [f64; 5],
    /// Member 2's direction at the first feature.
    pub first: f64,
    /// The change of Σ(c/M)² of member 1, where an M has grown.
    pub squares: f64,
    /// The change of Σz·S, with the features' sums S, where a centred direction was updated.
    pub centre: f64,
    /// Whether the guard struck a value, and whether it altered one.
    pub struck: bool,
    pub altered: bool,
}

impl Row {
    /// Loads a feature and its value into a lane of a block.
    #[inline]
    pub fn load(&mut self, block: &mut Block, lane: usize, feature: &Feature, given: f64) {
        let lane = lane % LANES;
        block.count.0[lane] = feature.count;
        block.sizes.0[lane] = feature.sizes;
        block.sum.0[lane] = feature.sum;
        block.squares.0[lane] = feature.squares;
        block.largest.0[lane] = feature.largest;
        block.guards[lane] = feature.guard;
        for k in 0..2 {
            block.c[k].0[lane] = feature.c[k];
            block.v[k].0[lane] = feature.v[k];
            block.top[k].0[lane] = feature.top[k];
        }
        block.p.0[lane] = feature.p;
        block.z.0[lane] = feature.z;
        let mut value = given;
        if given.abs() > guard::FACTOR * feature.largest || feature.guard.is_alert() {
            value = self.doubt(&mut block.guards[lane], feature, given);
        }
        block.given.0[lane] = given;
        block.value.0[lane] = value;
        block.grown[lane] = value.abs() > feature.largest;
        if block.grown[lane] {
            self.grow(feature, value);
        }
    }

    /// Asks the guard about a value. A value that is struck counts with the mean size of its feature.
    #[cold]
    fn doubt(&mut self, guard: &mut Guard, feature: &Feature, given: f64) -> f64 {
        let (count, largest) = (feature.count, feature.largest);
        let size = match guard.believe(given.abs(), largest, count) {
            Belief::Size(size) | Belief::Changed(size) => size,
            Belief::Struck => {
                self.struck = true;
                feature.sizes / count
            }
        };
        self.altered |= size != given.abs();
        size.copysign(given)
    }

    /// Adds the change of Σ(c/M)² for a feature whose M grows.
    #[cold]
    fn grow(&mut self, feature: &Feature, value: f64) {
        let of = |largest: f64| (feature.c[0] / largest).powi(2);
        if feature.largest > 0.0 {
            self.squares += of(value.abs()) - of(feature.largest);
        }
    }

    /// The first pass over the blocks of a row in round `rounds`. `total` is (Σd, Σd²) of member 2;
    /// without it, nothing is centred.
    pub fn count(&mut self, blocks: &mut [Block], rounds: f64, total: Option<(f64, f64)>) {
        let per_round = 1.0 / rounds;
        let sums = kernel::apply(blocks, Count { rounds, per_round });
        let [scaled, raw, centred, reach, of_given, given, products @ ..] = sums;
        self.units = [scaled, raw, centred];
        self.reach = [reach, of_given];
        self.given = given;
        self.products = products;
        for block in &mut *blocks {
            if block.grown != [false; LANES] {
                self.recentre(block, total);
            }
        }
        if let Some(block) = blocks.first() {
            self.first = direction(Part::single(0), block, 1).number();
        }
    }

    /// Adds the products with the centred directions of features whose M has grown. These directions
    /// depend on M.
    #[cold]
    fn recentre(&mut self, block: &mut Block, total: Option<(f64, f64)>) {
        for lane in (0..LANES).filter(|lane| block.grown[*lane]) {
            let value = block.value.0[lane];
            if let Some(total) = total {
                let z = centred(Part::single(lane), block, total).number();
                let change = z - std::mem::replace(&mut block.z.0[lane], z);
                self.centre += change * (block.sum.0[lane] - value);
            }
            self.products[3] += block.z.0[lane] * value;
        }
    }
}

/// Counts the values of a row, and computes the sums of [`Row`] in their order there.
///
/// The mean of a feature is that over all rounds. Its spread is the root mean square distance from
/// the mean, over the rounds in which the feature is not 0. For a feature that is 0 in some rounds,
/// the spread is at least |mean|, so that rare features are not blown up. The spread of a constant
/// feature is 0.
#[derive(Clone, Copy)]
struct Count {
    rounds: f64,
    per_round: f64,
}

impl Formula<Block, 11> for Count {
    compiled_with_caller! {
        fn apply<S: Simd>(self, part: Part<S>, block: &mut Block, sums: &mut [Lanes<S>; 11]) {
            let [zero, two] = [part.all(0.0), part.all(2.0)];
            let [value, given] = [part.of(&block.value), part.of(&block.given)];
            let size = value.abs();
            let count = part.of(&block.count) + part.all(1.0);
            let sizes = part.of(&block.sizes) + size;
            let sum = part.of(&block.sum) + value;
            let squares = part.of(&block.squares) + value * value;
            let former = part.of(&block.largest);
            let largest = size.max(former);

            let mean = sum * part.all(self.per_round);
            let square = squares + mean * (count * mean - two * sum);
            let rare = part.all(self.rounds).if_above(count, mean.abs(), zero);
            let spread = (square / count).max(zero).sqrt().max(rare);
            let varies = |then| spread.if_above(part.all(1e-7) * largest, then, zero);

            let per_largest = part.all(1.0) / largest;
            let scaled = value * (count / sizes);
            let distance = varies((value - mean) / spread);
            let (in_largest, given_in_largest) = (value * per_largest, given * per_largest);
            sums[0] += scaled * scaled;
            sums[1] += value * value;
            sums[2] += distance * distance;
            sums[3] += in_largest * in_largest;
            sums[4] += given_in_largest * given_in_largest;
            sums[5] += given * given;

            let first = direction(part, block, 0);
            let second = direction(part, block, 1);
            // where M has grown, the centred direction is yet to be updated
            let centred = largest.if_above(former, zero, part.of(&block.z));
            sums[6] += first * scaled;
            sums[7] += first * value;
            sums[8] += second * scaled;
            sums[9] += centred * value;
            sums[10] += part.of(&block.c[0]) * (in_largest * per_largest);

            part.set(&mut block.count, count);
            part.set(&mut block.sizes, sizes);
            part.set(&mut block.sum, sum);
            part.set(&mut block.squares, squares);
            part.set(&mut block.largest, largest);
            part.set(&mut block.per_largest, per_largest);
            part.set(&mut block.mean, mean);
            part.set(&mut block.spread, varies(spread));
        }
    }
}

/// The slopes that a round adds to the sums of its features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slopes {
    /// Of both members, at their own predictions.
    pub members: [f64; 2],
    /// Σd and Σd² of member 2, this round included, if its centred directions change.
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
                let (g, c) = (slope * value, part.of(&block.c[k]));
                if k == 0 {
                    let per_largest = part.of(&block.per_largest);
                    sums[0] += (part.all(2.0) * c + g) * per_largest * (g * per_largest);
                } else {
                    let p = part.of(&block.p) + slope * g;
                    part.set(&mut block.p, p);
                }
                let v = part.of(&block.v[k]) + g * g;
                let top = part.of(&block.top[k]).max(g.abs());
                part.set(&mut block.c[k], c + g);
                part.set(&mut block.v[k], v);
                part.set(&mut block.top[k], top);
            }
            if let Some(total) = self.total {
                let z = centred(part, block, total);
                sums[1] += (z - part.of(&block.z)) * part.of(&block.sum);
                part.set(&mut block.z, z);
            }
        }
    }
}

compiled_with_caller! {
    /// The direction −c/√(v + top²) of a member; 0 if all gradients were 0.
    fn direction<S: Simd>(part: Part<S>, block: &Block, member: usize) -> Lanes<S> {
        let top = part.of(&block.top[member]);
        let squares = part.of(&block.v[member]) + top * top;
        let root = squares.max(part.all(f64::MIN_POSITIVE)).sqrt();
        (part.all(0.0) - part.of(&block.c[member])) / root
    }
}

compiled_with_caller! {
    /// The centred direction −(c − μD)/√(v − 2μp + μ²D₂ + (top·spread/M)²)/spread of member 2, with
    /// D = Σd and D₂ = Σd²; 0 for a constant feature.
    fn centred<S: Simd>(part: Part<S>, block: &Block, (d, d2): (f64, f64)) -> Lanes<S> {
        let [zero, two] = [part.all(0.0), part.all(2.0)];
        let [mean, spread] = [part.of(&block.mean), part.of(&block.spread)];
        let top = part.of(&block.top[1]) * part.of(&block.per_largest) * spread;
        let squares = part.of(&block.v[1]) - two * mean * part.of(&block.p)
            + mean * mean * part.all(d2);
        let squares = squares.max(zero) + top * top;
        let root = squares.max(part.all(f64::MIN_POSITIVE)).sqrt();
        let z = (mean * part.all(d) - part.of(&block.c[1])) / (root * spread);
        spread.if_above(zero, z, zero)
    }
}

/// The larger number, in one instruction; the second one if the first is NaN.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
