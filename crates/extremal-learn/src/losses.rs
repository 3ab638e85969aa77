//! The losses of past rounds, from which the best fixed decision is computed.

use extremal::Row;
use extremal::hindsight::{QuadraticSum, Sum, Total};
use extremal::loss::Objective;

/// The largest dimension d for which sums of squares, which are d² numbers, are stored.
const MOST_SQUARED: usize = 2_000;

/// The losses of past rounds.
pub enum Losses {
    /// Sums of squares. They may lose digits to cancellation.
    Squares(QuadraticSum),
    /// The rows of all rounds.
    Rows(Sum),
}

impl Losses {
    /// Stores sums of squares if the loss and the dimension allow it, and all rows otherwise.
    pub fn new(dim: usize, objective: &Objective) -> extremal::Result<Self> {
        if objective.loss().is_square() && dim <= MOST_SQUARED {
            return QuadraticSum::new(dim, objective.ridge()).map(Self::Squares);
        }
        Self::rows(dim, objective)
    }

    /// Stores all rows.
    pub fn rows(dim: usize, objective: &Objective) -> extremal::Result<Self> {
        Sum::new(dim, objective).map(Self::Rows)
    }

    /// Whether these are sums of squares.
    pub fn are_squares(&self) -> bool {
        matches!(self, Self::Squares(_))
    }

    /// Adds a round.
    pub fn push(&mut self, row: Row<'_>, label: f64, weight: f64) -> extremal::Result<()> {
        match self {
            Self::Squares(sum) => sum.push(row, label, weight),
            Self::Rows(sum) => sum.push(row, label, weight),
        }
    }

    /// The total loss.
    pub fn total(&self) -> &dyn Total {
        match self {
            Self::Squares(sum) => sum,
            Self::Rows(sum) => sum,
        }
    }
}
