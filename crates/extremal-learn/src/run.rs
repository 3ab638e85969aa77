//! The command `learn`: it plays the examples of a stream, reports, and saves the model.

use std::collections::HashSet;
use std::path::PathBuf;

use extremal::kernel;
use extremal::learner::default_radius;
use extremal_data::{Batch, Example, Labels, Next, OnError, ReadOptions, Reader};

use crate::error::{Error, Result, finite};
use crate::hindsight::{Found, Kept};
use crate::model::{Saved, save};
use crate::options::LearnOptions;
use crate::plan::Plan;
use crate::progress::{Every, Schedule};
use crate::score::{self, Score};
use crate::session::{Round, Session, Written};
use crate::stream::{Sink, name_of};
use crate::{certified, check, format, report};

/// The number of examples from which a default radius is chosen.
const FIRST: usize = 100;

/// The largest number of examples that are played between two calls of [`Host::is_stopped`].
const STRIDE: u64 = 256;

/// The part of the allowed memory at which a run ends.
const MOST_MEMORY: f64 = 0.9;

/// The same if a model is saved, since that takes more than the model again.
const MOST_WITH_MODEL: f64 = 0.4;

/// From half of that on, memory is checked more often: after so many examples.
const CAREFUL_STRIDE: usize = 16;

/// The outputs that are written during a run, as indices of [`Run::outputs`].
pub(crate) const PREDICTIONS: usize = 0;
pub(crate) const TRACE: usize = 1;

/// The environment of a run.
pub trait Host {
    /// Shows a part of the report to the user.
    fn say(&mut self, text: &str);

    /// The time on a clock, in seconds.
    fn seconds(&self) -> f64;

    /// Whether the run should stop and save its model.
    fn is_stopped(&self) -> bool;

    /// The part of the allowed memory that is used; 0 if it is not known.
    fn memory(&mut self) -> f64;

    /// Shows the number of bytes read and, if known, the size of the input.
    fn progress(&mut self, done: u64, of: Option<u64>);
}

/// The reason why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The stream ended.
    Done,
    /// The host stopped the run. The model was saved.
    Interrupted,
    /// The host stopped the run before the first round. Nothing was saved.
    Unstarted,
}

/// Learns from a stream. If an error or the host ends the run early, the model is saved first.
pub fn learn(options: &LearnOptions, host: &mut dyn Host) -> Result<End> {
    check::options(options)?;
    let saved = match &options.models.resume {
        Some(path) => {
            let session = Saved::open(path)?.resume(path)?;
            let plan = &session.plan;
            options.config.agree(&plan.config, &plan.learner)?;
            Some(session)
        }
        None => None,
    };
    let mut plan = match &saved {
        Some(session) => session.plan.clone(),
        None => Plan::choose(&options.config, 1.0)?,
    };
    if options.reports.hindsight && !plan.classes().is_empty() {
        return Err(Error::Usage(
            "--hindsight supports a single model, but --classes trains one per class. Leave out one of them".into(),
        ));
    }
    let mut read = options.input.options(plan.read_options());
    if saved.is_none() && read.labels == Labels::Number {
        read.labels = Labels::Auto;
    }
    let mut note = None;
    let mut reader = Reader::open(options.input.path(), &read)?;
    let session = match saved {
        Some(session) => session,
        None => {
            let Some(facts) = reader.facts(&|| host.is_stopped())?.cloned() else {
                return Ok(End::Unstarted);
            };
            let mut config = options.config.clone();
            if read.labels == Labels::Auto {
                note = config.settle(&facts.labels);
                plan = Plan::choose(&config, 1.0)?;
            }
            if config.set.is_none() && !plan.is_unit_free() {
                let Some(radius) = radius_for(&plan, &mut reader, host)? else {
                    return Ok(End::Unstarted);
                };
                plan = Plan::choose(&config, radius)?;
            }
            plan.data.format = Some(reader.format());
            plan.data.columns = facts.columns.as_ref().map(|columns| columns.to_vec());
            Session::new(plan)?
        }
    };
    let mut run = Run::new(options, session, host)?;
    if let Some(note) = note {
        run.note(note);
    }
    run.introduce();
    let played = match run.passes(reader, &read) {
        Err(error) if error.is_closed_pipe() => return Err(error),
        played => run.close(played),
    };
    run.summarise(played.is_ok())?;
    let end = played.and_then(|end| run.evaluate(end, &read));
    let end = end.and_then(|end| run.check_skipped(end));
    run.finish(&end);
    end
}

/// The default radius for a stream, from its first examples. `None` if the host stops the run.
fn radius_for(plan: &Plan, reader: &mut Reader, host: &dyn Host) -> Result<Option<f64>> {
    let (mut norms, mut labels) = (Vec::new(), Vec::new());
    let is_stopped = || host.is_stopped();
    let Some(batches) = reader.peek(FIRST, &is_stopped)? else {
        return Ok(None);
    };
    for example in batches.flat_map(Batch::iter).take(FIRST) {
        norms.push(kernel::norm(example.values));
        labels.push(match example.label {
            // The label of a class is ±1 for its model.
            Some(_) if plan.takes_signs() => 1.0,
            label => label.unwrap_or(0.0),
        });
    }
    Ok(Some(default_radius(&norms, &labels)))
}

/// A run over a stream.
pub(crate) struct Run<'a> {
    pub options: &'a LearnOptions,
    pub host: &'a mut dyn Host,
    pub session: Session,
    threads: usize,
    /// The time at the start.
    pub started: f64,
    /// Rounds of earlier runs.
    pub rounds_before: u64,
    /// The total loss of earlier runs, ridge term included.
    pub loss_before: f64,
    /// The number of examples that the model had consumed, if they are skipped.
    pub consumed: u64,
    /// Non-zeros of the examples played.
    pub nonzeros: usize,
    /// The examples, if `--hindsight` needs them and the input can be read only once.
    pub kept: Option<Kept>,
    pub skipped: u64,
    /// Rows that the reader skipped and earlier runs consumed.
    skipped_before: u64,
    /// Examples without a label, which are only predicted.
    pub unlabelled: u64,
    /// The most frequent problem of the rows that the reader skipped.
    reason: Option<String>,
    /// The first problem of the other rows that were skipped, and their number.
    rejection: Option<(String, u64)>,
    /// The lines of the examples that were skipped, for `--hindsight`.
    pub rejected: HashSet<u64>,
    pub notes: Vec<String>,
    /// The reports in the table.
    pub lines: Schedule,
    /// The reports in the trace.
    pub rows: Schedule,
    outputs: [Option<Sink>; 2],
    certificate: Option<Sink>,
    /// The last round.
    pub last: Round,
    /// The best weights in hindsight.
    pub found: Option<Found>,
    /// The score of the test file.
    pub score: Option<Score>,
}

impl<'a> Run<'a> {
    fn new(options: &'a LearnOptions, session: Session, host: &'a mut dyn Host) -> Result<Self> {
        let (reports, models) = (&options.reports, &options.models);
        // An output that can't be written ends the run before the first round.
        if let Some(path) = &models.model {
            extremal_data::check_writable(path)?;
        }
        if reports.certificate.is_some() && session.models[0].by_norm().is_none() {
            return Err(Error::Usage(format!(
                "--certificate needs a norm ball around 0, such as l2, lp or l1, not {}",
                session.plan.set
            )));
        }
        let create = |path: &Option<_>| path.as_deref().map(Sink::create).transpose();
        let written = match models.skip_consumed {
            true => session.written,
            false => Written::default(),
        };
        let open = |path: &Option<PathBuf>, kept| match (path, kept) {
            (Some(path), Some(kept)) => Sink::append(path, kept).map(Some),
            (path, _) => create(path),
        };
        let trace_before = written.trace.filter(|_| reports.trace.is_some());
        let mut outputs = [
            open(&reports.predictions, written.predictions)?,
            open(&reports.trace, trace_before.map(|(length, ..)| length))?,
        ];
        if let Some(trace) = outputs[TRACE].as_mut().filter(|trace| trace.length == 0) {
            trace.line(report::TRACE_KEYS)?;
        }
        let (round, totals) = (session.rounds(), session.counters);
        let trace_every = reports.trace_every.map_or(reports.every, Every::Rounds);
        let keeps = reports.hindsight && !check::is_rereadable(options.input.path());
        Ok(Self {
            threads: options.threads(),
            started: host.seconds(),
            rounds_before: round,
            loss_before: totals.whole_loss,
            consumed: match models.skip_consumed {
                true => totals.records,
                false => 0,
            },
            nonzeros: 0,
            kept: keeps.then(Kept::default),
            skipped: 0,
            skipped_before: written.skipped,
            unlabelled: 0,
            reason: None,
            rejection: None,
            rejected: HashSet::new(),
            notes: Vec::new(),
            lines: Schedule::new(reports.every, round, &totals),
            rows: match trace_before {
                Some((_, last, before)) => Schedule::resumed(trace_every, round, last, &before),
                None => Schedule::new(trace_every, round, &totals),
            },
            outputs,
            certificate: create(&reports.certificate)?,
            last: Round::default(),
            found: None,
            score: None,
            options,
            host,
            session,
        })
    }

    fn passes(&mut self, first: Reader, read: &ReadOptions) -> Result<End> {
        let path = self.options.input.path();
        let mut to_skip = (self.consumed, self.skipped_before);
        self.session.written.skipped = self.skipped_before;
        let mut first = Some(first);
        for _ in 0..self.options.passes {
            let mut reader = match first.take() {
                Some(reader) => reader,
                None => Reader::open(path, read)?,
            };
            let to_pass = to_skip.1;
            let end = self.pass(&mut reader, &mut to_skip);
            // Without those of earlier runs.
            self.skipped += reader.skipped() - (to_pass - to_skip.1);
            self.reason = reader.skip_reason().map(String::from);
            for note in reader.warnings() {
                self.note(note);
            }
            if end? == End::Interrupted {
                return Ok(End::Interrupted);
            }
        }
        match to_skip.0 {
            0 if self.session.rounds() == 0 && self.unlabelled > 0 => Err(self.data_error(
                "no example has a label. Use --label NAME if another column or key has the labels".into(),
            )),
            0 => Ok(End::Done),
            missing => Err(self.data_error(format!(
                "the model has consumed {} more examples than the stream has. Check that the model was trained on this stream",
                format::count(missing)
            ))),
        }
    }

    /// Plays a file, after the examples and the skipped rows that the model has consumed.
    fn pass(&mut self, reader: &mut Reader, (to_skip, to_pass): &mut (u64, u64)) -> Result<End> {
        loop {
            let (done, of) = reader.progress();
            let batch = match reader.next_unless(&|| self.host.is_stopped())? {
                Next::Batch(batch) => batch,
                Next::Stopped => return Ok(End::Interrupted),
                Next::End => return Ok(End::Done),
            };
            self.session.set_names(batch);
            let skipped = (*to_skip).min(batch.len() as u64);
            *to_skip -= skipped;
            if let Some(kept) = &mut self.kept {
                kept.push(batch, skipped as usize);
            }
            let examples: Vec<Example<'_>> = batch.iter().collect();
            let mut from = skipped as usize;
            for at in batch.skipped() {
                if *to_pass > 0 {
                    *to_pass -= 1;
                    continue;
                }
                let at = from.max(*at);
                if self.play(&examples[from..at])? == End::Interrupted {
                    return Ok(End::Interrupted);
                }
                from = at;
                self.session.written.skipped += 1;
                self.write(PREDICTIONS, |out| out.line(""))?;
            }
            if self.play(&examples[from..])? == End::Interrupted {
                return Ok(End::Interrupted);
            }
            // A pipe may be silent for long.
            self.flush()?;
            self.host.progress(done, of);
        }
    }

    fn play(&mut self, mut examples: &[Example<'_>]) -> Result<End> {
        let mut rounds = Vec::new();
        while !examples.is_empty() {
            if self.host.is_stopped() {
                return Ok(End::Interrupted);
            }
            let memory = self.host.memory();
            let most = match self.options.models.model {
                Some(_) => MOST_WITH_MODEL,
                None => MOST_MEMORY,
            };
            if memory > most {
                return Err(self.data_error(
                    "the model needs nearly all of the memory that is allowed. Use --max-memory to allow more, or --bits to hash the features".into(),
                ));
            }
            rounds.clear();
            let mut stride = examples.len().min(self.stride());
            if memory > 0.5 * most {
                stride = stride.min(CAREFUL_STRIDE);
            }
            let lacks_label = |example| self.session.lacks_label(example);
            match examples[..stride].iter().position(lacks_label) {
                Some(0) => {
                    self.only_predict(&examples[0])?;
                    examples = &examples[1..];
                    continue;
                }
                Some(labelled) => stride = labelled,
                None => {}
            }
            let played = self
                .session
                .play(&examples[..stride], self.threads, &mut rounds);
            self.record(&rounds, examples)?;
            examples = &examples[rounds.len()..];
            if let (Err(error), [example, rest @ ..]) = (played, examples) {
                let file = name_of(self.options.input.path());
                self.reject(Error::at_line(error, &file, example), example)?;
                examples = rest;
            }
        }
        Ok(End::Done)
    }

    /// The number of examples to play at once, up to the next report or the next save of the model.
    fn stride(&self) -> usize {
        let round = self.session.rounds();
        let every = self.options.models.checkpoint_every;
        let save = every.map_or(u64::MAX, |n| (round / n + 1) * n);
        let due = self.lines.next.min(self.rows.next).min(save);
        (due - round).min(STRIDE) as usize
    }

    /// Skips an example that could not be played, or ends the run.
    fn reject(&mut self, error: Error, example: &Example<'_>) -> Result<()> {
        // A torn session has played a part of the example.
        if self.options.input.on_error == OnError::Stop || self.session.is_torn {
            return Err(error);
        }
        match &mut self.rejection {
            Some((_, count)) => *count += 1,
            None => {
                self.rejection = Some((error.to_string(), 1));
                self.note(format!("skipped {error}"));
            }
        }
        self.skipped += 1;
        self.session.skip();
        self.write(PREDICTIONS, |out| out.line(""))?;
        if self.options.reports.hindsight {
            self.rejected.insert(example.line);
        }
        Ok(())
    }

    /// Writes the prediction of an example without a label. The model does not learn from it.
    fn only_predict(&mut self, example: &Example<'_>) -> Result<()> {
        let file = name_of(self.options.input.path());
        let prediction = self.session.predict(example);
        let prediction = prediction.map_err(|why| Error::at_line(why, &file, example));
        let prediction = match prediction.and_then(|p| finite("prediction", p, &file, example)) {
            Ok(prediction) => prediction,
            Err(error) => return self.reject(error, example),
        };
        self.session.skip();
        self.unlabelled += 1;
        let plan = &self.session.plan;
        let written = self.outputs[PREDICTIONS].as_mut().map_or(Ok(()), |out| {
            out.prediction(plan, plan.link, prediction, example.tag)
        });
        self.keep_going(PREDICTIONS, written)
    }

    /// An error if more than one row in ten was skipped.
    fn check_skipped(&mut self, end: End) -> Result<End> {
        if end != End::Done {
            return Ok(end);
        }
        let (first, count) = self.rejection.take().unwrap_or_default();
        let reason = match self.reason.take() {
            Some(reason) if 2 * count <= self.skipped => reason,
            _ => first,
        };
        let used = self.session.rounds() - self.rounds_before + self.unlabelled;
        let file = name_of(self.options.input.path());
        few_skipped(&file, self.skipped, used, &reason).map(|()| end)
    }

    /// Writes the predictions of some rounds, and the report and the model if they are due.
    fn record(&mut self, rounds: &[Round], examples: &[Example<'_>]) -> Result<()> {
        let Some(last) = rounds.last() else {
            return Ok(());
        };
        self.last = *last;
        for (played, example) in rounds.iter().zip(examples) {
            self.nonzeros += played.features;
            let Some(out) = &mut self.outputs[PREDICTIONS] else {
                continue;
            };
            let plan = &self.session.plan;
            let written = out.prediction(plan, plan.link, played.prediction, example.tag);
            self.keep_going(PREDICTIONS, written)?;
        }
        let round = self.session.rounds();
        self.report(self.lines.is_due(round), self.rows.is_due(round))?;
        let every = self.options.models.checkpoint_every;
        if every.is_some_and(|n| round.is_multiple_of(n)) {
            self.save()?;
        }
        Ok(())
    }

    /// Writes to an output, if it is still open.
    pub fn write(
        &mut self,
        output: usize,
        write: impl FnOnce(&mut Sink) -> Result<()>,
    ) -> Result<()> {
        let written = self.outputs[output].as_mut().map_or(Ok(()), write);
        self.keep_going(output, written)
    }

    /// Closes an output after an error. If its reader closed the pipe, the run continues, provided
    /// that it has another result.
    fn keep_going(&mut self, output: usize, written: Result<()>) -> Result<()> {
        let Err(error) = written else {
            return Ok(());
        };
        self.outputs[output] = None;
        let has_results = self.options.models.model.is_some()
            || self.options.reports.test.is_some()
            || self.outputs.iter().any(Option::is_some);
        if !error.is_closed_pipe() || !has_results {
            return Err(error);
        }
        let name = ["predictions", "trace"][output];
        self.note(format!(
            "the reader of the {name} closed the pipe. The run continues without this output"
        ));
        Ok(())
    }

    /// Writes the last report, the certificate and the model. An error in one of them does not
    /// prevent the others. A closed pipe is no error, since the run is over.
    fn close(&mut self, mut end: Result<End>) -> Result<End> {
        // The model is saved before the last row of the trace, which a resumed run may not need.
        let steps = [
            Self::save,
            Self::report_last,
            Self::write_certificate,
            Self::flush,
        ];
        for step in steps {
            end = match (end, step(self)) {
                (end, Ok(())) => end,
                (end, Err(then)) if then.is_closed_pipe() => end,
                (Ok(_), Err(then)) => Err(then),
                (Err(first), Err(then)) => Err(Error::Both {
                    first: Box::new(first),
                    then: Box::new(then),
                }),
            };
        }
        end
    }

    fn write_certificate(&mut self) -> Result<()> {
        let Some(mut out) = self.certificate.take() else {
            return Ok(());
        };
        out.line(certified::CURVE)?;
        if self.session.rounds() > 0 {
            let certified = self.session.certify()?;
            for row in certified.curve(self.session.radius()) {
                out.line(row)?;
            }
        }
        out.flush()
    }

    /// Finds the best weights in hindsight and scores the test file, if the options require it.
    fn evaluate(&mut self, end: End, read: &ReadOptions) -> Result<End> {
        if end != End::Done {
            return Ok(end);
        }
        let reports = &self.options.reports;
        if reports.hindsight && self.session.rounds() > self.rounds_before {
            self.found = self.hindsight(read)?;
            let text = self.found.as_ref().map(Found::describe);
            self.say(&text.unwrap_or("in hindsight     interrupted without a result\n".into()));
            if self.found.as_ref().is_none_or(|found| found.stopped) {
                return Ok(End::Interrupted);
            }
        }
        if let Some(path) = &reports.test {
            // The test file must have the columns of the stream.
            let read = self.options.input.options(self.session.plan.read_options());
            self.score = score::test(&self.session, path, &read, self.host)?;
            if self.score.is_none() {
                return Ok(End::Interrupted);
            }
        }
        Ok(end)
    }

    /// An error about the data of the run.
    pub fn data_error(&self, what: String) -> Error {
        Error::content(&name_of(self.options.input.path()), what)
    }

    /// Saves the model and the lengths of the outputs.
    fn save(&mut self) -> Result<()> {
        if self.options.models.model.is_none() {
            return Ok(());
        }
        self.flush()?;
        let [predictions, trace] = &self.outputs;
        let written = &mut self.session.written;
        written.predictions = predictions.as_ref().map(|out| out.length);
        let (last, totals) = self.rows.since();
        written.trace = trace.as_ref().map(|out| (out.length, last, totals));
        match &self.options.models.model {
            Some(path) if self.session.is_torn => Err(Error::content(
                &path.display().to_string(),
                "the model is not saved, because memory ran out after some classes had played the round. The file is as it was at the last checkpoint",
            )),
            Some(path) => save(&self.session, path, !self.options.models.drop_resume_state),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.write(PREDICTIONS, Sink::flush)?;
        self.write(TRACE, Sink::flush)
    }
}

/// An error if more than one row in ten was skipped.
pub(crate) fn few_skipped(file: &str, skipped: u64, used: u64, reason: &str) -> Result<()> {
    if 9 * skipped <= used {
        return Ok(());
    }
    let [skipped, all] = [skipped, skipped + used].map(format::count);
    Err(Error::content(
        file,
        format!(
            "{skipped} of {all} rows were skipped, which is more than one in ten. The most frequent problem: {reason}"
        ),
    ))
}
