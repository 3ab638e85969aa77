//! The best fixed decision in hindsight, with the proof of how good it is.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use extremal::hindsight::{Options, Sum, solve_while};
use extremal::stream::Round;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::{raise, raise_or};
use crate::loss::Loss;
use crate::rows::{Audience, Each, Matrix, Rounds};
use crate::set::Set;

/// The point, its total loss, and a number below which no point's total is.
type Found<'py> = (Bound<'py, PyArray1<f64>>, f64, f64);

/// How long a signal may wait between two steps.
const SPELL: Duration = Duration::from_millis(30);

/// Who adds up the losses of examples.
struct Collecting<'a>(&'a mut Sum);

impl Audience for Collecting<'_> {
    type Answer = PyResult<()>;

    fn look(self, mut rounds: impl Rounds) -> PyResult<()> {
        let mut k = 0;
        while let Some(Round { row, label, weight }) = rounds.next() {
            let pushed = self.0.push(row, label, weight);
            pushed.map_err(|e| raise(&format!("row {k}: {e}")))?;
            k += 1;
        }
        Ok(())
    }
}

/// The best fixed decision for the rows of a matrix.
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
    let examples = rows.examples()?.labelled(&y)?.weighted(&weights)?;
    let examples = examples.with_intercept(intercept)?;
    examples.show(0, Collecting(&mut sum))?;
    // the sum has copies: the arrays may be written to while it is searched
    drop((rows, y, weights));
    let options = Options {
        relative_gap: gap,
        ..Options::default()
    };
    let found = py.detach(|| {
        let state = RefCell::new((Instant::now(), Ok(())));
        let go_on = || {
            let (asked, signals) = &mut *state.borrow_mut();
            if asked.elapsed() > SPELL {
                *asked = Instant::now();
                *signals = Python::attach(|py| py.check_signals());
            }
            signals.is_ok()
        };
        let best = solve_while(&sum, &*set.set, &options, &go_on);
        state.into_inner().1.map(|()| best)
    });
    let best = found?.map_err(|e| raise_or(&e, &set.raised))?;
    Ok((PyArray1::from_slice(py, &best.x), best.value, best.floor))
}
