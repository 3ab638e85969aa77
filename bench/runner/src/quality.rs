//! How well learners do on a stream: the average loss of each, for `bench/quality.py`.

use std::sync::Arc;

use extremal::game::Game;
use extremal::learner::{LearnerSpec, Storage, default_for};
use extremal::loss::logistic::Logistic;
use extremal::loss::squared::Squared;
use extremal::loss::{Loss, Objective};
use extremal::set::SharedSet;

use crate::{DenseStream, Failure, USAGE, read_doubles};

/// A line for each learner: average loss, oracle calls per round, largest violation, spec.
pub fn report(
    set: SharedSet,
    loss: &str,
    rounds: usize,
    lambda: f64,
    file: &str,
    learners: &[&str],
) -> Result<(), Failure> {
    let dim = set.dim();
    let data = read_doubles(file, rounds * (dim + 1))?;
    let data = &data[data.len() - rounds * (dim + 1)..];
    let (rows, labels) = data.split_at(rounds * dim);
    let loss: Arc<dyn Loss> = match loss {
        "logistic" => Arc::new(Logistic {}),
        "ridge" => Arc::new(Squared {}),
        _ => return Err(USAGE.into()),
    };
    let objective = Objective::new(loss, lambda)?;
    for text in learners {
        let spec = match *text {
            "default" => default_for(&*set, &objective, Storage::Dense),
            text => text.parse::<LearnerSpec>()?,
        };
        let mut learner = spec.build(&set)?;
        let mut stream = DenseStream {
            rows,
            labels,
            dim,
            next: 0,
        };
        let summary = Game::default().with_watch(&*set).play(
            &mut *learner,
            &mut stream,
            &objective,
            rounds as u64,
        )?;
        println!(
            "{} {} {:e} {text}",
            summary.total_loss / rounds as f64,
            learner.seen().oracle_calls as f64 / rounds as f64,
            summary.largest_violation.unwrap_or(0.0),
        );
    }
    Ok(())
}
