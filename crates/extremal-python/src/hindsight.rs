//! Finds the best fixed decision in hindsight, with a proven bound on its error.

use std::cell::RefCell;
use std::time::Instant;

use extremal::hindsight::{Options, Sum, solve_while};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::{raise, raise_pending};
use crate::loss::Loss;
use crate::play::SLICE;
use crate::rows::{Each, Matrix};
use crate::set::Set;

/// The decision, its total loss, and a lower bound on the total loss of every decision.
type Found<'py> = (Bound<'py, PyArray1<f64>>, f64, f64);

/// Finds the best fixed decision for the rows of a matrix.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by Python alone
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
) -> PyResult<Found<'py>> {
    let mut sum = Sum::new(set.set.dim(), &loss.objective(l2)?).map_err(|e| raise(&e))?;
    let examples = rows.examples()?.with(&y, &weights)?;
    let mut stream = examples.with_intercept(intercept)?.stream(0);
    let mut k = 0;
    while let Some(round) = stream.next_round() {
        let pushed = sum.push(round.row, round.label, round.weight);
        pushed.map_err(|e| raise(&format!("row {k}: {e}")))?;
        k += 1;
    }
    // the sum has copied the rows: from here on, other threads may write to the arrays
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
        let best = solve_while(&sum, &*set.set, &options, &go_on);
        state.into_inner().1.map(|()| best)
    });
    let best = found?.map_err(|e| raise_pending(&e, &set.pending))?;
    Ok((PyArray1::from_slice(py, &best.x), best.value, best.floor))
}
