//! The numbers that people know: error rate and AUC, or RMSE and R².

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::format;
use crate::plan::Plan;

/// Weighted sums over predictions and labels, in memory that does not grow.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    kind: Kind,
    weight: f64,
    wrong: f64,
    /// Σ weight·(prediction − label)².
    squares: f64,
    /// The mean of the labels, and Σ weight·(label − mean)².
    mean: f64,
    spread: f64,
    ranks: Ranks,
}

/// The kind of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
enum Kind {
    /// The loss ignores labels.
    #[default]
    None,
    /// ±1.
    Signs,
    /// Indices of classes.
    Classes,
    Numbers,
}

impl Tally {
    pub fn new(plan: &Plan, loss: extremal::loss::Labels) -> Self {
        let kind = match (plan.classes(), loss) {
            (_, extremal::loss::Labels::None) => Kind::None,
            ([], extremal::loss::Labels::Signs) => Kind::Signs,
            ([], _) => Kind::Numbers,
            _ => Kind::Classes,
        };
        Self {
            kind,
            ..Self::default()
        }
    }

    /// Adds an example.
    pub fn add(&mut self, weight: f64, prediction: f64, label: f64) {
        self.weight += weight;
        match self.kind {
            Kind::None => {}
            Kind::Signs => {
                let positive = label > 0.0;
                // A prediction of 0 is half right.
                self.wrong += weight
                    * match prediction {
                        0.0 => 0.5,
                        _ => f64::from((prediction > 0.0) != positive),
                    };
                self.ranks.add(prediction, weight, positive);
            }
            Kind::Classes => self.wrong += weight * f64::from(prediction != label),
            Kind::Numbers if weight > 0.0 => {
                self.squares += weight * (prediction - label).powi(2);
                let distance = label - self.mean;
                self.mean += distance * weight / self.weight;
                self.spread += weight * distance * (label - self.mean);
            }
            Kind::Numbers => {}
        }
    }

    /// The names and values. A value that is not defined is NaN.
    pub fn values(&self) -> Vec<(&'static str, f64)> {
        let wrong = ("error_rate", self.wrong / self.weight);
        match self.kind {
            Kind::None => Vec::new(),
            Kind::Signs => vec![wrong, ("auc", self.ranks.auc().unwrap_or(f64::NAN))],
            Kind::Classes => vec![wrong],
            Kind::Numbers => vec![
                ("rmse", (self.squares / self.weight).sqrt()),
                ("r2", 1.0 - self.squares / self.spread),
            ],
        }
    }

    /// The names and values for a person.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.values().into_iter().map(|(name, value)| match name {
            _ if !value.is_finite() => (title(name), "—".into()),
            "error_rate" => (title(name), percent(value)),
            "rmse" => (title(name), format::short(value, 9)),
            _ => (title(name), format!("{value:.4}")),
        })
    }

    /// Adds the values to a JSON object.
    pub fn add_to(&self, object: &mut Value) {
        for (name, value) in self.values() {
            object[name] = value.into();
        }
    }

    /// The title and the value of the last column of the progress table.
    pub fn column(&self) -> (&'static str, String) {
        let first = self.values().into_iter().next();
        match first {
            None => ("", String::new()),
            Some(("rmse", value)) => (title("rmse"), format::short(value, 7)),
            Some((_, value)) if value.is_nan() => ("error", "—".into()),
            Some((_, value)) => ("error", percent(value)),
        }
    }
}

fn title(name: &str) -> &'static str {
    match name {
        "error_rate" => "error rate",
        "auc" => "AUC",
        "rmse" => "RMSE",
        _ => "R²",
    }
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent < 99.995 {
        true => format!("{percent:.2} %"),
        false => format!("{percent:.1} %"),
    }
}

/// A histogram of predictions for both labels, from which the AUC follows. A bin is below 1 % of its
/// predictions wide. Predictions in the same bin count as equal.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "Vec<(u16, [f64; 2])>", from = "Vec<(u16, [f64; 2])>")]
struct Ranks(Vec<[f64; 2]>);

impl Ranks {
    /// A power of two has 2^FINE bins.
    const FINE: u32 = 7;
    /// Predictions from 2⁻⁴⁰ to 2²⁴ have bins of their own.
    const LEAST: u64 = (1023 - 40) << Self::FINE;
    const SIDE: usize = 64 << Self::FINE;

    fn bin(prediction: f64) -> usize {
        let size = prediction.abs().to_bits() >> (52 - Self::FINE);
        let steps = (size + 1)
            .saturating_sub(Self::LEAST)
            .min(Self::SIDE as u64) as usize;
        match prediction > 0.0 {
            true => Self::SIDE + steps,
            false => Self::SIDE - steps,
        }
    }

    fn add(&mut self, prediction: f64, weight: f64, positive: bool) {
        if self.0.is_empty() {
            self.0.resize(2 * Self::SIDE + 1, [0.0; 2]);
        }
        self.0[Self::bin(prediction)][usize::from(positive)] += weight;
    }

    /// The probability that a positive example ranks above a negative one. Ties count half.
    fn auc(&self) -> Option<f64> {
        let (mut below, mut positives, mut won) = (0.0, 0.0, 0.0);
        for [negative, positive] in &self.0 {
            won += positive * (below + 0.5 * negative);
            below += negative;
            positives += positive;
        }
        (below > 0.0 && positives > 0.0).then(|| won / (below * positives))
    }
}

impl From<Ranks> for Vec<(u16, [f64; 2])> {
    fn from(ranks: Ranks) -> Self {
        let bins = (0..).zip(ranks.0);
        bins.filter(|(_, bin)| *bin != [0.0; 2]).collect()
    }
}

impl From<Vec<(u16, [f64; 2])>> for Ranks {
    fn from(saved: Vec<(u16, [f64; 2])>) -> Self {
        let mut ranks = Self::default();
        if !saved.is_empty() {
            ranks.0.resize(2 * Self::SIDE + 1, [0.0; 2]);
        }
        for (k, bin) in saved {
            if let Some(place) = ranks.0.get_mut(usize::from(k)) {
                *place = bin;
            }
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_auc_of_the_histogram_is_that_of_the_pairs() {
        let mut ranks = Ranks::default();
        let (mut all, mut state) = (Vec::new(), 1_u64);
        let mut draw = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for _ in 0..2000 {
            // a rare label: all predictions are near −7
            let positive = draw() < 0.1;
            let z = -7.0 + draw() + draw() + f64::from(positive) * 0.5;
            ranks.add(z, 1.0, positive);
            all.push((z, positive));
        }
        let (mut won, mut pairs) = (0.0, 0.0);
        for (a, _) in all.iter().filter(|(_, positive)| *positive) {
            for (b, _) in all.iter().filter(|(_, positive)| !positive) {
                pairs += 1.0;
                won += 0.5 * (f64::from(a > b) + f64::from(a >= b));
            }
        }
        let auc = ranks.auc().unwrap();
        assert!((auc - won / pairs).abs() < 1e-3, "{auc} {}", won / pairs);
        let saved: Vec<(u16, [f64; 2])> = ranks.into();
        assert_eq!(Ranks::from(saved).auc(), Some(auc));
    }
}
