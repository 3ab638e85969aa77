//! `learn`: the loop over the examples, with reports, checkpoints and an orderly end.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use extremal::kernel;
use extremal::learner::default_radius;
use extremal_data::{Example, Format, Next, OnError, ReadOptions, Reader};

use super::plan::{Asked, Plan, Signs};
use super::progress::{self, Every, Point, Schedule, Window};
use super::saved::{Saved, save};
use super::score::{Kind, Score};
use super::session::{Proven, Round, Session};
use super::source::Source;
use super::{at_line, cant_write, create, name_of};
use crate::error::{Error, Result};
use crate::format;

/// Examples that are looked at where no set is given.
const FIRST: usize = 100;

/// Examples between two looks at whether to stop.
const STRIDE: u64 = 256;

/// What `learn` is to do.
#[derive(Debug, Clone)]
pub struct LearnOptions {
    /// The stream; `None` for standard input.
    pub data: Option<PathBuf>,
    /// Its format, unless it shows.
    pub format: Option<Format>,
    /// What to do about lines that can't be read.
    pub on_error: OnError,
    /// How often to go through it.
    pub passes: u32,
    /// A model to go on with.
    pub resume: Option<PathBuf>,
    /// Whether to skip the examples that the model has consumed.
    pub skip_consumed: bool,
    /// Where the model goes.
    pub model: Option<PathBuf>,
    /// Whether the model keeps no more than predicting needs.
    pub drop_resume_state: bool,
    /// Rounds between two saves.
    pub checkpoint_every: Option<u64>,
    /// Where predictions go, made before each label was used.
    pub predictions: Option<PathBuf>,
    /// What the final model is scored on.
    pub test: Option<PathBuf>,
    /// Where the trace goes.
    pub trace: Option<PathBuf>,
    /// Rounds between its rows, if not those of the progress lines.
    pub trace_every: Option<u64>,
    /// When a progress line is due.
    pub every: Every,
    /// In which form.
    pub progress: Progress,
    /// How many threads may learn; what is learnt does not depend on it.
    pub threads: usize,
    /// What was said about the learning itself.
    pub asked: Asked,
}

/// The form of progress reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// None at all.
    Quiet,
}

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
}

/// Plays a stream. Whatever ends it early, what was learnt is saved first.
pub fn learn(options: &LearnOptions, host: &mut dyn Host) -> Result<End> {
    check(options)?;
    let saved = match &options.resume {
        Some(path) => {
            let saved = Saved::open(path)?;
            saved.plan.agree(&options.asked)?;
            Some(saved.resume(path)?)
        }
        None => None,
    };
    let plan = match &saved {
        Some(session) => session.plan().clone(),
        None => Plan::choose(&options.asked, 1.0)?,
    };
    let read = ReadOptions {
        format: options.format,
        on_error: options.on_error,
        ..plan.read_options()
    };
    let mut source = Source::open(options.data.as_deref(), &read)?;
    let session = match saved {
        Some(session) => session,
        None if options.asked.set.is_some() => {
            Session::new(numbered(plan, source.reader().format()))?
        }
        None => {
            let is_stopped = || host.is_stopped();
            let Some(radius) = radius_for(&plan, &mut source, &is_stopped) else {
                return Ok(End::Interrupted);
            };
            let plan = Plan::choose(&options.asked, radius)?;
            Session::new(numbered(plan, source.reader().format()))?
        }
    };
    let mut run = Run::new(options, session, host)?;
    run.introduce();
    let played = run.passes(source, &read);
    let end = match played {
        Ok(end) => end,
        Err(error) => {
            // The round before is the last one: what it left is worth keeping.
            if run.session.is_torn() {
                run.say("note: some classes were a round ahead of others, so that the model is not saved\n");
            } else {
                run.save()?;
            }
            run.flush()?;
            return Err(error);
        }
    };
    run.report_last()?;
    run.save()?;
    run.flush()?;
    run.conclude()?;
    if end == End::Done
        && let Some(path) = &options.test
    {
        let read = ReadOptions {
            format: read.format,
            on_error: read.on_error,
            ..run.session.plan().read_options()
        };
        let text = score(&run.session, path, &read)?;
        run.say(&format!("test             {text}\n"));
    }
    Ok(end)
}

/// The plan with the numbers that features have in this format.
fn numbered(plan: Plan, format: Format) -> Plan {
    Plan {
        format: Some(format),
        first_index: u32::from(format == Format::Libsvm && !plan.zero_based),
        ..plan
    }
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

fn check(options: &LearnOptions) -> Result<()> {
    let refuse = |text: &str| Err(Error::Usage(text.into()));
    if options.passes == 0 {
        return refuse("--passes must be at least 1");
    }
    let stdin = options.data.as_deref().is_none_or(|p| p.as_os_str() == "-");
    if options.passes > 1 && stdin {
        return refuse("standard input can be read once: --passes needs a file");
    }
    if options.skip_consumed && options.resume.is_none() {
        return refuse("--continue skips what a model has consumed: name it with -i");
    }
    if options.checkpoint_every.is_some() && options.model.is_none() {
        return refuse("--checkpoint-every needs a model to save: -f MODEL");
    }
    if options.checkpoint_every.is_some() && options.drop_resume_state {
        return refuse(
            "a checkpoint without resume state can't be gone on with: leave out one of --checkpoint-every and --drop-resume-state",
        );
    }
    Ok(())
}

/// A file, or standard output.
type Sink = BufWriter<Box<dyn Write>>;

struct Run<'a> {
    options: &'a LearnOptions,
    host: &'a mut dyn Host,
    session: Session,
    started: f64,
    rounds_before: u64,
    skipped: u64,
    lines: Schedule,
    window: Window,
    trace: Option<(Sink, Schedule, Window)>,
    predictions: Option<Sink>,
    last: Round,
    /// Memory for those of several models.
    rounds: Vec<Round>,
    reported: u64,
}

impl<'a> Run<'a> {
    fn new(options: &'a LearnOptions, session: Session, host: &'a mut dyn Host) -> Result<Self> {
        let rounds = session.rounds();
        let window = Window::after(&session);
        let trace = match &options.trace {
            None => None,
            Some(path) => {
                let mut file = create(path)?;
                file.write_all(progress::TRACE.as_bytes())
                    .map_err(|why| cant_write(path, why))?;
                let every = options.trace_every.map_or(options.every, Every::Rounds);
                Some((file, Schedule::new(every, rounds), window))
            }
        };
        // Better to fail before the first round than after the last.
        if let Some(path) = &options.model {
            extremal_data::check_writable(path)?;
        }
        let predictions = options.predictions.as_deref().map(create).transpose()?;
        Ok(Self {
            started: host.seconds(),
            rounds_before: rounds,
            skipped: 0,
            lines: Schedule::new(options.every, rounds),
            window,
            trace,
            predictions,
            last: Round::default(),
            rounds: Vec::new(),
            reported: rounds,
            options,
            host,
            session,
        })
    }

    fn say(&mut self, text: &str) {
        if self.options.progress == Progress::Table {
            self.host.say(text);
        }
    }

    /// What is played, chosen or asked for.
    fn introduce(&mut self) {
        let plan = self.session.plan();
        let asked = &self.options.asked;
        let resumed = self.options.resume.is_some();
        let origin = |given: bool| match (resumed, given) {
            (true, _) => " (of the model)",
            (false, true) => "",
            (false, false) => " (chosen)",
        };
        let mut text = format!(
            "set              {}{}\nloss             {}{}{}\nlearner          {}{}\n",
            plan.set,
            origin(asked.set.is_some()),
            plan.loss,
            if plan.ridge > 0.0 {
                format!(" + ({}/2)‖x‖²", plan.ridge)
            } else {
                String::new()
            },
            origin(asked.loss.is_some()),
            plan.learner,
            origin(asked.learner.is_some()),
        );
        if !plan.classes.is_empty() {
            text += &format!(
                "classes          {}, each against the others; the loss shown is the share of wrong ones\n",
                plan.classes.len()
            );
        }
        text += &format!("\n{}", progress::HEAD);
        self.say(&text);
    }

    fn passes(&mut self, first: Source, read: &ReadOptions) -> Result<End> {
        let mut to_skip = if self.options.skip_consumed {
            self.session.counters().records
        } else {
            0
        };
        let path = self.options.data.as_deref();
        let mut first = Some(first);
        for _ in 0..self.options.passes {
            let mut source = match first.take() {
                Some(source) => source,
                None => Source::open(path, read)?,
            };
            let end = self.pass(&mut source, &name_of(path), &mut to_skip);
            self.skipped += source.reader().skipped();
            for note in source.reader().notes() {
                self.say(&format!("note: {note}\n"));
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
            Some((_, schedule, _)) => until(schedule.next()),
            None => STRIDE,
        };
        let save = match self.options.checkpoint_every {
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
            let threads = self.options.threads;
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
        let numerical = matches!(error, extremal::Error::Numerical { .. });
        if self.options.on_error == OnError::Skip && !numerical {
            self.skipped += 1;
            self.session.pass_over();
            return Ok(());
        }
        Err(at_line(error, file, example))
    }

    /// What a round that was played leaves to do.
    fn after(&mut self, last: Round, round: u64) -> Result<()> {
        self.last = last;
        if let Some(out) = &mut self.predictions {
            let plan = self.session.plan();
            let written = match plan.classes.get(self.last.prediction as usize) {
                Some(name) if !plan.classes.is_empty() => writeln!(out, "{name}"),
                _ => writeln!(out, "{}", plan.link.of(self.last.prediction)),
            };
            if let Err(why) = written {
                let path = self
                    .options
                    .predictions
                    .as_deref()
                    .unwrap_or(Path::new("-"));
                return Err(cant_write(path, why));
            }
        }
        let line = self.lines.is_due(round);
        let row = match &mut self.trace {
            Some((_, schedule, _)) => schedule.is_due(round),
            None => false,
        };
        if line || row {
            self.point(line, row)?;
        }
        if self
            .options
            .checkpoint_every
            .is_some_and(|n| round.is_multiple_of(n))
        {
            self.save()?;
        }
        Ok(())
    }

    /// The last line, if the last round has none yet.
    fn report_last(&mut self) -> Result<()> {
        let round = self.session.rounds();
        if round > self.rounds_before && self.reported < round {
            self.point(true, self.trace.is_some())?;
        }
        Ok(())
    }

    fn point(&mut self, line: bool, row: bool) -> Result<()> {
        self.session.check_feasible();
        let certified = self.session.certify()?;
        let counters = self.session.counters();
        let mut point = Point {
            round: self.session.rounds(),
            loss: counters.loss,
            average: counters.loss / counters.weight,
            since: 0.0,
            certificate: Some(certified.certificate),
            last: self.last,
            calls: self.session.oracle_calls(),
            seconds: self.host.seconds() - self.started,
        };
        self.reported = point.round;
        if row && let Some((file, _, window)) = &mut self.trace {
            point.since = window.pass(&self.session);
            let path = self.options.trace.as_deref().unwrap_or(Path::new("-"));
            file.write_all(progress::trace(&point).as_bytes())
                .map_err(|why| cant_write(path, why))?;
        }
        if line {
            point.since = self.window.pass(&self.session);
            match self.options.progress {
                Progress::Table => {
                    let text = progress::line(&point, &self.session.plan().classes);
                    self.host.say(&text);
                }
                Progress::Json => self.host.say(&progress::json(&point)),
                Progress::Quiet => {}
            }
        }
        Ok(())
    }

    fn save(&mut self) -> Result<()> {
        match &self.options.model {
            Some(path) => save(&self.session, path, !self.options.drop_resume_state),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        let dash = Path::new("-");
        if let Some(out) = &mut self.predictions {
            let path = self.options.predictions.as_deref().unwrap_or(dash);
            out.flush().map_err(|why| cant_write(path, why))?;
        }
        if let Some((out, ..)) = &mut self.trace {
            let path = self.options.trace.as_deref().unwrap_or(dash);
            out.flush().map_err(|why| cant_write(path, why))?;
        }
        Ok(())
    }

    /// The block at the end.
    fn conclude(&mut self) -> Result<()> {
        if self.options.progress != Progress::Table {
            return Ok(());
        }
        let seconds = self.host.seconds() - self.started;
        let played = self.session.rounds() - self.rounds_before;
        let mut text = format!(
            "\nrounds           {}",
            format::count(self.session.rounds())
        );
        if self.rounds_before > 0 {
            text += &format!(", {} of them now", format::count(played));
        }
        text.push('\n');
        if self.skipped > 0 {
            text += &format!("skipped          {}\n", format::count(self.skipped));
        }
        if self.session.rounds() > 0 {
            let certified = self.session.certify()?;
            let counters = self.session.counters();
            let rounds = self.session.rounds() as f64;
            let regret = certified.certificate.regret;
            text += &format!(
                "average loss     {:.6}\nregret           ≤ {} ({} certificate), {} per round\nbound            {}\nviolation        {:.1e} at most, where looked\n",
                counters.loss / counters.weight,
                format::significant(regret, 5),
                certified.certificate.level,
                format::significant(regret / rounds, 4),
                match certified.bound {
                    None => "none proven".into(),
                    Some(Proven::Bound(bound)) => format::significant(bound, 5),
                    Some(Proven::Vacuous) => "vacuous".into(),
                    Some(Proven::Broken(why)) => format!("does not apply: {why}"),
                },
                counters.violation,
            );
        }
        text += &format!(
            "oracle calls     {} to play, {} to report\nfeatures         {}\n",
            format::count(self.session.oracle_calls()),
            format::count(self.session.report_calls()),
            format::count(self.session.dim() as u64),
        );
        if played > 0 && seconds > 0.0 {
            text += &format!(
                "speed            {} rounds/s\n",
                format::significant(played as f64 / seconds, 3)
            );
        }
        self.host.say(&text);
        Ok(())
    }
}

/// Scores a session on a file of its own.
fn score(session: &Session, path: &Path, read: &ReadOptions) -> Result<String> {
    let plan = session.plan();
    let kind = match (plan.classes.is_empty(), plan.takes_signs()) {
        (false, _) => Kind::Classes,
        (true, true) => Kind::Signs,
        (true, false) => Kind::Numbers,
    };
    let loss = plan.loss.build().map_err(|e| Error::Usage(e.to_string()))?;
    let file = name_of(Some(path));
    let mut score = Score::default();
    let mut signs = Signs::default();
    let mut reader = Reader::open(Some(path), read)?;
    while let Some(batch) = reader.next()? {
        for example in batch.iter() {
            let prediction = session
                .predict(&example)
                .map_err(|e| at_line(e, &file, &example))?;
            let label = example.label.unwrap_or(f64::NAN);
            let value = if kind == Kind::Classes {
                0.0
            } else {
                signs = loss
                    .check_label(label)
                    .and_then(|()| signs.with(&plan.loss, label))
                    .map_err(|e| at_line(e, &file, &example))?;
                loss.at(prediction, label).0
            };
            score.add(kind, example.weight, value, prediction, label);
        }
    }
    Ok(score.describe(kind))
}
