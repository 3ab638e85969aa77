//! numpy arrays as slices. What is float64 and contiguous is borrowed; Python has made a copy of
//! anything else before it gets here.

use extremal::{Gradient, Row};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A gradient's numbers, borrowed for one call.
pub enum Taken<'py> {
    /// All entries.
    Dense(PyReadonlyArray1<'py, f64>),
    /// (indices, values).
    Sparse(PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>),
}

impl<'py> Taken<'py> {
    /// A float64 array as it is, a pair of increasing uint32 indices and float64 values as they are,
    /// and nothing for what Python has to convert first.
    pub fn new(given: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(array) = given.cast::<PyArray1<f64>>() {
            return Ok(borrowed(array)?.map(Self::Dense));
        }
        if let Ok(pair) = given.cast::<PyTuple>()
            && pair.len() == 2
        {
            let (indices, values) = (pair.get_item(0)?, pair.get_item(1)?);
            if let (Ok(i), Ok(v)) = (
                indices.cast::<PyArray1<u32>>(),
                values.cast::<PyArray1<f64>>(),
            ) && let (Some(i), Some(v)) = (borrowed(i)?, borrowed(v)?)
            {
                let increases = i.as_slice()?.is_sorted_by(|a, b| a < b);
                return Ok(increases.then_some(Self::Sparse(i, v)));
            }
        }
        Ok(None)
    }

    /// Anything that a user may call a gradient in so many dimensions, converted by Python where
    /// need be.
    pub fn any(given: &Bound<'py, PyAny>, dim: usize) -> PyResult<Self> {
        if let Some(taken) = Self::new(given)? {
            return Ok(taken);
        }
        let arrays = given.py().import("extremal._arrays")?;
        let converted = arrays.call_method1("gradient", (given, dim))?;
        Self::new(&converted)?.ok_or_else(|| PyTypeError::new_err("this is no gradient"))
    }

    /// The row that it is.
    pub fn row(&self) -> PyResult<Row<'_>> {
        Ok(match self {
            Self::Dense(a) => Row::Dense(a.as_slice()?),
            Self::Sparse(i, v) => Row::Sparse {
                indices: i.as_slice()?,
                values: v.as_slice()?,
            },
        })
    }

    /// The gradient that it is.
    pub fn gradient(&self) -> PyResult<Gradient<'_>> {
        Ok(match self.row()? {
            Row::Sparse { indices, values } => Gradient::sparse(indices, values),
            Row::Dense(values) => Gradient::dense(values),
            Row::Entries { .. } => return Err(PyTypeError::new_err("no gradient has this shape")),
        })
    }
}

/// An array as it is, unless it has gaps or lies between the places of numbers.
fn borrowed<'py, T: numpy::Element>(
    array: &Bound<'py, PyArray1<T>>,
) -> PyResult<Option<PyReadonlyArray1<'py, T>>> {
    let array = array.try_readonly()?;
    Ok(array.as_slice().is_ok().then_some(array))
}

/// Anything that a user may call a vector: borrowed where it is float64 and contiguous, converted by
/// Python otherwise.
pub fn vector<'py>(given: &Bound<'py, PyAny>, what: &str) -> PyResult<PyReadonlyArray1<'py, f64>> {
    if let Ok(array) = given.cast::<PyArray1<f64>>()
        && let Some(array) = borrowed(array)?
    {
        return Ok(array);
    }
    let arrays = given.py().import("extremal._arrays")?;
    let converted = arrays.call_method1("vector", (given, what))?;
    Ok(converted.cast_into::<PyArray1<f64>>()?.try_readonly()?)
}
