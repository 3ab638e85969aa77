//! The data sets that are part of the package.

use std::path::Path;

use extremal_lab::experiment::RowSource;
use extremal_lab::rows::datasets;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::raise;

/// The name, summary, rows, columns, task and licence of each data set.
#[pyfunction]
pub fn dataset_entries<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
    let all = PyList::empty(py);
    for dataset in datasets() {
        let table = PyDict::new(py);
        table.set_item("name", dataset.name)?;
        table.set_item("summary", dataset.summary)?;
        table.set_item("rows", dataset.rows)?;
        table.set_item("columns", dataset.columns)?;
        table.set_item("task", dataset.task.to_string())?;
        table.set_item("licence", dataset.licence)?;
        all.append(table)?;
    }
    Ok(all)
}

/// The rows and the labels of a data set; None if it has no labels.
type Data<'py> = (Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray1<f64>>>);

/// Reads a data set. The numbers are the file's numbers, without any scaling.
#[pyfunction]
pub fn dataset<'py>(py: Python<'py>, name: &str) -> PyResult<Data<'py>> {
    let source = RowSource::embedded(name);
    let rows = source.load(Path::new(".")).map_err(|e| raise(&e))?;
    let (count, dim) = (rows.len(), rows.dim);
    let matrix = PyArray2::zeros(py, [count, dim], false);
    let mut writing = matrix.readwrite();
    for (k, out) in writing.as_slice_mut()?.chunks_exact_mut(dim).enumerate() {
        rows.row(k).add_to(1.0, out);
    }
    drop(writing);
    let labels = rows
        .has_labels
        .then(|| PyArray1::from_slice(py, &rows.labels));
    Ok((matrix, labels))
}
