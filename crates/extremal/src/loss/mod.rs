//! Losses: functions of the prediction ⟨a, x⟩ and a label. Every loss can have a ridge term
//! (λ/2)‖x‖², and some have a quadratic form of x.

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
pub mod squared;

pub use form::QuadraticForm;

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

/// A loss whose parameters need no checking is its own spec.
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

/// A convex loss of the prediction z = ⟨a, x⟩ and a label, plus a quadratic [`QuadraticForm`] of x if it has
/// one. Implement this trait for your own loss.
pub trait Loss: Send + Sync {
    /// The name in messages.
    fn name(&self) -> &'static str;

    /// Value and derivative at z; at a kink, any subgradient. The value is ∞ where the loss is not
    /// defined, and [`Loss::check_prediction`] returns the reason.
    fn at(&self, z: f64, label: f64) -> (f64, f64);

    /// The labels that the loss admits.
    fn labels(&self) -> Labels {
        Labels::Any
    }

    /// Errors for a label that the loss does not admit.
    fn check_label(&self, label: f64) -> Result<()> {
        let size = label.abs();
        let (fits, allowed) = match self.labels() {
            // 0 for 0 and ±1 alone. A branch for each class would be mispredicted every other time.
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

    /// The probability of the label +1 given the prediction z, if the loss models one.
    fn probability(&self, _z: f64) -> Option<f64> {
        None
    }

    /// Errors for a prediction at which the loss is not defined.
    fn check_prediction(&self, _z: f64) -> Result<()> {
        Ok(())
    }

    /// The largest |derivative| over |z| ≤ reach, for labels of at most this size. The default is ∞: no
    /// bound.
    fn slope_bound(&self, _reach: f64, _label: f64) -> f64 {
        f64::INFINITY
    }

    /// The same over low ≤ z ≤ high, which is smaller if the loss is steep at one end only.
    fn slope_bound_between(&self, low: f64, high: f64, label: f64) -> f64 {
        self.slope_bound(low.abs().max(high.abs()), label)
    }

    /// The largest second derivative in z; ∞ for a loss with kinks, and 0 only for one that is linear in
    /// z. The default is ∞: no bound.
    fn smoothness(&self) -> f64 {
        f64::INFINITY
    }

    /// Whether the loss is ½(z − y)², so that a few sums give the total over many rounds
    /// ([`QuadraticSum`](crate::hindsight::QuadraticSum)).
    fn is_square(&self) -> bool {
        false
    }

    /// Whether the loss is linear in z and has no form, so that regret is exact after one oracle call.
    fn is_linear(&self) -> bool {
        self.smoothness() == 0.0 && self.form().is_none()
    }

    /// Whether the loss is never below 0, for any z and label. Then no fixed decision has a total loss
    /// below 0. False if this is not known.
    fn is_nonnegative(&self) -> bool {
        false
    }

    /// The matrix A of a term ½⟨x, Ax⟩ that the loss adds in every round. Only this term and a ridge
    /// term can make the loss strongly convex in x: a function of ⟨a, x⟩ is constant across a.
    fn form(&self) -> Option<Arc<QuadraticForm>> {
        None
    }
}

impl fmt::Debug for dyn Loss + '_ {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Loss({})", self.name())
    }
}

/// The labels that a loss admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// Any finite number.
    Any,
    /// One of two classes: ±1, or 0 and 1.
    Signs,
    /// The loss ignores the label.
    None,
}

/// y = ±1 of a label that [`Labels::Signs`] admits.
fn sign(label: f64) -> f64 {
    if label > 0.0 { 1.0 } else { -1.0 }
}

/// A loss with its ridge term: the cost of a round. If the loss is known at compile time, a type such
/// as `Objective<Logistic>` saves a dynamic call per round.
#[derive(Debug)]
pub struct Objective<L: Loss + ?Sized = dyn Loss> {
    /// The loss of the prediction.
    loss: Arc<L>,
    /// λ of (λ/2)‖x‖².
    ridge: f64,
    /// The loss's own form.
    form: Option<Arc<QuadraticForm>>,
    /// k where the form is k times the identity: a ridge of the loss's own. Otherwise 0.
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

/// One round's loss at the decision played.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Evaluation<'a> {
    /// The whole loss, ridge term included.
    pub value: f64,
    /// The part of `value` without the ridge term.
    pub data_value: f64,
    /// ⟨a, x⟩.
    pub prediction: f64,
    /// The gradient of the whole loss.
    pub gradient: Gradient<'a>,
}

/// Memory for dense gradients, for [`Objective::evaluate_in`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    x: Vec<f64>,
    gradient: Vec<f64>,
}

impl<L: Loss + ?Sized> Objective<L> {
    /// A loss with a ridge term; 0 means no ridge term.
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

    /// The loss of the prediction.
    pub fn loss(&self) -> &Arc<L> {
        &self.loss
    }

    /// The λ of the ridge term (λ/2)‖x‖²; 0 without one.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Evaluates the loss of one example at a decision, times `weight`. A loss with a dense gradient
    /// needs [`Objective::evaluate_in`].
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
                "{} loss has a dense gradient: call evaluate_in, which takes memory for it",
                self.loss.name()
            ))),
        }
    }

    /// Evaluates any loss. `scratch` is used only by losses with a dense gradient, and grows only in
    /// the first round.
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
        let flat = self.evaluate_flat(row, label, weight, x)?;
        let (mut value, mut data_value, mut gradient) =
            (flat.value, flat.data_value, flat.gradient);
        // Number by number: an evaluation that two ways led to would go through memory.
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

    /// The form, where it does more than a ridge term does.
    #[inline]
    pub(crate) fn written_form(&self) -> Option<&QuadraticForm> {
        self.form
            .as_deref()
            .filter(|form| form.as_multiple().is_none())
    }

    /// All but what [`add_form`] adds.
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

    /// A bound on the rounding error of an evaluation's value, and of the linear lower bound that its
    /// gradient gives, for a row of this norm at a decision x of norm at most `length`.
    ///
    /// The prediction is off by at most `off`. Over that distance a smooth loss changes by no more
    /// than its slope and half its curvature allow, and any convex loss by no more than its
    /// steepest slope at either end. The loss itself is computed to 8 units in the last place, its slope likewise.
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
            // The gradient's factor is weight·slope, unless the gradient was written out.
            let slope = match self.written_form() {
                None => evaluation.gradient.scale.abs(),
                Some(_) => slope_at(z),
            };
            (slope + 0.5 * weight * bend * off) * off
        } else {
            slope_at(z - off).max(slope_at(z + off)) * off
        };
        let squares = self.ridge + self.largest();
        // the terms of ⟨x, Ax⟩ are at most √d·‖A‖·‖x‖² together
        let dim = x.dim();
        let norm = accuracy.norm * rounding::of_dot(dim) * (dim as f64).sqrt();
        data + norm * squares * length * length + 16.0 * UNIT * evaluation.value.abs()
    }

    /// λ of the ridge terms that come with every gradient: the objective's, and the loss's own
    /// where its form is a multiple of the identity.
    pub(crate) fn total_ridge(&self) -> f64 {
        self.ridge + self.form_ridge
    }

    /// A bound G on ‖∇f‖ over ‖x‖ ≤ norm_bound, for rows of norm at most `row` and labels of at most
    /// this size; ∞ if there is no bound.
    pub fn gradient_bound(&self, row: f64, label: f64, norm_bound: f64) -> f64 {
        let reach = row * norm_bound;
        self.gradient_bound_between(row, -reach, reach, label, norm_bound)
    }

    /// The same if ⟨a, x⟩ is known to lie between `low` and `high`.
    pub fn gradient_bound_between(
        &self,
        row: f64,
        low: f64,
        high: f64,
        label: f64,
        norm_bound: f64,
    ) -> f64 {
        // without a row there is no slope, be it ∞
        let data = if row == 0.0 {
            0.0
        } else {
            self.loss.slope_bound_between(low, high, label) * row
        };
        data + (self.ridge + self.largest()) * norm_bound
    }

    /// Errors if a learner could reject the round's gradient at some x with ‖x‖ ≤ norm_bound, because
    /// the gradient or its row may have a norm above 1e100.
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
        check_size("gradient", weight.max(1.0) * bound)?;
        Ok(())
    }

    /// A bound on the second derivatives of the whole loss, for rows of norm at most `row`; ∞ if there
    /// is no bound.
    pub fn smoothness(&self, row: f64) -> f64 {
        let data = match self.loss.smoothness() {
            0.0 => 0.0,
            smoothness => smoothness * row * row,
        };
        data + self.ridge + self.largest()
    }

    /// The strong convexity λ of the whole loss in x, for any rows; 0 if it is not strongly convex.
    pub fn strong_convexity(&self) -> f64 {
        self.ridge + self.form.as_ref().map_or(0.0, |form| form.smallest())
    }

    /// The properties that theorems may assume of these losses, for rows of norm at most `row` (∞ if no
    /// bound is known) and weights of at most 1. `oblivious` means that no loss depends on a decision.
    pub fn facts(&self, row: f64, oblivious: bool) -> LossFacts {
        LossFacts {
            strong_convexity: self.strong_convexity(),
            smoothness: self.smoothness(row),
            oblivious,
        }
    }

    /// Whether the whole loss is linear in x, so that regret is exact after one oracle call.
    pub fn is_linear(&self) -> bool {
        self.loss.is_linear() && self.ridge == 0.0 && self.largest() == 0.0
    }

    /// A lower bound on the total loss over any rounds: 0 if the loss is never below 0, −∞ if no lower
    /// bound is known. A ridge term and a form are never below 0.
    pub fn least_total(&self) -> f64 {
        if self.loss.is_nonnegative() {
            0.0
        } else {
            f64::NEG_INFINITY
        }
    }

    /// The excess of a total loss over [`Objective::least_total`]; no regret is larger.
    pub fn above_least(&self, total: f64) -> f64 {
        total - self.least_total()
    }

    fn largest(&self) -> f64 {
        self.form.as_ref().map_or(0.0, |form| form.largest())
    }
}

/// ½⟨x, Ax⟩, and its gradient with that of the row, scale·a, written out in `scratch`.
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
