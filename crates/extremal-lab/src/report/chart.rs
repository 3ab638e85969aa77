//! Draws figures as SVG in `currentColor`. An attribute sets the colour for a light background, and the
//! page's style sheet overrides it. The same figure therefore works in light and dark schemes, in print,
//! and in a file without a style sheet.

use std::fmt::Write;

use serde_json::{Value, json};

use super::axis::{Axis, tick};
use super::palette::Style;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A measurement, drawn as a solid line.
    Measured,
    /// A theorem's bound, drawn as a dashed line without a label.
    Theorem,
    /// A certificate that the learner computes, drawn as a dotted line.
    Certificate,
}

/// One point of a line, which summarises all seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
    /// The smallest and the largest y over the seeds.
    pub band: Option<(f64, f64)>,
}

/// A line of a figure.
#[derive(Debug, Clone)]
pub(super) struct Series {
    /// The learner's index in its problem. All lines of a learner are hidden and shown together.
    pub learner: usize,
    /// The label at the line's end.
    pub label: String,
    pub style: Style,
    pub kind: Kind,
    /// The points in increasing order of x. Points with a coordinate ≤ 0 are not drawn.
    pub points: Vec<Point>,
}

/// A figure with logarithmic axes.
#[derive(Debug, Clone)]
pub(super) struct Figure {
    /// A short name, which appears in the names of files.
    pub key: String,
    /// A description for screen readers and for the titles of files.
    pub title: String,
    pub x_label: &'static str,
    pub y_label: &'static str,
    /// Whether the x axis has its ticks at the points. This suits a few chosen values of x.
    pub ticks_at_points: bool,
    /// A value of y that gets a tick if the axis contains it.
    pub y_tick: Option<f64>,
    pub series: Vec<Series>,
    /// Sentences below the figure.
    pub notes: Vec<String>,
}

/// The light colours of text and grid. The page's style sheet defines classes with the same names.
const INK: &str = "#1b1f24";
const SOFT: &str = "#59636e";
const GRID: &str = "#e4e9ee";
/// The background.
pub(super) const PAPER: &str = "#ffffff";
/// Fonts that most systems have.
pub(super) const FONTS: &str = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

const WIDTH: f64 = 500.0;
const HEIGHT: f64 = 350.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
const LABEL_GAP: f64 = 14.0;
const TICK_GAP: f64 = 34.0;
/// The largest number of characters in a label.
const LONGEST: usize = 18;

/// The SVG element of a marker around (x, y).
pub(super) fn marker(shape: usize, x: f64, y: f64) -> String {
    match shape % 8 {
        0 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.3"/>"#),
        1 => format!(
            r#"<rect x="{:.1}" y="{:.1}" width="6" height="6"/>"#,
            x - 3.0,
            y - 3.0
        ),
        2 => format!(r#"<path d="M{x:.1} {:.1}l4 7h-8z"/>"#, y - 4.4),
        3 => format!(
            r#"<path d="M{x:.1} {:.1}l4.2 4.2-4.2 4.2-4.2-4.2z"/>"#,
            y - 4.2
        ),
        4 => format!(
            r#"<path d="M{:.1} {:.1}v-2.8h2.8v-2.6h-2.8v-2.8h-2.6v2.8h-2.8v2.6h2.8v2.8z"/>"#,
            x + 1.3,
            y + 4.1
        ),
        5 => format!(r#"<path d="M{x:.1} {:.1}l4-7h-8z"/>"#, y + 4.4),
        6 => format!(
            r#"<path d="M{:.1} {:.1}l4.2 0 2.1 3.6-2.1 3.6-4.2 0-2.1-3.6z"/>"#,
            x - 2.1,
            y - 3.6
        ),
        _ => format!(
            r#"<path d="M{:.1} {:.1}l2.2-2.2 2 2 2-2 2.2 2.2-2 2 2 2-2.2 2.2-2-2-2 2-2.2-2.2 2-2z"/>"#,
            x - 4.2,
            y - 2.0
        ),
    }
}

/// Moves overlapping labels apart, and keeps them between `low` and `high`.
fn spread(labels: &mut [(f64, usize)], low: f64, high: f64) {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Without enough space for all labels, the distances between labels are reduced.
    let gap = LABEL_GAP.min((high - low) / labels.len().saturating_sub(1).max(1) as f64);
    let mut floor = low;
    for (y, _) in labels.iter_mut() {
        *y = y.max(floor);
        floor = *y + gap;
    }
    let mut ceiling = high;
    for (y, _) in labels.iter_mut().rev() {
        *y = y.min(ceiling);
        ceiling = *y - gap;
    }
}

/// The label, shortened to at most [`LONGEST`] characters.
fn shortened(label: &str) -> String {
    if label.chars().count() <= LONGEST {
        return label.into();
    }
    label.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// The text, escaped for HTML content and for quoted attributes.
fn escape(text: &str) -> String {
    let Ok(safe) = askama::filters::escape(text, askama::filters::Html);
    safe.0.to_string()
}

/// The number rounded to seven digits, to keep the page small.
fn rounded(value: f64) -> Value {
    format!("{value:.6e}")
        .parse::<f64>()
        .map_or(Value::Null, |v| json!(v))
}

/// The axes of a figure, and the right end of the figure's plot area.
struct Frame {
    x: Axis,
    y: Axis,
    right: f64,
}

impl Figure {
    fn frame(&self) -> Option<Frame> {
        let lines = || self.series.iter().flat_map(|s| &s.points);
        let drawn = |p: &&Point| p.x > 0.0 && p.y > 0.0;
        let names = self.series.iter().filter(|s| s.kind == Kind::Measured);
        let longest = names.map(|s| shortened(&s.label).chars().count()).max()?;
        let right = WIDTH - (18.0 + 6.9 * longest as f64).clamp(40.0, 150.0);
        let ys = lines().filter(drawn).flat_map(|p| {
            let (least, most) = p.band.unwrap_or((p.y, p.y));
            // On a logarithmic axis, a seed with a tiny value would compress all other values.
            [p.y, least.max(p.y / 30.0), most]
        });
        Some(Frame {
            x: Axis::new(lines().filter(drawn).map(|p| p.x), 0.03, LEFT, right)?,
            y: Axis::new(ys, 0.1, HEIGHT - BOTTOM, TOP)?,
            right,
        })
    }

    /// Draws the figure as an `<svg>` element. `None` if there is nothing to draw.
    pub fn render(&self) -> Option<String> {
        let frame = self.frame()?;
        let mut out = format!(
            r#"<svg class="figure" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="{FONTS}" font-size="12" role="img" aria-label="{title}"><title>{title}</title><rect class="paper" width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>"#,
            title = escape(&self.title)
        );
        self.draw_axes(&frame, &mut out);
        // Bands are paler if many of them overlap.
        let lines = self.series.iter().filter(|s| s.kind == Kind::Measured);
        let shade = if lines.count() > 6 { 0.07 } else { 0.15 };
        for series in &self.series {
            series.draw(&frame, shade, &mut out);
        }
        self.draw_labels(&frame, &mut out);
        out.push_str("</svg>");
        Some(out)
    }

    /// The values of x with a tick: the ticks of the axis, or the points that have enough space for a
    /// label.
    fn x_ticks(&self, axis: &Axis) -> Vec<f64> {
        if !self.ticks_at_points {
            return axis.ticks();
        }
        let points = self.series.iter().flat_map(Series::shown);
        let mut all: Vec<f64> = points.map(|p| p.x).collect();
        all.sort_by(f64::total_cmp);
        let mut ticks: Vec<f64> = Vec::new();
        for x in all {
            let free = ticks
                .last()
                .is_none_or(|last| axis.at(x) - axis.at(*last) >= TICK_GAP);
            if free {
                ticks.push(x);
            }
        }
        ticks
    }

    fn y_ticks(&self, axis: &Axis) -> Vec<f64> {
        let mut ticks = axis.ticks();
        let shown = |v: &f64| (axis.low..=axis.high).contains(&v.log10());
        ticks.extend(self.y_tick.filter(|v| shown(v) && !ticks.contains(v)));
        ticks
    }

    fn draw_axes(&self, frame: &Frame, out: &mut String) {
        let (x, y, right) = (&frame.x, &frame.y, frame.right);
        let foot = HEIGHT - BOTTOM;
        let (ticks, y_ticks) = (self.x_ticks(x), self.y_ticks(y));
        let _ = write!(
            out,
            r#"<g class="grid" color="{GRID}" stroke="currentColor">"#
        );
        for &v in &ticks {
            let at = x.at(v);
            let _ = write!(out, r#"<path d="M{at:.1} {TOP}V{foot}"/>"#);
        }
        for &v in &y_ticks {
            let at = y.at(v);
            let _ = write!(out, r#"<path d="M{LEFT} {at:.1}H{right}"/>"#);
        }
        let _ = write!(
            out,
            r#"</g><g class="soft" color="{SOFT}" fill="currentColor">"#
        );
        for &v in &ticks {
            let _ = write!(
                out,
                r#"<text x="{:.1}" y="{}" text-anchor="middle">{}</text>"#,
                x.at(v),
                foot + 16.0,
                tick(v)
            );
        }
        for &v in &y_ticks {
            let _ = write!(
                out,
                r#"<text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
                LEFT - 6.0,
                y.at(v) + 4.0,
                tick(v)
            );
        }
        let _ = write!(
            out,
            r#"</g><g class="ink" color="{INK}" fill="currentColor"><text x="{:.1}" y="{}" text-anchor="middle">{}</text><text transform="translate(11 {:.1}) rotate(-90)" text-anchor="middle">{}</text></g>"#,
            0.5 * (LEFT + right),
            HEIGHT - 8.0,
            self.x_label,
            0.5 * (TOP + foot),
            self.y_label
        );
    }

    /// Draws the label of every line at the right. If a label is not beside the end of its line, a thin
    /// line connects the two.
    fn draw_labels(&self, frame: &Frame, out: &mut String) {
        let named = self.series.iter().enumerate();
        let ends: Vec<(f64, f64, usize)> = named
            .filter(|(_, s)| s.kind == Kind::Measured)
            .filter_map(|(i, s)| {
                let last = s.shown().last()?;
                Some((frame.x.at(last.x), frame.y.at(last.y), i))
            })
            .collect();
        let mut labels: Vec<(f64, usize)> = ends
            .iter()
            .enumerate()
            .map(|(e, (_, y, _))| (y + 4.0, e))
            .collect();
        spread(&mut labels, TOP + 8.0, HEIGHT - BOTTOM);
        for (at, e) in labels {
            let (end_x, end_y, i) = ends[e];
            let series = &self.series[i];
            let _ = write!(
                out,
                r#"<g class="{} name{}" data-s="{}" color="{}">"#,
                series.style.class(),
                if series.style.heavy { " heavy" } else { "" },
                series.learner,
                series.style.light()
            );
            let label_x = frame.right + 10.0;
            if label_x - end_x > 20.0 || (at - 4.0 - end_y).abs() > 3.0 {
                let _ = write!(
                    out,
                    r#"<path class="thread" d="M{:.1} {end_y:.1}L{:.1} {:.1}" fill="none" stroke="currentColor" stroke-opacity="0.4" stroke-width="0.8"/>"#,
                    end_x + 5.0,
                    label_x - 3.0,
                    at - 4.0
                );
            }
            let weight = if series.style.heavy {
                r#" font-weight="600""#
            } else {
                ""
            };
            let _ = write!(
                out,
                r#"<text x="{label_x}" y="{at:.1}" fill="currentColor"{weight}>{}</text></g>"#,
                escape(&shortened(&series.label))
            );
        }
    }

    /// The points and the axes as JSON, for the page's script.
    pub fn data(&self) -> Value {
        let Some(frame) = self.frame() else {
            return Value::Null;
        };
        let axis = |a: &Axis| json!([a.low, a.high, a.start, a.end]);
        let series: Vec<Value> = self
            .series
            .iter()
            .map(|s| {
                let points: Vec<Value> = s
                    .points
                    .iter()
                    .map(|p| {
                        let mut row = vec![rounded(p.x), rounded(p.y)];
                        if let Some((least, most)) = p.band {
                            row.extend([rounded(least), rounded(most)]);
                        }
                        Value::Array(row)
                    })
                    .collect();
                let kind = match s.kind {
                    Kind::Measured => "measured",
                    Kind::Theorem => "theorem",
                    Kind::Certificate => "certificate",
                };
                json!({"s": s.learner, "name": s.label, "kind": kind, "points": points})
            })
            .collect();
        json!({
            "key": self.key, "x": self.x_label, "y": self.y_label,
            "ax": axis(&frame.x), "ay": axis(&frame.y), "series": series,
        })
    }
}

impl Series {
    /// The points that a logarithmic axis can show.
    fn shown(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.points.iter().filter(|p| p.x > 0.0 && p.y > 0.0)
    }

    fn draw(&self, frame: &Frame, shade: f64, out: &mut String) {
        let (x, y) = (&frame.x, &frame.y);
        let floor = 10f64.powf(y.low);
        let _ = write!(
            out,
            r#"<g class="{}" data-s="{}" color="{}">"#,
            self.style.class(),
            self.learner,
            self.style.light()
        );
        let band = || self.shown().filter_map(|p| Some((p.x, p.band?)));
        if band().nth(1).is_some() {
            let upper = band().map(|(px, b)| (px, b.1));
            let lower = band().rev().map(|(px, b)| (px, b.0.max(floor)));
            let _ = write!(
                out,
                r#"<polygon points="{}" fill="currentColor" fill-opacity="{shade}"/>"#,
                path(x, y, upper.chain(lower))
            );
        }
        let (width, dash) = match self.kind {
            Kind::Measured => (self.style.width(), ""),
            Kind::Theorem => (1.3, r#" stroke-dasharray="6 4""#),
            Kind::Certificate => (1.5, r#" stroke-dasharray="1.5 3" stroke-linecap="round""#),
        };
        let mut points: Vec<(f64, f64)> = self.shown().map(|p| (p.x, p.y)).collect();
        if let (Kind::Theorem, [(px, py)]) = (self.kind, points.as_slice()) {
            // If a theorem's curve has a single point, the curve is drawn as a dash as wide as a
            // marker.
            points = vec![(px / 1.08, *py), (px * 1.08, *py)];
        }
        let _ = write!(
            out,
            r#"<polyline points="{}" fill="none" stroke="currentColor" stroke-width="{width}" stroke-linejoin="round"{dash}/>"#,
            path(x, y, points.iter().copied())
        );
        if self.kind == Kind::Measured && self.points.len() <= 14 {
            let _ = write!(
                out,
                r#"<g class="mark" fill="currentColor" stroke="{PAPER}" stroke-width="0.8">"#
            );
            for (px, py) in points {
                out.push_str(&marker(self.style.marker, x.at(px), y.at(py)));
            }
            out.push_str("</g>");
        }
        out.push_str("</g>");
    }
}

/// The points as an SVG attribute.
fn path(x: &Axis, y: &Axis, points: impl Iterator<Item = (f64, f64)>) -> String {
    let texts: Vec<_> = points
        .map(|(px, py)| format!("{:.1},{:.1}", x.at(px), y.at(py)))
        .collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::palette::Palette;
    use super::*;

    fn figure(points: &[(f64, f64)]) -> Figure {
        Figure {
            key: "k".into(),
            title: "t<".into(),
            x_label: "x",
            y_label: "y",
            series: vec![Series {
                learner: 0,
                label: "a<b".into(),
                style: Palette::new(&[]).style("a"),
                kind: Kind::Measured,
                points: points
                    .iter()
                    .map(|&(x, y)| Point {
                        x,
                        y,
                        band: Some((y - 2.0, y + 1.0)),
                    })
                    .collect(),
            }],
            ticks_at_points: true,
            y_tick: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn what_is_not_positive_is_left_out() {
        assert_eq!(figure(&[(1.0, 0.0), (2.0, -1.0)]).render(), None);
        let svg = figure(&[(1.0, 1.0), (10.0, -1.0), (100.0, 4.0)])
            .render()
            .unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("a&#60;b") && !svg.contains("NaN") && !svg.contains("inf"));
        // It needs no style sheet: every group has its colour.
        assert!(!svg.contains("var(") && svg.contains(r##"color="#4d4d4d""##));
    }

    #[test]
    fn ticks_stand_at_chosen_points_that_have_room() {
        let figure = figure(&[(1000.0, 1.0), (1001.0, 1.0), (4000.0, 2.0)]);
        let frame = figure.frame().unwrap();
        assert_eq!(figure.x_ticks(&frame.x), [1000.0, 4000.0]);
    }

    #[test]
    fn labels_do_not_overlap_and_stay_on_the_page() {
        let mut labels = vec![(50.0, 0), (51.0, 1), (99.0, 2), (98.0, 3)];
        spread(&mut labels, 10.0, 100.0);
        for pair in labels.windows(2) {
            assert!(pair[1].0 - pair[0].0 >= LABEL_GAP - 1e-9);
        }
        assert!(labels.iter().all(|l| (10.0..=100.0).contains(&l.0)));
    }
}
