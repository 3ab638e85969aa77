//! The messages of a run: the components, the reports, and the summary at the end.

use extremal::loss::LossSpec;
use serde_json::{Value, json};

use crate::certified::{Certified, Proven};
use crate::error::Result;
use crate::format;
use crate::options::Progress;
use crate::progress::Schedule;
use crate::run::{End, Run, TRACE};

/// The head of the progress table, which is 80 columns wide. The title of the last column follows.
const HEAD: &str = " average    since    round    label prediction features regret/t  oracle";
const HEAD_2: &str = "    loss     last                                                calls";

/// The columns of the trace.
pub(crate) const TRACE_KEYS: &str = "round,loss,average_loss,since_last,regret_upper,average_regret_upper,sigma,gap,oracle_calls,seconds,vacuous,halving_radius";

/// The keys of a JSON report.
const REPORT_KEYS: &str = "round,average_loss,since_last,label,prediction,features,regret_upper,level,vacuous,halving_radius,oracle_calls,seconds";

/// The keys of the last JSON object.
const END_KEYS: &str = "end,round,average_loss,baseline_loss,regret_upper,level,vacuous,halving_radius,bound,violation,oracle_calls,report_calls,features,skipped,notes,seconds";

impl Run<'_> {
    /// Shows text to a person.
    pub fn say(&mut self, text: &str) {
        if self.options.reports.shows(Progress::Table) {
            self.host.say(text);
        }
    }

    /// Shows a line of the introduction or the summary.
    fn say_entry(&mut self, name: &str, text: &str) {
        self.say(&format!("{name:<17}{text}\n"));
    }

    /// Shows a note, and stores it for the last JSON object.
    pub fn note(&mut self, note: String) {
        self.say(&format!("note: {note}\n"));
        self.notes.push(note);
    }

    /// Shows the components, and the head of the table.
    pub fn introduce(&mut self) {
        let (plan, given) = (self.session.plan.clone(), &self.options.config);
        let resumed = self.options.models.resume.is_some();
        let ridge = match plan.config.ridge() {
            0.0 => String::new(),
            ridge => format!(" + ({ridge}/2)‖x‖²"),
        };
        for (name, spec, is_given) in [
            ("set", plan.set.to_string(), given.set.is_some()),
            (
                "loss",
                format!("{}{ridge}", plan.loss),
                given.loss.is_some(),
            ),
            ("learner", plan.learner.to_string(), given.learner.is_some()),
        ] {
            let origin = match (resumed, is_given) {
                (true, _) => " (from the model)",
                (false, true) => "",
                (false, false) => " (chosen)",
            };
            self.say_entry(name, &format!("{spec}{origin}"));
        }
        if !plan.classes().is_empty() {
            let classes = plan.classes().len();
            let text = format!("{classes}, one model each; the loss shown is the error rate");
            self.say_entry("classes", &text);
        }
        if let Some(columns) = &plan.data.columns {
            self.say_entry("columns", &extremal_data::describe(columns));
        }
        let (title, _) = self.session.tally.column();
        let head = format!("{HEAD} {title:>7}");
        self.say(&format!("\n{}\n{HEAD_2}\n", head.trim_end()));
        if let Some(note) = plan.cost_note() {
            self.note(note);
        }
    }

    /// Reports the last round, unless there was a report at this round.
    pub fn report_last(&mut self) -> Result<()> {
        let round = self.session.rounds();
        let is_behind = |schedule: &Schedule| schedule.last < round;
        self.report(is_behind(&self.lines), is_behind(&self.rows))
    }

    /// Writes a line of progress, a row of the trace, or both.
    pub fn report(&mut self, line: bool, row: bool) -> Result<()> {
        if !line && !row {
            return Ok(());
        }
        self.session.check_feasible();
        let certified = self.session.certify()?;
        let (round, totals) = (self.session.rounds(), self.session.counters);
        if line {
            let since = self.lines.advance(round, &totals);
            if self.options.reports.shows(Progress::Json) {
                let object = self.object(&self.values(Some(&certified), since), REPORT_KEYS);
                self.host.say(&format!("{object}\n"));
            }
            self.say(&self.line(&certified, since));
        }
        if row {
            let since = self.rows.advance(round, &totals);
            let row = trace_row(&self.values(Some(&certified), since));
            self.write(TRACE, |out| out.line(row))?;
        }
        Ok(())
    }

    /// A line of the progress table.
    fn line(&self, certified: &Certified, since: f64) -> String {
        let (totals, last) = (self.session.counters, &self.last);
        let classes = self.session.plan.classes();
        let name = |v: f64, width| match classes.get(v as usize) {
            Some(class) if v >= 0.0 => format::cut(class, width),
            _ if v == v.trunc() && v.abs() < 1e7 => format!("{v:.0}"),
            _ => format::short(v, width),
        };
        let prediction = match classes {
            [] => format::short(last.prediction, 10),
            _ => name(last.prediction, 10),
        };
        let regret = certified.certificate.regret / self.session.rounds() as f64;
        let regret = match certified.is_vacuous() {
            true => "vacuous".into(),
            false => format::short(regret, 8),
        };
        let short = |n: u64, width| match n.to_string() {
            text if text.len() <= width => text,
            _ => format::short(n as f64, width),
        };
        let line = format!(
            "{:>8} {:>8} {:>8} {:>8} {prediction:>10} {:>8} {regret:>8} {:>7} {:>7}",
            format::short(totals.loss / totals.weight, 8),
            format::short(since, 8),
            short(self.session.rounds(), 8),
            name(last.label, 8),
            short(last.features as u64, 8),
            short(self.session.oracle_calls(), 7),
            self.session.tally.column().1,
        );
        format!("{}\n", line.trim_end())
    }

    /// The values of a report, by name. A number that is not finite is null. `since` is the average
    /// loss since the report before.
    fn values(&self, certified: Option<&Certified>, since: f64) -> Value {
        let (totals, round, last) = (self.session.counters, self.session.rounds(), &self.last);
        let regret = certified.map(|c| c.certificate.regret);
        json!({
            "round": round,
            "loss": totals.loss,
            "average_loss": totals.loss / totals.weight,
            "baseline_loss": self.session.baseline.loss / totals.weight,
            "since_last": since,
            "label": last.label,
            "prediction": last.prediction,
            "features": last.features,
            "sigma": last.sigma,
            "gap": last.gap,
            "regret_upper": regret,
            "average_regret_upper": regret.map(|regret| regret / round as f64),
            "level": certified.map(|c| c.certificate.level.to_string()),
            "vacuous": certified.map(Certified::is_vacuous),
            "halving_radius": certified.and_then(|c| c.halving),
            "bound": certified.and_then(|c| match c.bound {
                Some(Proven::Bound(bound)) => Some(bound),
                _ => None,
            }),
            "violation": totals.violation,
            "oracle_calls": self.session.oracle_calls(),
            "report_calls": self.session.report_calls(),
            "skipped": self.skipped,
            "notes": self.notes,
            "seconds": self.host.seconds() - self.started,
        })
    }

    /// Shows the summary after the last round. After an error it shows only the number of skipped
    /// lines.
    pub fn summarise(&mut self, is_complete: bool) -> Result<()> {
        let rounds = self.session.rounds();
        let played = rounds - self.rounds_before;
        if is_complete {
            let mut text = format::count(rounds);
            if self.rounds_before > 0 {
                text += &format!(", {} of them in this run", format::count(played));
            }
            self.say("\n");
            self.say_entry("rounds", &text);
        }
        if self.skipped > 0 {
            self.say_entry("skipped", &format::count(self.skipped));
        }
        if self.unlabelled > 0 {
            let text = format!(
                "{} (predicted, not learnt from)",
                format::count(self.unlabelled)
            );
            self.say_entry("without label", &text);
        }
        if !is_complete || !self.options.reports.shows(Progress::Table) {
            return Ok(());
        }
        if rounds > 0 {
            let (totals, certified) = (self.session.counters, self.session.certify()?);
            let average = format::fixed(totals.loss / totals.weight);
            let loss = self.session.objective.loss().clone();
            // Others leave out the factor ½.
            let average = match self.session.plan.loss {
                LossSpec::Squared(_) => format!("{average} (of ½(p−y)²)"),
                _ => average,
            };
            self.say_entry("average loss", &average);
            let entries: Vec<_> = self.session.tally.entries().collect();
            for (name, value) in entries {
                self.say_entry(name, &value);
            }
            let without = self.session.baseline.loss / totals.weight;
            let name = self.session.baseline.name(&*loss);
            let text = format!(
                "{} (average loss of predicting {name})",
                format::fixed(without)
            );
            self.say_entry("baseline", &text);
            if totals.loss / totals.weight >= without {
                self.note(format!(
                    "the model is of no use on this stream: its average loss is not below that of predicting {name}"
                ));
            }
            self.say_entry("regret", &certified.regret(rounds));
            if let Some(comparators) = certified.comparators() {
                self.say_entry("comparators", &comparators);
            }
            self.say_entry("bound", &certified.bound());
            if !self.session.plan.is_unit_free() {
                let violation = match totals.violation {
                    0.0 => "0".into(),
                    violation => format!("{violation:.1e}"),
                };
                let violation = format!("at most {violation} (checked at every report)");
                self.say_entry("violation", &violation);
            }
        }
        let (calls, report) = (self.session.oracle_calls(), self.session.report_calls());
        let (calls, report) = (format::count(calls), format::count(report));
        self.say_entry(
            "oracle calls",
            &format!("{calls} to play, {report} to report"),
        );
        self.say_entry("features", &format::count(self.session.features() as u64));
        let seconds = self.host.seconds() - self.started;
        if played > 0 && seconds > 0.0 {
            let speed = format::significant(played as f64 / seconds, 3);
            self.say_entry("speed", &format!("{speed} rounds/s"));
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
            let mut object = self.last_object(end);
            if let Some(score) = &score {
                object["test"] = score.json();
            }
            if let Some(found) = &self.found {
                object["hindsight"] = found.json();
            }
            self.host.say(&format!("{object}\n"));
        } else if let Some(score) = score {
            // Also shown with --quiet.
            let text = score.describe();
            self.host.say(&format!("test             {text}\n"));
        }
    }

    fn last_object(&mut self, end: &Result<End>) -> Value {
        let certified = match self.session.rounds() {
            0 => None,
            _ => self.session.certify().ok(),
        };
        let mut values = self.values(certified.as_ref(), f64::NAN);
        values["end"] = match end {
            Ok(End::Done) => "done",
            Ok(End::Interrupted | End::Unstarted) => "interrupted",
            Err(_) => "error",
        }
        .into();
        values["features"] = self.session.features().into();
        self.object(&values, END_KEYS)
    }

    /// An object with some of the values, and with error rate and AUC, or RMSE and R².
    fn object(&self, values: &Value, keys: &str) -> Value {
        let pairs = keys.split(',').map(|key| (key.into(), values[key].clone()));
        let mut object = Value::Object(pairs.collect());
        self.session.tally.add_to(&mut object);
        object
    }
}

/// A row of the trace. A value that is null is left empty.
fn trace_row(values: &Value) -> String {
    let cell = |key| match &values[key] {
        Value::Null => String::new(),
        Value::Number(number) if key == "seconds" => {
            format!("{:.6}", number.as_f64().unwrap_or(0.0))
        }
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap_or(0.0)),
        value => value.to_string(),
    };
    TRACE_KEYS
        .split(',')
        .map(cell)
        .collect::<Vec<_>>()
        .join(",")
}
