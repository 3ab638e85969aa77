//! The best fixed decision in hindsight, with the proof of how good it is.

use extremal::hindsight::{Options, Sum, solve};
use extremal::pair::Row;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::{raise, raise_or};
use crate::loss::Loss;
use crate::play::{check_csr, each};
use crate::set::Set;

/// The point, its total loss, and a number below which no point's total is.
type Found<'py> = (Bound<'py, PyArray1<f64>>, f64, f64);

fn search<'py>(py: Python<'py>, set: &Set, sum: &Sum, gap: f64) -> PyResult<Found<'py>> {
    let options = Options {
        relative_gap: gap,
        ..Options::default()
    };
    let found = py.detach(|| solve(sum, &*set.set, &options));
    let best = found.map_err(|e| raise_or(&e, set.raised.as_deref()))?;
    Ok((PyArray1::from_vec(py, best.x), best.value, best.floor))
}

/// The best fixed decision for the rows of a dense matrix.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by Python alone
pub fn best_dense<'py>(
    py: Python<'py>,
    set: &Set,
    loss: &Loss,
    l2: f64,
    x: PyReadonlyArray2<'_, f64>,
    y: Option<PyReadonlyArray1<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    gap: f64,
) -> PyResult<Found<'py>> {
    let (rows, dim) = (x.shape()[0], x.shape()[1]);
    let matrix = x.as_slice()?;
    let labels = each(&y, rows, "labels")?;
    let weights = each(&weights, rows, "weights")?;
    let mut sum = Sum::new(set.set.dim(), &loss.objective(l2)?).map_err(|e| raise(&e))?;
    for i in 0..rows {
        let row = Row::Dense(&matrix[i * dim..][..dim]);
        sum.push(
            row,
            labels.map_or(0.0, |y| y[i]),
            weights.map_or(1.0, |w| w[i]),
        )
        .map_err(|e| raise(&format!("row {i}: {e}")))?;
    }
    search(py, set, &sum, gap)
}

/// The same for the rows of a CSR matrix.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by Python alone
pub fn best_sparse<'py>(
    py: Python<'py>,
    set: &Set,
    loss: &Loss,
    l2: f64,
    indptr: PyReadonlyArray1<'_, i64>,
    indices: PyReadonlyArray1<'_, u32>,
    values: PyReadonlyArray1<'_, f64>,
    y: Option<PyReadonlyArray1<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    gap: f64,
) -> PyResult<Found<'py>> {
    let (ends, indices, values) = (indptr.as_slice()?, indices.as_slice()?, values.as_slice()?);
    check_csr(ends, indices.len(), values.len())?;
    let rows = ends.len() - 1;
    let labels = each(&y, rows, "labels")?;
    let weights = each(&weights, rows, "weights")?;
    let mut sum = Sum::new(set.set.dim(), &loss.objective(l2)?).map_err(|e| raise(&e))?;
    for i in 0..rows {
        let at = ends[i] as usize..ends[i + 1] as usize;
        let row = Row::Sparse {
            indices: &indices[at.clone()],
            values: &values[at],
        };
        sum.push(
            row,
            labels.map_or(0.0, |y| y[i]),
            weights.map_or(1.0, |w| w[i]),
        )
        .map_err(|e| raise(&format!("row {i}: {e}")))?;
    }
    search(py, set, &sum, gap)
}
