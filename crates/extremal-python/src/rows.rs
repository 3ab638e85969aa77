//! The rows of a matrix as examples: dense or CSR, in any order, with a 1 behind each where there is
//! an intercept.

use extremal::pair::{Point, Row};
use extremal::stream::{Round, Stream};
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

/// A row, its label and its weight.
pub type Example<'a> = (Row<'a>, f64, f64);

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
    weights: Option<&'a [f64]>,
    order: Option<&'a [i64]>,
    intercept: bool,
}

/// Where a row with its 1 is put together.
#[derive(Default)]
pub struct Desk {
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix<'_> {
    /// The examples, in the order of the rows, without labels, each of weight 1.
    pub fn examples(&self) -> PyResult<Examples<'_>> {
        let (rows, count, width) = match self {
            Self::Dense(x) => (View::Dense(x.as_slice()?), x.shape()[0], x.shape()[1]),
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

    /// The k-th.
    pub fn get<'b>(&'b self, k: usize, desk: &'b mut Desk) -> Example<'b> {
        let i = self.order.map_or(k, |order| order[k] as usize);
        let label = self.labels.map_or(0.0, |labels| labels[i]);
        let weight = self.weights.map_or(1.0, |weights| weights[i]);
        (self.row(i, desk), label, weight)
    }

    fn row<'b>(&'b self, i: usize, desk: &'b mut Desk) -> Row<'b> {
        let (row, place) = match self.rows {
            View::Dense(matrix) => (&matrix[i * self.width..][..self.width], None),
            View::Csr {
                ends,
                indices,
                values,
            } => {
                let at = ends[i] as usize..ends[i + 1] as usize;
                (&values[at.clone()], Some(&indices[at]))
            }
        };
        let mut given = (row, place);
        if self.intercept {
            desk.values.clear();
            desk.values.extend_from_slice(row);
            desk.values.push(1.0);
            if let Some(indices) = place {
                desk.indices.clear();
                desk.indices.extend_from_slice(indices);
                desk.indices.push(self.width as u32);
            }
            given = (&desk.values, place.map(|_| &desk.indices[..]));
        }
        match given {
            (values, None) => Row::Dense(values),
            (values, Some(indices)) => Row::Sparse { indices, values },
        }
    }

    /// As a stream, from the k-th on.
    pub fn from(&self, k: usize) -> Replay<'_> {
        Replay {
            examples: self,
            next: k,
            desk: Desk::default(),
        }
    }

    /// Whether all entries are finite.
    pub fn are_finite(&self) -> bool {
        let (View::Dense(values) | View::Csr { values, .. }) = self.rows;
        // in parts, so that a part is looked at all at once
        let fine = |part: &[f64]| part.iter().fold(true, |fine, v| fine & v.is_finite());
        values.chunks(1024).all(fine)
    }
}

/// Examples one by one.
pub struct Replay<'a> {
    examples: &'a Examples<'a>,
    next: usize,
    desk: Desk,
}

impl Stream for Replay<'_> {
    fn next(&mut self, _decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        if self.next >= self.examples.len() {
            return Ok(None);
        }
        let (row, label, weight) = self.examples.get(self.next, &mut self.desk);
        self.next += 1;
        Ok(Some(Round { row, label, weight }))
    }

    fn row_bound(&self) -> f64 {
        f64::INFINITY
    }
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
