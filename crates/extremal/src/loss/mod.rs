//! Losses over the prediction ⟨a, x⟩, with an optional ridge term (λ/2)‖x‖² on any of them.

use std::sync::Arc;

use crate::pair::{Gradient, Point, Row};
use crate::spec::registry;
use crate::{Error, Result};

pub mod linear;
pub mod logistic;
pub mod squared;

registry! {
    /// The losses, by name.
    "loss" LossSpec: MakeLoss {
        "linear" => Linear(linear::Linear),
        "squared" => Squared(squared::Squared),
        "logistic" => Logistic(logistic::Logistic),
    }
}

/// What a loss's spec can do.
pub(crate) trait MakeLoss {
    fn make(&self) -> Result<Arc<dyn Loss>>;
}

/// A loss whose parameters need no checking is its own spec.
impl<L: Loss + Copy + 'static> MakeLoss for L {
    fn make(&self) -> Result<Arc<dyn Loss>> {
        Ok(Arc::new(*self))
    }
}

impl LossSpec {
    /// The loss itself.
    pub fn build(&self) -> Result<Arc<dyn Loss>> {
        self.inner().make()
    }
}

/// A convex loss of the prediction z = ⟨a, x⟩ and a label. Implement it for a loss of your own.
pub trait Loss: Send + Sync {
    /// What it is called in messages.
    fn name(&self) -> &'static str;

    /// Value and derivative at z; at a kink, any subgradient.
    fn at(&self, z: f64, label: f64) -> (f64, f64);

    /// Errors for a label that the loss does not admit.
    fn check_label(&self, label: f64) -> Result<()> {
        if label.is_finite() {
            Ok(())
        } else {
            Err(Error::Label {
                loss: self.name(),
                label,
                allowed: "a finite number",
            })
        }
    }

    /// The largest |derivative| over |z| ≤ reach; ∞ where there is none.
    fn slope_bound(&self, reach: f64, label: f64) -> f64;

    /// The largest second derivative; ∞ where there is none.
    fn smoothness(&self) -> f64;

    /// Whether the loss is linear in z, so that regret is exact after one oracle call.
    fn is_linear(&self) -> bool {
        false
    }
}

/// A loss with its ridge term: what a round costs. Where the loss is known when the program is
/// compiled, `Objective<Logistic>` for example saves a call per round.
#[derive(Clone)]
pub struct Objective<L: Loss + ?Sized = dyn Loss> {
    /// The loss of the prediction.
    pub loss: Arc<L>,
    /// λ of (λ/2)‖x‖².
    pub ridge: f64,
}

/// One round's loss at the decision played.
#[derive(Debug, Clone, Copy)]
pub struct Evaluation<'a> {
    /// The whole loss, ridge term included.
    pub value: f64,
    /// The data's part of it.
    pub data_value: f64,
    /// ⟨a, x⟩.
    pub prediction: f64,
    /// The gradient of the whole loss.
    pub gradient: Gradient<'a>,
}

impl<L: Loss + ?Sized> Objective<L> {
    /// A loss with a ridge term, 0 for none.
    pub fn new(loss: Arc<L>, ridge: f64) -> Result<Self> {
        if !(ridge >= 0.0 && ridge.is_finite()) {
            return Err(Error::parameter("loss", "l2", ridge, "a finite number ≥ 0"));
        }
        Ok(Self { loss, ridge })
    }

    /// The loss of one example, `weight` times, at a decision.
    pub fn evaluate<'a>(
        &self,
        row: Row<'a>,
        label: f64,
        weight: f64,
        x: &(impl Point + ?Sized),
    ) -> Result<Evaluation<'a>> {
        self.loss.check_label(label)?;
        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(Error::parameter(
                "example",
                "weight",
                weight,
                "a finite number ≥ 0",
            ));
        }
        let prediction = x.dot(&row)?;
        if !prediction.is_finite() {
            row.check_finite()?;
        }
        let (value, slope) = self.loss.at(prediction, label);
        let data_value = weight * value;
        let ridge = if self.ridge > 0.0 {
            0.5 * self.ridge * x.norm_squared()
        } else {
            0.0
        };
        Ok(Evaluation {
            value: data_value + ridge,
            data_value,
            prediction,
            gradient: Gradient {
                row,
                scale: weight * slope,
                ridge: self.ridge,
            },
        })
    }

    /// A bound G of ‖∇f‖ over ‖x‖ ≤ norm_bound, for rows of norm at most `row` and this label.
    pub fn gradient_bound(&self, row: f64, label: f64, norm_bound: f64) -> f64 {
        self.loss.slope_bound(row * norm_bound, label) * row + self.ridge * norm_bound
    }
}
