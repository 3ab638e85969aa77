//! Log-log figures as SVG. Colours are CSS classes, so that the page's light, dark and print
//! styles reach them; a figure saved by itself carries the same style sheet.

use std::fmt::Write;

use super::html::escape;

/// A line of a figure.
pub(super) struct Series {
    /// At the line's end.
    pub label: String,
    /// CSS class, which gives the colour.
    pub class: String,
    /// (x, y), growing in x; what is not positive is left out.
    pub points: Vec<(f64, f64)>,
    /// (x, lower, upper) of a shaded band.
    pub band: Vec<(f64, f64, f64)>,
    /// Dashed, without markers and without a label of its own.
    pub dashed: bool,
    /// The marker's shape.
    pub marker: usize,
}

/// A figure with logarithmic axes.
pub(super) struct Figure<'a> {
    pub title: &'a str,
    pub x_label: &'a str,
    pub y_label: &'a str,
    pub series: &'a [Series],
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 84.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
const LABEL_GAP: f64 = 14.0;

/// A logarithmic axis: from decade to value on the page.
struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, pad: f64, start: f64, end: f64) -> Option<Self> {
        let logs = values.filter(|v| *v > 0.0 && v.is_finite()).map(f64::log10);
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
            (a.min(v), b.max(v))
        });
        (low <= high).then(|| Self {
            low: low - pad.max(0.02),
            high: high + pad.max(0.02),
            start,
            end,
        })
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.log10() - self.low) / (self.high - self.low);
        self.start + part * (self.end - self.start)
    }

    /// Powers of ten; if the axis is short, their doubles and fives too.
    fn ticks(&self) -> Vec<f64> {
        let factors: &[f64] = match self.high - self.low {
            span if span < 2.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let decades = (self.low.floor() as i32)..=(self.high.ceil() as i32);
        decades
            .flat_map(|e| factors.iter().map(move |f| f * 10f64.powi(e)))
            .filter(|v| (self.low..=self.high).contains(&v.log10()))
            .collect()
    }
}

/// 1000 → `1k`.
fn tick(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{}k", v / 1e3),
        v if v >= 1.0 => format!("{v:.0}"),
        v => format!("{}", (v * 1e6).round() / 1e6),
    }
}

fn marker(shape: usize, x: f64, y: f64) -> String {
    match shape % 6 {
        0 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.2"/>"#),
        1 => format!(
            r#"<rect x="{:.1}" y="{:.1}" width="5.8" height="5.8"/>"#,
            x - 2.9,
            y - 2.9
        ),
        2 => format!(r#"<path d="M{x:.1} {:.1}l3.9 6.8h-7.8z"/>"#, y - 4.3),
        3 => format!(r#"<path d="M{x:.1} {:.1}l4 4-4 4-4-4z"/>"#, y - 4.0),
        4 => format!(
            r#"<path d="M{x:.1} {:.1}v-2.8h2.8v-2.6h-2.8v-2.8h-2.6v2.8h-2.8v2.6h2.8v2.8z"/>"#,
            y + 4.1
        ),
        _ => format!(r#"<path d="M{x:.1} {:.1}l3.9-6.8h-7.8z"/>"#, y + 4.3),
    }
}

/// Moves labels apart that would overlap, as little as needed, and keeps them on the page.
fn spread(labels: &mut [(f64, usize)], low: f64, high: f64) {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut floor = low;
    for (y, _) in labels.iter_mut() {
        *y = y.max(floor);
        floor = *y + LABEL_GAP;
    }
    let mut ceiling = high;
    for (y, _) in labels.iter_mut().rev() {
        *y = y.min(ceiling);
        ceiling = *y - LABEL_GAP;
    }
}

impl Figure<'_> {
    /// The `<svg>` element; `None` if there is nothing to draw.
    pub fn render(&self, style: Option<&str>) -> Option<String> {
        let xs = self
            .series
            .iter()
            .flat_map(|s| s.points.iter().map(|p| p.0));
        let ys = self.series.iter().flat_map(|s| {
            let band = s.band.iter().flat_map(|b| [b.1, b.2]);
            s.points.iter().map(|p| p.1).chain(band)
        });
        let x = Axis::new(xs, 0.03, LEFT, WIDTH - RIGHT)?;
        let y = Axis::new(ys, 0.12, HEIGHT - BOTTOM, TOP)?;
        let mut out = format!(
            r#"<svg class="figure" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{}">"#,
            escape(self.title)
        );
        if let Some(style) = style {
            let _ = write!(
                out,
                "<style>{style}</style><rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>"
            );
        }
        self.draw_axes(&x, &y, &mut out);
        for series in self.series {
            series.draw(&x, &y, &mut out);
        }
        self.draw_labels(&y, &mut out);
        out.push_str("</svg>");
        Some(out)
    }

    fn draw_axes(&self, x: &Axis, y: &Axis, out: &mut String) {
        out.push_str(r#"<g class="grid">"#);
        for v in x.ticks() {
            let at = x.at(v);
            let _ = write!(
                out,
                r#"<line x1="{at:.1}" x2="{at:.1}" y1="{TOP}" y2="{}"/>"#,
                HEIGHT - BOTTOM
            );
        }
        for v in y.ticks() {
            let at = y.at(v);
            let _ = write!(
                out,
                r#"<line x1="{LEFT}" x2="{}" y1="{at:.1}" y2="{at:.1}"/>"#,
                WIDTH - RIGHT
            );
        }
        out.push_str(r#"</g><g class="ticks">"#);
        for v in x.ticks() {
            let _ = write!(
                out,
                r#"<text x="{:.1}" y="{}" text-anchor="middle">{}</text>"#,
                x.at(v),
                HEIGHT - BOTTOM + 16.0,
                tick(v)
            );
        }
        for v in y.ticks() {
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
            r#"<text x="{:.1}" y="{}" text-anchor="middle">{}</text><text transform="translate(11 {:.1}) rotate(-90)" text-anchor="middle">{}</text></g>"#,
            0.5 * (LEFT + WIDTH - RIGHT),
            HEIGHT - 8.0,
            escape(self.x_label),
            0.5 * (TOP + HEIGHT - BOTTOM),
            escape(self.y_label)
        );
    }

    /// Every line is named at its end: no legend to look up.
    fn draw_labels(&self, y: &Axis, out: &mut String) {
        let named = self.series.iter().enumerate().filter(|(_, s)| !s.dashed);
        let mut labels: Vec<(f64, usize)> = named
            .filter_map(|(i, s)| {
                let last = s.points.iter().rev().find(|p| p.1 > 0.0)?;
                Some((y.at(last.1) + 4.0, i))
            })
            .collect();
        spread(&mut labels, TOP + 8.0, HEIGHT - BOTTOM);
        for (at, i) in labels {
            let series = &self.series[i];
            let _ = write!(
                out,
                r#"<text class="name {}" x="{}" y="{at:.1}">{}</text>"#,
                series.class,
                WIDTH - RIGHT + 4.0,
                escape(&series.label)
            );
        }
    }
}

impl Series {
    fn draw(&self, x: &Axis, y: &Axis, out: &mut String) {
        let _ = write!(out, r#"<g class="{}">"#, self.class);
        let band: Vec<_> = self.band.iter().filter(|b| b.1 > 0.0).collect();
        if band.len() >= 2 {
            let upper = band.iter().map(|b| (b.0, b.2));
            let lower = band.iter().rev().map(|b| (b.0, b.1));
            let _ = write!(
                out,
                r#"<polygon class="band" points="{}"/>"#,
                path(x, y, upper.chain(lower))
            );
        }
        let shown = || self.points.iter().copied().filter(|p| p.1 > 0.0);
        let kind = if self.dashed { "theorem" } else { "line" };
        let _ = write!(
            out,
            r#"<polyline class="{kind}" points="{}"/>"#,
            path(x, y, shown())
        );
        if !self.dashed && self.points.len() <= 12 {
            out.push_str(r#"<g class="marker">"#);
            for (px, py) in shown() {
                out.push_str(&marker(self.marker, x.at(px), y.at(py)));
            }
            out.push_str("</g>");
        }
        out.push_str("</g>");
    }
}

fn path(x: &Axis, y: &Axis, points: impl Iterator<Item = (f64, f64)>) -> String {
    let texts: Vec<_> = points
        .map(|(px, py)| format!("{:.1},{:.1}", x.at(px), y.at(py)))
        .collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: Vec<(f64, f64)>) -> Series {
        Series {
            label: "a<b".into(),
            class: "c-x".into(),
            points,
            band: Vec::new(),
            dashed: false,
            marker: 0,
        }
    }

    #[test]
    fn what_is_not_positive_is_left_out() {
        let figure = |s: &[Series]| {
            Figure {
                title: "t",
                x_label: "x",
                y_label: "y",
                series: s,
            }
            .render(None)
        };
        assert_eq!(figure(&[series(vec![(1.0, 0.0), (2.0, -1.0)])]), None);
        let svg = figure(&[series(vec![(1.0, 1.0), (10.0, -1.0), (100.0, 4.0)])]).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN") && !svg.contains("inf"));
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

    #[test]
    fn ticks_are_short() {
        assert_eq!(tick(256_000.0), "256k");
        assert_eq!(tick(0.01), "0.01");
        assert_eq!(tick(1e6), "1M");
    }
}
