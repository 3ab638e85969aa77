//! numpy arrays as slices. Contiguous float64 arrays are borrowed. Python code converts all others
//! first, which makes a copy.

use extremal::Gradient;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A gradient, borrowed for one call.
pub enum Borrowed<'py> {
    /// All entries.
    Dense(PyReadonlyArray1<'py, f64>),
    /// (indices, values).
    Sparse(PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>),
}

impl<'py> Borrowed<'py> {
    /// Borrows a float64 array, or a pair of increasing uint32 indices and float64 values. Returns
    /// None for other types.
    fn new(given: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(array) = given.cast::<PyArray1<f64>>() {
            return Ok(contiguous(array)?.map(Self::Dense));
        }
        if let Ok(pair) = given.cast::<PyTuple>()
            && pair.len() == 2
        {
            let (indices, values) = (pair.get_item(0)?, pair.get_item(1)?);
            if let (Ok(i), Ok(v)) = (
                indices.cast::<PyArray1<u32>>(),
                values.cast::<PyArray1<f64>>(),
            ) && let (Some(i), Some(v)) = (contiguous(i)?, contiguous(v)?)
            {
                let increases = i.as_slice()?.is_sorted_by(|a, b| a < b);
                return Ok(increases.then_some(Self::Sparse(i, v)));
            }
        }
        Ok(None)
    }

    /// Borrows a gradient of the given dimension, after a conversion by Python if necessary.
    pub fn convert(given: &Bound<'py, PyAny>, dim: usize) -> PyResult<Self> {
        if let Some(borrowed) = Self::new(given)? {
            return Ok(borrowed);
        }
        let arrays = given.py().import("extremal._arrays")?;
        let converted = arrays.call_method1("gradient", (given, dim))?;
        Self::new(&converted)?.ok_or_else(|| {
            PyTypeError::new_err("expected a gradient: an array, or a pair (indices, values)")
        })
    }

    /// The gradient.
    pub fn gradient(&self) -> PyResult<Gradient<'_>> {
        Ok(match self {
            Self::Dense(values) => Gradient::dense(values.as_slice()?),
            Self::Sparse(i, v) => Gradient::sparse(i.as_slice()?, v.as_slice()?),
        })
    }
}

/// The array, or None if it is not contiguous and aligned.
fn contiguous<'py, T: numpy::Element>(
    array: &Bound<'py, PyArray1<T>>,
) -> PyResult<Option<PyReadonlyArray1<'py, T>>> {
    let array = array.try_readonly()?;
    Ok(array.as_slice().is_ok().then_some(array))
}

/// Borrows a vector, after a conversion by Python if it is not a contiguous float64 array.
pub fn vector<'py>(given: &Bound<'py, PyAny>, what: &str) -> PyResult<PyReadonlyArray1<'py, f64>> {
    if let Ok(array) = given.cast::<PyArray1<f64>>()
        && let Some(array) = contiguous(array)?
    {
        return Ok(array);
    }
    let arrays = given.py().import("extremal._arrays")?;
    let converted = arrays.call_method1("vector", (given, what))?;
    Ok(converted.cast_into::<PyArray1<f64>>()?.try_readonly()?)
}
