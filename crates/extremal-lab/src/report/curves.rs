//! Chooses what each figure of a problem shows.

use super::chart::{Figure, Kind, Point, Series};
use super::palette::Palette;
use crate::exponent::mean;
use crate::format::listed;
use crate::results::{SummaryRow, TraceRow, Verdict};
use crate::view::View;

/// A figure with the name of its tab.
pub(super) struct Tab {
    pub name: &'static str,
    pub figure: Figure,
}

/// All figures of a problem that are not empty, starting with the most important one.
pub(super) fn tabs(view: &View<'_>, palette: &Palette) -> Vec<Tab> {
    let runs = LongestRuns::new(view);
    let all = [
        ("horizons", horizons(view, palette)),
        ("one run", runs.along(view, palette)),
        ("oracle calls", runs.oracle(view, palette)),
        ("seconds", runs.seconds(view, palette)),
        ("surrogate", runs.surrogate(view, palette)),
        ("certificate", runs.certificate(view, palette)),
        ("comparators", comparators(view, palette)),
        ("step size", scales(view, palette)),
    ];
    let drawn = all.into_iter().filter(|(_, figure)| {
        let measured = figure.series.iter().filter(|s| s.kind == Kind::Measured);
        measured
            .flat_map(|s| &s.points)
            .any(|p| p.x > 0.0 && p.y > 0.0)
    });
    let mut tabs: Vec<Tab> = drawn.map(|(name, figure)| Tab { name, figure }).collect();
    // With a single horizon, all points have the same x, so that every other figure shows more.
    if view.config.horizons.len() == 1 && tabs.len() > 1 {
        tabs.retain(|tab| tab.name != "horizons");
    }
    tabs
}

/// A figure without lines. `axes` has the labels of x and y.
fn figure(view: &View<'_>, key: &str, what: &str, axes: (&'static str, &'static str)) -> Figure {
    Figure {
        key: format!("{}-{key}", view.name),
        title: format!("{}: {what}", view.config.title),
        x_label: axes.0,
        y_label: axes.1,
        ticks_at_points: false,
        y_tick: None,
        series: Vec::new(),
        notes: Vec::new(),
    }
}

/// The line of a learner. The learner is given by its index and its name.
fn series(
    (learner, name): (usize, &str),
    palette: &Palette,
    kind: Kind,
    points: Vec<Point>,
) -> Series {
    Series {
        learner,
        label: name.into(),
        style: palette.style(name),
        kind,
        points,
    }
}

fn point(x: f64, y: f64) -> Point {
    Point { x, y, band: None }
}

/// The mean regret of a row, with the band that covers all seeds.
fn regret(x: f64, row: &SummaryRow) -> Point {
    Point {
        x,
        y: row.regret,
        band: (row.seeds > 1).then_some((row.regret_least, row.regret_most)),
    }
}

/// The regret against the horizon. Each horizon is a separate run.
fn horizons(view: &View<'_>, palette: &Palette) -> Figure {
    let mut figure = figure(
        view,
        "horizons",
        "regret across horizons",
        ("rounds T", "regret"),
    );
    figure.ticks_at_points = true;
    let (mut vacuous, mut unproven, mut negative) = (Vec::new(), Vec::new(), Vec::new());
    for who in view.learners() {
        let name = who.1;
        let rows = view.rows(name, view.scale(name));
        let Some(last) = rows.last() else { continue };
        match last.verdict {
            Verdict::Vacuous => vacuous.push(name),
            Verdict::NoneProven => unproven.push(name),
            _ => {}
        }
        if rows.iter().any(|r| r.regret <= 0.0) {
            negative.push(name);
        }
        let shown = rows.iter().filter(|r| r.verdict.is_informative());
        let bound = shown.filter_map(|r| Some(point(r.horizon as f64, r.bound?)));
        let bound: Vec<Point> = bound.collect();
        if !bound.is_empty() {
            let line = series(who, palette, Kind::Theorem, bound);
            figure.series.push(line);
        }
        let points = rows.iter().map(|r| regret(r.horizon as f64, r)).collect();
        let line = series(who, palette, Kind::Measured, points);
        figure.series.push(line);
    }
    let notes = [
        (vacuous, "The bound is vacuous even at the longest T for: "),
        (unproven, "There is no theorem for: "),
        (
            negative,
            "A regret ≤ 0 can’t be shown, and is left out for: ",
        ),
    ];
    for (names, text) in notes {
        if !names.is_empty() {
            figure.notes.push(format!("{text}{}.", listed(&names)));
        }
    }
    figure
}

/// A checkpoint of a learner's longest runs, as means over the seeds.
struct Checkpoint {
    round: u64,
    regret: Point,
    /// The theorem's bound. `None` if the bound is vacuous.
    bound: Option<f64>,
    certificate: Option<f64>,
    certificate_is_vacuous: bool,
    surrogate: Option<f64>,
    surrogate_bound: Option<f64>,
    calls: f64,
    seconds: Option<f64>,
}

impl Checkpoint {
    /// The point that shows the regret per round at the cost x so far. The total regret would favour
    /// slow learners, which have played fewer rounds at the same cost.
    fn per_round(&self, x: f64) -> Point {
        let rounds = self.round as f64;
        Point {
            x,
            y: self.regret.y / rounds,
            band: self.regret.band.map(|(a, b)| (a / rounds, b / rounds)),
        }
    }

    /// The point that shows a value at the checkpoint's round.
    fn at(&self, value: Option<f64>) -> Option<Point> {
        Some(point(self.round as f64, value?))
    }
}

/// A function from a checkpoint to a point of a line.
type Pick<'a> = &'a dyn Fn(&Checkpoint) -> Option<Point>;

/// The checkpoints of each learner's longest runs.
struct LongestRuns(Vec<Vec<Checkpoint>>);

fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| mean(&values))
}

impl LongestRuns {
    fn new(view: &View<'_>) -> Self {
        let learners = view.learners();
        Self(learners.map(|(_, name)| Self::of(view, name)).collect())
    }

    fn of(view: &View<'_>, learner: &str) -> Vec<Checkpoint> {
        let scale = view.scale(learner);
        let mine =
            |r: &&TraceRow| r.problem == view.name && r.learner == learner && r.scale == scale;
        let mut rows: Vec<&TraceRow> = view.results.trace.iter().filter(mine).collect();
        let horizon = rows.iter().map(|r| r.horizon).max().unwrap_or(0);
        rows.retain(|r| r.horizon == horizon);
        rows.sort_by_key(|r| r.round);
        let timing = view.results.timing.iter().filter(|r| {
            (&*r.problem, &*r.learner, r.scale, r.horizon) == (view.name, learner, scale, horizon)
        });
        let checkpoint = |rows: &[&TraceRow]| {
            let round = rows[0].round;
            let mean_of_rows =
                |f: fn(&TraceRow) -> Option<f64>| mean_of(rows.iter().filter_map(|r| f(r)));
            let is_vacuous = |column: &str| {
                rows.iter()
                    .any(|r| r.vacuous.split(' ').any(|v| v == column))
            };
            let regrets = rows.iter().map(|r| r.regret_lower);
            let band = (
                regrets.clone().fold(f64::INFINITY, f64::min),
                regrets.clone().fold(f64::NEG_INFINITY, f64::max),
            );
            let seconds = timing.clone().filter(|r| r.round == round);
            Checkpoint {
                round,
                regret: Point {
                    x: round as f64,
                    y: mean_of(regrets).unwrap_or(f64::NAN),
                    band: (rows.len() > 1).then_some(band),
                },
                bound: mean_of_rows(|r| r.bound).filter(|_| !is_vacuous("bound")),
                certificate: mean_of_rows(|r| r.certificate).filter(|_| !is_vacuous("certificate")),
                certificate_is_vacuous: is_vacuous("certificate"),
                surrogate: mean_of_rows(|r| r.surrogate),
                surrogate_bound: mean_of_rows(|r| r.surrogate_bound),
                calls: mean_of_rows(|r| Some(r.oracle_calls as f64)).unwrap_or(0.0),
                seconds: mean_of(seconds.map(|r| r.seconds)),
            }
        };
        rows.chunk_by(|a, b| a.round == b.round)
            .map(checkpoint)
            .collect()
    }

    /// Adds a line per learner and kind to a figure. Lines without points are left out.
    fn draw(
        &self,
        view: &View<'_>,
        palette: &Palette,
        mut figure: Figure,
        kinds: &[(Kind, Pick<'_>)],
    ) -> Figure {
        for (who, checkpoints) in view.learners().zip(&self.0) {
            for (kind, point) in kinds {
                let points: Vec<Point> = checkpoints.iter().filter_map(point).collect();
                if !points.is_empty() {
                    figure.series.push(series(who, palette, *kind, points));
                }
            }
        }
        figure
    }

    fn along(&self, view: &View<'_>, palette: &Palette) -> Figure {
        let what = "regret along the longest run";
        let figure = figure(view, "run", what, ("round t", "regret so far"));
        let kinds: [(Kind, Pick<'_>); 2] = [
            (Kind::Theorem, &|c| c.at(c.bound)),
            (Kind::Measured, &|c| Some(c.regret)),
        ];
        let mut figure = self.draw(view, palette, figure, &kinds);
        // A theorem's curve starts at the first horizon for which the bound is informative.
        let names: Vec<&str> = view.learners().map(|(_, name)| name).collect();
        for series in figure.series.iter_mut().filter(|s| s.kind == Kind::Theorem) {
            let name = names[series.learner];
            let rows = view.rows(name, view.scale(name));
            let first = rows.iter().find(|r| r.verdict.is_informative());
            let from = first.map_or(f64::INFINITY, |r| r.horizon as f64);
            series.points.retain(|p| p.x >= from);
        }
        figure.series.retain(|s| !s.points.is_empty());
        let note = "There is one run per seed. A learner that knows T was given the length of the whole run.";
        figure.notes.push(note.into());
        figure
    }

    fn oracle(&self, view: &View<'_>, palette: &Palette) -> Figure {
        let what = "regret per round against oracle calls";
        let figure = figure(view, "oracle", what, ("oracle calls", "regret per round"));
        let kinds: [(Kind, Pick<'_>); 1] = [(Kind::Measured, &|c| Some(c.per_round(c.calls)))];
        let mut figure = self.draw(view, palette, figure, &kinds);
        let is_silent = |s: &&Series| s.points.iter().all(|p| p.x == 0.0);
        let silent = figure.series.iter().filter(is_silent);
        let names: Vec<&str> = silent.map(|s| s.label.as_str()).collect();
        if !names.is_empty() {
            let verb = if names.len() == 1 { "makes" } else { "make" };
            let note = format!(
                "{} {verb} no oracle calls, so that there is nothing to draw.",
                listed(&names)
            );
            figure.notes.push(note);
        }
        figure
    }

    fn seconds(&self, view: &View<'_>, palette: &Palette) -> Figure {
        let what = "regret per round against seconds";
        let axes = ("seconds inside the learner", "regret per round");
        let mut figure = figure(view, "seconds", what, axes);
        let note = "Times are measured in separate runs, which are made one after another. These times exclude the computation of losses, gradients and regret.";
        figure.notes.push(note.into());
        let kinds: [(Kind, Pick<'_>); 1] = [(Kind::Measured, &|c| Some(c.per_round(c.seconds?)))];
        self.draw(view, palette, figure, &kinds)
    }

    fn surrogate(&self, view: &View<'_>, palette: &Palette) -> Figure {
        let axes = ("round t", "surrogate gap h");
        let mut figure = figure(view, "surrogate", "surrogate gap", axes);
        let note = "The gap h is the value of the learner’s surrogate function at the decision, minus the function’s minimum over the set. The dashed line is the bound on h from the theorem’s proof.";
        figure.notes.push(note.into());
        let kinds: [(Kind, Pick<'_>); 2] = [
            (Kind::Theorem, &|c| c.at(c.surrogate_bound)),
            (Kind::Measured, &|c| c.at(c.surrogate)),
        ];
        self.draw(view, palette, figure, &kinds)
    }

    fn certificate(&self, view: &View<'_>, palette: &Palette) -> Figure {
        let what = "certificates that learners compute";
        let mut figure = figure(view, "certificate", what, ("round t", "regret so far"));
        let note = "The dotted line is an upper bound on the regret, which the learner computes from the gradients while it runs. The solid line is the regret itself, which can only be computed from all data.";
        figure.notes.push(note.into());
        let vacuous = |run: &Vec<Checkpoint>| run.iter().any(|c| c.certificate_is_vacuous);
        let names = view.learners().zip(&self.0);
        let names: Vec<&str> = names
            .filter(|(_, r)| vacuous(r))
            .map(|(n, _)| n.1)
            .collect();
        if !names.is_empty() {
            let note = format!("Vacuous certificates are left out for: {}.", listed(&names));
            figure.notes.push(note);
        }
        let kinds: [(Kind, Pick<'_>); 2] = [
            (Kind::Certificate, &|c| c.at(c.certificate)),
            (Kind::Measured, &|c| c.certificate.map(|_| c.regret)),
        ];
        self.draw(view, palette, figure, &kinds)
    }
}

/// The certified regret against comparators up to each norm, at the end of the longest run.
fn comparators(view: &View<'_>, palette: &Palette) -> Figure {
    let mut figure = figure(
        view,
        "comparators",
        "certified regret against comparators up to a norm",
        ("norm ρ of the weights", "certified regret / total loss"),
    );
    figure.y_tick = Some(0.5);
    for who in view.learners() {
        let scale = view.scale(who.1);
        let rows = view.results.comparators.iter();
        let mine =
            rows.filter(|r| (&*r.problem, &*r.learner, r.scale) == (view.name, who.1, scale));
        let points: Vec<Point> = mine.map(|r| point(r.radius, r.share_of_loss)).collect();
        if !points.is_empty() {
            let line = series(who, palette, Kind::Measured, points);
            figure.series.push(line);
        }
    }
    figure.notes.push("Where a curve is below 1/2, no weights of that norm would have halved the loss. The curves come from the longest run with the first seed. A certified regret ≤ 0 can’t be shown and is left out.".into());
    figure
}

/// The regret at the longest horizon against the factor on the step size.
fn scales(view: &View<'_>, palette: &Palette) -> Figure {
    let mut figure = figure(
        view,
        "scale",
        "regret against the step size",
        ("factor on the step size", "regret at the longest T"),
    );
    figure.ticks_at_points = true;
    for who in view.learners() {
        let rows = view.grid(who.1);
        if rows.len() > 1 {
            let points = rows.iter().map(|r| regret(r.scale, r)).collect();
            let line = series(who, palette, Kind::Measured, points);
            figure.series.push(line);
        }
    }
    figure.notes.push(
        "The factor 1 gives the theorem’s step size. The best factor is known only in hindsight."
            .into(),
    );
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Results, fixture};

    fn first_problem(results: &Results) -> Vec<Tab> {
        let palette = Palette::new(std::slice::from_ref(results));
        tabs(&View::all(results)[0], &palette)
    }

    #[test]
    fn every_kind_of_row_has_its_figure() {
        let tabs = first_problem(&fixture());
        let names = tabs.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
        assert_eq!(
            names,
            "horizons, one run, oracle calls, seconds, surrogate, certificate, comparators, step size"
        );
        assert!(tabs.iter().all(|tab| tab.figure.render().is_some()));
        let note = "ogd makes no oracle calls, so that there is nothing to draw.";
        assert_eq!(tabs[2].figure.notes, [note]);
    }

    #[test]
    fn a_vacuous_bound_is_not_drawn() {
        let mut results = fixture();
        for row in &mut results.summary {
            row.verdict = Verdict::Vacuous;
        }
        let tabs = first_problem(&results);
        for tab in &tabs[..2] {
            let measured = |s: &Series| s.kind == Kind::Measured;
            assert!(tab.figure.series.iter().all(measured), "{}", tab.name);
        }
        assert!(tabs[0].figure.notes[0].contains("vacuous"));
    }

    #[test]
    fn a_point_is_the_mean_over_seeds_with_the_band_of_all() {
        let mut results = fixture();
        let last = results.trace.iter().map(|r| r.round).max().unwrap();
        let mut regret = 0.0;
        for row in results.trace.iter_mut() {
            if (&*row.problem, &*row.learner, row.round) == ("drift", "ofw", last) {
                regret += 10.0;
                row.regret_lower = regret;
            }
        }
        let tabs = first_problem(&results);
        let mut series = tabs[1].figure.series.iter();
        let mine = series.find(|s| s.learner == 0 && s.kind == Kind::Measured);
        let end = mine.unwrap().points.last().unwrap();
        assert_eq!((end.y, end.band), (15.0, Some((10.0, 20.0))));
    }
}
