//! `learn`: the loop over the examples, with reports, checkpoints and an orderly end.

use extremal::kernel;
use extremal::learner::default_radius;
use extremal_data::{Example, Next, OnError, ReadOptions};

use crate::error::{Error, Result, at_line};
use crate::format;
use crate::hindsight::Kept;
use crate::model::{Saved, save};
use crate::options::LearnOptions;
use crate::plan::Plan;
use crate::progress::{Every, Schedule, Window};
use crate::report::Trace;
use crate::score;
use crate::session::{Round, Session};
use crate::signs::Signs;
use crate::sink::Sink;
use crate::source::{Source, name_of};
use crate::{certified, check};

/// Examples that are looked at where no set is given.
const FIRST: usize = 100;

/// Examples between two looks at whether to stop.
const STRIDE: u64 = 256;

/// What the surroundings provide.
pub trait Host {
    /// Shows a piece of the report.
    fn say(&mut self, text: &str);

    /// Seconds since some moment.
    fn seconds(&self) -> f64;

    /// Whether to stop, and save.
    fn is_stopped(&self) -> bool;

    /// Bytes of the input consumed, and of how many.
    fn progress(&mut self, done: u64, of: Option<u64>);
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The stream is at its end.
    Done,
    /// It was told to stop; the model was saved, where there is one to save.
    Interrupted,
    /// It was told to stop before the first round: nothing was learnt, and nothing saved.
    Unstarted,
}

/// Plays a stream. Whatever ends it early, what was learnt is saved first.
pub fn learn(options: &LearnOptions, host: &mut dyn Host) -> Result<End> {
    check::options(options)?;
    let saved = match &options.models.resume {
        Some(path) => {
            let saved = Saved::open(path)?;
            options
                .config
                .agree(&saved.plan.config, &saved.plan.learner)?;
            Some(saved.resume(path)?)
        }
        None => None,
    };
    let plan = match &saved {
        Some(session) => session.plan().clone(),
        None => Plan::choose(&options.config, 1.0)?,
    };
    if options.reports.hindsight && !plan.classes().is_empty() {
        return Err(Error::Usage(
            "--hindsight looks for the best weights of one model, and there is one per class: leave it out".into(),
        ));
    }
    let read = options.input.options(plan.read_options());
    let mut source = Source::open(options.input.path(), &read)?;
    let session = match saved {
        Some(session) => session,
        None => {
            let mut plan = plan;
            if options.config.set.is_none() {
                let is_stopped = || host.is_stopped();
                let Some(radius) = radius_for(&plan, &mut source, &is_stopped) else {
                    return Ok(End::Unstarted);
                };
                plan = Plan::choose(&options.config, radius)?;
            }
            plan.data.format = Some(source.reader().format());
            Session::new(plan)?
        }
    };
    let mut run = Run::new(options, session, host)?;
    run.introduce();
    if let Some(note) = run.session.plan().cost_note() {
        run.note(note);
    }
    let played = match run.passes(source, &read) {
        Err(error) if error.is_closed_pipe() => return Err(error),
        played => run.close(played),
    };
    match &played {
        Ok(_) => run.conclude()?,
        Err(_) => run.conclude_early(),
    }
    let mut found = None;
    let played = played.and_then(|end| {
        let rounds = run.session.rounds() - run.rounds_before;
        if !options.reports.hindsight || end != End::Done || rounds == 0 {
            return Ok(end);
        }
        found = run.hindsight(&read)?;
        run.show_found(found.as_ref());
        let whole = found.as_ref().is_some_and(|found| !found.stopped);
        Ok(if whole { end } else { End::Interrupted })
    });
    let mut tested = None;
    let end = played.and_then(|end| match &options.reports.test {
        Some(path) if end == End::Done => {
            // its columns are those that the model has met by now
            let read = options.input.options(run.session.plan().read_options());
            tested = score::test(&run.session, path, &read, run.host)?;
            Ok(if tested.is_some() {
                end
            } else {
                End::Interrupted
            })
        }
        _ => Ok(end),
    });
    run.show(found, tested, &end);
    end
}

/// A radius that suits the stream, by its first examples; `None` if told to stop meanwhile.
fn radius_for(plan: &Plan, source: &mut Source, is_stopped: &dyn Fn() -> bool) -> Option<f64> {
    let (mut norms, mut labels) = (Vec::new(), Vec::new());
    let whole = source.look(FIRST, is_stopped, |batch| {
        for example in batch.iter().take(FIRST - norms.len()) {
            norms.push(kernel::norm(example.values));
            labels.push(match example.label {
                // a class is ±1 to its model
                Some(_) if plan.takes_signs() => 1.0,
                label => label.unwrap_or(0.0),
            });
        }
    });
    whole.then(|| default_radius(&norms, &labels))
}

pub(crate) struct Run<'a> {
    pub options: &'a LearnOptions,
    pub host: &'a mut dyn Host,
    pub session: Session,
    pub started: f64,
    pub rounds_before: u64,
    /// Which labels of a binary loss earlier runs had.
    pub signs_before: Signs,
    /// The whole loss of earlier runs.
    pub loss_before: f64,
    /// Examples that the model had consumed, and were skipped.
    pub skipped_first: u64,
    /// Non-zeros of the examples played.
    pub nonzeros: usize,
    /// The examples, where `--hindsight` needs them and they can't be read again.
    pub kept: Option<Kept>,
    pub skipped: u64,
    pub notes: Vec<String>,
    lines: Schedule,
    pub window: Window,
    pub trace: Option<Trace>,
    predictions: Option<Sink>,
    certificate: Option<Sink>,
    pub last: Round,
    /// Memory for those of several models.
    rounds: Vec<Round>,
}

impl<'a> Run<'a> {
    fn new(options: &'a LearnOptions, session: Session, host: &'a mut dyn Host) -> Result<Self> {
        let rounds = session.rounds();
        // Better to fail before the first round than after the last.
        if let Some(path) = &options.models.model {
            extremal_data::check_writable(path)?;
        }
        let predictions = options.reports.predictions.as_deref().map(Sink::create);
        let certificate = match &options.reports.certificate {
            None => None,
            Some(_) if session.tracks[0].meter.by_norm().is_none() => {
                return Err(Error::Usage(format!(
                    "--certificate is about weights by their norm, and {} is not the ball of one around 0: leave it out, or use l2, lp or l1",
                    session.plan().set
                )));
            }
            Some(path) => Some(Sink::create(path)?),
        };
        let trace = match &options.reports.trace {
            None => None,
            Some(path) => {
                let every = options
                    .reports
                    .trace_every
                    .map_or(options.reports.every, Every::Rounds);
                Some(Trace::create(path, every, &session)?)
            }
        };
        Ok(Self {
            started: host.seconds(),
            rounds_before: rounds,
            signs_before: session.plan().data.signs,
            loss_before: session.counters().whole_loss,
            skipped_first: match options.models.skip_consumed {
                true => session.counters().records,
                false => 0,
            },
            nonzeros: 0,
            kept: (options.reports.hindsight && !check::can_be_read_again(options.input.path()))
                .then(Kept::default),
            skipped: 0,
            notes: Vec::new(),
            lines: Schedule::new(options.reports.every, rounds),
            window: Window::after(&session),
            trace,
            predictions: predictions.transpose()?,
            certificate,
            last: Round::default(),
            rounds: Vec::new(),
            options,
            host,
            session,
        })
    }

    fn passes(&mut self, first: Source, read: &ReadOptions) -> Result<End> {
        let mut to_skip = self.skipped_first;
        let path = self.options.input.path();
        let mut first = Some(first);
        for _ in 0..self.options.passes {
            let mut source = match first.take() {
                Some(source) => source,
                None => Source::open(path, read)?,
            };
            let end = self.pass(&mut source, &name_of(path), &mut to_skip);
            self.skipped += source.reader().skipped();
            for note in source.reader().warnings() {
                self.note(note);
            }
            if end? == End::Interrupted {
                return Ok(End::Interrupted);
            }
        }
        if to_skip > 0 {
            return Err(Error::from(extremal_data::Error::Content {
                file: name_of(path),
                what: format!(
                    "the model has consumed {} more examples than there are: is this the stream it was made from?",
                    format::count(to_skip)
                ),
            }));
        }
        Ok(End::Done)
    }

    fn pass(&mut self, source: &mut Source, file: &str, to_skip: &mut u64) -> Result<End> {
        loop {
            if self.host.is_stopped() {
                return Ok(End::Interrupted);
            }
            let (done, of) = source.reader().progress();
            let batch = match source.next()? {
                Next::Batch(batch) => batch,
                Next::Nothing => continue,
                Next::End => return Ok(End::Done),
            };
            if let Some(columns) = batch.columns() {
                self.session.set_columns(columns);
            }
            let skipped = (*to_skip).min(batch.len() as u64);
            *to_skip -= skipped;
            if let Some(kept) = &mut self.kept {
                kept.push(batch, skipped as usize);
            }
            let rest: Vec<Example<'_>> = batch.iter().skip(skipped as usize).collect();
            let mut rest = &rest[..];
            while !rest.is_empty() {
                if self.host.is_stopped() {
                    return Ok(End::Interrupted);
                }
                let (now, later) = rest.split_at(self.stride().min(rest.len()));
                if self.session.learns_classes() {
                    self.play_classes(now, file)?;
                } else {
                    for example in now {
                        self.play(example, file)?;
                    }
                }
                rest = later;
            }
            // a pipe may be silent for long
            self.flush()?;
            self.host.progress(done, of);
        }
    }

    /// How many rounds to play at once: classes must stand still where a report or a checkpoint
    /// is due.
    fn stride(&self) -> usize {
        let round = self.session.rounds();
        let until = |due: u64| due.saturating_sub(round).max(1);
        let line = until(self.lines.next());
        let row = match &self.trace {
            Some(trace) => until(trace.schedule.next()),
            None => STRIDE,
        };
        let save = match self.options.models.checkpoint_every {
            Some(n) => until((round / n + 1) * n),
            None => STRIDE,
        };
        if self.session.learns_classes() {
            STRIDE.min(line).min(row).min(save) as usize
        } else {
            STRIDE as usize
        }
    }

    fn play(&mut self, example: &Example<'_>, file: &str) -> Result<()> {
        match self.session.play(example) {
            Ok(round) => self.after(round, self.session.rounds()),
            Err(error) => self.refuse(error, file, example),
        }
    }

    fn play_classes(&mut self, mut examples: &[Example<'_>], file: &str) -> Result<()> {
        let mut rounds = std::mem::take(&mut self.rounds);
        while !examples.is_empty() {
            rounds.clear();
            let before = self.session.rounds();
            let threads = self.options.threads();
            let played = self.session.play_classes(examples, threads, &mut rounds);
            for (k, round) in rounds.iter().enumerate() {
                self.after(*round, before + k as u64 + 1)?;
            }
            examples = &examples[rounds.len()..];
            if let (Err(error), [example, later @ ..]) = (played, examples) {
                self.refuse(error, file, example)?;
                examples = later;
            }
        }
        self.rounds = rounds;
        Ok(())
    }

    /// An example that could not be played is left out, or ends the run.
    fn refuse(&mut self, error: extremal::Error, file: &str, example: &Example<'_>) -> Result<()> {
        if self.options.input.on_error == OnError::Skip && !error.is_numerical() {
            self.skipped += 1;
            self.session.pass_over();
            return Ok(());
        }
        Err(at_line(error, file, example))
    }

    /// What a round that was played leaves to do.
    fn after(&mut self, last: Round, round: u64) -> Result<()> {
        self.last = last;
        self.nonzeros += last.features;
        if let Some(out) = &mut self.predictions {
            let plan = self.session.plan();
            let written = match plan.classes().get(last.prediction as usize) {
                Some(name) => out.line(name),
                None => out.line(plan.link.of(last.prediction)),
            };
            if let Err(error) = written {
                self.predictions = None;
                self.lost("predictions", error)?;
            }
        }
        let line = self.lines.is_due(round);
        let row = match &mut self.trace {
            Some(trace) => trace.schedule.is_due(round),
            None => false,
        };
        if line || row {
            self.point(line, row)?;
        }
        if self
            .options
            .models
            .checkpoint_every
            .is_some_and(|n| round.is_multiple_of(n))
        {
            self.flush()?;
            self.save()?;
        }
        Ok(())
    }

    /// A reader that has gone does not end a run that something else comes of.
    pub fn lost(&mut self, what: &str, error: Error) -> Result<()> {
        let goes_on = self.options.models.model.is_some()
            || self.options.reports.test.is_some()
            || self.predictions.is_some()
            || self.trace.is_some();
        if !error.is_closed_pipe() || !goes_on {
            return Err(error);
        }
        self.note(format!(
            "nobody reads the {what} any more; the run goes on without"
        ));
        Ok(())
    }

    /// The last report, the model and the rest of what was written: each of them, whatever becomes
    /// of the others.
    fn close(&mut self, played: Result<End>) -> Result<End> {
        let also = |first: Result<End>, then: Result<()>| match (first, then) {
            (first, Ok(())) => first,
            (Ok(_), Err(then)) => Err(then),
            (Err(first), Err(then)) => Err(first.then(then)),
        };
        // The round before an error is the last one: what it left is worth keeping.
        let played = also(played, self.report_last());
        let played = also(played, self.write_certificate());
        let played = also(played, self.save());
        match self.flush() {
            // all was played: there is nothing left to go on with
            Err(error) if error.is_closed_pipe() => played,
            flushed => also(played, flushed),
        }
    }

    fn write_certificate(&mut self) -> Result<()> {
        let Some(mut out) = self.certificate.take() else {
            return Ok(());
        };
        out.line(certified::CURVE)?;
        if self.session.rounds() > 0 {
            let certified = self.session.certify()?;
            for row in certified.curve(self.session.set().geometry().norm_bound) {
                out.line(row)?;
            }
        }
        out.flush()
    }

    fn save(&mut self) -> Result<()> {
        match &self.options.models.model {
            Some(path) => save(&self.session, path, !self.options.models.drop_resume_state),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        if let Some(out) = &mut self.predictions
            && let Err(error) = out.flush()
        {
            self.predictions = None;
            self.lost("predictions", error)?;
        }
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.out.flush()
        {
            self.trace = None;
            self.lost("trace", error)?;
        }
        Ok(())
    }
}
