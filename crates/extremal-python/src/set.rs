//! Constraint sets: the registered ones, and those that Python functions make.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use extremal::set::affine::AffineSet;
use extremal::set::product::ProductSet;
use extremal::set::sum::SumSet;
use extremal::set::{Atom, CustomSet, Geometry, SetSpec, SharedSet};
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::vector;
use crate::errors::{Raised, raise, raise_or};

/// A constraint set, reached through its oracle.
#[pyclass(frozen, module = "extremal._core", name = "Set")]
pub struct Set {
    pub set: SharedSet,
    /// Nothing where Python functions are in the loop.
    spec: Option<SetSpec>,
    /// What users' functions raised, one slot for each that is asked.
    pub raised: Vec<Arc<Raised>>,
}

impl Set {
    fn failed(&self, error: &extremal::Error) -> PyErr {
        raise_or(error, &self.raised)
    }
}

#[pymethods]
impl Set {
    /// A set from its spec, `lp:p=1.5,dim=10`.
    #[new]
    #[pyo3(signature = (spec, dim=None))]
    fn new(spec: &str, dim: Option<usize>) -> PyResult<Self> {
        let spec: SetSpec = spec.parse().map_err(|e| raise(&e))?;
        let set = spec.build(dim).map_err(|e| raise(&e))?;
        Ok(Self {
            spec: Some(match dim {
                Some(dim) if spec.build(None).is_err() => with_dim(spec, dim),
                _ => spec,
            }),
            set,
            raised: Vec::new(),
        })
    }

    /// A set from a Python function that minimises ⟨direction, v⟩ over it.
    #[staticmethod]
    #[pyo3(signature = (oracle, *, dim, diameter, norm_bound=None, inner_radius=None, strong_convexity=None, centre=None, violation=None, name="custom"))]
    #[allow(clippy::too_many_arguments)] // keywords, each with a name of its own
    fn custom(
        py: Python<'_>,
        oracle: Py<PyAny>,
        dim: usize,
        diameter: f64,
        norm_bound: Option<f64>,
        inner_radius: Option<f64>,
        strong_convexity: Option<f64>,
        centre: Option<Bound<'_, PyAny>>,
        violation: Option<Py<PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let geometry = Geometry {
            diameter,
            norm_bound: norm_bound.unwrap_or(diameter),
            inner_radius,
            strong_convexity,
        };
        if !oracle.bind(py).is_callable() {
            return Err(PyTypeError::new_err(
                "the oracle must be a function of a direction",
            ));
        }
        let centre = match centre {
            None => vec![0.0; dim],
            Some(centre) => vector(&centre, "centre")?.as_slice()?.to_vec(),
        };
        let raised = Arc::new(Raised::default());
        let slot = raised.clone();
        let minimise = move |direction: &[f64], v: &mut [f64]| {
            Python::attach(|py| {
                let mut call = || -> PyResult<Option<f64>> {
                    let answer = oracle.call1(py, (direction.to_pyarray(py),))?;
                    let (point, floor) = split_floor(answer.bind(py))?;
                    fill(&point, v)?;
                    Ok(floor)
                };
                call().map_err(|e| slot.keep(e).into())
            })
        };
        let mut set = CustomSet::inexact(name, dim, geometry, minimise).map_err(|e| raise(&e))?;
        set = set.with_centre(&centre).map_err(|e| raise(&e))?;
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
            raised: vec![raised],
        })
    }

    /// A set made of others of which some ask Python functions: `product`, `sum`, `translate`,
    /// `scale` or `image`, with the numbers that go with it.
    #[staticmethod]
    fn composed(
        kind: &str,
        sets: Vec<Bound<'_, Self>>,
        numbers: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let numbers = numbers.as_slice()?;
        let parts: Vec<SharedSet> = sets.iter().map(|set| set.get().set.clone()).collect();
        let raised = sets.iter().flat_map(|set| set.get().raised.clone());
        let built = match (kind, &parts[..], numbers) {
            ("product", _, []) => ProductSet::new(parts).map(|set| Arc::new(set) as SharedSet),
            ("sum", _, []) => SumSet::new(parts).map(|set| Arc::new(set) as SharedSet),
            ("translate", [set], shift) => {
                AffineSet::translated(set.clone(), shift).map(|set| Arc::new(set) as SharedSet)
            }
            ("scale", [set], [by]) => {
                AffineSet::scaled(set.clone(), *by).map(|set| Arc::new(set) as SharedSet)
            }
            ("image", [set], matrix) => {
                AffineSet::image(set.clone(), matrix).map(|set| Arc::new(set) as SharedSet)
            }
            _ => return Err(PyValueError::new_err(format!("no {kind} is made of these"))),
        };
        Ok(Self {
            set: built.map_err(|e| raise(&e))?,
            spec: None,
            raised: raised.collect(),
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

    /// r, where a ball of that radius around the centre lies inside; None where none does.
    #[getter]
    fn inner_radius(&self) -> Option<f64> {
        self.set.geometry().inner_radius
    }

    /// α of its strong convexity; None where it is not, or not known to be.
    #[getter]
    fn strong_convexity(&self) -> Option<f64> {
        self.set.geometry().strong_convexity
    }

    /// A point to start from.
    #[getter]
    fn centre<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut x = vec![0.0; self.set.dim()];
        self.set.centre(&mut x);
        PyArray1::from_slice(py, &x)
    }

    /// The point v of the set with the least ⟨direction, v⟩: one oracle call. Give the gradient as
    /// it is, not its negative.
    fn minimise<'py>(
        &self,
        py: Python<'py>,
        direction: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let direction = vector(direction, "direction")?;
        let mut atom = Atom::new();
        let called = self.set.oracle().minimise(direction.as_slice()?, &mut atom);
        called.map_err(|e| self.failed(&e))?;
        let mut v = vec![0.0; self.set.dim()];
        atom.write(&mut v);
        Ok(PyArray1::from_slice(py, &v))
    }

    /// The nearest point of the set, where that can be computed.
    fn project<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let Some(mut projection) = self.set.projection() else {
            return Err(PyValueError::new_err(format!(
                "no projection onto {} is known",
                self.set.name()
            )));
        };
        let mut x = vector(x, "x")?.as_slice()?.to_vec();
        projection.project(&mut x).map_err(|e| self.failed(&e))?;
        Ok(PyArray1::from_slice(py, &x))
    }

    /// How far outside a point is, relative to the set's size; None where the set can't tell.
    fn violation(&self, x: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let x = vector(x, "x")?;
        let x = x.as_slice()?;
        if x.len() != self.set.dim() {
            return Err(PyValueError::new_err(format!(
                "a point of dimension {} for a set of dimension {}",
                x.len(),
                self.set.dim()
            )));
        }
        let violation = self.set.violation(x);
        match self.raised.iter().find_map(|slot| slot.take()) {
            Some(error) => Err(error),
            None => Ok(violation),
        }
    }

    // nothing of it ever changes, so that a copy is itself
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Sets of the same spec and dimension are the same; one with a Python function is itself alone.
    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        slf.is(other)
            || other.cast::<Self>().is_ok_and(|other| {
                let (a, b) = (slf.get(), other.get());
                a.spec.is_some() && a.set.dim() == b.set.dim() && a.spec() == b.spec()
            })
    }

    fn __hash__(slf: &Bound<'_, Self>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match slf.get().spec() {
            Some(spec) => (spec, slf.get().set.dim()).hash(&mut hasher),
            None => slf.as_ptr().hash(&mut hasher),
        }
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        match &self.spec {
            Some(spec) => format!("Set('{}')", shortened(&spec.to_string())),
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

/// A spec to be read by people: one with long lists in it is cut.
pub fn shortened(spec: &str) -> String {
    const MOST: usize = 200;
    match spec.char_indices().nth(MOST) {
        None => spec.into(),
        Some((end, _)) => format!("{}…", &spec[..end]),
    }
}

/// The spec that says the dimension itself, where it has a key for it.
fn with_dim(spec: SetSpec, dim: usize) -> SetSpec {
    if spec.has_key("dim") {
        return spec.with("dim", dim).unwrap_or(spec);
    }
    spec
}

/// The point and the floor of an answer `(v, floor)`, or the point alone.
fn split_floor<'py>(answer: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Option<f64>)> {
    if let Ok(pair) = answer.cast::<PyTuple>()
        && pair.len() == 2
        && pair.get_item(0)?.extract::<f64>().is_err()
    {
        return Ok((pair.get_item(0)?, Some(pair.get_item(1)?.extract()?)));
    }
    Ok((answer.clone(), None))
}

/// Writes what a user's function returned: any array of numbers of that length.
fn fill(answer: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    copy(vector(answer, "the oracle's answer")?.as_slice()?, out)
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
