//! Constraint sets in Python: registered sets, and sets whose oracle is a Python function.

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
use crate::errors::{PendingException, raise, raise_pending};

/// A constraint set, accessed through its linear minimisation oracle.
#[pyclass(frozen, module = "extremal._core", name = "Set")]
pub struct Set {
    pub set: SharedSet,
    /// `None` if the set calls a Python function.
    spec: Option<SetSpec>,
    /// Exceptions of callbacks, one slot per callback.
    pub pending: Vec<Arc<PendingException>>,
}

impl Set {
    fn failed(&self, error: &extremal::Error) -> PyErr {
        raise_pending(error, &self.pending)
    }

    /// The set in a larger dimension.
    pub fn grown(&self, dim: usize) -> PyResult<Self> {
        let spec = self.spec.clone().map(|spec| match spec.has_key("dim") {
            true => spec.with("dim", dim).unwrap_or(spec),
            false => spec,
        });
        Ok(Self {
            set: extremal::set::grown(&self.set, dim).map_err(|e| self.failed(&e))?,
            spec,
            pending: self.pending.clone(),
        })
    }
}

#[pymethods]
impl Set {
    /// Makes a set from its spec, such as `lp:p=1.5,dim=10`.
    #[new]
    #[pyo3(signature = (spec, dim=None))]
    fn new(spec: &str, dim: Option<usize>) -> PyResult<Self> {
        let spec: SetSpec = spec.parse().map_err(|e| raise(&e))?;
        let set = spec.build(dim).map_err(|e| raise(&e))?;
        Ok(Self {
            spec: Some(match dim {
                Some(dim) if spec.build(None).is_err() && spec.has_key("dim") => {
                    spec.with("dim", dim).unwrap_or(spec)
                }
                _ => spec,
            }),
            set,
            pending: Vec::new(),
        })
    }

    /// Makes a set from a Python function that minimises ⟨direction, v⟩ over the set.
    #[staticmethod]
    #[pyo3(signature = (oracle, *, dim, diameter, norm_bound=None, inner_radius=None, strong_convexity=None, centre=None, violation=None, name="custom"))]
    #[allow(clippy::too_many_arguments)] // Python passes these arguments by name
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
                "oracle must be a function that takes a direction",
            ));
        }
        let centre = match centre {
            None => vec![0.0; dim],
            Some(centre) => vector(&centre, "centre")?.as_slice()?.to_vec(),
        };
        let pending = Arc::new(PendingException::default());
        let slot = pending.clone();
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
            let slot = pending.clone();
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
            pending: vec![pending],
        })
    }

    /// Makes a set from other sets, at least one of which calls a Python function. `kind` is `product`,
    /// `sum`, `translate`, `scale` or `image`, and `numbers` are the parameters of this operation.
    #[staticmethod]
    fn composed(
        kind: &str,
        sets: Vec<Bound<'_, Self>>,
        numbers: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let numbers = numbers.as_slice()?;
        let parts: Vec<SharedSet> = sets.iter().map(|set| set.get().set.clone()).collect();
        let pending = sets.iter().flat_map(|set| set.get().pending.clone());
        let shared = |set: AffineSet| Arc::new(set) as SharedSet;
        let built = match (kind, &parts[..], numbers) {
            ("product", _, []) => ProductSet::new(parts).map(|set| Arc::new(set) as SharedSet),
            ("sum", _, []) => SumSet::new(parts).map(|set| Arc::new(set) as SharedSet),
            ("translate", [set], by) => AffineSet::translated(set.clone(), by).map(shared),
            ("scale", [set], [by]) => AffineSet::scaled(set.clone(), *by).map(shared),
            ("image", [set], matrix) => AffineSet::image(set.clone(), matrix).map(shared),
            _ => {
                let text = format!("{kind} does not accept these sets and numbers");
                return Err(PyValueError::new_err(text));
            }
        };
        Ok(Self {
            set: built.map_err(|e| raise(&e))?,
            spec: None,
            pending: pending.collect(),
        })
    }

    /// The name of the set.
    #[getter]
    fn name(&self) -> &str {
        self.set.name()
    }

    /// The spec of the set. It is None if the set calls a Python function.
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

    /// The largest ℓ2 norm R of a point.
    #[getter]
    fn norm_bound(&self) -> f64 {
        self.set.geometry().norm_bound
    }

    /// The radius r of a ball around the centre that lies inside the set. It is None if no such radius is
    /// known.
    #[getter]
    fn inner_radius(&self) -> Option<f64> {
        self.set.geometry().inner_radius
    }

    /// The constant α of strong convexity. It is None if the set is not known to be strongly convex.
    #[getter]
    fn strong_convexity(&self) -> Option<f64> {
        self.set.geometry().strong_convexity
    }

    /// The point that learners start from.
    #[getter]
    fn centre<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut x = vec![0.0; self.set.dim()];
        self.set.centre(&mut x);
        PyArray1::from_slice(py, &x)
    }

    /// Returns the point v of the set that minimises ⟨direction, v⟩, with one oracle call. To reduce a
    /// loss, pass the gradient of the loss, and not the negative gradient.
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

    /// Returns the nearest point of the set. Raises an error if the set has no projection.
    fn project<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let Some(mut projection) = self.set.projection() else {
            let text = format!("set {} has no projection", self.set.name());
            return Err(PyValueError::new_err(text));
        };
        let mut x = vector(x, "x")?.as_slice()?.to_vec();
        projection.project(&mut x).map_err(|e| self.failed(&e))?;
        Ok(PyArray1::from_slice(py, &x))
    }

    /// Returns how far a point lies outside the set, relative to the set's size. The result is 0 for points
    /// inside, and None if the set can't measure violations.
    fn violation(&self, x: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let x = vector(x, "x")?;
        let x = x.as_slice()?;
        if x.len() != self.set.dim() {
            return Err(PyValueError::new_err(format!(
                "x has dimension {}, the set has dimension {}",
                x.len(),
                self.set.dim()
            )));
        }
        let violation = self.set.violation(x);
        match self.pending.iter().find_map(|slot| slot.take()) {
            Some(error) => Err(error),
            None => Ok(violation),
        }
    }

    // a set never changes, so a copy is the set itself
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Sets with the same spec and dimension are equal. A set with a Python function equals only
    /// itself.
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
                "a set with a Python callback can't be pickled; make a new set instead",
            )),
        }
    }
}

/// The spec, cut if it is too long to read.
pub fn shortened(spec: &str) -> String {
    const MOST: usize = 200;
    match spec.char_indices().nth(MOST) {
        None => spec.into(),
        Some((end, _)) => format!("{}…", &spec[..end]),
    }
}

/// Splits an oracle's answer, `v` or `(v, floor)`, into the point and the floor.
fn split_floor<'py>(answer: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Option<f64>)> {
    if let Ok(pair) = answer.cast::<PyTuple>()
        && pair.len() == 2
        && pair.get_item(0)?.extract::<f64>().is_err()
    {
        return Ok((pair.get_item(0)?, Some(pair.get_item(1)?.extract()?)));
    }
    Ok((answer.clone(), None))
}

/// Copies the point that an oracle returned. Any array of numbers of the right length is accepted.
fn fill(answer: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    let answer = vector(answer, "the oracle's answer")?;
    let values = answer.as_slice()?;
    if values.len() != out.len() {
        return Err(PyValueError::new_err(format!(
            "the oracle returned a vector of length {}, expected {}",
            values.len(),
            out.len()
        )));
    }
    out.copy_from_slice(values);
    Ok(())
}
