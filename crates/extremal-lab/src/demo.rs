//! The demo: an experiment that is part of the program.

use crate::error::{Error, Result};
use crate::experiment::Experiment;

const TEXT: &str = include_str!("demo.toml");

/// The paper's algorithms and their rivals on strongly convex and general sets. Different seeds have
/// different streams. Horizons longer than `longest` are left out.
pub fn experiment(seed: u64, longest: Option<u64>) -> Result<Experiment> {
    let mut experiment = Experiment::parse(TEXT, "demo.toml".as_ref())?;
    for (name, problem) in &mut experiment.problems {
        let first = seed.wrapping_mul(problem.seeds.len() as u64);
        for s in &mut problem.seeds {
            *s = s.wrapping_add(first);
        }
        if let Some(longest) = longest {
            problem.horizons.retain(|t| *t <= longest);
            if problem.horizons.is_empty() {
                return Err(Error::Unsupported(format!(
                    "every run of {name} has more than {longest} rounds; give 1000 or more"
                )));
            }
        }
    }
    Ok(experiment)
}
