//! The sum of losses, with the data of every round stored.

use std::sync::Arc;

use crate::loss::{Loss, Objective, QuadraticForm, Smoothed, smoothed};
use crate::rounding::{self, UNIT, Wide, WideVector};
use crate::set::{Atom, AtomView, check_len, check_point, settle_dim};
use crate::solver::{Imaged, Minorant, Total, TotalValue};
use crate::spec::Kind;
use crate::{Result, Row, kernel};

/// The total Σ_t (w_t·ℓ(⟨a_t, x⟩, y_t) + (λ/2)‖x‖²) over rounds whose data are stored. If the first
/// row is dense, all entries of each row are stored. If it is sparse, only the non-zeros are
/// stored. A loss with a quadratic form ½⟨x, Ax⟩ adds the form once per round.
///
/// One pass over the rows computes the value and the gradient.
///
/// ```
/// use extremal::hindsight::{Options, Sum, solve};
/// use extremal::{LossSpec, Objective, Row, SetSpec};
/// let objective = Objective::new("logistic".parse::<LossSpec>()?.build()?, 0.0)?;
/// let mut sum = Sum::new(2, &objective)?;
/// sum.push(Row::Dense(&[1.0, 0.5]), 1.0, 1.0)?;
/// sum.push(Row::Dense(&[-0.5, 1.0]), -1.0, 1.0)?;
/// let set = "l2:radius=1,dim=2".parse::<SetSpec>()?.build(None)?;
/// let best = solve(&sum, &*set, &Options::default())?;
/// assert!(best.relative_gap() <= 1e-6 && best.floor <= best.value);
/// # Ok::<(), extremal::Error>(())
/// ```
pub struct Sum<L: Loss + ?Sized = dyn Loss> {
    loss: Arc<L>,
    /// The factor of the ridge term per round. It includes a form that is a multiple of the identity.
    ridge: f64,
    /// A form that is not a multiple of the identity. With such a form, an image ends with the
    /// entries of Ax.
    form: Option<Arc<QuadraticForm>>,
    dim: usize,
    rows: Rows,
    labels: Vec<f64>,
    weights: Vec<f64>,
    /// Σ w‖a‖²
    trace: f64,
}

/// Rows, stored one after the other, with all entries or with the non-zeros only.
#[derive(Default)]
struct Rows {
    dense: bool,
    ends: Vec<usize>,
    /// The indices of sparse rows. The list is empty for dense rows.
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn push(&mut self, row: &Row<'_>, dim: usize) {
        let start = self.values.len();
        if self.dense {
            self.values.resize(start + dim, 0.0);
            row.add_to(1.0, &mut self.values[start..]);
        } else {
            for (i, v) in row.entries().filter(|(_, v)| *v != 0.0) {
                self.indices.push(i as u32);
                self.values.push(v);
            }
        }
        self.ends.push(self.values.len());
    }

    fn get(&self, i: usize) -> Row<'_> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let values = &self.values[start..self.ends[i]];
        if self.dense {
            Row::Dense(values)
        } else {
            Row::sparse(&self.indices[start..self.ends[i]], values)
        }
    }
}

impl<L: Loss + ?Sized> Sum<L> {
    /// A sum without rounds.
    pub fn new(dim: usize, objective: &Objective<L>) -> Result<Self> {
        let form = objective.loss().form();
        let expected = form.as_ref().and_then(|form| form.dim()).unwrap_or(dim);
        check_len("decision of a quadratic loss", expected, dim)?;
        let multiple = form.as_ref().and_then(|form| form.as_multiple());
        Ok(Self {
            loss: objective.loss().clone(),
            ridge: objective.ridge() + multiple.unwrap_or(0.0),
            form: form.filter(|_| multiple.is_none()),
            dim: settle_dim("sum", Some(dim), None)?,
            rows: Rows::default(),
            labels: Vec::new(),
            weights: Vec::new(),
            trace: 0.0,
        })
    }

    /// Stores a round. If the loss does not admit the label or the row, the result is an error, and
    /// nothing is stored.
    pub fn push(&mut self, row: Row<'_>, label: f64, weight: f64) -> Result<()> {
        row.check_size(self.dim)?;
        self.loss.check_label(label)?;
        Kind::NOT_NEGATIVE.admit("example", "weight", weight)?;
        if self.labels.is_empty() {
            self.rows.dense = matches!(row, Row::Dense(_));
        }
        self.rows.push(&row, self.dim);
        self.labels.push(label);
        self.weights.push(weight);
        self.trace += weight * kernel::dot(row.values(), row.values());
        Ok(())
    }

    /// The number of rounds.
    pub fn rounds(&self) -> usize {
        self.labels.len()
    }

    /// The total loss at x.
    pub fn value(&self, x: &[f64]) -> Result<f64> {
        check_point(self.dim, x)?;
        let (mut image, mut gradient) = (vec![0.0; self.images()], vec![0.0; self.dim]);
        Ok(self.evaluate(0.0, x, &mut image, &mut gradient).unsmoothed)
    }

    /// An upper bound on the curvature along a unit vector u with Σw⟨a, u⟩² = `data`.
    fn curvature(&self, mu: f64, data: f64) -> f64 {
        let of_loss = self.loss.smoothness().min(1.0 / mu);
        let form = self.form.as_ref().map_or(0.0, |form| form.largest());
        of_loss * data + self.total_ridge() + self.rounds() as f64 * form
    }

    /// The factor of the sum of all ridge terms.
    fn total_ridge(&self) -> f64 {
        self.ridge * self.rounds() as f64
    }

    /// If the loss has a form, writes Ax to the end of an image.
    fn map_form(&self, x: &[f64], image: &mut [f64]) {
        if let Some(form) = &self.form {
            form.apply(x, &mut image[self.rounds()..]);
        }
    }

    /// The smoothed loss of round i at the prediction z.
    fn loss_at(&self, mu: f64, i: usize, z: f64) -> Smoothed {
        smoothed(&*self.loss, mu, z, self.labels[i])
    }

    /// One pass over the rounds, which adds each row to the gradient. `image_of` returns ⟨a_i, x⟩,
    /// and `turned` is Ax if the loss has a form.
    fn pass(
        &self,
        mu: f64,
        x: &[f64],
        turned: &[f64],
        gradient: &mut [f64],
        mut image_of: impl FnMut(usize, &Row<'_>) -> f64,
    ) -> TotalValue {
        // Adds the ridge terms and the forms. The value of each one is half the inner product of x
        // and its gradient.
        let (rounds, sigma) = (self.rounds() as f64, self.total_ridge());
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = sigma * x;
        }
        if self.form.is_some() {
            kernel::axpy(rounds, turned, gradient);
        }
        let mut value = 0.5 * kernel::dot(x, gradient);
        let (mut unsmoothed, mut smoothing_slack, mut size) = (value, 0.0, value);
        for i in 0..self.rounds() {
            let row = self.rows.get(i);
            let here = self.loss_at(mu, i, image_of(i, &row));
            let weight = self.weights[i];
            value += weight * here.value;
            unsmoothed += weight * here.unsmoothed;
            smoothing_slack += weight * here.smoothing_slack;
            size += (weight * here.value).abs();
            if here.slope != 0.0 {
                row.add_to(weight * here.slope, gradient);
            }
        }
        TotalValue {
            value,
            unsmoothed,
            smoothing_slack,
            rounding: 4.0 * f64::EPSILON * rounds.sqrt() * size,
        }
    }
}

impl<L: Loss + ?Sized> Total for Sum<L> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn images(&self) -> usize {
        self.rounds() + self.form.as_ref().map_or(0, |_| self.dim)
    }

    fn evaluate(&self, mu: f64, x: &[f64], image: &mut [f64], gradient: &mut [f64]) -> TotalValue {
        self.map_form(x, image);
        let (image, turned) = image.split_at_mut(self.rounds());
        self.pass(mu, x, turned, gradient, |i, row| {
            image[i] = row.dot(x);
            image[i]
        })
    }

    fn at_image(&self, mu: f64, x: &[f64], image: &[f64], gradient: &mut [f64]) -> TotalValue {
        let (image, turned) = image.split_at(self.rounds());
        self.pass(mu, x, turned, gradient, |i, _| image[i])
    }

    /// The loss of each round lies above a line, and the lines are added with twice the digits of an
    /// `f64`. The bound allows for these remaining errors:
    ///
    /// - A loss's value and slope have errors of 8 units in the last place each. The error of a slope
    ///   is multiplied by ‖a‖·reach, the distance that the round's prediction can move.
    /// - For the value at x, the prediction has an error of at most `off`. Over this distance a
    ///   convex loss changes by at most `off` times its steepest slope at either end.
    /// - The wide sums have errors of order T²·UNIT².
    fn minorant(&self, mu: f64, x: &[f64], reach: f64, gradient: &mut [f64]) -> Minorant {
        const LAST: f64 = 16.0 * UNIT;
        let (rounds, length) = (self.rounds(), kernel::norm(x) * (1.0 + LAST));
        let (mut constant, mut value) = (Wide::default(), Wide::default());
        let mut sum = WideVector::zeros(self.dim);
        // bounds on the errors of the constant and the value, and the sizes of their terms
        let (mut below, mut above, mut size) = (0.0, 0.0, 0.0);
        for i in 0..rounds {
            let (row, label, weight) = (self.rows.get(i), self.labels[i], self.weights[i]);
            let norm = kernel::norm(row.values());
            let (z, rest) = rounding::dot_row(&row, x).parts();
            let off = rest.abs() + rounding::of_wide_dot(row.stored()) * norm * length;
            let unsmoothed = self.loss.at(z, label).0;
            let slope_at = |z: f64| self.loss.at(z, label).1.abs();
            // a smaller distance from z would be rounded to 0
            let aside = off.max(4.0 * UNIT * z.abs());
            let steepest = slope_at(z - aside).max(slope_at(z + aside));
            value.add_product(weight, unsmoothed);
            above += weight * (steepest * off + LAST * unsmoothed.abs());
            let line = self.loss_at(mu, i, z);
            let slope = weight * line.slope;
            constant.add_product(weight, line.height);
            constant.add_product(-slope, line.at);
            sum.add_row(slope, &row);
            let moved = norm * reach + (z - line.at).abs() + off;
            below += weight * (line.error + LAST * line.height.abs()) + LAST * slope.abs() * moved;
            size += weight * line.height.abs()
                + slope.abs() * (line.at.abs() + norm * (length + reach));
        }
        // The ridge terms and the forms are ½⟨u, Pu⟩ ≥ ⟨Px, u⟩ − ½⟨x, Px⟩. Their curvature adds more.
        // λT is rounded, and entry i of Ax has an error of at most of_dot·(|A||x|)_i.
        let (pull, far) = (self.total_ridge(), length + reach);
        let (mut bent, mut error) = (x.to_vec(), 0.0);
        bent.iter_mut().for_each(|v| *v *= pull);
        if let Some(form) = &self.form {
            let mut image = vec![0.0; self.dim];
            form.apply(x, &mut image);
            kernel::axpy(rounds as f64, &image, &mut bent);
            let share = rounding::of_dot(self.dim) * (self.dim as f64).sqrt();
            error = rounds as f64 * 1.5 * share * form.largest() * length;
        }
        let half = 0.5 * rounding::dot(x, &bent).value();
        constant.add(-half);
        value.add(half);
        sum.add_row(1.0, &Row::Dense(&bent));
        below += error * 2.0 * far + LAST * (pull * far * far + half.abs());
        above += error * length + LAST * (pull * length * length + half.abs());
        size += pull * far * far;
        let wide = rounding::of_wide_dot(4 * (rounds + 2)) * size;
        let mut rest = vec![0.0; self.dim];
        for ((c, g), rest) in sum.iter().zip(gradient.iter_mut()).zip(&mut rest) {
            (*g, *rest) = c.parts();
        }
        constant.add(kernel::dot(&rest, x));
        below += kernel::norm(&rest) * (reach + LAST * length) + wide;
        let (constant, value) = (constant.value(), value.value());
        Minorant {
            constant: constant - 1.001 * below - LAST * constant.abs(),
            value: value + 1.001 * above + wide + LAST * value.abs(),
        }
    }

    fn map(&self, atom: &Atom, image: &mut [f64]) {
        let mut v = vec![0.0; self.dim];
        atom.write(&mut v);
        self.map_form(&v, image);
        for (i, z) in image[..self.rounds()].iter_mut().enumerate() {
            *z = match (atom.view(), self.rows.get(i)) {
                (AtomView::Zero, _) => 0.0,
                (AtomView::Coordinate { index, value }, Row::Dense(a)) => value * a[index],
                (AtomView::Sparse { indices, values }, Row::Dense(a)) => {
                    kernel::dot_sparse(indices, values, a)
                }
                (_, row) => row.dot(&v),
            };
        }
    }

    fn along(&self, mu: f64, s: f64, from: Imaged<'_>, by: Imaged<'_>) -> (f64, f64) {
        let (mut value, mut slope) = (0.0, 0.0);
        let (rounds, sigma) = (self.rounds(), self.total_ridge());
        if sigma > 0.0 || self.form.is_some() {
            // the images end with Ax and Ad
            let turned = |k: usize| from.image[rounds + k] + s * by.image[rounds + k];
            for (k, (x, d)) in from.x.iter().zip(by.x).enumerate() {
                let here = x + s * d;
                let form = self.form.as_ref().map_or(0.0, |_| turned(k));
                let pull = sigma * here + rounds as f64 * form;
                value += 0.5 * here * pull;
                slope += d * pull;
            }
        }
        for (i, (z, d)) in from.image[..rounds].iter().zip(by.image).enumerate() {
            let here = self.loss_at(mu, i, z + s * d);
            value += self.weights[i] * here.value;
            slope += self.weights[i] * here.slope * d;
        }
        (value, slope)
    }

    /// The average curvature. The curvature in any direction is at most the rank times the average.
    fn smoothness(&self, mu: f64) -> f64 {
        let rank = self.rounds().min(self.dim).max(1) as f64;
        self.curvature(mu, self.trace / rank)
    }

    fn smoothness_bound(&self, mu: f64) -> f64 {
        self.curvature(mu, self.trace)
    }

    fn strong_convexity(&self) -> f64 {
        let form = self.form.as_ref().map_or(0.0, |form| form.smallest());
        self.total_ridge() + self.rounds() as f64 * form
    }

    fn is_linear(&self) -> bool {
        self.loss.is_linear() && self.ridge == 0.0 && self.form.is_none()
    }
}
