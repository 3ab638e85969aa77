//! Runs experiments from Python, like `extremal compare`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use extremal_lab::experiment::{Experiment, Prepared, Progress, compare as run};
use extremal_lab::output::Output;
use extremal_lab::report;
use extremal_lab::results::Results;
use extremal_lab::results::file::{self, Owner};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::play::SLICE;

/// The key that a line of an experiment's TOML sets. For an experiment given as a dict, errors name the
/// key, because the user does not see the TOML.
fn part(toml: &str, line: usize) -> String {
    let above = || toml.lines().take(line);
    let table = above().filter_map(|text| text.strip_prefix('[')?.strip_suffix(']'));
    let key = above().last().and_then(|text| text.split_once(" = "));
    let key = key.map(|(key, _)| key).filter(|key| !key.contains(' '));
    let parts: Vec<&str> = table.last().into_iter().chain(key).collect();
    parts.join(".")
}

/// Runs an experiment given as TOML or JSON, writes its tables and its report into `out`, and returns
/// the table as text. Calls `note` with each note about the data. Calls `progress` with the number of
/// rounds played and the total number of rounds. With `update`, `out` may hold a different experiment.
#[pyfunction]
#[pyo3(signature = (text, name, out, *, json=false, update=false, threads=None, note=None, progress=None))]
#[allow(clippy::too_many_arguments)] // Python passes these arguments by name
pub fn compare(
    py: Python<'_>,
    text: &str,
    name: PathBuf,
    out: PathBuf,
    json: bool,
    update: bool,
    threads: Option<usize>,
    note: Option<Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<String>> {
    let toml = if json {
        let value: serde_json::Value = serde_json::from_str(text).map_err(|e| raise(&e))?;
        toml::to_string(&value).map_err(|e| raise(&e))?
    } else {
        text.into()
    };
    let lab = |e: extremal_lab::Error| match e {
        extremal_lab::Error::Experiment { line, what, .. } if json => match part(&toml, line) {
            part if part.is_empty() => raise(&what),
            part => raise(&format!("{part}: {what}")),
        },
        extremal_lab::Error::NoTable { what, .. } if json => raise(&what),
        e => raise(&e.to_string().replace(" with --out", "")),
    };
    let experiment = Experiment::parse(&toml, &name).map_err(lab)?;
    let prepared = Prepared::new(experiment).map_err(lab)?;
    match file::owner(&out, &prepared.experiment).map_err(lab)? {
        Owner::Else(path) => {
            return Err(raise(&format!(
                "{} is not a file of this experiment and would be overwritten; choose a different directory",
                path.display()
            )));
        }
        Owner::Another if !update => {
            return Err(raise(&format!(
                "{} holds a different experiment; choose an empty directory, or pass update=True to reuse the runs that belong to both experiments",
                out.display()
            )));
        }
        _ => {}
    }
    if let Some(call) = note {
        for note in &prepared.notes {
            call.call1((note,))?;
        }
    }
    let output = Output::open(&out).map_err(lab)?;
    let _claim = output.claim().map_err(lab)?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let stop = AtomicBool::new(false);
    let (expected, played) = (AtomicU64::new(0), AtomicU64::new(0));
    let start = Instant::now();
    // The report shows this command. For a dict, the only file is the copy in the output directory.
    let place = if name.is_file() {
        name
    } else {
        out.join(file::CONFIG)
    };
    let command = format!("extremal.compare({:?})", place.display().to_string());
    let results = py.detach(|| {
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let progress = Progress {
                    threads: threads.unwrap_or(cores),
                    clock: &|| start.elapsed().as_secs_f64(),
                    expect: &|rounds| expected.store(rounds, Ordering::Relaxed),
                    done: &|rounds| {
                        played.fetch_add(rounds, Ordering::Relaxed);
                    },
                    stopped: &|| stop.load(Ordering::Relaxed),
                };
                run(
                    &prepared,
                    env!("CARGO_PKG_VERSION"),
                    &command,
                    Some(&output),
                    &progress,
                )
            });
            let mut interrupted: PyResult<()> = Ok(());
            while !worker.is_finished() {
                std::thread::sleep(SLICE);
                if interrupted.is_err() {
                    continue;
                }
                interrupted = Python::attach(|py| {
                    py.check_signals()?;
                    if let Some(progress) = &progress {
                        let (done, all) = (&played, &expected);
                        let numbers = (done.load(Ordering::Relaxed), all.load(Ordering::Relaxed));
                        progress.call1(py, numbers)?;
                    }
                    Ok(())
                });
                if interrupted.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            match worker.join() {
                Ok(results) => (interrupted, results),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    });
    let (interrupted, results) = results;
    interrupted?;
    let Some(results) = results.map_err(lab)? else {
        return Ok(None);
    };
    results.write(&output).map_err(lab)?;
    let table = extremal_lab::table::render(&results, extremal_lab::table::Paint::Plain);
    let page = report::page(std::slice::from_ref::<Results>(&results));
    output.write(file::REPORT, &page).map_err(lab)?;
    Ok(Some(table))
}
