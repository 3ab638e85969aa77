//! Checkpoints of a run, and their form as a line of the table, a JSON object or a row of the trace.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::certified::Certified;
use crate::format;
use crate::session::{Counters, Round};

/// The distance between checkpoints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Every {
    /// The factor between their rounds.
    Factor(f64),
    /// The number of rounds between them.
    Rounds(u64),
}

impl std::str::FromStr for Every {
    type Err = String;

    /// Whole numbers are rounds; numbers with a decimal point are factors.
    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse::<u64>(), text.parse::<f64>()) {
            (Ok(0), _) => Err("it must be at least 1".into()),
            (Ok(rounds), _) => Ok(Self::Rounds(rounds)),
            (_, Ok(factor)) if factor > 1.0 && factor.is_finite() => Ok(Self::Factor(factor)),
            _ => Err("expected a whole number of rounds (1000) or a factor above 1 (2.0)".into()),
        }
    }
}

/// The checkpoints of the table or the trace, and the totals at the last one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checkpoints {
    every: Every,
    /// The round of the next checkpoint.
    pub next: u64,
    /// The round of the last one.
    pub last: u64,
    totals: Counters,
}

impl Checkpoints {
    /// The checkpoints after `round`.
    pub fn new(every: Every, round: u64, totals: &Counters) -> Self {
        let next = match every {
            Every::Factor(_) => 1,
            Every::Rounds(n) => n,
        };
        let mut checkpoints = Self {
            every,
            next,
            last: round,
            totals: *totals,
        };
        checkpoints.advance(round, totals);
        checkpoints
    }

    /// No checkpoints.
    pub fn never() -> Self {
        Self {
            every: Every::Rounds(u64::MAX),
            next: u64::MAX,
            last: u64::MAX,
            totals: Counters::default(),
        }
    }

    pub fn is_due(&self, round: u64) -> bool {
        round >= self.next
    }

    /// Moves on to the first checkpoint after `round`. Returns the average loss since the last one.
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

/// The state of a run at a checkpoint.
pub(crate) struct Snapshot {
    /// Rounds played.
    pub round: u64,
    /// The totals.
    pub totals: Counters,
    /// The average loss since the last checkpoint.
    pub since: f64,
    /// The certified regret.
    pub certified: Certified,
    /// The last round.
    pub last: Round,
    /// Oracle calls of the learners.
    pub calls: u64,
    /// Seconds since the start.
    pub seconds: f64,
}

/// The head of the progress table.
pub(crate) const HEAD: &str = concat!(
    "   average      since        round        label   prediction features     regret/t     oracle\n",
    "      loss       last                                                                   calls\n",
);

/// The head of the trace.
pub(crate) const TRACE: &str = "round,loss,average_loss,since_last,regret_upper,average_regret_upper,sigma,gap,oracle_calls,seconds,vacuous,halving_radius";

impl Snapshot {
    fn average(&self) -> f64 {
        self.totals.loss / self.totals.weight
    }

    /// A line of the progress table. `names` are the classes, if any.
    pub fn line(&self, names: &[String]) -> String {
        let name = |v: f64| match names.get(v as usize) {
            Some(name) if v >= 0.0 => name.clone(),
            _ if v == v.trunc() && v.abs() < 1e9 => format!("{v:.0}"),
            _ => format!("{v:.6}"),
        };
        let prediction = match names {
            [] => format!("{:.6}", self.last.prediction),
            _ => name(self.last.prediction),
        };
        let regret = match self.certified.is_vacuous() {
            true => "vacuous".into(),
            false => {
                let regret = self.certified.certificate.regret;
                format!("{:.6}", regret / self.round as f64)
            }
        };
        format!(
            "{:>10} {:>10} {:>12} {:>12} {:>12} {:>8} {:>12} {:>10}\n",
            format::fixed(self.average()),
            format::fixed(self.since),
            self.round,
            name(self.last.label),
            prediction,
            self.last.features,
            regret,
            self.calls
        )
    }

    /// A JSON object.
    pub fn json(&self) -> Value {
        json!({
            "round": self.round,
            "average_loss": self.average(),
            "since_last": Some(self.since).filter(|v| v.is_finite()),
            "label": self.last.label,
            "prediction": self.last.prediction,
            "features": self.last.features,
            "regret_upper": self.certified.certificate.regret,
            "level": self.certified.certificate.level.to_string(),
            "vacuous": self.certified.is_vacuous(),
            "halving_radius": self.certified.halving,
            "oracle_calls": self.calls,
            "seconds": self.seconds,
        })
    }

    /// A row of the trace. A number that is not finite is left empty.
    pub fn row(&self) -> String {
        let regret = self.certified.certificate.regret;
        let mut row = self.round.to_string();
        for v in [
            self.totals.loss,
            self.average(),
            self.since,
            regret,
            regret / self.round as f64,
            self.last.sigma,
            self.last.gap,
        ] {
            row.push(',');
            if v.is_finite() {
                // Writing to a string can't fail.
                let _ = write!(row, "{v:?}");
            }
        }
        let vacuous = self.certified.is_vacuous();
        let radius = self.certified.halving.map(|radius| format!("{radius:?}"));
        let radius = radius.unwrap_or_default();
        let _ = write!(
            row,
            ",{},{:.6},{vacuous},{radius}",
            self.calls, self.seconds
        );
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(every: Every, from: u64, to: u64) -> Vec<u64> {
        let mut checkpoints = Checkpoints::new(every, from, &Counters::default());
        let mut is_due = |round| {
            let due = checkpoints.is_due(round);
            if due {
                checkpoints.advance(round, &Counters::default());
            }
            due
        };
        (from + 1..=to).filter(|t| is_due(*t)).collect()
    }

    #[test]
    fn checkpoints_are_at_powers_or_at_multiples() {
        assert_eq!(due(Every::Factor(2.0), 0, 20), [1, 2, 4, 8, 16]);
        assert_eq!(due(Every::Factor(1.1), 0, 5), [1, 2, 3, 4, 5]);
        assert_eq!(due(Every::Rounds(3), 0, 10), [3, 6, 9]);
        // A resumed run has the checkpoints of an uninterrupted one.
        assert_eq!(due(Every::Factor(2.0), 5, 20), [8, 16]);
        assert_eq!(due(Every::Rounds(3), 6, 10), [9]);
    }

    #[test]
    fn a_number_with_a_point_is_a_factor() {
        assert_eq!("2.0".parse(), Ok(Every::Factor(2.0)));
        assert_eq!("1000".parse(), Ok(Every::Rounds(1000)));
        for bad in ["0", "1.0", "-3", "nan", "x", ""] {
            assert!(bad.parse::<Every>().is_err(), "{bad}");
        }
    }
}
