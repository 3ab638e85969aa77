//! The rounds at which a run reports.

use crate::session::Counters;

/// The distance between two reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Every {
    /// The number of rounds grows by this factor from report to report.
    Factor(f64),
    /// There is a report at every multiple of this number of rounds.
    Rounds(u64),
}

impl std::str::FromStr for Every {
    type Err = String;

    /// A whole number is a number of rounds. A number with a decimal point is a factor.
    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse::<u64>(), text.parse::<f64>()) {
            (Ok(0), _) => Err("it must be at least 1".into()),
            (Ok(rounds), _) => Ok(Self::Rounds(rounds)),
            (_, Ok(factor)) if factor > 1.0 && factor.is_finite() => Ok(Self::Factor(factor)),
            _ => Err("expected a whole number of rounds (1000) or a factor above 1 (2.0)".into()),
        }
    }
}

/// The schedule of the reports in the table or in the trace, and the totals at the last report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    every: Every,
    /// The round of the next report.
    pub next: u64,
    /// The round of the last report.
    pub last: u64,
    totals: Counters,
}

impl Schedule {
    /// The schedule after `round`.
    pub fn new(every: Every, round: u64, totals: &Counters) -> Self {
        let next = match every {
            Every::Factor(_) => 1,
            Every::Rounds(n) => n,
        };
        let mut schedule = Self {
            every,
            next,
            last: round,
            totals: *totals,
        };
        schedule.advance(round, totals);
        schedule
    }

    /// The schedule of a resumed run after `round`, whose last report was earlier.
    pub fn resumed(every: Every, round: u64, last: u64, totals: &Counters) -> Self {
        Self {
            last,
            totals: *totals,
            ..Self::new(every, round, totals)
        }
    }

    /// The round and the totals of the last report.
    pub fn since(&self) -> (u64, Counters) {
        (self.last, self.totals)
    }

    pub fn is_due(&self, round: u64) -> bool {
        round >= self.next
    }

    /// Moves on to the first report after `round`. Returns the average loss since the last report.
    pub fn advance(&mut self, round: u64, totals: &Counters) -> f64 {
        while self.next <= round {
            self.next = match self.every {
                Every::Factor(f) => ((self.next as f64 * f).ceil() as u64).max(self.next + 1),
                Every::Rounds(n) => (round / n + 1) * n,
            };
        }
        let weight = totals.weight - self.totals.weight;
        let since = (totals.loss - self.totals.loss) / weight;
        (self.last, self.totals) = (round, *totals);
        since
    }
}
