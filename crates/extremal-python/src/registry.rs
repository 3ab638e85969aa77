//! Gives Python access to the registry. Python code makes functions, signatures and documentation from
//! the registry.

use extremal::learner::LearnerSpec;
use extremal::loss::LossSpec;
use extremal::set::SetSpec;
use extremal::spec::{Entry, Kind};
use extremal::stream::StreamSpec;
use extremal::theory;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The registry's entries of one kind: sets, losses, learners or streams.
#[pyfunction]
pub fn entries<'py>(py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyList>> {
    let entries: &[Entry] = match kind {
        "sets" => SetSpec::ENTRIES,
        "losses" => LossSpec::ENTRIES,
        "learners" => LearnerSpec::ENTRIES,
        "streams" => StreamSpec::ENTRIES,
        _ => return Err(PyKeyError::new_err(kind.to_string())),
    };
    let all = PyList::empty(py);
    for entry in entries {
        let table = PyDict::new(py);
        table.set_item("name", entry.name)?;
        table.set_item("summary", entry.summary)?;
        table.set_item("cost", entry.cost)?;
        table.set_item("guarantee", entry.guarantee)?;
        table.set_item("reference", entry.reference)?;
        table.set_item("examples", entry.examples.to_vec())?;
        let parameters = PyList::empty(py);
        for p in entry.parameters {
            let parameter = PyDict::new(py);
            parameter.set_item("name", p.name)?;
            parameter.set_item("about", p.about)?;
            parameter.set_item("default", p.default())?;
            parameter.set_item("allowed", p.kind.to_string())?;
            parameter.set_item("required", p.is_required())?;
            parameter.set_item("nested", p.kind.is_spec())?;
            parameter.set_item("type", type_of(&p.kind))?;
            parameters.append(parameter)?;
        }
        table.set_item("parameters", parameters)?;
        all.append(table)?;
    }
    Ok(all)
}

/// The Python type of a parameter's values.
fn type_of(kind: &Kind) -> String {
    match kind {
        Kind::Number { .. } => "float".into(),
        Kind::Whole { .. } => "int".into(),
        Kind::Flag => "bool".into(),
        Kind::Choice(words) => {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        Kind::Spec("set") => "Set | str".into(),
        Kind::List(
            kind @ (Kind::Spec(_) | Kind::List(Kind::Whole { .. }) | Kind::Whole { .. }),
        ) => {
            format!("Sequence[{}]", type_of(kind))
        }
        Kind::List(_) | Kind::Each(_) => "ArrayLike".into(),
        _ => "str".into(),
    }
}

/// The papers that a learner comes from, as BibTeX.
#[pyfunction]
pub fn citations(learner: &str) -> PyResult<String> {
    extremal_lab::cite::learner(learner).map_err(|e| crate::errors::raise(&e))
}

/// The name, the documentation and the argument names of every theorem's bound.
#[pyfunction]
pub fn theorems() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let bounds = theory::BOUNDS.iter();
    let all = bounds.map(|b| (b.name, b.about, b.parameters.to_vec()));
    all.collect()
}

/// The value of a theorem's bound for these arguments.
#[pyfunction]
pub fn theorem(name: &str, arguments: Vec<f64>) -> PyResult<f64> {
    let found = theory::BOUNDS.iter().find(|b| b.name == name);
    let bound = found.ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
    bound.value(&arguments).ok_or_else(|| {
        let names = bound.parameters.join(", ");
        PyTypeError::new_err(format!("{name} needs one number for each of: {names}"))
    })
}
