//! What a search found, with the proof of how good it is.

use super::Method;

/// The best fixed decision that was found, with the proof of how good it is: the smallest total
/// lies between `floor` and `value`, rounding included.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Best {
    /// The decision.
    pub x: Vec<f64>,
    /// Its total loss, or a little more: no less than the smallest one of the set.
    pub value: f64,
    /// No decision of the set has a smaller total.
    pub floor: f64,
    /// How it was found.
    pub method: Method,
    /// Steps made.
    pub steps: u64,
    /// Oracle calls made, those of certificates included.
    pub oracle_calls: u64,
}

impl Best {
    /// value − floor.
    pub fn gap(&self) -> f64 {
        self.value - self.floor
    }

    /// The same relative to |value|.
    pub fn relative_gap(&self) -> f64 {
        self.gap() / self.value.abs().max(f64::MIN_POSITIVE)
    }

    /// The regret of a learner lies between these two, if its total loss on the same rounds is
    /// exactly this.
    pub fn regret(&self, total_loss: f64) -> Interval {
        let rounding = |end: f64| f64::EPSILON * (total_loss.abs() + end.abs());
        Interval {
            lower: total_loss - self.value - rounding(self.value),
            upper: total_loss - self.floor + rounding(self.floor),
        }
    }
}

/// A regret lies between these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// At least this.
    pub lower: f64,
    /// At most this.
    pub upper: f64,
}
