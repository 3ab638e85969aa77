//! The demo, an experiment that is built into the program.

use crate::error::{Error, Result};
use crate::experiment::Experiment;

const TEXT: &str = include_str!("demo.toml");

/// The demo's experiment: several learners on strongly convex and general sets. Different seeds give
/// different streams. Runs with more than `longest` rounds are left out.
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
                    "every run of problem {name} has more than {longest} rounds; give a limit of at least 1000"
                )));
            }
        }
    }
    Ok(experiment)
}
