//! The loss of a prediction that ignores the features, beside which the model's loss is shown.

use extremal::loss::{Labels, Loss};
use serde::{Deserialize, Serialize};

/// Predicts the running mean of the labels, their base rate, or the most frequent class, before each
/// label is used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Baseline {
    weight: f64,
    /// Σ weight·label.
    sum: f64,
    /// The weight of the label +1.
    positive: f64,
    /// The weight of each class.
    classes: Vec<f64>,
    /// Σ weight·loss, before each label was used.
    pub loss: f64,
}

impl Baseline {
    /// What is predicted, in words.
    pub fn name(&self, loss: &dyn Loss) -> &'static str {
        match loss.labels() {
            _ if !self.classes.is_empty() => "the most frequent class",
            Labels::Signs => "the base rate",
            _ => "the running mean",
        }
    }

    /// Adds a label.
    pub fn add(&mut self, loss: &dyn Loss, label: f64, weight: f64) {
        let value = match loss.labels() {
            Labels::Signs => self.of_sign(loss, label),
            _ if self.weight > 0.0 => loss.at(self.sum / self.weight, label).0,
            _ => loss.at(0.0, label).0,
        };
        self.loss += weight * value;
        self.weight += weight;
        self.sum += weight * label;
        self.positive += if label > 0.0 { weight } else { 0.0 };
    }

    /// The loss of predicting the logarithm of the odds, for a loss that models a probability. For
    /// another loss, that of predicting the more frequent label.
    fn of_sign(&self, loss: &dyn Loss, label: f64) -> f64 {
        let (positive, negative) = (self.positive + 1.0, self.weight - self.positive + 1.0);
        if loss.probability(0.0).is_some() {
            let own = if label > 0.0 { positive } else { negative };
            return ((positive + negative) / own).ln();
        }
        let prediction = match positive == negative {
            true => 0.0,
            false => (positive - negative).signum(),
        };
        loss.at(prediction, label).0
    }

    /// Adds an example of class number `class`. Ties go to the first class.
    pub fn add_class(&mut self, class: usize, weight: f64) {
        let largest = self.classes.iter().copied().fold(0.0, f64::max);
        let top = self.classes.iter().position(|seen| *seen == largest);
        self.loss += if top.unwrap_or(0) == class {
            0.0
        } else {
            weight
        };
        if self.classes.len() <= class {
            self.classes.resize(class + 1, 0.0);
        }
        self.classes[class] += weight;
        self.weight += weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use extremal::LossSpec;

    fn loss_of(loss: &str, labels: &[f64]) -> f64 {
        let loss = loss.parse::<LossSpec>().unwrap().build().unwrap();
        let mut baseline = Baseline::default();
        labels
            .iter()
            .for_each(|label| baseline.add(&*loss, *label, 1.0));
        baseline.loss
    }

    #[test]
    fn it_predicts_what_came_before() {
        // 0, then the means 2, 3
        assert_eq!(loss_of("squared", &[2.0, 4.0, 3.0]), 0.5 * (4.0 + 4.0));
        // odds 1, 2
        let expected = 2f64.ln() + (1.0 + 2.0f64).ln();
        assert!((loss_of("logistic", &[1.0, -1.0]) - expected).abs() < 1e-14);
        // 0, then +1: margins 0, −1, 1
        assert_eq!(loss_of("hinge", &[1.0, -1.0, 1.0]), 1.0 + 2.0 + 1.0);
        let mut classes = Baseline::default();
        [0, 2, 2, 2, 0]
            .iter()
            .for_each(|c| classes.add_class(*c, 1.0));
        assert_eq!(classes.loss, 3.0);
    }
}
