//! The flag `--hindsight`: the smallest total loss of fixed weights on the examples of a run, with a
//! certificate.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::Arc;

use extremal::Row;
use extremal::hindsight::{Best, Interval, Options, solve_while};
use extremal::set::SharedSet;
use extremal::set::l2::L2Ball;
use extremal_data::{Batch, Example, Next, ReadOptions, Reader};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::format;
use crate::losses::Losses;
use crate::run::Run;
use crate::session::row;

/// The gaps at which the search reports an interval, relative to the learner's loss.
const GAPS: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/// The examples of a run, kept in memory because the stream can be read only once.
#[derive(Default)]
pub(crate) struct Kept {
    /// Batches, each with the number of its examples that were skipped.
    batches: Vec<(usize, Batch)>,
    bytes: usize,
    /// The number of bytes that are known to be available.
    available: usize,
    /// Whether memory ran out.
    is_full: bool,
}

impl Kept {
    /// Keeps a batch without its first `skipped` examples. If memory runs out, it drops all
    /// batches, and learning continues.
    pub fn push(&mut self, batch: &Batch, skipped: usize) {
        if self.is_full || skipped == batch.len() {
            return;
        }
        self.bytes += bytes(batch.len(), batch.stored());
        if self.bytes > self.available {
            self.available = 2 * self.bytes;
            // The solver copies the examples.
            self.is_full = !has_memory(2 * self.available);
            if self.is_full {
                self.batches = Vec::new();
                return;
            }
        }
        self.batches.push((skipped, batch.clone()));
    }
}

/// The numbers of the features, and memory for a row.
#[derive(Default)]
struct Seen {
    places: HashMap<u32, u32>,
    row: Vec<(u32, f64)>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// The number of bytes that rows with so many non-zeros need.
fn bytes(rows: usize, nonzeros: usize) -> usize {
    let each = size_of::<u32>() + size_of::<f64>();
    nonzeros * each + rows * 4 * size_of::<f64>()
}

fn has_memory(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// The best fixed weights for the examples of a run.
pub(crate) struct Found {
    best: Best,
    /// The total loss of the best weights, over all passes.
    total: Interval,
    regret: Interval,
    /// The number of rounds.
    rounds: u64,
    /// Whether earlier runs played rounds too.
    is_resumed: bool,
    /// Whether the search reached the required gap.
    is_accurate: bool,
    /// Whether the host stopped the search.
    pub stopped: bool,
}

impl Found {
    /// The lines of the summary.
    pub fn describe(&self) -> String {
        let which = match self.is_resumed {
            true => format!(" of the {} rounds of this run", format::count(self.rounds)),
            false => String::new(),
        };
        let norm = extremal::kernel::norm(&self.best.x);
        format!(
            "best weights     total loss{which} in {}, norm {}\nregret           in {} (certified interval)\n",
            format::interval(self.total.lower, self.total.upper),
            format::significant(norm, 4),
            format::interval(self.regret.lower, self.regret.upper),
        )
    }

    /// A JSON object.
    pub fn json(&self) -> Value {
        json!({
            "rounds": self.rounds,
            "best_lower": self.total.lower,
            "best_upper": self.total.upper,
            "regret_lower": self.regret.lower,
            "regret_upper": self.regret.upper,
            "norm": extremal::kernel::norm(&self.best.x),
            "steps": self.best.steps,
        })
    }
}

impl Run<'_> {
    /// Finds the best fixed weights. `None` if the host stops the search before it has a result.
    pub fn hindsight(&mut self, read: &ReadOptions) -> Result<Option<Found>> {
        let failed = Error::library("hindsight");
        let dim = self.session.features();
        let passes = self.options.passes as usize;
        let nonzeros = self.nonzeros / passes;
        // Sums of squares, if they are fewer numbers than the rows.
        if dim * dim < nonzeros {
            let losses = Losses::new(dim, &self.session.objective).map_err(&failed)?;
            if losses.are_squares() {
                match self.search(losses, read)? {
                    // Cancellation cost too many digits.
                    Some(found) if !found.is_accurate && !found.stopped => {}
                    found => return Ok(found),
                }
            }
        }
        let rows = (self.session.rounds() - self.rounds_before) as usize / passes;
        let bytes = bytes(rows, nonzeros) + dim * 8 * size_of::<f64>();
        if !has_memory(bytes) {
            return Err(self.out_of_memory(bytes));
        }
        let losses = Losses::rows(dim, &self.session.objective).map_err(&failed)?;
        self.search(losses, read)
    }

    /// Adds up the losses of the examples and minimises them.
    fn search(&mut self, mut losses: Losses, read: &ReadOptions) -> Result<Option<Found>> {
        if !self.add_up(&mut losses, read)? {
            return Ok(None);
        }
        let passes = f64::from(self.options.passes);
        let loss = self.session.counters.whole_loss - self.loss_before;
        let set = self.comparators()?;
        let mut options = Options::default();
        let (mut floor, mut steps) = (self.session.objective.least_total(), 0);
        for gap in GAPS {
            options.relative_gap = gap;
            options.absolute_gap = gap * loss.abs() / passes;
            let host = &*self.host;
            let best = solve_while(losses.total(), &*set, &options, &|| !host.is_stopped());
            let mut best = best.map_err(Error::library("hindsight"))?;
            steps += best.steps;
            floor = best.floor.max(floor);
            (best.floor, best.steps) = (floor, steps);
            let total = Interval {
                lower: passes * best.floor,
                upper: passes * best.value,
            };
            let tolerance = options.absolute_gap.max(gap * best.value.abs());
            let is_accurate = best.gap() <= tolerance;
            let stopped = self.host.is_stopped();
            if !is_accurate || stopped || gap == GAPS[GAPS.len() - 1] {
                return Ok(Some(Found {
                    regret: self.regret(&total, loss)?,
                    best,
                    total,
                    rounds: self.session.rounds() - self.rounds_before,
                    is_resumed: self.rounds_before > 0,
                    is_accurate,
                    stopped,
                }));
            }
            let so_far = format::interval(total.lower, total.upper);
            self.say(&format!("in hindsight     total loss in {so_far}\n"));
            options.start = Some(best.x);
        }
        Ok(None)
    }

    /// The regret of this run, as an interval that includes the rounding errors of both totals.
    fn regret(&self, best: &Interval, loss: f64) -> Result<Interval> {
        let size = best.upper.abs().max(best.lower.abs());
        let rounding = self.session.rounding() + 4.0 * f64::EPSILON * size;
        let regret = Interval {
            lower: loss - best.upper - rounding,
            upper: loss - best.lower + rounding,
        };
        if regret.lower <= regret.upper {
            return Ok(regret);
        }
        Err(Error::Numerical {
            place: "internal error: hindsight".into(),
            what: format!(
                "the best total loss is {}, but its proven lower bound is {}. This is a defect of the program: please report it",
                best.upper, best.lower
            ),
        })
    }

    /// Adds up the losses of one pass. Returns false if the host stops the run.
    fn add_up(&mut self, losses: &mut Losses, read: &ReadOptions) -> Result<bool> {
        let (mut seen, mut count) = (Seen::default(), 0);
        if let Some(kept) = &self.kept {
            if kept.is_full {
                return Err(self.out_of_memory(kept.bytes));
            }
            for (skipped, batch) in &kept.batches {
                if self.host.is_stopped() {
                    return Ok(false);
                }
                count += self.add(batch.iter().skip(*skipped), losses, &mut seen)?;
            }
        } else {
            let mut reader = Reader::open(self.options.input.path(), read)?;
            let mut to_skip = self.consumed as usize;
            loop {
                let (done, of) = reader.progress();
                let batch = match reader.next_unless(&|| self.host.is_stopped())? {
                    Next::Batch(batch) => batch,
                    Next::Stopped => return Ok(false),
                    Next::End => break,
                };
                let skipped = to_skip.min(batch.len());
                to_skip -= skipped;
                count += self.add(batch.iter().skip(skipped), losses, &mut seen)?;
                self.host.progress(done, of);
            }
        }
        let played = self.session.rounds() - self.rounds_before;
        if count * u64::from(self.options.passes) == played {
            return Ok(true);
        }
        Err(self.data_error(format!(
            "the run played {} rounds, but --hindsight then read {} examples. The file must not change during the run",
            format::count(played),
            format::count(count)
        )))
    }

    /// The set of the fixed weights. For the learner unit-free, these are weights of features in units
    /// of their largest values.
    fn comparators(&self) -> Result<SharedSet> {
        match self.session.models[0].learner.by_example() {
            Some(learner) => {
                // Without labels other than 0 there is nothing to gain.
                let radius = learner.radius().max(1e-50);
                let ball = L2Ball::new(self.session.features(), radius);
                Ok(Arc::new(ball.map_err(Error::library("hindsight"))?))
            }
            None => Ok(self.session.set().clone()),
        }
    }

    /// The features of an example, in those units. They are numbered in the order of their first
    /// appearance, because the largest index may be huge.
    fn in_units<'a>(&self, example: &Example<'a>, seen: &'a mut Seen) -> Row<'a> {
        let Some(learner) = self.session.models[0].learner.by_example() else {
            return row(example);
        };
        let features = example.indices.iter().zip(example.values);
        seen.row.clear();
        seen.row.extend(features.map(|(i, v)| {
            let next = seen.places.len() as u32;
            let place = *seen.places.entry(*i).or_insert(next);
            match learner.scale(*i as usize) {
                0.0 => (place, *v),
                scale => (place, v / scale),
            }
        }));
        seen.row.sort_unstable_by_key(|(place, _)| *place);
        (seen.indices, seen.values) = seen.row.iter().copied().unzip();
        Row::sparse(&seen.indices, &seen.values)
    }

    /// Adds the losses of the examples that the run played, and returns their number.
    fn add<'a>(
        &self,
        examples: impl Iterator<Item = Example<'a>>,
        losses: &mut Losses,
        seen: &mut Seen,
    ) -> Result<u64> {
        let mut count = 0;
        for example in examples {
            let is_left_out = self.session.lacks_label(&example);
            if is_left_out || self.rejected.contains(&example.line) {
                continue;
            }
            let label = example.label.unwrap_or(f64::NAN);
            let features = self.in_units(&example, seen);
            let pushed = losses.push(features, label, example.weight);
            pushed.map_err(Error::library("hindsight"))?;
            count += 1;
        }
        Ok(count)
    }

    fn out_of_memory(&self, bytes: usize) -> Error {
        self.data_error(format!(
            "--hindsight keeps the examples in memory, and {} MB are not available. Leave out --hindsight, or use fewer examples",
            format::count((bytes >> 20) as u64)
        ))
    }
}
