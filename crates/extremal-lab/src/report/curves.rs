//! The figures of a problem, from its rows.

use super::chart::{Figure, Kind, Point, Series};
use super::palette::Palette;
use crate::format::listed;
use crate::results::{SummaryRow, TraceRow, Verdict};
use crate::view::View;

/// A figure with the name of its tab.
pub(super) struct Tab {
    pub name: &'static str,
    pub figure: Figure,
}

/// All figures that have something to show. The first is the one that matters.
pub(super) fn tabs(view: &View<'_>, palette: &Palette) -> Vec<Tab> {
    let looks = Glances::new(view);
    let all = [
        ("horizons", horizons(view, palette)),
        ("one run", along(view, palette, &looks)),
        ("oracle calls", oracle(view, palette, &looks)),
        ("seconds", seconds(view, palette, &looks)),
        ("surrogate", surrogate(view, palette, &looks)),
        ("certificate", certificate(view, palette, &looks)),
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
    // A single horizon is a column of points: anything else says more.
    if view.config.horizons.len() == 1 && tabs.len() > 1 {
        tabs.retain(|tab| tab.name != "horizons");
    }
    tabs
}

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

/// A line of one learner.
fn series(
    (learner, name): (usize, &str),
    palette: &Palette,
    kind: Kind,
    points: Vec<Point>,
) -> Series {
    Series {
        learner,
        label: name.into(),
        look: palette.look(name),
        kind,
        points,
    }
}

fn point(x: f64, y: f64) -> Point {
    Point { x, y, band: None }
}

/// The regret of a row, from the least to the largest over the seeds.
fn regret(x: f64, row: &SummaryRow) -> Point {
    Point {
        x,
        y: row.regret,
        band: (row.seeds > 1).then_some((row.regret_least, row.regret_most)),
    }
}

/// Each horizon a run of its own: the mean over seeds, from the least to the largest.
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
        let telling = rows.iter().filter(|r| r.verdict.is_telling());
        let bound = telling.filter_map(|r| Some(point(r.horizon as f64, r.bound?)));
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
        (vacuous, "Bound vacuous even at the longest T: "),
        (unproven, "No theorem here: "),
        (negative, "A regret ≤ 0 can’t be shown and is left out: "),
    ];
    for (names, text) in notes {
        if !names.is_empty() {
            figure.notes.push(format!("{text}{}.", listed(&names)));
        }
    }
    figure
}

/// A round of the longest run, over the seeds.
struct Glance {
    round: u64,
    regret: Point,
    /// Where it says something.
    bound: Option<f64>,
    certificate: Option<f64>,
    /// Whether it says nothing.
    empty_certificate: bool,
    surrogate: Option<f64>,
    surrogate_bound: Option<f64>,
    calls: f64,
    seconds: Option<f64>,
}

impl Glance {
    /// The regret over the rounds at some price paid: whoever is slow has played fewer of them.
    fn per_round(&self, x: f64) -> Point {
        let rounds = self.round as f64;
        Point {
            x,
            y: self.regret.y / rounds,
            band: self.regret.band.map(|(a, b)| (a / rounds, b / rounds)),
        }
    }
}

/// A point of a line, from a glance.
type Pick<'a> = &'a dyn Fn(&Glance) -> Option<Point>;

/// The looks at the longest run of each learner.
struct Glances(Vec<Vec<Glance>>);

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
    (count > 0.0).then(|| sum / count)
}

impl Glances {
    fn new(view: &View<'_>) -> Self {
        Self(
            view.learners()
                .map(|(_, name)| Self::of(view, name))
                .collect(),
        )
    }

    fn of(view: &View<'_>, learner: &str) -> Vec<Glance> {
        let scale = view.scale(learner);
        let mine =
            |r: &&TraceRow| r.problem == view.name && r.learner == learner && r.scale == scale;
        let rows: Vec<&TraceRow> = view.results.trace.iter().filter(mine).collect();
        let Some(horizon) = rows.iter().map(|r| r.horizon).max() else {
            return Vec::new();
        };
        let timing: Vec<(u64, f64)> = view
            .results
            .timing
            .iter()
            .filter(|r| r.problem == view.name && r.learner == learner)
            .filter(|r| r.scale == scale && r.horizon == horizon)
            .map(|r| (r.round, r.seconds))
            .collect();
        let mut rounds: Vec<u64> = rows
            .iter()
            .filter(|r| r.horizon == horizon)
            .map(|r| r.round)
            .collect();
        rounds.sort_unstable();
        rounds.dedup();
        let look = |round: u64| {
            let at = || {
                rows.iter()
                    .filter(move |r| r.horizon == horizon && r.round == round)
            };
            let mean_of = |f: fn(&TraceRow) -> Option<f64>| mean(at().filter_map(|r| f(r)));
            let empty = |column: &str| at().any(|r| r.vacuous.split(' ').any(|v| v == column));
            let regrets = || at().map(|r| r.regret_lower);
            let band = (
                regrets().fold(f64::INFINITY, f64::min),
                regrets().fold(f64::NEG_INFINITY, f64::max),
            );
            Glance {
                round,
                regret: Point {
                    x: round as f64,
                    y: mean(regrets()).unwrap_or(f64::NAN),
                    band: (at().count() > 1).then_some(band),
                },
                bound: mean_of(|r| r.bound).filter(|_| !empty("bound")),
                certificate: mean_of(|r| r.certificate).filter(|_| !empty("certificate")),
                empty_certificate: empty("certificate"),
                surrogate: mean_of(|r| r.surrogate),
                surrogate_bound: mean_of(|r| r.surrogate_bound),
                calls: mean_of(|r| Some(r.oracle_calls as f64)).unwrap_or(0.0),
                seconds: mean(timing.iter().filter(|t| t.0 == round).map(|t| t.1)),
            }
        };
        rounds.into_iter().map(look).collect()
    }

    /// A line per learner and kind, of those points that there are.
    fn lines(&self, view: &View<'_>, palette: &Palette, kinds: &[(Kind, Pick<'_>)]) -> Vec<Series> {
        let mut all = Vec::new();
        for (who, looks) in view.learners().zip(&self.0) {
            for (kind, point) in kinds {
                let points: Vec<Point> = looks.iter().filter_map(point).collect();
                if !points.is_empty() {
                    all.push(series(who, palette, *kind, points));
                }
            }
        }
        all
    }
}

fn along(view: &View<'_>, palette: &Palette, looks: &Glances) -> Figure {
    let mut figure = figure(
        view,
        "run",
        "regret along the longest run",
        ("round t", "regret so far"),
    );
    figure.series = looks.lines(
        view,
        palette,
        &[
            (Kind::Theorem, &|l| Some(point(l.round as f64, l.bound?))),
            (Kind::Measured, &|l| Some(l.regret)),
        ],
    );
    // A theorem's curve from where a run of that length had a telling bound.
    let names: Vec<&str> = view.learners().map(|(_, name)| name).collect();
    for series in figure.series.iter_mut().filter(|s| s.kind == Kind::Theorem) {
        let name = names[series.learner];
        let rows = view.rows(name, view.scale(name));
        let telling = rows.iter().find(|r| r.verdict.is_telling());
        let from = telling.map_or(f64::INFINITY, |r| r.horizon as f64);
        series.points.retain(|p| p.x >= from);
    }
    figure.series.retain(|s| !s.points.is_empty());
    figure.notes.push(
        "One run per seed, the learner told its whole length where learners are told.".into(),
    );
    figure
}

fn oracle(view: &View<'_>, palette: &Palette, looks: &Glances) -> Figure {
    let mut figure = figure(
        view,
        "oracle",
        "regret per round against oracle calls",
        ("oracle calls", "regret per round"),
    );
    figure.series = looks.lines(
        view,
        palette,
        &[(Kind::Measured, &|l| Some(l.per_round(l.calls)))],
    );
    let silent = |s: &&Series| s.points.iter().all(|p| p.x == 0.0);
    let none: Vec<&str> = figure
        .series
        .iter()
        .filter(silent)
        .map(|s| s.label.as_str())
        .collect();
    if !none.is_empty() {
        let verb = if none.len() == 1 { "makes" } else { "make" };
        figure.notes.push(format!(
            "{} {verb} no oracle call: nothing to draw.",
            listed(&none)
        ));
    }
    figure
}

fn seconds(view: &View<'_>, palette: &Palette, looks: &Glances) -> Figure {
    let mut figure = figure(
        view,
        "seconds",
        "regret per round against seconds",
        ("seconds inside the learner", "regret per round"),
    );
    figure.series = looks.lines(
        view,
        palette,
        &[(Kind::Measured, &|l| Some(l.per_round(l.seconds?)))],
    );
    figure.notes.push("Measured in runs that had the machine to themselves; losses, gradients and regret are not counted.".into());
    figure
}

fn surrogate(view: &View<'_>, palette: &Palette, looks: &Glances) -> Figure {
    let mut figure = figure(
        view,
        "surrogate",
        "surrogate gap",
        ("round t", "surrogate gap h"),
    );
    figure.series = looks.lines(
        view,
        palette,
        &[
            (Kind::Theorem, &|l| {
                Some(point(l.round as f64, l.surrogate_bound?))
            }),
            (Kind::Measured, &|l| {
                Some(point(l.round as f64, l.surrogate?))
            }),
        ],
    );
    figure.notes.push("h is how far the decision is from the least value of the surrogate that the learner follows. Dashed: what the theorem’s lemma allows.".into());
    figure
}

fn certificate(view: &View<'_>, palette: &Palette, looks: &Glances) -> Figure {
    let mut figure = figure(
        view,
        "certificate",
        "what learners certify by themselves",
        ("round t", "regret so far"),
    );
    figure.series = looks.lines(
        view,
        palette,
        &[
            (Kind::Certificate, &|l| {
                Some(point(l.round as f64, l.certificate?))
            }),
            (Kind::Measured, &|l| l.certificate.map(|_| l.regret)),
        ],
    );
    figure.notes.push("Dotted: an upper bound on its regret that the learner knows while it runs, from the gradients alone. Solid: the regret, which needs all the data.".into());
    let empty = |looks: &Vec<Glance>| looks.iter().any(|l| l.empty_certificate);
    let names = view.learners().zip(&looks.0);
    let names: Vec<&str> = names.filter(|(_, l)| empty(l)).map(|(n, _)| n.1).collect();
    if !names.is_empty() {
        let names = listed(&names);
        figure
            .notes
            .push(format!("Left out where it is vacuous: that of {names}."));
    }
    figure
}

/// What is certified against weights of any norm, at the end of the longest run.
fn comparators(view: &View<'_>, palette: &Palette) -> Figure {
    let mut figure = figure(
        view,
        "comparators",
        "certified regret by the comparators’ norm",
        ("norm ρ of the weights", "certified regret over the loss"),
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
    figure.notes.push("Where a curve is below 1/2, no weights of that norm would have halved the loss. The longest run with the first seed; a certified regret ≤ 0 can’t be shown and is left out.".into());
    figure
}

/// The regret at the longest horizon for each factor of a grid.
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
        "1 is the step size of theory. Choosing the best factor takes knowing the outcome.".into(),
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
        let note = "ogd makes no oracle call: nothing to draw.";
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
