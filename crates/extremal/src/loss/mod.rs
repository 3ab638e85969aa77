//! Losses: convex functions of the prediction ⟨a, x⟩ and a label. Every loss can have a ridge term
//! (λ/2)‖x‖², and a loss may also contain a quadratic form of x.

use std::fmt;
use std::sync::Arc;

use crate::range::check_size;
use crate::rounding::{self, UNIT};
use crate::set::check_len;
use crate::spec::{Kind, registry};
use crate::theory::LossFacts;
use crate::{Error, Gradient, Point, Result, Row, kernel};

pub mod absolute;
mod form;
pub mod hinge;
pub mod huber;
pub mod linear;
pub mod log_wealth;
pub mod logistic;
pub mod quadratic;
pub mod quantile;
mod smooth;
pub mod squared;

pub use form::QuadraticForm;
pub(crate) use smooth::{Smoothed, smoothed};

registry! {
    /// The losses, by name.
    "loss" LossSpec: MakeLoss {
        "linear" => Linear(linear::Linear),
        "squared" => Squared(squared::Squared),
        "logistic" => Logistic(logistic::Logistic),
        "absolute" => Absolute(absolute::Absolute),
        "huber" => Huber(huber::Huber),
        "quantile" => Quantile(quantile::Quantile),
        "hinge" => Hinge(hinge::Hinge),
        "squared-hinge" => SquaredHinge(hinge::SquaredHinge),
        "log-wealth" => LogWealth(log_wealth::LogWealth),
        "quadratic" => Quadratic(quadratic::Quadratic),
    }
}

/// Builds a loss from its spec.
pub(crate) trait MakeLoss {
    fn make(&self) -> Result<Arc<dyn Loss>>;
}

/// A loss that can be copied is its own spec.
impl<L: Loss + Copy + 'static> MakeLoss for L {
    fn make(&self) -> Result<Arc<dyn Loss>> {
        Ok(Arc::new(*self))
    }
}

impl LossSpec {
    /// Builds the loss.
    pub fn build(&self) -> Result<Arc<dyn Loss>> {
        self.check()?;
        self.inner().make()
    }
}

/// A convex loss: a function of the prediction z = ⟨a, x⟩ and a label, plus an optional
/// [`QuadraticForm`] of x. Implement this trait for your own loss.
pub trait Loss: Send + Sync {
    /// The name of the loss in messages.
    fn name(&self) -> &'static str;

    /// The value and the derivative at z, or any subgradient at a kink. If the loss is not defined
    /// at z, the value is ∞, and [`Loss::check_prediction`] returns the reason.
    fn at(&self, z: f64, label: f64) -> (f64, f64);

    /// The labels that the loss allows.
    fn labels(&self) -> Labels {
        Labels::Any
    }

    /// Returns an error if the loss does not allow this label.
    fn check_label(&self, label: f64) -> Result<()> {
        let size = label.abs();
        let (fits, allowed) = match self.labels() {
            // The product is 0 only for 0 and ±1. A branch per class would often be mispredicted.
            Labels::Signs => (size * (size - 1.0) == 0.0, "-1 or 1 (or 0 and 1)"),
            Labels::Any | Labels::None => (label.is_finite(), "a finite number"),
        };
        if fits {
            return Ok(());
        }
        Err(Error::Label {
            loss: self.name(),
            label,
            allowed,
        })
    }

    /// The probability of the label +1 given the prediction z. It is `None` if the loss does not model
    /// probabilities.
    fn probability(&self, _z: f64) -> Option<f64> {
        None
    }

    /// Returns an error if the loss is not defined at this prediction.
    fn check_prediction(&self, _z: f64) -> Result<()> {
        Ok(())
    }

    /// The largest |derivative| over all |z| ≤ `reach` and all labels with absolute value at most
    /// `label`. The default ∞ means that no bound is known.
    fn slope_bound(&self, _reach: f64, _label: f64) -> f64 {
        f64::INFINITY
    }

    /// The same bound over `low` ≤ z ≤ `high`. This bound is smaller if the loss is steep at one end
    /// only.
    fn slope_bound_between(&self, low: f64, high: f64, label: f64) -> f64 {
        self.slope_bound(low.abs().max(high.abs()), label)
    }

    /// The largest second derivative with respect to z. It is ∞ for a loss with kinks, and 0 only for a
    /// loss that is linear in z. The default ∞ means that no bound is known.
    fn smoothness(&self) -> f64 {
        f64::INFINITY
    }

    /// Whether the loss is ½(z − y)². For this loss, a few sums determine the total loss over many rounds
    /// ([`QuadraticSum`](crate::hindsight::QuadraticSum)).
    fn is_square(&self) -> bool {
        false
    }

    /// Whether the loss is linear in z, without a form. One oracle call gives the exact regret of such a
    /// loss.
    fn is_linear(&self) -> bool {
        self.smoothness() == 0.0 && self.form().is_none()
    }

    /// Whether the loss is known to be at least 0 for every z and every label.
    fn is_nonnegative(&self) -> bool {
        false
    }

    /// The matrix A of a term ½⟨x, Ax⟩ that the loss adds in every round. Only this term or a ridge term
    /// can make the loss strongly convex, because ⟨a, x⟩ does not change if x moves orthogonally to a.
    fn form(&self) -> Option<Arc<QuadraticForm>> {
        None
    }
}

impl fmt::Debug for dyn Loss + '_ {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Loss({})", self.name())
    }
}

/// The labels that a loss allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// Any finite number.
    Any,
    /// One of two classes, which are −1 and 1, or 0 and 1.
    Signs,
    /// The loss ignores the label.
    None,
}

/// The class ±1 of a label that [`Labels::Signs`] allows.
fn sign(label: f64) -> f64 {
    if label > 0.0 { 1.0 } else { -1.0 }
}

/// A loss with its ridge term. If the loss is known at compile time, a type such as
/// `Objective<Logistic>` saves a dynamic call per round.
#[derive(Debug)]
pub struct Objective<L: Loss + ?Sized = dyn Loss> {
    loss: Arc<L>,
    ridge: f64,
    form: Option<Arc<QuadraticForm>>,
    /// The k of a form that is k times the identity and therefore acts as a ridge term. It is 0 for any
    /// other form.
    form_ridge: f64,
}

impl<L: Loss + ?Sized> Clone for Objective<L> {
    fn clone(&self) -> Self {
        Self {
            loss: self.loss.clone(),
            ridge: self.ridge,
            form: self.form.clone(),
            form_ridge: self.form_ridge,
        }
    }
}

/// The loss of a round at the learner's decision.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Evaluation<'a> {
    /// The whole loss, with the ridge term.
    pub value: f64,
    /// The loss without the ridge term.
    pub data_value: f64,
    /// ⟨a, x⟩.
    pub prediction: f64,
    /// The gradient of the whole loss.
    pub gradient: Gradient<'a>,
}

/// Memory for the dense gradients of [`Objective::evaluate_in`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    x: Vec<f64>,
    gradient: Vec<f64>,
}

impl<L: Loss + ?Sized> Objective<L> {
    /// A loss with the ridge term (λ/2)‖x‖². `ridge` is λ, and 0 means no ridge term.
    pub fn new(loss: Arc<L>, ridge: f64) -> Result<Self> {
        Kind::CURVATURE.admit("loss", "l2", ridge)?;
        let form = loss.form();
        let multiple = form.as_ref().and_then(|form| form.as_multiple());
        Ok(Self {
            loss,
            ridge,
            form,
            form_ridge: multiple.unwrap_or(0.0),
        })
    }

    /// The loss without the ridge term.
    pub fn loss(&self) -> &Arc<L> {
        &self.loss
    }

    /// The λ of the ridge term (λ/2)‖x‖². It is 0 without a ridge term.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Evaluates the loss of one example at a decision. `weight` multiplies the loss of the
    /// prediction. For a loss with a dense gradient, use [`Objective::evaluate_in`].
    pub fn evaluate<'a>(
        &self,
        row: Row<'a>,
        label: f64,
        weight: f64,
        x: &(impl Point + ?Sized),
    ) -> Result<Evaluation<'a>> {
        match self.written_form() {
            None => self.evaluate_flat(row, label, weight, x),
            Some(_) => Err(Error::Unsupported(format!(
                "{} loss has a dense gradient: call evaluate_in, and pass it a Scratch to hold the gradient",
                self.loss.name()
            ))),
        }
    }

    /// Evaluates any loss. Only a loss with a dense gradient uses `scratch`, which grows in the first
    /// call.
    ///
    /// ```
    /// use extremal::loss::{LossSpec, Objective, Scratch};
    /// use extremal::{Row, surrogate::DenseSurrogate};
    /// let objective = Objective::new(
    ///     "quadratic:diagonal=[1,4]".parse::<LossSpec>()?.build()?, 0.0)?;
    /// let set = "l2:dim=2".parse::<extremal::SetSpec>()?.build(None)?;
    /// let x = DenseSurrogate::new(set, Some(&[0.5, 0.5]))?;
    /// let mut scratch = Scratch::default();
    /// let row = Row::Sparse { indices: &[0], values: &[3.0] };
    /// let evaluation = objective.evaluate_in(row, 0.0, 1.0, &x, &mut scratch)?;
    /// assert_eq!(evaluation.value, 0.5 * (0.25 + 4.0 * 0.25) + 1.5);
    /// assert_eq!(evaluation.gradient.row, Row::Dense(&[3.5, 2.0]));
    /// # Ok::<(), extremal::Error>(())
    /// ```
    #[inline(always)]
    pub fn evaluate_in<'a>(
        &self,
        row: Row<'a>,
        label: f64,
        weight: f64,
        x: &(impl Point + ?Sized),
        scratch: &'a mut Scratch,
    ) -> Result<Evaluation<'a>> {
        // Separate numbers stay in registers. An `Evaluation` that two branches build would be written to
        // memory.
        let flat = self.evaluate_flat(row, label, weight, x)?;
        let (mut value, mut data_value, mut gradient) =
            (flat.value, flat.data_value, flat.gradient);
        if let Some(form) = self.written_form() {
            let half = add_form(form, row, gradient.scale, x, scratch)?;
            value += half;
            data_value += half;
            gradient.row = Row::Dense(&scratch.gradient);
            gradient.scale = 1.0;
        }
        Ok(Evaluation {
            value,
            data_value,
            prediction: flat.prediction,
            gradient,
        })
    }

    /// The quadratic form, unless it acts as a ridge term.
    #[inline]
    pub(crate) fn written_form(&self) -> Option<&QuadraticForm> {
        self.form
            .as_deref()
            .filter(|form| form.as_multiple().is_none())
    }

    /// The evaluation without the terms that [`add_form`] adds.
    #[inline]
    fn evaluate_flat<'a>(
        &self,
        row: Row<'a>,
        label: f64,
        weight: f64,
        x: &(impl Point + ?Sized),
    ) -> Result<Evaluation<'a>> {
        self.loss.check_label(label)?;
        if !(weight >= 0.0 && weight.is_finite()) {
            Kind::NOT_NEGATIVE.admit("example", "weight", weight)?;
        }
        let prediction = x.dot(&row)?;
        if !prediction.is_finite() {
            row.check_finite()?;
        }
        let (value, slope) = self.loss.at(prediction, label);
        if value == f64::INFINITY {
            self.loss.check_prediction(prediction)?;
        }
        let pull = self.total_ridge();
        let square = if pull > 0.0 { x.norm_squared() } else { 0.0 };
        let data_value = weight * value + 0.5 * self.form_ridge * square;
        Ok(Evaluation {
            value: data_value + 0.5 * self.ridge * square,
            data_value,
            prediction,
            gradient: Gradient {
                row,
                scale: weight * slope,
                ridge: pull,
            },
        })
    }

    /// A bound on the rounding error of an evaluation's value, and of the tangent that the evaluation's
    /// gradient defines. `row_norm` is the norm of the row, and `length` bounds the norm of x.
    ///
    /// The prediction has an error of at most `off`. Over this distance a smooth loss changes by at most
    /// slope·off + curvature·off²/2. Any convex loss changes by at most `off` times the larger of its
    /// two absolute slopes at the ends of this distance. The value and the slope of the loss have errors of 8 units in the last place.
    pub(crate) fn rounding(
        &self,
        example: (&Row<'_>, f64, f64),
        evaluation: &Evaluation<'_>,
        x: &(impl Point + ?Sized),
        (row_norm, length): (f64, f64),
    ) -> f64 {
        let ((row, label, weight), accuracy) = (example, x.accuracy());
        let off = rounding::of_row(row) * accuracy.dot * row_norm * length;
        let (z, bend) = (evaluation.prediction, self.loss.smoothness());
        let slope_at = |z: f64| weight * self.loss.at(z, label).1.abs();
        let data = if bend.is_finite() {
            // The gradient's factor is weight·slope, unless a form made the gradient dense.
            let slope = match self.written_form() {
                None => evaluation.gradient.scale.abs(),
                Some(_) => slope_at(z),
            };
            (slope + 0.5 * weight * bend * off) * off
        } else {
            slope_at(z - off).max(slope_at(z + off)) * off
        };
        let squares = self.ridge + self.largest();
        // the absolute values of the terms of ⟨x, Ax⟩ add up to at most √d·‖A‖·‖x‖²
        let dim = x.dim();
        let norm = accuracy.norm * rounding::of_dot(dim) * (dim as f64).sqrt();
        data + norm * squares * length * length + 16.0 * UNIT * evaluation.value.abs()
    }

    /// The sum of the objective's λ and of the λ of a form that acts as a ridge term.
    pub(crate) fn total_ridge(&self) -> f64 {
        self.ridge + self.form_ridge
    }

    /// A bound G on ‖∇f(x)‖ for all ‖x‖ ≤ `norm_bound`, all rows of norm at most `row` and all
    /// labels with absolute value at most `label`. It is ∞ if no bound is known.
    pub fn gradient_bound(&self, row: f64, label: f64, norm_bound: f64) -> f64 {
        let reach = row * norm_bound;
        self.gradient_bound_between(row, -reach, reach, label, norm_bound)
    }

    /// The same bound if ⟨a, x⟩ always lies between `low` and `high`.
    pub fn gradient_bound_between(
        &self,
        row: f64,
        low: f64,
        high: f64,
        label: f64,
        norm_bound: f64,
    ) -> f64 {
        // the bound is 0 if all rows are 0, even for an infinite slope
        let data = match row {
            0.0 => 0.0,
            _ => self.loss.slope_bound_between(low, high, label) * row,
        };
        data + (self.ridge + self.largest()) * norm_bound
    }

    /// Returns an error if the row, or the gradient at some x with ‖x‖ ≤ `norm_bound`, may have a norm
    /// above 1e100. A learner would reject this gradient.
    pub fn check_size(
        &self,
        row: &Row<'_>,
        label: f64,
        weight: f64,
        norm_bound: f64,
    ) -> Result<()> {
        let norm = kernel::norm(row.values());
        check_size("row", norm)?;
        let bound = self.gradient_bound(norm, label, norm_bound);
        check_size("gradient", weight.max(1.0) * bound).map(|_| ())
    }

    /// A bound on the second derivatives of the whole loss, for rows of norm at most `row`. It is ∞ if no
    /// bound is known.
    pub fn smoothness(&self, row: f64) -> f64 {
        let data = match self.loss.smoothness() {
            0.0 => 0.0,
            smoothness => smoothness * row * row,
        };
        data + self.ridge + self.largest()
    }

    /// The strong convexity λ of the whole loss in x, for any row. It is 0 if the loss is not strongly
    /// convex.
    pub fn strong_convexity(&self) -> f64 {
        self.ridge + self.form.as_ref().map_or(0.0, |form| form.smallest())
    }

    /// The properties of the losses that theorems may assume, if weights are at most 1. `row` is a bound
    /// on the norms of the rows, which may be ∞. If `oblivious` is true, the losses do not depend on the
    /// decisions.
    pub fn facts(&self, row: f64, oblivious: bool) -> LossFacts {
        LossFacts {
            strong_convexity: self.strong_convexity(),
            smoothness: self.smoothness(row),
            oblivious,
        }
    }

    /// Whether the whole loss is linear in x. One oracle call computes the exact regret of such a loss.
    pub fn is_linear(&self) -> bool {
        self.loss.is_linear() && self.ridge == 0.0 && self.largest() == 0.0
    }

    /// A lower bound on the total loss of any rounds. It is 0 if the loss is never negative, and −∞ for
    /// any other loss.
    pub fn least_total(&self) -> f64 {
        if self.loss.is_nonnegative() {
            0.0
        } else {
            f64::NEG_INFINITY
        }
    }

    /// A total loss minus [`Objective::least_total`]. This difference is an upper bound on the regret.
    pub fn above_least(&self, total: f64) -> f64 {
        total - self.least_total()
    }

    fn largest(&self) -> f64 {
        self.form.as_ref().map_or(0.0, |form| form.largest())
    }
}

/// Returns ½⟨x, Ax⟩, and writes the gradient Ax + scale·a for the row a to `scratch`.
///
/// It is not inlined, so that the numbers of an evaluation without a form stay in registers.
#[inline(never)]
fn add_form(
    form: &QuadraticForm,
    row: Row<'_>,
    scale: f64,
    x: &(impl Point + ?Sized),
    scratch: &mut Scratch,
) -> Result<f64> {
    let expected = form.dim().unwrap_or(x.dim());
    check_len("decision of a quadratic loss", expected, x.dim())?;
    let (point, sum) = (&mut scratch.x, &mut scratch.gradient);
    point.resize(x.dim(), 0.0);
    sum.resize(x.dim(), 0.0);
    x.write(point);
    form.apply(point, sum);
    let half = 0.5 * kernel::dot(point, sum);
    row.add_to(scale, sum);
    Ok(half)
}
