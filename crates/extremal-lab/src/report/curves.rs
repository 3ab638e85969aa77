//! The figures of a problem, from its rows.

use super::chart::{Figure, Kind, Point, Series};
use super::palette::Palette;
use super::view::View;
use crate::results::{TraceRow, Verdict};

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

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
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
    for (learner, name) in view.learners() {
        let rows = view.rows(name, view.scale(name));
        let Some(last) = rows.last() else { continue };
        let line = |kind, points: Vec<Point>| Series {
            learner,
            label: name.into(),
            look: palette.look(name),
            kind,
            points,
        };
        let telling = rows.iter().filter(|r| r.verdict.is_telling());
        let bound: Vec<Point> = telling
            .filter_map(|r| {
                Some(Point {
                    x: r.horizon as f64,
                    y: r.bound?,
                    band: None,
                })
            })
            .collect();
        match last.verdict {
            Verdict::Vacuous => vacuous.push(name),
            Verdict::NoneProven => unproven.push(name),
            _ => {}
        }
        if rows.iter().any(|r| r.regret <= 0.0) {
            negative.push(name);
        }
        let points = rows.iter().map(|r| Point {
            x: r.horizon as f64,
            y: r.regret,
            band: (r.seeds > 1).then_some((r.regret_least, r.regret_most)),
        });
        let points = points.collect();
        if !bound.is_empty() {
            figure.series.push(line(Kind::Theorem, bound));
        }
        figure.series.push(line(Kind::Measured, points));
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
        for ((learner, name), looks) in view.learners().zip(&self.0) {
            for (kind, point) in kinds {
                let points: Vec<Point> = looks.iter().filter_map(point).collect();
                if !points.is_empty() {
                    all.push(Series {
                        learner,
                        label: name.into(),
                        look: palette.look(name),
                        kind: *kind,
                        points,
                    });
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
            (Kind::Theorem, &|l| {
                Some(Point {
                    x: l.round as f64,
                    y: l.bound?,
                    band: None,
                })
            }),
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
                Some(Point {
                    x: l.round as f64,
                    y: l.surrogate_bound?,
                    band: None,
                })
            }),
            (Kind::Measured, &|l| {
                Some(Point {
                    x: l.round as f64,
                    y: l.surrogate?,
                    band: None,
                })
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
                Some(Point {
                    x: l.round as f64,
                    y: l.certificate?,
                    band: None,
                })
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
    for (learner, name) in view.learners() {
        let scale = view.scale(name);
        let rows = view.results.comparators.iter();
        let mine = rows.filter(|r| (&*r.problem, &*r.learner, r.scale) == (view.name, name, scale));
        let points: Vec<Point> = mine
            .map(|r| Point {
                x: r.radius,
                y: r.share_of_loss,
                band: None,
            })
            .collect();
        if !points.is_empty() {
            figure.series.push(Series {
                learner,
                label: name.into(),
                look: palette.look(name),
                kind: Kind::Measured,
                points,
            });
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
    for (learner, name) in view.learners() {
        let rows = view.grid(name);
        if rows.len() < 2 {
            continue;
        }
        let points = rows.iter().map(|r| Point {
            x: r.scale,
            y: r.regret,
            band: (r.seeds > 1).then_some((r.regret_least, r.regret_most)),
        });
        figure.series.push(Series {
            learner,
            label: name.into(),
            look: palette.look(name),
            kind: Kind::Measured,
            points: points.collect(),
        });
    }
    figure.notes.push(
        "1 is the step size of theory. Choosing the best factor takes knowing the outcome.".into(),
    );
    figure
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn tab<'a>(tabs: &'a [Tab], name: &str) -> &'a Figure {
        &tabs.iter().find(|t| t.name == name).unwrap().figure
    }

    #[test]
    fn every_kind_of_row_has_its_figure() {
        let results = sample::results();
        let views = View::all(&results);
        let tabs = tabs(&views[0], &Palette::new(std::slice::from_ref(&results)));
        let names: Vec<_> = tabs.iter().map(|t| t.name).collect();
        assert_eq!(
            names,
            [
                "horizons",
                "one run",
                "oracle calls",
                "seconds",
                "surrogate",
                "certificate",
                "comparators",
                "step size"
            ]
        );
        for tab in &tabs {
            assert!(tab.figure.render().is_some(), "{}", tab.name);
        }
    }

    #[test]
    fn a_theorem_is_drawn_only_where_it_tells_something() {
        let mut results = sample::results();
        for row in &mut results.summary {
            row.verdict = Verdict::Vacuous;
        }
        let view = View::all(&results)[0];
        let tabs = tabs(&view, &Palette::new(std::slice::from_ref(&results)));
        for name in ["horizons", "one run"] {
            let figure = tab(&tabs, name);
            assert!(
                figure.series.iter().all(|s| s.kind == Kind::Measured),
                "{name}"
            );
        }
        assert!(tab(&tabs, "horizons").notes[0].contains("vacuous"));
    }

    #[test]
    fn a_point_is_the_mean_over_seeds_with_the_band_of_all() {
        let mut results = sample::results();
        let last = results.trace.iter().map(|r| r.round).max().unwrap();
        let mut regret = 0.0;
        let at_end = |r: &&mut TraceRow| {
            r.problem == "drift" && r.learner == "ofw" && r.round == last && r.scale == 1.0
        };
        for row in results.trace.iter_mut().filter(at_end) {
            regret += 10.0;
            row.regret_lower = regret;
        }
        let view = View::all(&results)[0];
        let tabs = tabs(&view, &Palette::new(std::slice::from_ref(&results)));
        let series = &tab(&tabs, "one run").series;
        let mine = series
            .iter()
            .find(|s| s.learner == 0 && s.kind == Kind::Measured)
            .unwrap();
        let end = mine.points.last().unwrap();
        assert_eq!((end.y, end.band), (20.0, Some((10.0, 30.0))));
    }

    #[test]
    fn who_calls_no_oracle_is_named() {
        let mut results = sample::results();
        for row in results.trace.iter_mut().filter(|r| r.learner == "ogd") {
            row.oracle_calls = 0;
        }
        let view = View::all(&results)[0];
        let tabs = tabs(&view, &Palette::new(std::slice::from_ref(&results)));
        let notes = &tab(&tabs, "oracle calls").notes;
        assert_eq!(notes[0], "ogd makes no oracle call: nothing to draw.");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
