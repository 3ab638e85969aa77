//! Finds the best fixed decision in hindsight, with a proven bound on its error.

use std::cell::RefCell;
use std::time::Instant;

use extremal::Row;
use extremal::hindsight::{Options, Sum, solve_while};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::{raise, raise_pending};
use crate::learner::Learner;
use crate::loss::Loss;
use crate::play::SLICE;
use crate::rows::{Each, Matrix};
use crate::set::Set;

/// The decision, its total loss, and a lower bound on the total loss of every decision.
type Found<'py> = (Bound<'py, PyArray1<f64>>, f64, f64);

/// The best fixed decision for the rows of a matrix. If a learner's set follows the data, the decision
/// is the best decision of the learner's current set.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // only Python calls this function
pub fn best<'py>(
    py: Python<'py>,
    set: &Set,
    loss: &Loss,
    l2: f64,
    rows: Matrix<'py>,
    y: Each<'py>,
    weights: Each<'py>,
    gap: f64,
    intercept: bool,
    learner: Option<Bound<'py, Learner>>,
) -> PyResult<Found<'py>> {
    let units = match learner {
        Some(learner) => learner.get().in_units(py)?,
        None => None,
    };
    let (space, scales) = units.unwrap_or_else(|| (set.set.clone(), Vec::new()));
    let scale = |i: usize| scales.get(i).copied().unwrap_or(1.0);
    let mut sum = Sum::new(space.dim(), &loss.objective(l2)?).map_err(|e| raise(&e))?;
    let mut values = Vec::new();
    let examples = rows.examples()?.with(&y, &weights)?;
    let mut stream = examples.with_intercept(intercept)?.stream(0);
    let mut k = 0;
    while let Some(round) = stream.next_round() {
        let mut row = round.row;
        if !scales.is_empty() {
            values.clear();
            values.extend(row.entries().map(|(i, v)| v / scale(i)));
            row = match row {
                Row::Dense(_) => Row::Dense(&values),
                Row::Sparse { indices, .. } => Row::sparse(indices, &values),
                other => other,
            };
        }
        let pushed = sum.push(row, round.label, round.weight);
        pushed.map_err(|e| raise(&format!("row {k}: {e}")))?;
        k += 1;
    }
    // the sum has copied the rows, so that other threads may now write to the arrays
    drop((rows, y, weights));
    let options = Options {
        relative_gap: gap,
        ..Options::default()
    };
    let found = py.detach(|| {
        let state = RefCell::new((Instant::now(), Ok(())));
        let go_on = || {
            let (checked, signals) = &mut *state.borrow_mut();
            if checked.elapsed() > SLICE {
                *checked = Instant::now();
                *signals = Python::attach(|py| py.check_signals());
            }
            signals.is_ok()
        };
        let best = solve_while(&sum, &*space, &options, &go_on);
        state.into_inner().1.map(|()| best)
    });
    let mut best = found?.map_err(|e| raise_pending(&e, &set.pending))?;
    for (i, x) in best.x.iter_mut().enumerate() {
        *x /= scale(i);
    }
    Ok((PyArray1::from_slice(py, &best.x), best.value, best.floor))
}
