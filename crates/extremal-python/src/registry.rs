//! Everything registered, for Python to make functions, signatures and documentation of.

use extremal::learner::LearnerSpec;
use extremal::loss::LossSpec;
use extremal::set::SetSpec;
use extremal::spec::{Entry, Kind};
use extremal::stream::StreamSpec;
use extremal::theory;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The entries of one kind: sets, losses, learners or streams.
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

/// The type of a key's values, as Python writes it.
fn type_of(kind: &Kind) -> String {
    match kind {
        Kind::Number(_) => "float".into(),
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

/// The papers behind a learner, as BibTeX.
#[pyfunction]
pub fn citations(learner: &str) -> PyResult<String> {
    extremal_lab::cite::learner(learner).map_err(|e| crate::errors::raise(&e))
}

/// A bound as a function of numbers.
struct Theorem {
    name: &'static str,
    about: &'static str,
    arguments: &'static [&'static str],
    value: fn(&[f64]) -> f64,
}

/// The bounds, each with its arguments' names.
macro_rules! theorems {
    ($($(#[doc = $about:literal])* $name:ident($($argument:ident),*);)*) => {
        &[$(Theorem {
            name: stringify!($name),
            about: concat!($($about),*),
            arguments: &[$(stringify!($argument)),*],
            value: |given| {
                let [$($argument),*] = given else { return f64::NAN };
                theory::$name($(*$argument),*)
            },
        }),*]
    };
}

const THEOREMS: &[Theorem] = theorems! {
    /// OFW on any set: 8GDT^(3/4).
    ofw(gradient, diameter, rounds);
    /// OFW with tuned constants.
    ofw_weibel(gradient, diameter, rounds);
    /// OFW with line search on α-strongly convex sets (Theorem 1).
    ofw_ls(gradient, diameter, alpha, rounds);
    /// What Theorem 1's lemma allows for the surrogate gap of round t.
    ofw_ls_lemma(diameter, alpha, t);
    /// SC-OFW on strongly convex sets (Theorem 2).
    sc_ofw_curved(gradient, lambda, diameter, alpha, rounds);
    /// SC-OFW on any set (Theorem 3).
    sc_ofw_general(gradient, lambda, diameter, rounds);
    /// Gauge-FTRL with a fixed β, on a set whose squared gauge is l-smooth.
    gauge_ftrl(gradient, l, beta, rounds);
    /// Projected OGD, convex losses.
    ogd_convex(gradient, diameter, rounds);
    /// Projected OGD, λ-strongly convex losses.
    ogd_strongly_convex(gradient, lambda, rounds);
};

/// Name, documentation and arguments of every bound.
#[pyfunction]
pub fn theorems() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let one = |t: &Theorem| (t.name, t.about.trim(), t.arguments.to_vec());
    THEOREMS.iter().map(one).collect()
}

/// The value of a bound.
#[pyfunction]
pub fn theorem(name: &str, arguments: Vec<f64>) -> PyResult<f64> {
    let found = THEOREMS.iter().find(|t| t.name == name);
    let theorem = found.ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
    if arguments.len() != theorem.arguments.len() {
        return Err(PyTypeError::new_err(format!(
            "{name} takes {}",
            theorem.arguments.join(", ")
        )));
    }
    Ok((theorem.value)(&arguments))
}
