//! Borrows numpy arrays as slices. Contiguous float64 arrays are borrowed directly. All other arrays
//! are first converted by Python code, which makes a copy.

use extremal::Gradient;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A gradient, borrowed for one call.
pub enum Borrowed<'py> {
    /// An array of all entries.
    Dense(PyReadonlyArray1<'py, f64>),
    /// The indices and the values of the non-zero entries.
    Sparse(PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>),
}

impl<'py> Borrowed<'py> {
    /// Borrows a float64 array, or a pair of increasing uint32 indices and float64 values. `None` for
    /// all other types.
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

    /// Borrows a gradient of the given dimension. If necessary, Python code converts the gradient
    /// first.
    pub fn convert(given: &Bound<'py, PyAny>, dim: usize) -> PyResult<Self> {
        if let Some(borrowed) = Self::new(given)? {
            return Ok(borrowed);
        }
        let arrays = given.py().import("extremal._arrays")?;
        let converted = arrays.call_method1("gradient", (given, dim))?;
        Self::new(&converted)?.ok_or_else(|| {
            PyTypeError::new_err("a gradient must be an array, or a pair (indices, values)")
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

/// Borrows the array. `None` if it is not contiguous and aligned.
fn contiguous<'py, T: numpy::Element>(
    array: &Bound<'py, PyArray1<T>>,
) -> PyResult<Option<PyReadonlyArray1<'py, T>>> {
    let array = array.try_readonly()?;
    Ok(array.as_slice().is_ok().then_some(array))
}

/// Borrows a vector. If it is not a contiguous float64 array, Python code converts it first.
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
