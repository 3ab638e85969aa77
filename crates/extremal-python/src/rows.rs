//! Examples from the rows of a dense or CSR matrix, in any order, with or without an intercept.

use extremal::loss::Objective;
use extremal::set::Set;
use extremal::stream::{Round, Stream};
use extremal::{Point, Row};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::learner::AnyLearner;

/// A matrix that Python passes, borrowed.
#[derive(FromPyObject)]
pub enum Matrix<'py> {
    /// A float64 matrix, stored by rows.
    Dense(PyReadonlyArray2<'py, f64>),
    /// The arrays indptr, indices and data of a CSR matrix, and its number of columns.
    Csr(
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, u32>,
        PyReadonlyArray1<'py, f64>,
        usize,
    ),
}

/// A borrowed array with one number per row. `None` if the caller passed no array.
pub type Each<'py> = Option<PyReadonlyArray1<'py, f64>>;

#[derive(Clone, Copy)]
enum View<'a> {
    Dense(&'a [f64]),
    Csr {
        ends: &'a [i64],
        indices: &'a [u32],
        values: &'a [f64],
    },
}

/// Rows with their labels and weights.
#[derive(Clone, Copy)]
pub struct Examples<'a> {
    rows: View<'a>,
    count: usize,
    width: usize,
    labels: Option<&'a [f64]>,
    /// If a class is given, rows of this class have the label 1, and all other rows have the label −1.
    class: Option<f64>,
    weights: Option<&'a [f64]>,
    order: Option<&'a [i64]>,
    intercept: bool,
}

impl Matrix<'_> {
    /// The examples in the order of the rows, without labels, with weights of 1.
    pub fn examples(&self) -> PyResult<Examples<'_>> {
        let (rows, count, width) = match self {
            Self::Dense(x) if x.is_c_contiguous() => {
                (View::Dense(x.as_slice()?), x.shape()[0], x.shape()[1])
            }
            Self::Dense(_) => {
                return Err(PyValueError::new_err("the matrix must be stored by rows"));
            }
            Self::Csr(ends, indices, values, width) => {
                let (ends, indices, values) =
                    (ends.as_slice()?, indices.as_slice()?, values.as_slice()?);
                check_csr(ends, indices.len(), values.len())?;
                let rows = View::Csr {
                    ends,
                    indices,
                    values,
                };
                (rows, ends.len() - 1, *width)
            }
        };
        Ok(Examples {
            rows,
            count,
            width,
            labels: None,
            class: None,
            weights: None,
            order: None,
            intercept: false,
        })
    }
}

impl<'a> Examples<'a> {
    /// Adds labels and weights, one per row.
    pub fn with(mut self, labels: &'a Each<'_>, weights: &'a Each<'_>) -> PyResult<Self> {
        self.labels = self.each(labels, "labels")?;
        self.weights = self.each(weights, "weights")?;
        Ok(self)
    }

    fn each(&self, given: &'a Each<'_>, what: &str) -> PyResult<Option<&'a [f64]>> {
        let Some(given) = given else {
            return Ok(None);
        };
        let numbers = given.as_slice()?;
        if numbers.len() == self.count {
            return Ok(Some(numbers));
        }
        Err(PyValueError::new_err(format!(
            "there are {} {what} for {} rows",
            numbers.len(),
            self.count
        )))
    }

    /// Replaces the labels: rows of the class get 1, and all other rows get −1.
    pub fn of_class(self, class: Option<f64>) -> PyResult<Self> {
        if class.is_some() && self.labels.is_none() {
            return Err(PyValueError::new_err("classes need labels"));
        }
        Ok(Self { class, ..self })
    }

    /// Puts the rows into this order.
    pub fn ordered(self, order: &'a Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Self> {
        let Some(order) = order else {
            return Ok(self);
        };
        let order = order.as_slice()?;
        let known = |i: &i64| usize::try_from(*i).is_ok_and(|i| i < self.count);
        if !order.iter().all(known) {
            let text = format!("`order`: row numbers must be below {}", self.count);
            return Err(PyValueError::new_err(text));
        }
        Ok(Self {
            order: Some(order),
            ..self
        })
    }

    /// Puts a 1 in front of each row, as feature 0.
    pub fn with_intercept(self, intercept: bool) -> PyResult<Self> {
        if let (true, View::Csr { indices, .. }) = (intercept, self.rows)
            && indices.iter().any(|i| *i as usize >= self.width)
        {
            return Err(PyValueError::new_err(format!(
                "the CSR matrix has {} columns, but contains a larger column index",
                self.width
            )));
        }
        Ok(Self { intercept, ..self })
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.order.map_or(self.count, <[i64]>::len)
    }

    /// A stream of the examples, starting with example `start`.
    pub fn stream(self, start: usize) -> Replay<'a> {
        Replay {
            examples: self,
            next: start,
            end: self.len(),
            indices: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Whether all entries are finite.
    pub fn are_finite(&self) -> bool {
        are_within(self.values(), f64::MAX)
    }

    fn values(&self) -> &[f64] {
        let (View::Dense(values) | View::Csr { values, .. }) = self.rows;
        values
    }

    /// Whether a learner on the set can play all of the rows. If so, all entries, labels and weights
    /// are of modest size. The library refuses only gradients that are much larger.
    pub fn are_harmless(&self, objective: &Objective, set: &dyn Set, learner: &AnyLearner) -> bool {
        const MODEST: f64 = 1e9;
        let dim = set.dim();
        let row = MODEST * (dim as f64).sqrt();
        let reach = match learner.by_example() {
            None => set.geometry().norm_bound,
            // The set's radius follows the labels' distance from their mean, and is a power of 2.
            Some(own) => 4.0 * (own.radius() + set.geometry().norm_bound * MODEST),
        };
        let first = usize::from(self.intercept);
        let fit = match self.rows {
            View::Dense(_) => self.width + first == dim,
            View::Csr { indices, .. } => indices.iter().all(|i| *i as usize + first < dim),
        };
        let labels = match self.class {
            Some(_) => &[-1.0, 1.0],
            None => self.labels.unwrap_or(&[]),
        };
        let weights = self.weights.unwrap_or(&[]);
        fit && objective.gradient_bound(row, MODEST, reach) * MODEST <= 1e100
            && [self.values(), labels, weights]
                .iter()
                .all(|numbers| are_within(numbers, MODEST))
            && weights.iter().all(|w| *w >= 0.0)
            && labels
                .iter()
                .all(|y| objective.loss().check_label(*y).is_ok())
    }
}

/// Whether no number is NaN or has an absolute value above `most`.
fn are_within(numbers: &[f64], most: f64) -> bool {
    // The loop has no branch per number, so that the compiler vectorises it.
    let fine = |part: &[f64]| part.iter().fold(true, |fine, v| fine & (v.abs() <= most));
    numbers.chunks(1024).all(fine)
}

/// A stream that replays examples.
pub struct Replay<'a> {
    examples: Examples<'a>,
    next: usize,
    end: usize,
    /// Memory for the current row with its intercept.
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Stream for Replay<'_> {
    #[inline(always)]
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        Ok(self.next_round())
    }

    fn row_bound(&self) -> f64 {
        f64::INFINITY
    }
}

impl Replay<'_> {
    /// The next example. `None` after the last one.
    #[inline(always)]
    pub fn next_round(&mut self) -> Option<Round<'_>> {
        let (all, k) = (&self.examples, self.next);
        if k >= self.end {
            return None;
        }
        self.next += 1;
        let i = all.order.map_or(k, |order| order[k] as usize);
        let weight = all.weights.map_or(1.0, |weights| weights[i]);
        let mut label = all.labels.map_or(0.0, |labels| labels[i]);
        if let Some(class) = all.class {
            // this formula needs no branch, which the processor would mispredict
            label = 2.0 * f64::from(u8::from(label == class)) - 1.0;
        }
        let row = self.row(i);
        Some(Round { row, label, weight })
    }

    #[inline(always)]
    fn row(&mut self, i: usize) -> Row<'_> {
        let width = self.examples.width;
        let (mut values, mut indices) = match self.examples.rows {
            View::Dense(values) => (&values[i * width..][..width], None),
            View::Csr {
                ends,
                indices,
                values,
            } => {
                let at = ends[i] as usize..ends[i + 1] as usize;
                (&values[at.clone()], Some(&indices[at]))
            }
        };
        if self.examples.intercept {
            self.values.clear();
            self.values.push(1.0);
            self.values.extend_from_slice(values);
            values = &self.values;
            if let Some(indices) = &mut indices {
                self.indices.clear();
                self.indices.push(0);
                self.indices.extend(indices.iter().map(|i| i + 1));
                *indices = &self.indices;
            }
        }
        match indices {
            Some(indices) => Row::Sparse { indices, values },
            None => Row::Dense(values),
        }
    }
}

/// Whether every label is one of the classes.
#[pyfunction]
pub fn are_among(labels: PyReadonlyArray1<'_, f64>, classes: Vec<f64>) -> PyResult<bool> {
    // The loop compares many labels at once with each class, so that the compiler vectorises it.
    let known = |part: &[f64]| {
        let mut known = [false; 256];
        for class in &classes {
            for (known, y) in known.iter_mut().zip(part) {
                *known |= y == class;
            }
        }
        known[..part.len()].iter().fold(true, |all, k| all & k)
    };
    Ok(labels.as_slice()?.chunks(256).all(known))
}

/// Checks that `ends` divides the entries of a CSR matrix into rows.
fn check_csr(ends: &[i64], indices: usize, values: usize) -> PyResult<()> {
    let growing = ends.is_sorted() && ends.first() == Some(&0);
    let last = ends.last().copied().unwrap_or(-1);
    if growing && indices == values && last >= 0 && last as usize == values {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "not a valid CSR matrix: indptr must increase from 0 to the number of entries",
    ))
}
