//! Pictures of a learner in the plane: the set, the decisions so far, the points that the oracle returned,
//! the gradient, and the best fixed decision. This module computes all coordinates for every round. The
//! template draws the last round, and the page's script draws the others from the same coordinates.

use askama::Template;
use serde::Serialize;

use super::chart::{FONTS, PAPER};
use super::palette::Palette;
use crate::format;
use crate::results::{Picture, Results, Step};

/// The size of the picture's upper part, which shows the plane. The strip below it shows the regret.
const WIDTH: f64 = 420.0;
const PLANE: f64 = 396.0;
const MARGIN: f64 = 36.0;
/// The upper and the lower end of the strip that shows the regret.
const STRIP: (f64, f64) = (404.0, 450.0);
/// The length of the arrow of the longest gradient, in pixels.
const ARROW: f64 = 74.0;

/// A picture as the template and the script need it. Coordinates are in pixels.
#[derive(Debug, Serialize, Template)]
#[template(path = "picture.svg", escape = "html")]
pub(super) struct Scene {
    /// Pictures with the same id share their scales.
    pub id: String,
    /// The problem's title.
    pub problem: String,
    pub learner: String,
    /// The set that is shown.
    pub set: String,
    title: String,
    /// The CSS class of the learner's colour, and the colour for a light background.
    colour: String,
    light: &'static str,
    /// The points of the set's boundary.
    outline: String,
    /// The coordinates of the best fixed decision.
    best: String,
    /// The line at regret 0.
    zero: String,
    pub rounds: Vec<Round>,
}

/// One round of a picture.
#[derive(Debug, Serialize)]
pub(super) struct Round {
    /// The decision.
    pub x: [f64; 2],
    /// The points that the oracle returned.
    pub v: Vec<[f64; 2]>,
    /// The path of the gradient's arrow.
    pub g: String,
    /// The coordinates of the regret in the strip.
    pub regret: [f64; 2],
    /// The round in words.
    pub text: String,
}

impl Scene {
    /// The last round.
    pub fn now(&self) -> &Round {
        self.rounds.last().expect("a scene has rounds")
    }

    fn before(&self) -> &[Round] {
        &self.rounds[..self.rounds.len() - 1]
    }

    fn path(&self) -> String {
        points(self.rounds.iter().map(|r| r.x))
    }

    fn past(&self) -> String {
        dots(self.before().iter().map(|r| &r.x))
    }

    fn earlier_answers(&self) -> String {
        dots(self.before().iter().flat_map(|r| &r.v))
    }

    fn answers(&self) -> String {
        dots(self.now().v.iter())
    }

    /// Lines from the decision to the points that the oracle returned.
    fn reach(&self) -> String {
        let Round { x, v, .. } = self.now();
        v.iter()
            .map(|v| format!("M{}L{}", two(*x), two(*v)))
            .collect()
    }

    fn regret(&self) -> String {
        points(self.rounds.iter().map(|r| r.regret))
    }
}

/// All pictures of an experiment that have rounds. Pictures of the same problem share their scales.
pub(super) fn all(results: &Results, palette: &Palette) -> Vec<Scene> {
    let shown = results.pictures.iter().filter(|p| !p.steps.is_empty());
    let drawn = shown.map(|picture| {
        let same = |p: &&Picture| p.problem == picture.problem;
        let family = || results.pictures.iter().filter(same);
        let steps = || family().flat_map(|p| &p.steps);
        let regrets = || steps().map(|s| s.regret).filter(|r| r.is_finite());
        let painter = Painter {
            view: view(picture),
            longest: steps().map(|s| norm(s.gradient)).fold(0.0, f64::max),
            range: [regrets().fold(0.0, f64::min), regrets().fold(0.0, f64::max)],
            rounds: picture.steps.len(),
        };
        let known = results.experiment.problems.get(&picture.problem);
        let style = palette.style(&picture.learner);
        let outline = picture.outline.iter().map(|p| painter.at(*p));
        let rounds = picture.steps.iter().enumerate();
        Scene {
            id: picture.problem.clone(),
            problem: known.map_or(picture.problem.clone(), |p| p.title.clone()),
            learner: picture.learner.clone(),
            set: picture.set.clone(),
            title: format!("{} on {}, in the plane", picture.learner, picture.set),
            colour: style.class(),
            light: style.light(),
            outline: points(outline),
            best: two(painter.at(picture.best)),
            zero: format!("M20 {}H{}", painter.strip(0, 0.0)[1], WIDTH - 20.0),
            rounds: rounds.map(|(t, step)| painter.round(t, step)).collect(),
        }
    });
    drawn.collect()
}

fn norm(v: [f64; 2]) -> f64 {
    v[0].hypot(v[1])
}

/// The centre of a picture, and the number of pixels per unit.
fn view(picture: &Picture) -> [f64; 3] {
    let range = |i: usize| {
        let outline = picture.outline.iter().map(|p| p[i]);
        let places = outline.chain(picture.steps.iter().map(|s| s.x[i]));
        places.fold((picture.best[i], picture.best[i]), |(a, b), v| {
            (a.min(v), b.max(v))
        })
    };
    let (x, y) = (range(0), range(1));
    let wide = (x.1 - x.0) / (WIDTH - 2.0 * MARGIN);
    let high = (y.1 - y.0) / (PLANE - 2.0 * MARGIN);
    let unit = wide.max(high);
    let scale = if unit > 0.0 { 1.0 / unit } else { 1.0 };
    [0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1), scale]
}

/// Rounds to a tenth of a pixel.
fn pixel(v: f64) -> f64 {
    (10.0 * v).round() / 10.0
}

fn two([x, y]: [f64; 2]) -> String {
    format!("{} {}", pixel(x), pixel(y))
}

fn points(of: impl Iterator<Item = [f64; 2]>) -> String {
    of.map(two).collect::<Vec<_>>().join(" ")
}

/// A path with a dot at each point. With round line caps, the dots are discs. With square line caps,
/// they are diamonds.
fn dots<'a>(of: impl Iterator<Item = &'a [f64; 2]>) -> String {
    of.map(|p| format!("M{}l.1.1", two(*p))).collect()
}

/// A point as text, such as `(0.310, −0.520)`.
fn pair(v: [f64; 2]) -> String {
    // Avoids −0.000.
    let v = v.map(|x| if x.abs() < 5e-4 { 0.0 } else { x });
    format!("({:.3}, {:.3})", v[0], v[1]).replace('-', "−")
}

/// Converts the numbers of a picture to pixels.
struct Painter {
    /// The centre, and the number of pixels per unit.
    view: [f64; 3],
    /// The largest gradient norm.
    longest: f64,
    /// The smallest and the largest regret.
    range: [f64; 2],
    rounds: usize,
}

impl Painter {
    fn at(&self, p: [f64; 2]) -> [f64; 2] {
        let [cx, cy, k] = self.view;
        [0.5 * WIDTH + k * (p[0] - cx), 0.5 * PLANE - k * (p[1] - cy)].map(pixel)
    }

    fn strip(&self, t: usize, regret: f64) -> [f64; 2] {
        let steps = self.rounds.saturating_sub(1).max(1);
        let [low, high] = self.range;
        let part = if high > low {
            (regret - low) / (high - low)
        } else {
            0.0
        };
        [
            20.0 + (WIDTH - 40.0) * t as f64 / steps as f64,
            STRIP.1 - part * (STRIP.1 - STRIP.0),
        ]
        .map(pixel)
    }

    fn round(&self, t: usize, step: &Step) -> Round {
        let x = self.at(step.x);
        let answer = match step.atoms.as_slice() {
            [] => "There is no oracle call to show in this round.".into(),
            [v] => format!("The oracle returns v = {}.", pair(*v)),
            [v, ..] => format!(
                "The oracle is called {} times and first returns v = {}.",
                step.atoms.len(),
                pair(*v)
            ),
        };
        Round {
            x,
            v: step.atoms.iter().map(|a| self.at(*a)).collect(),
            g: self.arrow(x, step.gradient),
            regret: self.strip(t, step.regret),
            text: format!(
                "Round {} of {}. The learner plays x = {}. {answer} Regret: {}.",
                t + 1,
                self.rounds,
                pair(step.x),
                format::significant(step.regret, 4)
            ),
        }
    }

    /// The path of an arrow along the gradient. Empty if the arrow would be too short to see.
    fn arrow(&self, from: [f64; 2], gradient: [f64; 2]) -> String {
        let size = norm(gradient);
        let length = ARROW * size / self.longest;
        // The length is NaN if all gradients are 0.
        if !(length >= 2.0) {
            return String::new();
        }
        let along = |by: f64, aside: f64| {
            let [ux, uy] = [gradient[0] / size, -gradient[1] / size];
            two([
                from[0] + by * ux - aside * uy,
                from[1] + by * uy + aside * ux,
            ])
        };
        let head = length.min(8.0);
        let (neck, wing) = (length - head, 0.45 * head);
        format!(
            "M{}L{neck}L{}L{}L{}L{neck}z",
            two(from),
            along(neck, wing),
            along(length, 0.0),
            along(neck, -wing),
            neck = along(neck, 0.0),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::fixture;

    fn scenes(results: &Results) -> Vec<Scene> {
        all(results, &Palette::new(std::slice::from_ref(results)))
    }

    #[test]
    fn a_picture_has_every_decision_and_answer() {
        let scenes = scenes(&fixture());
        assert_eq!(scenes.len(), 8);
        let svg = scenes[0].to_string();
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(scenes[0].past().matches('M').count(), 4);
        assert_eq!(scenes[0].earlier_answers().matches('M').count(), 4);
        let text = &scenes[0].now().text;
        assert!(
            text.starts_with("Round 5 of 5. The learner plays x = ("),
            "{text}"
        );
        assert!(scenes[3].now().text.contains("no oracle call"));
    }

    #[test]
    fn the_set_keeps_its_shape_and_fills_the_plane() {
        let results = fixture();
        let disc = Painter {
            view: view(&results.pictures[0]),
            longest: 1.0,
            range: [0.0, 1.0],
            rounds: 2,
        };
        let [left, right] = [disc.at([-1.0, 0.0]), disc.at([1.0, 0.0])];
        let [top, foot] = [disc.at([0.0, 1.0]), disc.at([0.0, -1.0])];
        assert!((right[0] - left[0] - (foot[1] - top[1])).abs() < 0.3);
        assert!((top[1] - MARGIN).abs() < 1.0 && top[1] < foot[1]);
        assert_eq!(disc.arrow([9.0, 9.0], [0.0, 0.0]), "");
    }

    #[test]
    fn a_set_of_one_point_with_zero_gradients_is_drawn() {
        let mut results = fixture();
        results.pictures.truncate(2);
        results.pictures[1].steps.clear();
        let point = &mut results.pictures[0];
        point.outline.truncate(1);
        point.best = point.outline[0];
        point.steps.truncate(1);
        point.steps[0] = Step {
            x: point.best,
            gradient: [0.0; 2],
            atoms: Vec::new(),
            regret: 0.0,
        };
        let scenes = scenes(&results);
        assert_eq!(scenes.len(), 1, "no rounds, no picture");
        let svg = scenes[0].to_string();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
