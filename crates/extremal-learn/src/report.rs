//! What a run says: what is played, how it goes, and how it went.

use std::path::Path;

use serde_json::{Value, json};

use crate::error::Result;
use crate::format;
use crate::hindsight::Found;
use crate::options::Progress;
use crate::progress::{self, Every, Point, Schedule, Window};
use crate::run::{End, Run};
use crate::score::Score;
use crate::session::{Proven, Session};
use crate::sink::Sink;

/// The trace and when its next row is due.
pub(crate) struct Trace {
    pub out: Sink,
    pub schedule: Schedule,
    window: Window,
}

impl Trace {
    pub fn create(path: &Path, every: Every, session: &Session) -> Result<Self> {
        let mut out = Sink::create(path)?;
        out.line(progress::TRACE)?;
        Ok(Self {
            out,
            schedule: Schedule::new(every, session.rounds()),
            window: Window::after(session),
        })
    }
}

impl Run<'_> {
    pub fn say(&mut self, text: &str) {
        if self.options.reports.shows(Progress::Table) {
            self.host.say(text);
        }
    }

    /// What the user should know.
    pub fn note(&mut self, note: String) {
        self.say(&format!("note: {note}\n"));
        self.notes.push(note);
    }

    /// What is played, chosen or asked for.
    pub fn introduce(&mut self) {
        let plan = self.session.plan();
        let asked = &self.options.config;
        let resumed = self.options.models.resume.is_some();
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
            if plan.config.ridge() > 0.0 {
                format!(" + ({}/2)‖x‖²", plan.config.ridge())
            } else {
                String::new()
            },
            origin(asked.loss.is_some()),
            plan.learner,
            origin(asked.learner.is_some()),
        );
        if !plan.classes().is_empty() {
            text += &format!(
                "classes          {}, each against the others; the loss shown is the share of wrong ones\n",
                plan.classes().len()
            );
        }
        text += &format!("\n{}", progress::HEAD);
        self.say(&text);
    }

    /// The last line and the last row, where the last round has none yet.
    pub fn report_last(&mut self) -> Result<()> {
        let behind = |window: &Window| window.is_behind(&self.session);
        let line = behind(&self.window);
        let row = self.trace.as_ref().is_some_and(|t| behind(&t.window));
        if line || row {
            self.point(line, row)?;
        }
        Ok(())
    }

    /// A line, a row or both about the rounds so far.
    pub fn point(&mut self, line: bool, row: bool) -> Result<()> {
        self.session.check_feasible();
        let certified = self.session.certify()?;
        let counters = self.session.counters();
        let mut point = Point {
            round: self.session.rounds(),
            loss: counters.loss,
            average: counters.loss / counters.weight,
            since: 0.0,
            certified,
            last: self.last,
            calls: self.session.oracle_calls(),
            seconds: self.host.seconds() - self.started,
        };
        if line {
            point.since = self.window.pass(&self.session);
            if self.options.reports.shows(Progress::Table) {
                let text = progress::line(&point, self.session.plan().classes());
                self.host.say(&text);
            } else if self.options.reports.shows(Progress::Json) {
                self.host.say(&progress::json(&point));
            }
        }
        if row && let Some(trace) = &mut self.trace {
            point.since = trace.window.pass(&self.session);
            if let Err(error) = trace.out.line(progress::trace(&point)) {
                self.trace = None;
                self.lost("trace", error)?;
            }
        }
        Ok(())
    }

    /// The block at the end.
    pub fn conclude(&mut self) -> Result<()> {
        if !self.options.reports.shows(Progress::Table) {
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
        text += &self.left_out();
        if self.session.rounds() > 0 {
            let certified = self.session.certify()?;
            let counters = self.session.counters();
            text += &format!(
                "average loss     {}\nregret           {}\n",
                format::fixed(counters.loss / counters.weight),
                certified.regret(self.session.rounds()),
            );
            if let Some(comparators) = certified.comparators() {
                text += &format!("comparators      {comparators}\n");
            }
            text += &format!(
                "bound            {}\nviolation        {:.1e} at most, where looked\n",
                certified.bound(),
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

    /// What remains to be told after an error.
    pub fn conclude_early(&mut self) {
        let text = self.left_out();
        self.say(&text);
    }

    fn left_out(&self) -> String {
        match self.skipped {
            0 => String::new(),
            skipped => format!("skipped          {}\n", format::count(skipped)),
        }
    }

    /// The best weights in hindsight.
    pub fn show_found(&mut self, found: Option<&Found>) {
        let text = match found {
            None => "in hindsight     interrupted before anything was found\n".into(),
            Some(found) => found.describe(),
        };
        self.say(&text);
    }

    /// The score, where there is one; for programs, the last line, whatever the end.
    pub fn show(&mut self, found: Option<Found>, tested: Option<Score>, end: &Result<End>) {
        let mut tested = tested;
        if let Some(tested) = &mut tested {
            for note in std::mem::take(&mut tested.notes) {
                self.note(note);
            }
        }
        if self.options.reports.shows(Progress::Json) {
            let mut line = self.last_line(tested.map(|mut tested| tested.json()), end);
            if let Some(found) = found {
                line["hindsight"] = found.json();
            }
            self.host.say(&format!("{line}\n"));
        } else if let Some(mut tested) = tested {
            let text = tested.describe();
            self.host.say(&format!("test             {text}\n"));
        }
    }

    fn last_line(&mut self, test: Option<Value>, end: &Result<End>) -> Value {
        let certified = match self.session.rounds() {
            0 => None,
            _ => self.session.certify().ok(),
        };
        let counters = self.session.counters();
        let mut line = json!({
            "end": match end {
                Ok(End::Done) => "done",
                Ok(End::Interrupted | End::Unstarted) => "interrupted",
                Err(_) => "error",
            },
            "round": self.session.rounds(),
            "average_loss": counters.loss / counters.weight,
            "regret_upper": certified.as_ref().map(|c| c.certificate.regret),
            "level": certified.as_ref().map(|c| c.certificate.level.to_string()),
            "vacuous": certified.as_ref().map(|c| c.is_vacuous()),
            "halving_radius": certified.as_ref().and_then(|c| c.halving),
            "bound": match certified.and_then(|c| c.bound) {
                Some(Proven::Bound(bound)) => Some(bound),
                _ => None,
            },
            "violation": counters.violation,
            "oracle_calls": self.session.oracle_calls(),
            "report_calls": self.session.report_calls(),
            "features": self.session.dim(),
            "skipped": self.skipped,
            "notes": self.notes,
            "seconds": self.host.seconds() - self.started,
        });
        if let Some(test) = test {
            line["test"] = test;
        }
        line
    }
}
