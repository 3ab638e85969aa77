//! Constraint sets: the registered ones, and those that Python functions make.

use std::sync::Arc;

use extremal::set::{Atom, CustomSet, Geometry, SetSpec, SharedSet};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{Raised, raise, raise_or};

/// A constraint set.
#[pyclass(frozen, module = "extremal._core", name = "Set")]
pub struct Set {
    pub set: SharedSet,
    /// Nothing where Python functions are in the loop.
    spec: Option<SetSpec>,
    /// What a user's function raised.
    pub raised: Option<Arc<Raised>>,
}

impl Set {
    fn failed(&self, error: &extremal::Error) -> PyErr {
        raise_or(error, self.raised.as_deref())
    }
}

#[pymethods]
impl Set {
    /// A set from its spec, `lp:p=1.5,dim=10`.
    #[new]
    #[pyo3(signature = (spec, dim=None))]
    fn new(spec: &str, dim: Option<usize>) -> PyResult<Self> {
        let spec: SetSpec = spec.parse().map_err(|e| raise(&e))?;
        Ok(Self {
            set: spec.build(dim).map_err(|e| raise(&e))?,
            spec: Some(spec),
            raised: None,
        })
    }

    /// A set from a Python function that minimises ⟨direction, v⟩ over it.
    #[staticmethod]
    #[pyo3(signature = (oracle, *, dim, diameter, norm_bound=None, inner_radius=None, strong_convexity=None, centre=None, violation=None, name="custom"))]
    #[allow(clippy::too_many_arguments)] // keywords, each with a name of its own
    fn custom(
        oracle: Py<PyAny>,
        dim: usize,
        diameter: f64,
        norm_bound: Option<f64>,
        inner_radius: Option<f64>,
        strong_convexity: Option<f64>,
        centre: Option<PyReadonlyArray1<'_, f64>>,
        violation: Option<Py<PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let geometry = Geometry {
            diameter,
            norm_bound: norm_bound.unwrap_or(diameter),
            inner_radius,
            strong_convexity,
        };
        let raised = Arc::new(Raised::default());
        let slot = raised.clone();
        let minimise = move |direction: &[f64], v: &mut [f64]| {
            Python::attach(|py| {
                let mut call = || -> PyResult<()> {
                    let answer = oracle.call1(py, (direction.to_pyarray(py),))?;
                    fill(py, answer.bind(py), v)
                };
                call().map_err(|e| slot.keep(e))
            })
        };
        let mut set = CustomSet::new(name, dim, geometry, minimise).map_err(|e| raise(&e))?;
        if let Some(centre) = centre {
            set = set.with_centre(centre.as_slice()?).map_err(|e| raise(&e))?;
        }
        if let Some(violation) = violation {
            let slot = raised.clone();
            set = set.with_violation(move |x| {
                Python::attach(|py| {
                    let answer = violation.call1(py, (x.to_pyarray(py),));
                    match answer.and_then(|a| a.extract::<f64>(py)) {
                        Ok(v) => v,
                        Err(e) => {
                            slot.keep(e);
                            f64::NAN
                        }
                    }
                })
            });
        }
        Ok(Self {
            set: Arc::new(set),
            spec: None,
            raised: Some(raised),
        })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.set.name()
    }

    /// The spec that makes it again; None where Python functions are in the loop.
    #[getter]
    fn spec(&self) -> Option<String> {
        self.spec.as_ref().map(ToString::to_string)
    }

    /// The dimension.
    #[getter]
    fn dim(&self) -> usize {
        self.set.dim()
    }

    /// The ℓ2 diameter D.
    #[getter]
    fn diameter(&self) -> f64 {
        self.set.geometry().diameter
    }

    /// R, the largest ℓ2 norm of a point.
    #[getter]
    fn norm_bound(&self) -> f64 {
        self.set.geometry().norm_bound
    }

    /// r, where a ball of that radius around 0 lies inside.
    #[getter]
    fn inner_radius(&self) -> Option<f64> {
        self.set.geometry().inner_radius
    }

    /// α of its strong convexity.
    #[getter]
    fn strong_convexity(&self) -> Option<f64> {
        self.set.geometry().strong_convexity
    }

    /// A point to start from.
    #[getter]
    fn centre<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut x = vec![0.0; self.set.dim()];
        self.set.centre(&mut x);
        PyArray1::from_vec(py, x)
    }

    /// Minimises ⟨direction, v⟩ over the set: one oracle call.
    fn minimise<'py>(
        &self,
        py: Python<'py>,
        direction: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut atom = Atom::new();
        let called = self.set.oracle().minimise(direction.as_slice()?, &mut atom);
        called.map_err(|e| self.failed(&e))?;
        let mut v = vec![0.0; self.set.dim()];
        atom.write(&mut v);
        Ok(PyArray1::from_vec(py, v))
    }

    /// The nearest point of the set, where that can be computed.
    fn project<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let Some(mut projection) = self.set.projection() else {
            return Err(PyValueError::new_err(format!(
                "no projection onto {} is known",
                self.set.name()
            )));
        };
        let mut x = x.as_slice()?.to_vec();
        projection.project(&mut x).map_err(|e| self.failed(&e))?;
        Ok(PyArray1::from_vec(py, x))
    }

    /// How far outside a point is, relative to the set's size; None where the set can't tell.
    fn violation(&self, x: PyReadonlyArray1<'_, f64>) -> PyResult<Option<f64>> {
        let x = x.as_slice()?;
        if x.len() != self.set.dim() {
            return Err(PyValueError::new_err(format!(
                "a point of dimension {} for a set of dimension {}",
                x.len(),
                self.set.dim()
            )));
        }
        let violation = self.set.violation(x);
        match self.raised.as_ref().and_then(|r| r.take()) {
            Some(error) => Err(error),
            None => Ok(violation),
        }
    }

    fn __repr__(&self) -> String {
        match &self.spec {
            Some(spec) => format!("Set('{spec}')"),
            None => format!(
                "<Set '{}' of dimension {}, with a Python callback in the loop>",
                self.set.name(),
                self.set.dim()
            ),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, usize))> {
        let this = slf.get();
        match &this.spec {
            Some(spec) => Ok((
                slf.get_type().into_any(),
                (spec.to_string(), this.set.dim()),
            )),
            None => Err(PyValueError::new_err(
                "a set with a Python callback can't be pickled; pickle what makes it",
            )),
        }
    }
}

/// Writes what a user's function returned: any array of numbers of that length.
fn fill(py: Python<'_>, answer: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    if let Ok(array) = answer.cast::<PyArray1<f64>>() {
        let array = array.readonly();
        if let Ok(values) = array.as_slice() {
            return copy(values, out);
        }
    }
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("ascontiguousarray", (answer, numpy.getattr("float64")?))?;
    let array = array.cast::<PyArray1<f64>>().map_err(|_| {
        PyValueError::new_err("the oracle must return a vector: one dimension, numbers")
    })?;
    let array = array.readonly();
    copy(array.as_slice()?, out)
}

fn copy(values: &[f64], out: &mut [f64]) -> PyResult<()> {
    if values.len() != out.len() {
        return Err(PyValueError::new_err(format!(
            "the oracle returned a vector of length {}, not {}",
            values.len(),
            out.len()
        )));
    }
    out.copy_from_slice(values);
    Ok(())
}
