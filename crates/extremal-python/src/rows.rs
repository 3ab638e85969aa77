//! The rows of a matrix as examples: dense or CSR, in any order, with a 1 behind each where there is
//! an intercept.

use extremal::Row;
use extremal::loss::Objective;
use extremal::set::Set;
use extremal::stream::Round;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A matrix as Python hands it over, borrowed.
#[derive(FromPyObject)]
pub enum Matrix<'py> {
    /// float64, stored by rows.
    Dense(PyReadonlyArray2<'py, f64>),
    /// indptr, indices, data and the number of columns of a CSR matrix.
    Csr(
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, u32>,
        PyReadonlyArray1<'py, f64>,
        usize,
    ),
}

/// Numbers that belong to rows, borrowed.
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

/// Rows with what belongs to them.
#[derive(Clone, Copy)]
pub struct Examples<'a> {
    rows: View<'a>,
    count: usize,
    width: usize,
    labels: Option<&'a [f64]>,
    /// Whoever is of this class is labelled 1, everybody else −1.
    class: Option<f64>,
    weights: Option<&'a [f64]>,
    order: Option<&'a [i64]>,
    intercept: bool,
}

impl Matrix<'_> {
    /// The examples, in the order of the rows, without labels, each of weight 1.
    pub fn examples(&self) -> PyResult<Examples<'_>> {
        let (rows, count, width) = match self {
            Self::Dense(x) if x.is_c_contiguous() => {
                (View::Dense(x.as_slice()?), x.shape()[0], x.shape()[1])
            }
            Self::Dense(_) => return Err(PyValueError::new_err("rows must be stored by rows")),
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
    /// With a label for each row.
    pub fn labelled(self, labels: &'a Each<'_>) -> PyResult<Self> {
        Ok(Self {
            labels: self.each(labels, "labels")?,
            ..self
        })
    }

    /// Labelled by whether they are of this class, where there is one.
    pub fn of_class(self, class: Option<f64>) -> PyResult<Self> {
        if class.is_some() && self.labels.is_none() {
            return Err(PyValueError::new_err("without labels there are no classes"));
        }
        Ok(Self { class, ..self })
    }

    /// With a weight for each row.
    pub fn weighted(self, weights: &'a Each<'_>) -> PyResult<Self> {
        Ok(Self {
            weights: self.each(weights, "weights")?,
            ..self
        })
    }

    /// In this order.
    pub fn ordered(self, order: &'a Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Self> {
        let Some(order) = order else {
            return Ok(self);
        };
        let order = order.as_slice()?;
        let known = |i: &i64| usize::try_from(*i).is_ok_and(|i| i < self.count);
        if !order.iter().all(known) {
            return Err(PyValueError::new_err(
                "the order names a row that is not there",
            ));
        }
        Ok(Self {
            order: Some(order),
            ..self
        })
    }

    /// With a 1 behind each row.
    pub fn with_intercept(self, intercept: bool) -> PyResult<Self> {
        if let (true, View::Csr { indices, .. }) = (intercept, self.rows)
            && indices.iter().any(|i| *i as usize >= self.width)
        {
            return Err(PyValueError::new_err(format!(
                "a CSR matrix with {} columns has an index beyond them",
                self.width
            )));
        }
        Ok(Self { intercept, ..self })
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
            "{} {what} for {} rows",
            numbers.len(),
            self.count
        )))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.map_or(self.count, <[i64]>::len)
    }

    /// Shows them one by one from the k-th on, by a way for their kind alone: one that could be any
    /// would cost as much as a short round.
    pub fn show<A: Audience>(&self, k: usize, audience: A) -> A::Answer {
        if self.order.is_none() && self.weights.is_none() {
            self.show_plain::<true, A>(k, audience)
        } else {
            self.show_plain::<false, A>(k, audience)
        }
    }

    fn show_plain<const PLAIN: bool, A: Audience>(&self, k: usize, audience: A) -> A::Answer {
        match (self.rows, self.intercept) {
            (View::Dense(_), false) => audience.look(Replay::<false, false, PLAIN>::new(self, k)),
            (View::Dense(_), true) => audience.look(Replay::<false, true, PLAIN>::new(self, k)),
            (View::Csr { .. }, false) => audience.look(Replay::<true, false, PLAIN>::new(self, k)),
            (View::Csr { .. }, true) => audience.look(Replay::<true, true, PLAIN>::new(self, k)),
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

    /// Whether each can be played, by any learner on that set that has come so far: a round that no
    /// other could follow would have been refused, and gradients like these are no larger than any.
    pub fn are_harmless(&self, objective: &Objective, set: &dyn Set) -> bool {
        const MODEST: f64 = 1e9;
        let dim = set.dim();
        let row = MODEST * (dim as f64).sqrt();
        let reach = set.geometry().norm_bound;
        let fit = match self.rows {
            View::Dense(_) => self.width + usize::from(self.intercept) == dim,
            View::Csr { indices, .. } => indices.iter().all(|i| (*i as usize) < dim),
        };
        let labels = match self.class {
            Some(_) => &[-1.0, 1.0],
            None => self.labels.unwrap_or(&[]),
        };
        fit && objective.gradient_bound(row, MODEST, reach) * MODEST <= 1e100
            && are_within(self.values(), MODEST)
            && are_within(labels, MODEST)
            && labels
                .iter()
                .all(|y| objective.loss().check_label(*y).is_ok())
            && self
                .weights
                .is_none_or(|w| are_within(w, MODEST) && w.iter().all(|w| *w >= 0.0))
    }
}

/// Whether no number is larger than this, nor NaN.
fn are_within(numbers: &[f64], most: f64) -> bool {
    // in parts, so that a part is looked at all at once
    let fine = |part: &[f64]| part.iter().fold(true, |fine, v| fine & (v.abs() <= most));
    numbers.chunks(1024).all(fine)
}

/// Examples one after the other.
pub trait Rounds: Send {
    fn next(&mut self) -> Option<Round<'_>>;
}

/// Whoever is shown examples, of whatever kind.
pub trait Audience {
    type Answer;
    fn look(self, rounds: impl Rounds) -> Self::Answer;
}

/// CSR or dense, with a 1 behind each or not; plain ones come in their order and have weight 1.
struct Replay<'a, const CSR: bool, const INTERCEPT: bool, const PLAIN: bool> {
    next: usize,
    count: usize,
    width: usize,
    values: &'a [f64],
    /// Of CSR rows.
    ends: &'a [i64],
    indices: &'a [u32],
    /// 0 for all where there are none.
    labels: &'a [f64],
    class: Option<f64>,
    weights: Option<&'a [f64]>,
    order: Option<&'a [i64]>,
    /// Where a row with its 1 is put together.
    whole_indices: Vec<u32>,
    whole_values: Vec<f64>,
}

impl<'a, const CSR: bool, const INTERCEPT: bool, const PLAIN: bool>
    Replay<'a, CSR, INTERCEPT, PLAIN>
{
    fn new(examples: &Examples<'a>, next: usize) -> Self {
        let (ends, indices, values) = match examples.rows {
            View::Dense(values) => (&[][..], &[][..], values),
            View::Csr {
                ends,
                indices,
                values,
            } => (ends, indices, values),
        };
        Self {
            next,
            count: examples.len(),
            width: examples.width,
            values,
            ends,
            indices,
            labels: examples.labels.unwrap_or(&[]),
            class: examples.class,
            weights: examples.weights,
            order: examples.order,
            whole_indices: Vec::new(),
            whole_values: Vec::new(),
        }
    }

    #[inline(always)]
    fn row(&mut self, i: usize) -> Row<'_> {
        let (mut values, mut indices) = if CSR {
            let at = self.ends[i] as usize..self.ends[i + 1] as usize;
            (&self.values[at.clone()], &self.indices[at])
        } else {
            (&self.values[i * self.width..][..self.width], &[][..])
        };
        if INTERCEPT {
            self.whole_values.clear();
            self.whole_values.extend_from_slice(values);
            self.whole_values.push(1.0);
            values = &self.whole_values;
            if CSR {
                self.whole_indices.clear();
                self.whole_indices.extend_from_slice(indices);
                self.whole_indices.push(self.width as u32);
                indices = &self.whole_indices;
            }
        }
        if CSR {
            Row::Sparse { indices, values }
        } else {
            Row::Dense(values)
        }
    }
}

impl<const CSR: bool, const INTERCEPT: bool, const PLAIN: bool> Rounds
    for Replay<'_, CSR, INTERCEPT, PLAIN>
{
    #[inline(always)]
    fn next(&mut self) -> Option<Round<'_>> {
        let k = self.next;
        if k >= self.count {
            return None;
        }
        self.next += 1;
        let (mut i, mut weight) = (k, 1.0);
        if !PLAIN {
            i = self.order.map_or(k, |order| order[k] as usize);
            weight = self.weights.map_or(1.0, |weights| weights[i]);
        }
        let mut label = self.labels.get(i).copied().unwrap_or(0.0);
        if let Some(class) = self.class {
            // without a branch, which would be mispredicted
            label = 2.0 * f64::from(u8::from(label == class)) - 1.0;
        }
        let row = self.row(i);
        Some(Round { row, label, weight })
    }
}

/// Whether every label is one of the classes.
#[pyfunction]
pub fn are_among(labels: PyReadonlyArray1<'_, f64>, classes: Vec<f64>) -> PyResult<bool> {
    // many labels at once for each class
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

/// Whether these can be the ends of a CSR matrix's rows.
fn check_csr(ends: &[i64], indices: usize, values: usize) -> PyResult<()> {
    let growing = ends.is_sorted() && ends.first() == Some(&0);
    let last = ends.last().copied().unwrap_or(-1);
    if growing && indices == values && last >= 0 && last as usize == values {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "indptr, indices and data are no CSR matrix: indptr grows from 0 to the number of entries",
    ))
}
