//! Model files that the program `extremal learn` writes.

use std::path::PathBuf;

use extremal_data::{Example, Features, ReadOptions};
use extremal_learn::Saved;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::frame::{self, Cells, Csr};
use crate::rows::Matrix;

/// A model that `extremal learn -f` wrote.
#[pyclass(frozen, module = "extremal._core", name = "Model")]
pub struct Model(Saved);

#[pymethods]
impl Model {
    /// The decisions as arrays: one array, or one array per class.
    fn weights<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<f64>>> {
        let dense = self.0.weights().into_iter().map(|sparse| {
            let mut weights = vec![0.0; sparse.dim];
            for (i, v) in sparse.indices.iter().zip(&sparse.values) {
                weights[*i as usize] = *v;
            }
            PyArray1::from_vec(py, weights)
        });
        dense.collect()
    }

    /// The scores of the rows of a matrix, as a matrix with the same rows. It has a single column, or
    /// one column per class.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        rows: Matrix<'py>,
        intercept: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let examples = rows.examples()?.with_intercept(intercept)?;
        let mut scores = Vec::with_capacity(examples.len());
        let mut stream = examples.stream(0);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        while let Some(round) = stream.next_round() {
            indices.clear();
            values.clear();
            for (i, v) in round.row.entries().filter(|(_, v)| *v != 0.0) {
                indices.push(i as u32);
                values.push(v);
            }
            let example = Example {
                label: None,
                weight: 1.0,
                tag: "",
                indices: &indices,
                values: &values,
                line: 0,
            };
            scores.push(self.0.scores(&example).map_err(|e| raise(&e))?);
        }
        let models = self.0.plan.models();
        PyArray1::from_vec(py, scores.concat()).reshape([scores.len(), models])
    }

    /// The kinds of the columns: pairs of a name and a kind. None if the model was not trained on a
    /// table.
    #[getter]
    fn kinds(&self) -> Option<Vec<(String, &'static str)>> {
        self.0.plan.data.columns.as_deref().map(frame::kinds)
    }

    /// The names of the features. The list is empty if they have numbers only.
    #[getter]
    fn features(&self) -> Vec<String> {
        let features = self.0.plan.data.features.as_ref();
        features.map(Features::to_vec).unwrap_or_default()
    }

    /// Reads the rows of a table, with the intercept, if the model has one. Unknown texts are left out.
    fn read_table<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        cells: Vec<Cells<'py>>,
    ) -> PyResult<Csr<'py>> {
        let options = ReadOptions {
            frozen: true,
            ..self.0.plan.read_options()
        };
        frame::read(py, &names, &cells, options).map(|(rows, _)| rows)
    }

    /// The configuration as JSON: set, loss, learner and the other settings.
    #[getter]
    fn plan(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.plan.config).map_err(|e| raise(&e))
    }

    /// The number of rounds played.
    #[getter]
    fn rounds(&self) -> u64 {
        self.0.rounds
    }

    /// The dimension.
    #[getter]
    fn dim(&self) -> usize {
        self.0.dim
    }
}

/// Reads a model file.
#[pyfunction]
pub fn load(path: PathBuf) -> PyResult<Model> {
    Saved::open(&path).map(Model).map_err(|e| raise(&e))
}
