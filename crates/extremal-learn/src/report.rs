//! The messages of a run: what is learnt, checkpoints, and the summary at the end.

use serde_json::{Value, json};

use crate::certified::Proven;
use crate::error::Result;
use crate::format;
use crate::options::Progress;
use crate::progress::{self, Snapshot};
use crate::run::{End, Run, TRACE};

impl Run<'_> {
    /// Shows text to a person.
    pub fn say(&mut self, text: &str) {
        if self.options.reports.shows(Progress::Table) {
            self.host.say(text);
        }
    }

    /// Shows a note, and keeps it for the last JSON object.
    pub fn note(&mut self, note: String) {
        self.say(&format!("note: {note}\n"));
        self.notes.push(note);
    }

    /// Shows the components, and the head of the table.
    pub fn introduce(&mut self) {
        let plan = &self.session.plan;
        let asked = &self.options.config;
        let resumed = self.options.models.resume.is_some();
        let origin = |given: bool| match (resumed, given) {
            (true, _) => " (from the model)",
            (false, true) => "",
            (false, false) => " (chosen)",
        };
        let ridge = match plan.config.ridge() {
            0.0 => String::new(),
            ridge => format!(" + ({ridge}/2)‖x‖²"),
        };
        let mut text = format!(
            "set              {}{}\nloss             {}{ridge}{}\nlearner          {}{}\n",
            plan.set,
            origin(asked.set.is_some()),
            plan.loss,
            origin(asked.loss.is_some()),
            plan.learner,
            origin(asked.learner.is_some()),
        );
        if !plan.classes().is_empty() {
            text += &format!(
                "classes          {}, one model each; the loss shown is the error rate\n",
                plan.classes().len()
            );
        }
        let note = plan.cost_note();
        self.say(&format!("{text}\n{}", progress::HEAD));
        if let Some(note) = note {
            self.note(note);
        }
    }

    /// Reports the last round, unless it was a checkpoint.
    pub fn report_last(&mut self) -> Result<()> {
        let round = self.session.rounds();
        let is_behind = |checkpoints: &progress::Checkpoints| checkpoints.last < round;
        self.report(is_behind(&self.lines), is_behind(&self.rows))
    }

    /// Writes a line of progress, a row of the trace, or both.
    pub fn report(&mut self, line: bool, row: bool) -> Result<()> {
        if !line && !row {
            return Ok(());
        }
        self.session.check_feasible();
        let mut snapshot = Snapshot {
            certified: self.session.certify()?,
            round: self.session.rounds(),
            totals: self.session.counters,
            since: 0.0,
            last: self.last,
            calls: self.session.oracle_calls(),
            seconds: self.host.seconds() - self.started,
        };
        if line {
            snapshot.since = self.lines.advance(snapshot.round, &snapshot.totals);
            if self.options.reports.shows(Progress::Json) {
                self.host.say(&format!("{}\n", snapshot.json()));
            }
            let line = snapshot.line(self.session.plan.classes());
            self.say(&line);
        }
        if row {
            snapshot.since = self.rows.advance(snapshot.round, &snapshot.totals);
            self.write(TRACE, |out| out.line(snapshot.row()))?;
        }
        Ok(())
    }

    /// Shows the summary after the last round; after an error, only the number of skipped lines.
    pub fn summarise(&mut self, is_complete: bool) -> Result<()> {
        let mut lines: Vec<(&str, String)> = Vec::new();
        let rounds = self.session.rounds();
        let played = rounds - self.rounds_before;
        if is_complete {
            let mut text = format::count(rounds);
            if self.rounds_before > 0 {
                text += &format!(", {} of them in this run", format::count(played));
            }
            lines.push(("\nrounds", text));
        }
        if self.skipped > 0 {
            lines.push(("skipped", format::count(self.skipped)));
        }
        if is_complete && self.options.reports.shows(Progress::Table) {
            let totals = self.session.counters;
            if rounds > 0 {
                let certified = self.session.certify()?;
                lines.push(("average loss", format::fixed(totals.loss / totals.weight)));
                lines.push(("regret", certified.regret(rounds)));
                lines.extend(certified.comparators().map(|text| ("comparators", text)));
                lines.push(("bound", certified.bound()));
                let violation = match totals.violation {
                    0.0 => "0".into(),
                    violation => format!("{violation:.1e}"),
                };
                let violation = format!("at most {violation} (checked at every report)");
                lines.push(("violation", violation));
            }
            let (calls, report) = (self.session.oracle_calls(), self.session.report_calls());
            let (calls, report) = (format::count(calls), format::count(report));
            let calls = format!("{calls} to play, {report} to report");
            lines.push(("oracle calls", calls));
            lines.push(("features", format::count(self.session.dim() as u64)));
            let seconds = self.host.seconds() - self.started;
            if played > 0 && seconds > 0.0 {
                let speed = format::significant(played as f64 / seconds, 3);
                lines.push(("speed", format!("{speed} rounds/s")));
            }
        }
        for (name, text) in lines {
            let width = 17 + usize::from(name.starts_with('\n'));
            self.say(&format!("{name:<width$}{text}\n"));
        }
        Ok(())
    }

    /// Shows the score, or the last JSON object.
    pub fn finish(&mut self, end: &Result<End>) {
        let mut score = self.score.take();
        for note in score.iter_mut().flat_map(|s| std::mem::take(&mut s.notes)) {
            self.note(note);
        }
        if self.options.reports.shows(Progress::Json) {
            let mut object = self.json(end);
            if let Some(mut score) = score {
                object["test"] = score.json();
            }
            if let Some(found) = &self.found {
                object["hindsight"] = found.json();
            }
            self.host.say(&format!("{object}\n"));
        } else if let Some(mut score) = score {
            let text = score.describe();
            self.host.say(&format!("test             {text}\n"));
        }
    }

    fn json(&mut self, end: &Result<End>) -> Value {
        let certified = match self.session.rounds() {
            0 => None,
            _ => self.session.certify().ok(),
        };
        let certified = certified.as_ref();
        let totals = self.session.counters;
        json!({
            "end": match end {
                Ok(End::Done) => "done",
                Ok(End::Interrupted | End::Unstarted) => "interrupted",
                Err(_) => "error",
            },
            "round": self.session.rounds(),
            "average_loss": totals.loss / totals.weight,
            "regret_upper": certified.map(|c| c.certificate.regret),
            "level": certified.map(|c| c.certificate.level.to_string()),
            "vacuous": certified.map(|c| c.is_vacuous()),
            "halving_radius": certified.and_then(|c| c.halving),
            "bound": certified.and_then(|c| match &c.bound {
                Some(Proven::Bound(bound)) => Some(*bound),
                _ => None,
            }),
            "violation": totals.violation,
            "oracle_calls": self.session.oracle_calls(),
            "report_calls": self.session.report_calls(),
            "features": self.session.dim(),
            "skipped": self.skipped,
            "notes": self.notes,
            "seconds": self.host.seconds() - self.started,
        })
    }
}
