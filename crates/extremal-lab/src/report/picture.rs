//! A learner in the plane: the set, the decisions so far, what the oracle returned, the gradient,
//! and the best fixed decision. Drawn here at the last round; the page's script moves the parts,
//! which it finds by their classes, to any other.

use std::fmt::Write;

use serde_json::{Value, json};

use super::chart::{FONTS, PAPER};
use super::html::escape;
use super::palette::{Look, Palette};
use crate::format;
use crate::results::{Picture, Results, Step};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 470.0;
/// The plane's part of the picture; the strip of the regret is below.
const PLANE: f64 = 396.0;
const MARGIN: f64 = 36.0;
const STRIP: (f64, f64) = (404.0, 450.0);
/// The longest gradient's arrow.
const ARROW: f64 = 74.0;

/// Colours of the parts, on white; the style sheet has them on black.
const SET: &str = "#eef2f6";
const EDGE: &str = "#8f9ba8";
const ATOM: &str = "#1b1f24";
const GRADIENT: &str = "#c0361b";
const BEST: &str = "#a87900";
const SOFT: &str = "#59636e";

/// A picture with the scales it shares with the others of its problem.
pub(super) struct Drawn<'a> {
    picture: &'a Picture,
    look: Look,
    /// Centre and pixels per unit.
    view: [f64; 3],
    /// The longest gradient.
    longest: f64,
    /// The least and the largest regret.
    range: [f64; 2],
}

/// The pictures of an experiment, those of one problem drawn to one scale.
pub(super) fn all<'a>(results: &'a Results, palette: &Palette) -> Vec<Drawn<'a>> {
    let shown = results.pictures.iter().filter(|p| !p.steps.is_empty());
    let drawn = shown.map(|picture| {
        let family = || {
            results
                .pictures
                .iter()
                .filter(|p| p.problem == picture.problem)
        };
        let steps = || family().flat_map(|p| &p.steps);
        let longest = steps().map(|s| norm(s.gradient)).fold(0.0, f64::max);
        let regrets = || steps().map(|s| s.regret).filter(|r| r.is_finite());
        Drawn {
            picture,
            look: palette.look(&picture.learner),
            view: view(picture),
            longest,
            range: [regrets().fold(0.0, f64::min), regrets().fold(0.0, f64::max)],
        }
    });
    drawn.collect()
}

fn norm(v: [f64; 2]) -> f64 {
    v[0].hypot(v[1])
}

fn view(picture: &Picture) -> [f64; 3] {
    let places = || {
        let decisions = picture.steps.iter().map(|s| s.x);
        picture
            .outline
            .iter()
            .copied()
            .chain(decisions)
            .chain([picture.best])
    };
    let range = |i: usize| {
        places().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| {
            (a.min(p[i]), b.max(p[i]))
        })
    };
    let (x, y) = (range(0), range(1));
    let wide = (x.1 - x.0) / (WIDTH - 2.0 * MARGIN);
    let high = (y.1 - y.0) / (PLANE - 2.0 * MARGIN);
    let unit = wide.max(high);
    let scale = if unit > 0.0 { 1.0 / unit } else { 1.0 };
    [0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1), scale]
}

/// (0.31, −0.52)
fn pair(v: [f64; 2]) -> String {
    let number = |x: f64| {
        // −0.000 would puzzle
        let x = if x.abs() < 5e-4 { 0.0 } else { x };
        format!("{x:.3}").replace('-', "−")
    };
    format!("({}, {})", number(v[0]), number(v[1]))
}

fn rounded(v: f64) -> Value {
    format!("{v:.4e}")
        .parse::<f64>()
        .map_or(Value::Null, |v| json!(v))
}

impl Drawn<'_> {
    fn at(&self, p: [f64; 2]) -> [f64; 2] {
        let [cx, cy, k] = self.view;
        [0.5 * WIDTH + k * (p[0] - cx), 0.5 * PLANE - k * (p[1] - cy)]
    }

    fn points(&self, of: impl Iterator<Item = [f64; 2]>) -> String {
        let texts: Vec<String> = of
            .map(|p| self.at(p))
            .map(|[x, y]| format!("{x:.1},{y:.1}"))
            .collect();
        texts.join(" ")
    }

    /// What happens in the last round, in a line.
    pub fn said(&self) -> String {
        let rounds = self.picture.steps.len();
        let Some(step) = self.picture.steps.last() else {
            return String::new();
        };
        let answer = match step.atoms.as_slice() {
            [] => "No answer of the oracle to show in this round.".into(),
            [v] => format!("The oracle answers v = {}.", pair(*v)),
            [v, ..] => format!(
                "The oracle answers {} times, first v = {}.",
                step.atoms.len(),
                pair(*v)
            ),
        };
        format!(
            "Round {rounds} of {rounds}. Plays x = {}. {answer} Regret: {}.",
            pair(step.x),
            format::significant(step.regret, 4)
        )
    }

    /// The `<svg>` element, at the last round.
    pub fn render(&self) -> String {
        let title = format!(
            "{} on {}, in the plane",
            self.picture.learner, self.picture.set
        );
        let mut out = format!(
            r#"<svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="{FONTS}" font-size="13" role="img" aria-label="{title}"><title>{title}</title><rect class="paper" width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>"#,
            title = escape(&title)
        );
        let _ = write!(
            out,
            r#"<polygon class="p-set" points="{}" fill="{SET}" stroke="{EDGE}" stroke-width="1.4" stroke-linejoin="round"/>"#,
            self.points(self.picture.outline.iter().copied())
        );
        self.draw_best(&mut out);
        if let Some((now, past)) = self.picture.steps.split_last() {
            self.draw_step(now, past, &mut out);
        }
        self.draw_strip(&mut out);
        out.push_str("</svg>");
        out
    }

    fn draw_step(&self, now: &Step, past: &[Step], out: &mut String) {
        let _ = write!(
            out,
            r#"<g class="p-atoms" color="{ATOM}" fill="none" stroke="currentColor" stroke-opacity="0.35">"#
        );
        for atom in past.iter().flat_map(|s| &s.atoms) {
            out.push_str(&diamond(self.at(*atom), 3.6));
        }
        let (class, light) = (self.look.class(), self.look.light());
        let path = past.iter().chain([now]).map(|s| s.x);
        let _ = write!(
            out,
            r#"</g><g class="{class}" color="{light}"><polyline class="p-path" points="{}" fill="none" stroke="currentColor" stroke-width="1.4" stroke-opacity="0.55" stroke-linejoin="round"/><g class="p-past" fill="currentColor" fill-opacity="0.55">"#,
            self.points(path)
        );
        for step in past {
            let [x, y] = self.at(step.x);
            let _ = write!(out, r#"<circle cx="{x:.1}" cy="{y:.1}" r="2.2"/>"#);
        }
        out.push_str("</g></g>");
        let [x, y] = self.at(now.x);
        let reach: String = now
            .atoms
            .iter()
            .map(|a| self.at(*a))
            .map(|[vx, vy]| format!("M{x:.1} {y:.1}L{vx:.1} {vy:.1}"))
            .collect();
        let _ = write!(
            out,
            r#"<g class="p-answer" color="{ATOM}"><path class="p-reach" d="{reach}" fill="none" stroke="currentColor" stroke-dasharray="3 4" stroke-opacity="0.7"/><g class="p-now-atoms" fill="currentColor">"#
        );
        for atom in &now.atoms {
            out.push_str(&diamond(self.at(*atom), 5.2));
        }
        out.push_str("</g></g>");
        let size = norm(now.gradient);
        let length = if self.longest > 0.0 {
            ARROW * size / self.longest
        } else {
            0.0
        };
        let tip = if size > 0.0 {
            [
                x + length * now.gradient[0] / size,
                y - length * now.gradient[1] / size,
            ]
        } else {
            [x, y]
        };
        let _ = write!(
            out,
            r#"<g class="p-gradient" color="{GRADIENT}"><path class="p-arrow" d="{}" fill="currentColor" stroke="currentColor" stroke-width="1.8" stroke-linejoin="round"/></g><g class="{class}" color="{light}"><circle class="p-next" r="4.4" fill="none" stroke="currentColor" stroke-width="1.6" visibility="hidden"/><circle class="p-x halo" cx="{x:.1}" cy="{y:.1}" r="6" fill="currentColor" stroke="{PAPER}" stroke-width="1.5"/></g>"#,
            arrow([x, y], tip)
        );
        let before = past.last().map(|s| self.at(s.x));
        self.draw_labels(now, before, tip, out);
    }

    /// Names beside the parts.
    fn draw_labels(&self, now: &Step, before: Option<[f64; 2]>, tip: [f64; 2], out: &mut String) {
        let x = self.at(now.x);
        let best = self.at(self.picture.best);
        let atoms = now.atoms.iter().map(|a| self.at(*a));
        let mut taken = vec![x, tip, best, [0.5 * (x[0] + tip[0]), 0.5 * (x[1] + tip[1])]];
        taken.extend(atoms.clone());
        // and the lines that leave x
        taken.extend(atoms.clone().chain(before).map(|to| {
            let [dx, dy] = [to[0] - x[0], to[1] - x[1]];
            let part = 17.0 / norm([dx, dy]).max(17.0);
            [x[0] + part * dx, x[1] + part * dy]
        }));
        let middle = [0.5 * WIDTH, 0.5 * PLANE];
        let mut label = |class: &str,
                         colour: &str,
                         part: Option<([f64; 2], [f64; 2], f64)>,
                         text: &str| {
            let [px, py] = part.map_or([0.0; 2], |(at, from, by)| beside(at, from, by, &taken));
            taken.push([px, py]);
            let hidden = if part.is_none() {
                r#" visibility="hidden""#
            } else {
                ""
            };
            let _ = write!(
                out,
                r#"<text class="{class} halo" color="{colour}" x="{px:.1}" y="{:.1}" text-anchor="middle" fill="currentColor" stroke="{PAPER}" stroke-width="3" paint-order="stroke" stroke-linejoin="round" font-style="italic"{hidden}>{text}</text>"#,
                py + 4.5
            );
        };
        let arrow = norm(now.gradient) > 0.0;
        let atom = atoms.clone().next();
        label(
            "p-gradient l-g",
            GRADIENT,
            arrow.then_some((tip, x, 12.0)),
            "g",
        );
        let class = format!("{} l-x", self.look.class());
        label(&class, self.look.light(), Some((x, tip, 17.0)), "x");
        label("p-answer l-v", ATOM, atom.map(|a| (a, middle, 16.0)), "v");
        label("p-best l-b", BEST, Some((best, middle, 24.0)), "best");
    }

    fn draw_best(&self, out: &mut String) {
        let [x, y] = self.at(self.picture.best);
        let _ = write!(
            out,
            r#"<path class="p-best p-star halo" color="{BEST}" transform="translate({x:.1} {y:.1})" d="{STAR}" fill="currentColor" stroke="{PAPER}" stroke-width="1.2"/>"#
        );
    }

    /// The regret over the rounds, with a dot at the one that is shown.
    fn draw_strip(&self, out: &mut String) {
        let points: Vec<String> = self
            .picture
            .steps
            .iter()
            .enumerate()
            .map(|(t, s)| self.strip(t, s.regret))
            .map(|[x, y]| format!("{x:.1},{y:.1}"))
            .collect();
        let last = self.picture.steps.len() - 1;
        let [x, y] = self.strip(last, self.picture.steps[last].regret);
        let [_, zero] = self.strip(0, 0.0);
        let (right, foot) = (WIDTH - 20.0, HEIGHT - 5.0);
        let _ = write!(
            out,
            r#"<g class="soft" color="{SOFT}" fill="currentColor"><path d="M20 {zero:.1}H{right}" stroke="currentColor" stroke-opacity="0.4" fill="none"/><text x="20" y="{foot}" font-size="12">regret</text><text class="p-rounds" x="{right}" y="{foot}" font-size="12" text-anchor="end">{} rounds</text></g><g class="{}" color="{}"><polyline class="p-later" points="{}" fill="none" stroke="currentColor" stroke-width="1.4" stroke-opacity="0.3"/><polyline class="p-regret" points="{}" fill="none" stroke="currentColor" stroke-width="2"/><circle class="p-dot halo" cx="{x:.1}" cy="{y:.1}" r="4" fill="currentColor" stroke="{PAPER}" stroke-width="1.2"/></g>"#,
            last + 1,
            self.look.class(),
            self.look.light(),
            points.join(" "),
            points.join(" "),
        );
    }

    fn strip(&self, t: usize, regret: f64) -> [f64; 2] {
        let rounds = self.picture.steps.len().saturating_sub(1).max(1);
        let [low, high] = self.range;
        let part = if high > low {
            (regret - low) / (high - low)
        } else {
            0.0
        };
        [
            20.0 + (WIDTH - 40.0) * t as f64 / rounds as f64,
            STRIP.1 - part * (STRIP.1 - STRIP.0),
        ]
    }

    /// What the page's script needs to draw any round.
    pub fn data(&self, id: &str, problem: &str) -> Value {
        let two = |p: [f64; 2]| json!([rounded(p[0]), rounded(p[1])]);
        let picture = self.picture;
        let steps: Vec<Value> = picture
            .steps
            .iter()
            .map(|s| {
                let atoms: Vec<Value> = s.atoms.iter().map(|a| two(*a)).collect();
                json!([two(s.x), two(s.gradient), atoms, rounded(s.regret)])
            })
            .collect();
        json!({
            "id": id, "problem": problem, "learner": picture.learner, "set": picture.set,
            "colour": self.look.class(), "light": self.look.light(),
            "outline": picture.outline.iter().map(|p| two(*p)).collect::<Vec<_>>(),
            "best": two(picture.best), "steps": steps,
            "view": self.view, "longest": self.longest, "range": self.range,
        })
    }

    /// The picture's problem in its experiment.
    pub fn problem(&self) -> &str {
        &self.picture.problem
    }

    /// The learner's name.
    pub fn learner(&self) -> &str {
        &self.picture.learner
    }

    /// The set that is shown.
    pub fn set(&self) -> &str {
        &self.picture.set
    }
}

/// A star around the origin.
const STAR: &str = "M0-8.5L2.2-2.8 8.2-2.6 3.5 1.1 5.1 6.9 0 3.6-5.1 6.9-3.5 1.1-8.2-2.6-2.2-2.8z";

/// A place for a name around `at`: far from what is there already, and rather on the side away
/// from `from`.
fn beside(at: [f64; 2], from: [f64; 2], by: f64, taken: &[[f64; 2]]) -> [f64; 2] {
    let away = (at[1] - from[1]).atan2(at[0] - from[0]);
    let worth = |angle: f64| {
        let place = [at[0] + by * angle.cos(), at[1] + by * angle.sin()];
        let near = |t: &[f64; 2]| norm([t[0] - place[0], t[1] - place[1]]);
        let room = taken.iter().map(near).fold(26.0, f64::min);
        let inside =
            (14.0..WIDTH - 14.0).contains(&place[0]) && (12.0..PLANE - 4.0).contains(&place[1]);
        let worth = room + 4.0 * (angle - away).cos() - if inside { 0.0 } else { 100.0 };
        (worth, place)
    };
    let angles = (0..16).map(|k| away + f64::from(k) * std::f64::consts::FRAC_PI_8);
    let best = angles.map(worth).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(at, |(_, place)| place)
}

fn diamond([x, y]: [f64; 2], r: f64) -> String {
    format!(
        r#"<path d="M{x:.1} {:.1}l{r} {r}-{r} {r}-{r}-{r}z"/>"#,
        y - r
    )
}

/// A shaft with a head; nothing for a gradient that is too short to see.
fn arrow(from: [f64; 2], tip: [f64; 2]) -> String {
    let (dx, dy) = (tip[0] - from[0], tip[1] - from[1]);
    let size = dx.hypot(dy);
    if size < 2.0 {
        return String::new();
    }
    let (ux, uy) = (dx / size, dy / size);
    let head = size.min(8.0);
    let [bx, by] = [tip[0] - head * ux, tip[1] - head * uy];
    let wing = 0.45 * head;
    format!(
        "M{:.1} {:.1}L{bx:.1} {by:.1}L{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}L{bx:.1} {by:.1}z",
        from[0],
        from[1],
        bx - wing * uy,
        by + wing * ux,
        tip[0],
        tip[1],
        bx + wing * uy,
        by - wing * ux,
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_picture_holds_every_decision_and_atom() {
        let results = sample::results();
        let palette = Palette::new(std::slice::from_ref(&results));
        let drawn = all(&results, &palette);
        assert_eq!(drawn.len(), 8);
        let svg = drawn[0].render();
        let past = svg
            .split("p-past")
            .nth(1)
            .unwrap()
            .split("</g>")
            .next()
            .unwrap();
        assert_eq!(past.matches("<circle").count(), 39);
        let atoms = svg
            .split("p-atoms")
            .nth(1)
            .unwrap()
            .split("</g>")
            .next()
            .unwrap();
        assert_eq!(atoms.matches("<path").count(), 39);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(drawn[0].said().starts_with("Round 40 of 40. Plays x = ("));
        assert!(drawn[3].said().contains("No answer of the oracle"));
    }

    #[test]
    fn the_set_keeps_its_shape_and_fills_the_plane() {
        let results = sample::results();
        let palette = Palette::new(std::slice::from_ref(&results));
        let disc = &all(&results, &palette)[0];
        let [left, right] = [disc.at([-1.0, 0.0]), disc.at([1.0, 0.0])];
        let [top, foot] = [disc.at([0.0, 1.0]), disc.at([0.0, -1.0])];
        assert!((right[0] - left[0] - (foot[1] - top[1])).abs() < 1e-9);
        assert!((top[1] - MARGIN).abs() < 1.0 && top[1] < foot[1]);
    }

    #[test]
    fn names_keep_away_from_what_is_there() {
        let taken = [[200.0, 200.0], [220.0, 200.0], [200.0, 180.0]];
        let place = beside([200.0, 200.0], [180.0, 200.0], 16.0, &taken);
        assert!(
            taken
                .iter()
                .all(|t| norm([t[0] - place[0], t[1] - place[1]]) > 15.0)
        );
        // at the border it stays inside
        assert!(beside([WIDTH - 15.0, 200.0], [200.0, 200.0], 16.0, &[])[0] <= WIDTH - 14.0);
    }

    #[test]
    fn nothing_breaks_on_a_point_or_a_zero_gradient() {
        let mut results = sample::results();
        results.pictures.truncate(2);
        results.pictures[0].steps.truncate(1);
        results.pictures[0].outline.truncate(1);
        results.pictures[0].best = results.pictures[0].outline[0];
        results.pictures[0].steps[0] = Step {
            x: results.pictures[0].best,
            gradient: [0.0; 2],
            atoms: Vec::new(),
            regret: 0.0,
        };
        results.pictures[1].steps.clear();
        let palette = Palette::new(std::slice::from_ref(&results));
        let drawn = all(&results, &palette);
        assert_eq!(drawn.len(), 1, "no rounds, no picture");
        let svg = drawn[0].render();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
