//! `--hindsight`: the smallest total loss that fixed weights have on the examples of a run, once
//! all of them are known, with a proof.

use std::mem::size_of;

use extremal::Row;
use extremal::hindsight::{Best, Interval, Options, solve_while};
use extremal::loss::Objective;
use extremal::set::SharedSet;
use extremal_data::{Batch, Example, Next, ReadOptions};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::format;
use crate::losses::Losses;
use crate::run::Run;
use crate::signs::Signs;
use crate::source::{Source, name_of};

/// Gaps that are reached one after the other and told of, relative to the learner's own loss.
const GAPS: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/// The examples of a stream that can be read once.
#[derive(Default)]
pub(crate) struct Kept {
    /// Each with how many of its examples were skipped.
    batches: Vec<(usize, Batch)>,
    bytes: usize,
    /// So many bytes were found to be there.
    roomy: usize,
    /// How many bytes there were no memory for.
    lost: Option<usize>,
}

impl Kept {
    /// Keeps a batch, of which the first `skipped` examples don't count. Once memory is short
    /// nothing is kept, and learning goes on without.
    pub fn push(&mut self, batch: &Batch, skipped: usize) {
        if self.lost.is_some() || skipped == batch.len() {
            return;
        }
        self.bytes += bytes(batch.len(), batch.stored());
        // solving takes as much again
        if self.bytes > self.roomy {
            self.roomy = 2 * self.bytes;
            if !there_is(2 * self.roomy) {
                self.lost = Some(self.bytes);
                self.batches = Vec::new();
                return;
            }
        }
        self.batches.push((skipped, batch.clone()));
    }
}

/// What so many kept rows take.
fn bytes(rows: usize, nonzeros: usize) -> usize {
    let each = size_of::<u32>() + size_of::<f64>();
    nonzeros * each + rows * 4 * size_of::<f64>()
}

/// Whether there is so much memory.
fn there_is(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// The best fixed weights of the set for the examples of a run.
pub(crate) struct Found {
    best: Best,
    /// How often every example was played.
    passes: f64,
    regret: Interval,
    rounds: u64,
    /// Whether these are all rounds that the model has played.
    whole: bool,
    /// Whether the search was stopped before the last gap.
    pub stopped: bool,
}

impl Found {
    fn total(&self) -> Interval {
        Interval {
            lower: self.passes * self.best.floor,
            upper: self.passes * self.best.value,
        }
    }

    /// Lines for the end.
    pub fn describe(&self) -> String {
        let Interval { lower, upper } = self.total();
        let which = match self.whole {
            true => String::new(),
            false => format!(" of the {} rounds now", format::count(self.rounds)),
        };
        let norm = extremal::kernel::norm(&self.best.x);
        format!(
            "best weights     total loss{which} in {}, norm {}\nregret           in {} (certified interval)\n",
            format::interval(lower, upper),
            format::significant(norm, 4),
            format::interval(self.regret.lower, self.regret.upper),
        )
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let Interval { lower, upper } = self.total();
        json!({
            "rounds": self.rounds,
            "best_lower": lower,
            "best_upper": upper,
            "regret_lower": self.regret.lower,
            "regret_upper": self.regret.upper,
            "norm": extremal::kernel::norm(&self.best.x),
            "steps": self.best.steps,
        })
    }
}

impl Run<'_> {
    /// Looks for the best fixed weights; `None` if told to stop before anything was found.
    pub fn hindsight(&mut self, read: &ReadOptions) -> Result<Option<Found>> {
        let objective = self.session.plan().objective()?;
        let set = self.session.set().clone();
        let dim = set.dim();
        let passes = self.options.passes as usize;
        // where the squares are fewer numbers than the rows
        if dim * dim < self.nonzeros / passes
            && let squares @ Losses::Squares(_) = Losses::new(dim, &objective).map_err(failed)?
        {
            match self.search(squares, &objective, &set, read)? {
                // they have lost too many digits
                Some((found, false)) if !found.stopped => {}
                found => return Ok(found.map(|(found, _)| found)),
            }
        }
        let rows = (self.session.rounds() - self.rounds_before) as usize / passes;
        let bytes = bytes(rows, self.nonzeros / passes);
        if !there_is(bytes) {
            return Err(no_memory(bytes));
        }
        let rows = Losses::rows(dim, &objective).map_err(failed)?;
        let found = self.search(rows, &objective, &set, read)?;
        Ok(found.map(|(found, _)| found))
    }

    /// Adds the examples up and solves; also whether the smallest gap was reached.
    fn search(
        &mut self,
        mut losses: Losses,
        objective: &Objective,
        set: &SharedSet,
        read: &ReadOptions,
    ) -> Result<Option<(Found, bool)>> {
        if !self.add_up(&mut losses, objective, read)? {
            return Ok(None);
        }
        let passes = f64::from(self.options.passes);
        let counters = self.session.counters();
        let loss = counters.whole_loss - self.loss_before;
        let mut options = Options::default();
        let (mut floor, mut steps) = (objective.least_total(), 0);
        for gap in GAPS {
            options.relative_gap = gap;
            options.absolute_gap = gap * loss.abs() / passes;
            let host = &*self.host;
            let go_on = || !host.is_stopped();
            let mut best = solve_while(losses.total(), &**set, &options, &go_on).map_err(failed)?;
            steps += best.steps;
            floor = best.floor.max(floor);
            (best.floor, best.steps) = (floor, steps);
            let enough = options.absolute_gap.max(gap * best.value.abs());
            let reached = best.gap() <= enough;
            let stopped = self.host.is_stopped();
            if !reached || stopped || gap == GAPS[GAPS.len() - 1] {
                let rounds = self.session.rounds() - self.rounds_before;
                let found = Found {
                    regret: self.regret(&best, loss)?,
                    best,
                    passes,
                    rounds,
                    whole: self.rounds_before == 0,
                    stopped,
                };
                return Ok(Some((found, reached)));
            }
            let so_far = format::interval(passes * best.floor, passes * best.value);
            self.say(&format!("in hindsight     total loss in {so_far}\n"));
            options.start = Some(best.x);
        }
        Ok(None)
    }

    /// The regret of this run. The rounding of the two totals is allowed for.
    fn regret(&self, best: &Best, loss: f64) -> Result<Interval> {
        let passes = f64::from(self.options.passes);
        let size = best.value.abs().max(best.floor.abs());
        let rounding = self.session.rounding() + 4.0 * f64::EPSILON * passes * size;
        let regret = Interval {
            lower: loss - passes * best.value - rounding,
            upper: loss - passes * best.floor + rounding,
        };
        if regret.lower <= regret.upper {
            return Ok(regret);
        }
        Err(Error::Contradiction {
            place: "hindsight".into(),
            what: format!(
                "the best total loss was found to be {} and proven to be at least {}",
                best.value, best.floor
            ),
        })
    }

    /// All examples of the run once; false if told to stop.
    fn add_up(
        &mut self,
        losses: &mut Losses,
        objective: &Objective,
        read: &ReadOptions,
    ) -> Result<bool> {
        let mut admitted = Admitted {
            signs: self.signs_before,
            dim: self.session.dim(),
            count: 0,
        };
        if let Some(kept) = &self.kept {
            if let Some(bytes) = kept.lost {
                return Err(no_memory(bytes));
            }
            for (skipped, batch) in &kept.batches {
                if self.host.is_stopped() {
                    return Ok(false);
                }
                admitted.add(batch.iter().skip(*skipped), losses, objective)?;
            }
        } else {
            let mut source = Source::open(self.options.input.path(), read)?;
            let mut to_skip = self.skipped_first as usize;
            loop {
                if self.host.is_stopped() {
                    return Ok(false);
                }
                let (done, of) = source.reader().progress();
                match source.next()? {
                    Next::Batch(batch) => {
                        let skipped = to_skip.min(batch.len());
                        to_skip -= skipped;
                        admitted.add(batch.iter().skip(skipped), losses, objective)?;
                    }
                    Next::Nothing => {}
                    Next::End => break,
                }
                self.host.progress(done, of);
            }
        }
        let played = self.session.rounds() - self.rounds_before;
        if admitted.count * u64::from(self.options.passes) == played {
            return Ok(true);
        }
        Err(Error::from(extremal_data::Error::Content {
            file: name_of(self.options.input.path()),
            what: format!(
                "the run played {} rounds, but --hindsight found {} examples afterwards: the file must not change meanwhile",
                format::count(played),
                format::count(admitted.count)
            ),
        }))
    }
}

/// Tells the examples that a run has played from those that it left out.
struct Admitted {
    signs: Signs,
    dim: usize,
    count: u64,
}

impl Admitted {
    fn add<'a>(
        &mut self,
        examples: impl Iterator<Item = Example<'a>>,
        losses: &mut Losses,
        objective: &Objective,
    ) -> Result<()> {
        for example in examples {
            let label = example.label.unwrap_or(f64::NAN);
            let fits = example
                .indices
                .last()
                .is_none_or(|i| (*i as usize) < self.dim);
            let signs = objective
                .loss()
                .check_label(label)
                .and_then(|()| self.signs.with(&**objective.loss(), label));
            let (true, Ok(signs)) = (fits, signs) else {
                continue;
            };
            self.signs = signs;
            let row = Row::Sparse {
                indices: example.indices,
                values: example.values,
            };
            let pushed = losses.push(row, label, example.weight);
            pushed.map_err(failed)?;
            self.count += 1;
        }
        Ok(())
    }
}

fn failed(why: extremal::Error) -> Error {
    Error::Library {
        context: "hindsight".into(),
        why,
    }
}

fn no_memory(bytes: usize) -> Error {
    Error::Unsupported(format!(
        "--hindsight keeps the examples in memory, and there is too little for {} MB of them: leave it out, or give it fewer examples",
        format::count((bytes >> 20) as u64)
    ))
}
