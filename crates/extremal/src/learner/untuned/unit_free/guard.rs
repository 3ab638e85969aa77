//! The guard of a feature, or of the labels, decides whether to believe the size of a new value. A
//! *strike* is a size that the guard does not believe.

use serde::{Deserialize, Serialize};

/// A new size is believed immediately if it is at most this many times the largest size believed so
/// far.
const FACTOR: f64 = 4.0;

/// A larger size is believed if it is the last of this many larger sizes in succession.
const STRIKES: f64 = 8.0;

/// After n values, a larger size is also believed if it is the last of [`STRIKES`] + n/[`PER_STRIKE`]
/// larger sizes that are not in succession.
const PER_STRIKE: f64 = 1024.0;

/// The first values are believed unchanged, up to this number of values.
const WARM_UP: f64 = 16.0;

/// The guard's answer about a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Belief {
    /// The guard believes this size, which is at most the given size.
    Size(f64),
    /// The guard believes this size after strikes in succession, so that the scale has changed.
    Changed(f64),
    /// The size is not believed.
    Struck,
}

/// A guard believes a size much larger than all earlier sizes only once such sizes repeat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Guard {
    /// The smallest of the sizes that were struck since a larger size was last believed.
    least: f64,
    /// The number of strikes since a larger size was last believed, times 8, plus the number of strikes
    /// in succession. While the tally is above 0, the guard must be asked about every size.
    tally: f64,
}

impl Guard {
    pub fn load([least, tally]: [f64; 2]) -> Self {
        Self { least, tally }
    }

    pub fn words(&self) -> [f64; 2] {
        [self.least, self.tally]
    }

    /// Decides whether to believe a size. `largest` is the largest of the `count` sizes believed so far.
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
