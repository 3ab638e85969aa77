//! The sizes of a feature's values, and which of them are believed.

use serde::{Deserialize, Serialize};

/// A size up to this many times the largest believed one is believed at once.
const FACTOR: f64 = 4.0;

/// So many larger sizes in succession are believed.
const STRIKES: f64 = 8.0;

/// Larger sizes that are not in succession are believed after one strike more for every so many
/// values.
const PER_STRIKE: f64 = 1024.0;

/// The first values are believed as they are.
const WARM_UP: f64 = 16.0;

/// A size that the guard was asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Belief {
    /// The value has this size, which is at most the size given.
    Size(f64),
    /// As before, after strikes in succession.
    Changed(f64),
    /// The size is not believed.
    Struck,
}

/// Believes a size that exceeds all before only once it repeats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Guard {
    /// The least of the sizes that were struck.
    least: f64,
    /// Strikes since a larger size was last believed, times 8, plus strikes in succession. While it
    /// is above 0, the guard must be asked about every size.
    tally: f64,
}

impl Guard {
    pub fn load([least, tally]: [f64; 2]) -> Self {
        Self { least, tally }
    }

    pub fn words(&self) -> [f64; 2] {
        [self.least, self.tally]
    }

    /// What to believe of a size. `largest` is the largest size believed so far, of `count` values.
    #[inline]
    pub fn believe(&mut self, size: f64, largest: f64, count: f64) -> Belief {
        if size <= FACTOR * largest || count < WARM_UP || largest == 0.0 {
            if self.tally > 0.0 {
                self.tally -= self.tally % STRIKES;
            }
            return Belief::Size(size);
        }
        self.strike(size, largest, count)
    }

    #[cold]
    fn strike(&mut self, size: f64, largest: f64, count: f64) -> Belief {
        let run = self.tally % STRIKES + 1.0;
        let strikes = (self.tally / STRIKES).floor() + 1.0;
        self.least = match strikes > 1.0 {
            true => self.least.min(size),
            false => size,
        };
        if strikes < STRIKES + count / PER_STRIKE && run < STRIKES {
            self.tally = STRIKES * strikes + run;
            return Belief::Struck;
        }
        self.tally = 0.0;
        let size = self.least.max(FACTOR * largest);
        match run < STRIKES {
            true => Belief::Size(size),
            false => Belief::Changed(size),
        }
    }
}
