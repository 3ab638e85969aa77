//! The laws of losses.

use extremal::loss::{Labels, Loss};

use crate::kit::{normal, rng};
use crate::report::{Failures, Law, Verdict, ensure, run};

/// How strictly [`LossCheck::run`] checks a loss.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LossCheck {
    /// Whether the slope bound and the smoothness must be attained. The default is false, because
    /// larger constants only make the theorems' bounds larger.
    pub exact: bool,
}

impl LossCheck {
    /// Checks all laws of losses on this loss.
    pub fn run(&self, loss: &dyn Loss) -> Result<(), Failures> {
        let mut laws = laws();
        if self.exact {
            laws.extend(exact_laws());
        }
        let subject = format!("loss {}", loss.name());
        run(subject, FIRST, || Sample::draw(loss), laws)
    }
}

const FIRST: &str = "some labels are admitted, and the loss is defined for some predictions";

fn laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("the slope agrees with finite differences", slopes),
        ("the loss is convex: no tangent lies above it", convex),
        (
            "no slope grows faster than the smoothness allows",
            |sample| bends(sample).map(|_| ()),
        ),
        ("no slope exceeds its bound", slope_bounds),
        (
            "for large predictions, no value is NaN and every slope is finite",
            far,
        ),
        (
            "a loss that declares itself nonnegative, linear or a square has this property",
            claims,
        ),
        (
            "a probability is between 0 and 1 and increases with the prediction",
            probability,
        ),
        ("NaN, ∞ and labels that are not allowed are errors", labels),
        (
            "a loss that admits any label depends on more than the label's sign",
            label_sizes,
        ),
    ]
}

fn exact_laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("the smoothness is attained", |sample| {
            let (steepest, stated) = (bends(sample)?, sample.loss.smoothness());
            ensure!(
                stated.is_infinite() || steepest >= 0.9 * stated,
                "no slope was found to grow faster than {steepest}; the smoothness is {stated}"
            );
            Ok(())
        }),
        ("the slope bound is attained", attained),
    ]
}

/// A loss, with labels that it admits and predictions at which it is defined.
struct Sample<'a> {
    loss: &'a dyn Loss,
    labels: Vec<f64>,
    /// The predictions, in increasing order.
    predictions: Vec<f64>,
}

impl<'a> Sample<'a> {
    fn draw(loss: &'a dyn Loss) -> Verdict<Self> {
        let mut labels = vec![-1.0, 1.0, 0.0, 0.5, -3.7, 2.0, 100.0, -1e6];
        labels.retain(|label| loss.check_label(*label).is_ok());
        let mut predictions = vec![0.0, 1e-9, -1e-9];
        for k in 0..60 {
            let z = 10f64.powf(-3.0 + 0.1 * f64::from(k));
            predictions.extend([z, -z]);
        }
        // near the labels ±1, where many losses are curved
        for r in [-0.03, -0.01, 0.01, 0.03] {
            predictions.extend([1.0 + r, -1.0 + r]);
        }
        let mut r = rng(1);
        predictions.extend((0..40).map(|_| 20.0 * normal(&mut r)));
        predictions.retain(|z| loss.check_prediction(*z).is_ok());
        predictions.sort_by(f64::total_cmp);
        ensure!(
            !labels.is_empty() && predictions.len() >= 60,
            "among the tried values, the loss admits only the labels {labels:?} and {} predictions",
            predictions.len()
        );
        Ok(Self {
            loss,
            labels,
            predictions,
        })
    }

    /// All pairs of a label and a prediction.
    fn pairs(&self) -> impl Iterator<Item = (f64, f64)> {
        let predictions = &self.predictions;
        let each = move |label: &f64| {
            let label = *label;
            predictions.iter().map(move |z| (label, *z))
        };
        self.labels.iter().flat_map(each)
    }

    /// The largest |slope| over predictions |z| ≤ `reach` and labels whose absolute value is at
    /// most `label`.
    fn steepest(&self, reach: f64, label: f64) -> f64 {
        let labels = self.labels.iter().filter(|l| l.abs() <= label.abs());
        let grid = labels.flat_map(|l| (-100..=100).map(move |k| (*l, f64::from(k) / 100.0)));
        let slopes = grid.map(|(label, k)| self.loss.at(k * reach, label).1.abs());
        slopes.fold(0.0, f64::max)
    }
}

const REACHES: [f64; 6] = [0.0, 1e-3, 0.5, 1.0, 10.0, 1e3];

fn slopes(sample: &Sample<'_>) -> Verdict {
    let loss = sample.loss;
    for (label, z) in sample.pairs() {
        let (value, slope) = loss.at(z, label);
        // h is small relative to z, and large relative to the rounding error of the value
        let h = 1e-5 * (1.0 + z.abs());
        if loss.check_prediction(z - h).is_err() {
            continue;
        }
        let ((up, after), (down, before)) = (loss.at(z + h, label), loss.at(z - h, label));
        let difference = (up - down) / ((z + h) - (z - h));
        let rounding = 4.0 * f64::EPSILON * value.abs().max(up.abs()) / h;
        if loss.smoothness().is_infinite() {
            // Near a kink, the slope may be any number between the left and the right difference
            // quotient.
            let (left, right) = ((value - down) / h, (up - value) / h);
            let tolerance = 1e-6 * slope.abs() + rounding;
            ensure!(
                slope >= left - tolerance && slope <= right + tolerance,
                "at {z}, label {label}: the slope is {slope}; finite differences give {left} to {right}"
            );
            if before != after {
                continue;
            }
        }
        // the error of a difference quotient is about the slope's second difference
        let bend = (after - 2.0 * slope + before).abs();
        let allowed = 1e-6 * slope.abs() + rounding + bend;
        ensure!(
            (difference - slope).abs() <= allowed,
            "at {z}, label {label}: the slope is {slope}; finite differences give {difference}"
        );
    }
    Ok(())
}

fn convex(sample: &Sample<'_>) -> Verdict {
    for label in &sample.labels {
        for pair in sample.predictions.windows(2) {
            let ((f, a), (g, b)) = (
                sample.loss.at(pair[0], *label),
                sample.loss.at(pair[1], *label),
            );
            let tolerance = 1e-12 * (1.0 + a.abs() + b.abs());
            ensure!(
                b >= a - tolerance,
                "label {label}: the slope falls from {a} at {} to {b} at {}",
                pair[0],
                pair[1]
            );
            let (width, tolerance) = (pair[1] - pair[0], 1e-12 * (1.0 + f.abs() + g.abs()));
            ensure!(
                g >= f + a * width - tolerance && f >= g - b * width - tolerance,
                "label {label}: {f} with slope {a} at {}, {g} with slope {b} at {}",
                pair[0],
                pair[1]
            );
        }
    }
    Ok(())
}

/// The largest growth rate of the slope over the tried predictions.
fn bends(sample: &Sample<'_>) -> Verdict<f64> {
    let stated = sample.loss.smoothness();
    let mut steepest = 0.0_f64;
    for label in &sample.labels {
        for pair in sample.predictions.windows(2) {
            let (a, b) = (
                sample.loss.at(pair[0], *label).1,
                sample.loss.at(pair[1], *label).1,
            );
            let width = pair[1] - pair[0];
            ensure!(
                b - a <= stated * width + 1e-12 * (1.0 + a.abs() + b.abs()),
                "label {label}: the slope grows from {a} at {} to {b} at {}; the smoothness is \
                 {stated}",
                pair[0],
                pair[1]
            );
            if width > 1e-9 {
                steepest = steepest.max((b - a) / width);
            }
        }
    }
    Ok(steepest)
}

fn slope_bounds(sample: &Sample<'_>) -> Verdict {
    for label in &sample.labels {
        for reach in REACHES {
            let bound = sample.loss.slope_bound(reach, *label);
            let steepest = sample.steepest(reach, *label);
            ensure!(
                bound.is_infinite() || steepest <= bound * (1.0 + 1e-12),
                "labels up to {label}, |z| ≤ {reach}: the slope {steepest} occurs; the bound is {bound}"
            );
            let part = sample.loss.slope_bound_between(-0.3 * reach, reach, *label);
            ensure!(
                part <= bound,
                "label {label}: the slope bound is {part} from {} to {reach}, but {bound} from −{reach} to {reach}",
                -0.3 * reach
            );
        }
    }
    Ok(())
}

fn attained(sample: &Sample<'_>) -> Verdict {
    for label in &sample.labels {
        for reach in REACHES {
            let bound = sample.loss.slope_bound(reach, *label);
            if bound.is_infinite() {
                // an infinite bound requires unbounded slopes
                let slope = sample.loss.at(1e-300, *label).1.abs();
                ensure!(
                    slope > 1e299,
                    "label {label}: the bound is ∞, but the slope at 1e-300 is {slope}"
                );
                continue;
            }
            // exactly at a kink, the loss may return any smaller slope
            let kink = reach == 0.0 && sample.loss.smoothness().is_infinite();
            let steepest = sample.steepest(reach, *label);
            ensure!(
                kink || steepest >= 0.99 * bound,
                "label {label}, |z| ≤ {reach}: no slope above {steepest} was found; the bound is {bound}"
            );
        }
    }
    Ok(())
}

fn far(sample: &Sample<'_>) -> Verdict {
    let loss = sample.loss;
    for label in &sample.labels {
        for z in [1e4, -1e4, 1e150, -1e150, 1e300, -1e300] {
            let (value, slope) = loss.at(z, *label);
            ensure!(!value.is_nan(), "at {z:e}, label {label}: the value is NaN");
            if loss.check_prediction(z).is_err() {
                ensure!(
                    value == f64::INFINITY,
                    "at {z:e}, label {label}: the loss is not defined, so the value {value} should be ∞"
                );
                continue;
            }
            ensure!(
                slope.is_finite(),
                "at {z:e}, label {label}: the slope is {slope}"
            );
            // a finite bound on the slope also bounds the value
            let start = f64::from(loss.check_prediction(0.0).is_err());
            let (low, high) = (start.min(z), start.max(z));
            let most = loss.at(start, *label).0.abs()
                + z.abs() * loss.slope_bound_between(low, high, *label);
            ensure!(
                !most.is_finite() || value.abs() <= most * (1.0 + 1e-12),
                "at {z:e}, label {label}: the value is {value:e}; the slope bound allows at most {most:e}"
            );
        }
    }
    Ok(())
}

fn claims(sample: &Sample<'_>) -> Verdict {
    let loss = sample.loss;
    for (label, z) in sample.pairs() {
        let (value, slope) = loss.at(z, label);
        ensure!(
            !loss.is_nonnegative() || value >= 0.0,
            "is_nonnegative() is true, but the value is {value} at {z}, label {label}"
        );
        let square = 0.5 * (z - label) * (z - label);
        ensure!(
            !loss.is_square() || (value - square).abs() <= 1e-12 * (1.0 + square),
            "is_square() is true, but the value is {value} at {z}, label {label}"
        );
        let first = loss.at(sample.predictions[0], label).1;
        ensure!(
            !loss.is_linear() || slope == first,
            "is_linear() is true, but the slope is {slope} at {z} and {first} elsewhere, label {label}"
        );
    }
    Ok(())
}

fn probability(sample: &Sample<'_>) -> Verdict {
    let mut last = 0.0;
    for z in &sample.predictions {
        let Some(probability) = sample.loss.probability(*z) else {
            return Ok(());
        };
        ensure!(
            (last..=1.0).contains(&probability),
            "the probability is {probability} at {z}, and {last} at the previous prediction"
        );
        last = probability;
    }
    Ok(())
}

fn labels(sample: &Sample<'_>) -> Verdict {
    let loss = sample.loss;
    let refused = |label: f64| -> Verdict {
        ensure!(
            loss.check_label(label).is_err(),
            "the label {label} is admitted"
        );
        Ok(())
    };
    for label in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refused(label)?;
    }
    if loss.labels() == Labels::Signs {
        for label in [2.0, 0.5, -0.1, 1.0 + 1e-9, 1e200] {
            refused(label)?;
        }
        for label in [-1.0, 0.0, 1.0] {
            loss.check_label(label)?;
        }
    }
    Ok(())
}

fn label_sizes(sample: &Sample<'_>) -> Verdict {
    let loss = sample.loss;
    if loss.labels() == Labels::Any {
        let differs = |z: &f64| loss.at(*z, 2.0) != loss.at(*z, 1.0);
        ensure!(
            sample.predictions.iter().any(differs),
            "the labels 1 and 2 have the same loss everywhere: state Labels::Signs, or Labels::None"
        );
    }
    Ok(())
}
