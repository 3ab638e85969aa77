//! The two passes over a row: one before the prediction, which counts the row's values and computes
//! the products with all directions, and one that learns from the label.

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

    /// Adds a value that is believed to the statistics.
    #[inline]
    fn count(&mut self, value: f64) {
        let size = value.abs();
        self.count += 1.0;
        self.sizes += size;
        self.sum += value;
        self.squares += value * value;
        self.largest = larger(size, self.largest);
    }

    /// The mean of the feature over so many rounds, and its spread: the root mean square distance
    /// from the mean, over the rounds in which the feature is not 0. For a feature that is 0 in some
    /// rounds, the spread is at least |mean|, so that rare features are not blown up. The spread of
    /// a constant feature is 0.
    #[inline]
    fn centre(&self, per_round: f64, rounds: f64) -> (f64, f64) {
        let mean = self.sum * per_round;
        let square = self.squares + mean * (self.count * mean - 2.0 * self.sum);
        let spread = larger(square / self.count, 0.0).sqrt();
        let spread = larger(spread, if self.count < rounds { mean.abs() } else { 0.0 });
        (
            mean,
            if spread > 1e-7 * self.largest {
                spread
            } else {
                0.0
            },
        )
    }

    /// The centred direction −(c − μD)/√(v − 2μp + μ²D₂ + (top·spread/M)²)/spread.
    #[inline]
    fn centred(&self, term: &Term, (d, d2): (f64, f64)) -> f64 {
        if term.spread == 0.0 {
            return 0.0;
        }
        let mean = term.mean;
        let top = self.top[1] * term.per_largest * term.spread;
        let squares = larger(self.v[1] - 2.0 * mean * self.p + mean * mean * d2, 0.0) + top * top;
        (mean * d - self.c[1]) / (larger(squares, f64::MIN_POSITIVE).sqrt() * term.spread)
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

/// A non-zero of the row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Term {
    /// The feature as it will be.
    feature: Feature,
    /// The value of the row, and the value that is believed.
    given: f64,
    value: f64,
    /// 1/M, the mean and the spread.
    per_largest: f64,
    mean: f64,
    spread: f64,
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
    /// Member 2's direction at the intercept.
    pub intercept: f64,
    /// The change of Σ(c/M)² of member 1, where an M has grown.
    pub squares: f64,
    /// The change of Σz·S, with the features' sums S, where a centred direction was updated.
    pub centre: f64,
    /// Whether the guard struck a value, and whether it altered one.
    pub struck: bool,
    pub altered: bool,
}

impl Row {
    /// Adds a term, whose feature, slot and value are given, for a row in round `rounds`. `total` is
    /// (Σd, Σd²) of member 2; without it, nothing is centred.
    #[inline]
    pub fn add(&mut self, term: &mut Term, rounds: f64, per_round: f64, total: Option<(f64, f64)>) {
        let given = term.given;
        let former = term.feature.largest;
        let mut value = given;
        if given.abs() > guard::FACTOR * former || term.feature.guard.is_alert() {
            value = self.doubt(&mut term.feature, given);
        }
        term.feature.count(value);
        let (mean, spread) = term.feature.centre(per_round, rounds);
        let per_largest = 1.0 / term.feature.largest;
        term.value = value;
        (term.per_largest, term.mean, term.spread) = (per_largest, mean, spread);
        if term.feature.largest > former {
            self.grow(term, former, total);
        }
        let scaled = value * (term.feature.count / term.feature.sizes);
        let (in_largest, of_given) = (value * per_largest, given * per_largest);
        self.units[0] += scaled * scaled;
        self.units[1] += value * value;
        if spread > 0.0 {
            let centred = (value - mean) / spread;
            self.units[2] += centred * centred;
        }
        self.reach[0] += in_largest * in_largest;
        self.reach[1] += of_given * of_given;
        self.given += given * given;
        let [first, second] = term.feature.directions();
        self.products[0] += first * scaled;
        self.products[1] += first * value;
        self.products[2] += second * scaled;
        self.products[3] += term.feature.z * value;
        self.products[4] += term.feature.c[0] * (in_largest * per_largest);
    }

    /// Asks the guard about a value. A value that is struck counts with the mean size of its feature.
    #[cold]
    fn doubt(&mut self, feature: &mut Feature, given: f64) -> f64 {
        let (count, largest) = (feature.count, feature.largest);
        let size = match feature.guard.believe(given.abs(), largest, count) {
            Belief::Size(size) | Belief::Changed(size) => size,
            Belief::Struck => {
                self.struck = true;
                feature.sizes / count
            }
        };
        self.altered |= size != given.abs();
        size.copysign(given)
    }

    /// Follows a feature whose largest size has grown.
    #[cold]
    fn grow(&mut self, term: &mut Term, former: f64, total: Option<(f64, f64)>) {
        let feature = &mut term.feature;
        if former > 0.0 {
            let of = |largest: f64| (feature.c[0] / largest).powi(2);
            self.squares += of(feature.largest) - of(former);
        }
        if let Some(total) = total {
            let z = term.feature.centred(term, total);
            let change = z - std::mem::replace(&mut term.feature.z, z);
            self.centre += change * (term.feature.sum - term.value);
        }
    }
}

/// The slopes that a round adds to the sums.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slopes {
    /// Of both members, at their own predictions.
    pub members: [f64; 2],
    /// At what was played.
    pub played: f64,
    /// Σd and Σd² of member 2, this round included, if its centred directions change.
    pub total: Option<(f64, f64)>,
}

impl Term {
    /// Starts with a value of a feature.
    #[inline]
    pub fn set(&mut self, feature: &Feature, given: f64) {
        self.feature = *feature;
        self.given = given;
    }

    /// The feature, the row counted.
    pub fn feature(&self) -> &Feature {
        &self.feature
    }

    /// Writes the feature as it is after the round. Adds the changes of Σ(c/M)² and of Σz·S to
    /// `changes`.
    #[inline]
    pub fn learn(&self, slopes: &Slopes, changes: &mut [f64; 2], feature: &mut Feature) {
        *feature = self.feature;
        let g = slopes.members.map(|slope| slope * self.value);
        changes[0] += (2.0 * feature.c[0] + g[0]) * self.per_largest * (g[0] * self.per_largest);
        for (k, g) in g.into_iter().enumerate() {
            feature.c[k] += g;
            feature.v[k] += g * g;
            feature.top[k] = larger(feature.top[k], g.abs());
        }
        feature.p += slopes.members[1] * g[1];
        feature.played += slopes.played * self.given;
        if let Some(total) = slopes.total {
            let z = feature.centred(self, total);
            changes[1] += (z - feature.z) * feature.sum;
            feature.z = z;
        }
    }
}

/// The larger number, in one instruction; the second one if the first is NaN.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
