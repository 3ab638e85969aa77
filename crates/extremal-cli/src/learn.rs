//! `learn`, `predict` and `inspect`. Their flags are the options of the library.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use extremal_learn::{End, LearnOptions, PredictOptions, Progress};

use crate::terminal::Terminal;
use crate::{INTERRUPTED, memory, tell};

pub fn learn(options: &LearnOptions) -> anyhow::Result<ExitCode> {
    let quiet = options.reports.quiet || options.reports.progress == Progress::Json;
    let mut terminal = Terminal::new(quiet, "{total_bytes}")?;
    terminal.memory = memory::limit(options.max_memory);
    let end = extremal_learn::learn(options, &mut terminal);
    terminal.bar.finish_and_clear();
    let end = end?;
    if end == End::Done {
        return Ok(ExitCode::SUCCESS);
    }
    tell(&match (&options.models.model, end) {
        (_, End::Unstarted) => "interrupted before the first round; no model was saved".into(),
        (Some(path), _) => format!("interrupted; the model is saved in {}", path.display()),
        (None, _) => "interrupted; no model was saved. Use -f MODEL to save one".into(),
    });
    Ok(ExitCode::from(INTERRUPTED))
}

pub fn predict(options: &PredictOptions) -> anyhow::Result<ExitCode> {
    let skipped = extremal_learn::predict(options)?;
    if skipped > 0 {
        tell(&format!("skipped {skipped} lines"));
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(clap::Args)]
pub struct Inspect {
    /// The model file
    model: PathBuf,
    /// Print the weights that are not 0, one per line
    #[arg(long)]
    weights: bool,
}

impl Inspect {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let mut out = std::io::stdout().lock();
        if self.weights {
            let mut out = std::io::BufWriter::new(out);
            extremal_learn::weights(&self.model, &mut |line| out.write_all(line.as_bytes()))?;
            out.flush()?;
        } else {
            out.write_all(extremal_learn::inspect(&self.model)?.as_bytes())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
