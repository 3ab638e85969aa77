//! When and how a run says how it goes: a table, JSON lines, a trace.

use std::fmt::Write as _;

use crate::format;
use crate::session::{Certified, Round, Session};

/// When a line is due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Every {
    /// At rounds that grow by this factor.
    Factor(f64),
    /// Every so many rounds.
    Rounds(u64),
}

impl std::str::FromStr for Every {
    type Err = String;

    /// An integer is a number of rounds, a number with a point a factor.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(rounds) = text.parse::<u64>() {
            return match rounds {
                0 => Err("it must be at least 1".into()),
                rounds => Ok(Self::Rounds(rounds)),
            };
        }
        match text.parse::<f64>() {
            Ok(factor) if factor > 1.0 && factor.is_finite() => Ok(Self::Factor(factor)),
            _ => Err(
                "expected a whole number of rounds (1000) or a factor above 1 (2.0)".to_string(),
            ),
        }
    }
}

/// Which rounds are due.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    every: Every,
    next: u64,
}

impl Schedule {
    /// After `rounds` have been played.
    pub fn new(every: Every, rounds: u64) -> Self {
        let mut schedule = Self { every, next: 0 };
        schedule.next = match every {
            Every::Factor(_) => 1,
            Every::Rounds(n) => n,
        };
        schedule.pass(rounds);
        schedule
    }

    /// Whether a line is due, and if so, when the next one is.
    pub fn is_due(&mut self, round: u64) -> bool {
        if round < self.next {
            return false;
        }
        self.pass(round);
        true
    }

    /// The next round that is due.
    pub fn next(&self) -> u64 {
        self.next
    }

    fn pass(&mut self, round: u64) {
        while self.next <= round {
            self.next = match self.every {
                Every::Factor(factor) => {
                    let next = (self.next as f64 * factor).ceil() as u64;
                    next.max(self.next + 1)
                }
                // the next multiple
                Every::Rounds(n) => (round / n + 1) * n,
            };
        }
    }
}

/// What a line tells.
pub struct Point {
    /// Rounds played.
    pub round: u64,
    /// Σ weight·loss.
    pub loss: f64,
    /// The same per unit of weight.
    pub average: f64,
    /// The same since the last line.
    pub since: f64,
    /// The certified regret.
    pub certified: Certified,
    /// The last round.
    pub last: Round,
    /// Oracle calls made to play.
    pub calls: u64,
    /// Seconds since the start.
    pub seconds: f64,
}

/// Remembers where the last line was.
#[derive(Debug, Clone, Copy, Default)]
pub struct Window {
    round: u64,
    loss: f64,
    weight: f64,
}

impl Window {
    /// Starts after what a session has already seen.
    pub fn after(session: &Session) -> Self {
        let counters = session.counters();
        Self {
            round: session.rounds(),
            loss: counters.loss,
            weight: counters.weight,
        }
    }

    /// Whether the last round has no line yet.
    pub fn is_behind(&self, session: &Session) -> bool {
        self.round < session.rounds()
    }

    /// Averages since the last time, and from now on since now.
    pub fn pass(&mut self, session: &Session) -> f64 {
        let counters = session.counters();
        let since = (counters.loss - self.loss) / (counters.weight - self.weight);
        *self = Self::after(session);
        since
    }
}

/// The head of the progress table.
pub const HEAD: &str = concat!(
    "   average      since        round        label   prediction features     regret/t     oracle\n",
    "      loss       last                                                                   calls\n",
);

/// One line of the progress table.
pub fn line(point: &Point, names: &[String]) -> String {
    let name = |v: f64| match names.get(v as usize) {
        Some(name) if v >= 0.0 => name.clone(),
        _ => number(v),
    };
    let (label, prediction) = if names.is_empty() {
        (
            number(point.last.label),
            format!("{:.6}", point.last.prediction),
        )
    } else {
        (name(point.last.label), name(point.last.prediction))
    };
    let regret = if point.certified.is_vacuous() {
        "vacuous".into()
    } else {
        let certificate = &point.certified.certificate;
        format!("{:.6}", certificate.regret / point.round as f64)
    };
    format!(
        "{:>10} {:>10} {:>12} {:>12} {:>12} {:>8} {:>12} {:>10}\n",
        format::fixed(point.average),
        format::fixed(point.since),
        point.round,
        label,
        prediction,
        point.last.features,
        regret,
        point.calls
    )
}

fn number(v: f64) -> String {
    if v == v.trunc() && v.abs() < 1e9 {
        format!("{v:.0}")
    } else {
        format!("{v:.6}")
    }
}

/// One line of JSON.
pub fn json(point: &Point) -> String {
    let certificate = &point.certified.certificate;
    let object = serde_json::json!({
        "round": point.round,
        "average_loss": point.average,
        "since_last": Some(point.since).filter(|v| v.is_finite()),
        "label": point.last.label,
        "prediction": point.last.prediction,
        "features": point.last.features,
        "regret_upper": certificate.regret,
        "level": certificate.level.to_string(),
        "vacuous": point.certified.is_vacuous(),
        "halving_radius": point.certified.halving,
        "oracle_calls": point.calls,
        "seconds": point.seconds,
    });
    format!("{object}\n")
}

/// The trace's head.
pub const TRACE: &str = "round,loss,average_loss,since_last,regret_upper,average_regret_upper,sigma,gap,oracle_calls,seconds,vacuous,halving_radius";

/// One row of the trace; a number that can't be had is left out.
pub fn trace(point: &Point) -> String {
    let mut row = String::new();
    let regret = point.certified.certificate.regret;
    let numbers = [
        point.loss,
        point.average,
        point.since,
        regret,
        regret / point.round as f64,
        point.last.sigma,
        point.last.gap,
    ];
    row.push_str(&point.round.to_string());
    for v in numbers {
        row.push(',');
        if v.is_finite() {
            // a String takes whatever is written to it
            let _ = write!(row, "{v:?}");
        }
    }
    let vacuous = point.certified.is_vacuous();
    let _ = write!(row, ",{},{:.6},{vacuous},", point.calls, point.seconds);
    if let Some(radius) = point.certified.halving {
        let _ = write!(row, "{radius:?}");
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(every: Every, from: u64, to: u64) -> Vec<u64> {
        let mut schedule = Schedule::new(every, from);
        (from + 1..=to).filter(|t| schedule.is_due(*t)).collect()
    }

    #[test]
    fn lines_are_due_at_powers_or_at_multiples() {
        assert_eq!(due(Every::Factor(2.0), 0, 20), [1, 2, 4, 8, 16]);
        assert_eq!(due(Every::Factor(1.1), 0, 5), [1, 2, 3, 4, 5]);
        assert_eq!(due(Every::Rounds(3), 0, 10), [3, 6, 9]);
        // a run that goes on is due where one that was never stopped is
        assert_eq!(due(Every::Factor(2.0), 5, 20), [8, 16]);
        assert_eq!(due(Every::Rounds(3), 6, 10), [9]);
    }

    #[test]
    fn a_point_makes_a_factor() {
        assert_eq!("2.0".parse(), Ok(Every::Factor(2.0)));
        assert_eq!("1000".parse(), Ok(Every::Rounds(1000)));
        for bad in ["0", "1.0", "-3", "nan", "x", ""] {
            assert!(bad.parse::<Every>().is_err(), "{bad}");
        }
    }
}
