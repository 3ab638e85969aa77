//! The losses of rounds that are over, to find the best fixed decision for them.

use extremal::Row;
use extremal::hindsight::{QuadraticSum, Sum, Total};
use extremal::loss::Objective;

/// Sums of squares are as many numbers as the dimension squared; rows are kept where that is more.
const MOST_SQUARED: usize = 2_000;

/// The losses so far.
pub enum Losses {
    /// As sums of squares. They may lose their digits to columns that cancel.
    Squares(QuadraticSum),
    /// Row by row.
    Rows(Sum),
}

impl Losses {
    /// As sums of squares, where the loss is one and the dimension is not too high for them.
    pub fn new(dim: usize, objective: &Objective) -> extremal::Result<Self> {
        if objective.loss().is_square() && dim <= MOST_SQUARED {
            return QuadraticSum::new(dim, objective.ridge()).map(Self::Squares);
        }
        Self::rows(dim, objective)
    }

    /// Row by row, whatever the loss.
    pub fn rows(dim: usize, objective: &Objective) -> extremal::Result<Self> {
        Sum::new(dim, objective).map(Self::Rows)
    }

    /// Whether they are sums of squares.
    pub fn are_squares(&self) -> bool {
        matches!(self, Self::Squares(_))
    }

    /// One more round.
    pub fn push(&mut self, row: Row<'_>, label: f64, weight: f64) -> extremal::Result<()> {
        match self {
            Self::Squares(sum) => sum.push(row, label, weight),
            Self::Rows(sum) => sum.push(row, label, weight),
        }
    }

    /// Their sum.
    pub fn total(&self) -> &dyn Total {
        match self {
            Self::Squares(sum) => sum,
            Self::Rows(sum) => sum,
        }
    }
}
