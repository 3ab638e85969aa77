//! The compiled part of the Python package. It passes numpy arrays to the library, and turns the library's
//! errors into exceptions. Everything that can be written in Python is in `python/extremal`.

mod arrays;
mod datasets;
mod errors;
mod exclusive;
mod experiment;
mod frame;
mod hindsight;
mod learner;
mod loss;
mod model;
mod play;
mod registry;
mod rows;
mod set;
mod stream;

use pyo3::prelude::*;

/// The compiled part of the Python package.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("Error", m.py().get_type::<errors::Error>())?;
    m.add_class::<set::Set>()?;
    m.add_class::<loss::Loss>()?;
    m.add_class::<learner::Learner>()?;
    m.add_class::<model::Model>()?;
    m.add_function(wrap_pyfunction!(learner::with_intercept, m)?)?;
    m.add_function(wrap_pyfunction!(learner::predict, m)?)?;
    m.add_class::<frame::Columns>()?;
    m.add_function(wrap_pyfunction!(frame::read_table, m)?)?;
    m.add_class::<stream::Stream>()?;
    m.add_function(wrap_pyfunction!(registry::entries, m)?)?;
    m.add_function(wrap_pyfunction!(registry::citations, m)?)?;
    m.add_function(wrap_pyfunction!(registry::theorems, m)?)?;
    m.add_function(wrap_pyfunction!(registry::theorem, m)?)?;
    m.add_function(wrap_pyfunction!(play::play_rows, m)?)?;
    m.add_function(wrap_pyfunction!(play::fit, m)?)?;
    m.add_function(wrap_pyfunction!(rows::are_among, m)?)?;
    m.add_function(wrap_pyfunction!(stream::play_stream, m)?)?;
    m.add_function(wrap_pyfunction!(hindsight::best, m)?)?;
    m.add_function(wrap_pyfunction!(datasets::dataset_entries, m)?)?;
    m.add_function(wrap_pyfunction!(datasets::dataset, m)?)?;
    m.add_function(wrap_pyfunction!(experiment::compare, m)?)?;
    m.add_function(wrap_pyfunction!(model::load, m)?)?;
    Ok(())
}
