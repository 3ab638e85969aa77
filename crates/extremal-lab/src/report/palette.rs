//! Colours and markers of the learners. A learner has the same colour and marker in every table, figure
//! and picture of a page.

use std::fmt::Write;

use crate::results::Results;

/// A colour for a light and for a dark background. `learner` names the algorithm for which the colour is
/// reserved. It is empty if the colour is reserved for none.
struct Colour {
    learner: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn colour(learner: &'static str, light: &'static str, dark: &'static str) -> Colour {
    Colour {
        learner,
        light,
        dark,
    }
}

/// The colours. Neighbouring colours differ in lightness as well as in hue, for colour-blind readers.
const COLOURS: [Colour; 23] = [
    colour("ofw", "#b86e00", "#eda63a"),
    colour("ofw-weibel", "#2f8fc9", "#7cc4f2"),
    colour("ofw-ls", "#0a4f9e", "#5b9bf5"),
    colour("sc-ofw", "#b5307f", "#ee82c1"),
    colour("gauge-ftrl", "#00795a", "#35c49a"),
    colour("ogd", "#7d858e", "#8d96a0"),
    colour("ofw-free", "#8a6a00", "#d3b54a"),
    colour("default", "#6d4bb8", "#b79cf0"),
    colour("ospf", "#a0522d", "#e0946a"),
    colour("fast-ogd", "#00808a", "#4cc7d2"),
    colour("lloo", "#5f8700", "#a9d04a"),
    colour("", "#c2475a", "#f08a9b"),
    colour("", "#3f5f7f", "#93b4cf"),
    colour("", "#1f9d55", "#63d392"),
    colour("", "#8b3fa8", "#cf8ee6"),
    colour("", "#8c7b5a", "#c9b68f"),
    colour("", "#4a4fd0", "#9c9ff7"),
    colour("", "#a8326b", "#e889b4"),
    colour("", "#2b6e63", "#7bc0b4"),
    colour("", "#c97b3d", "#f0b184"),
    colour("", "#5d6d1e", "#b3c46a"),
    colour("", "#7a5c99", "#b8a2d4"),
    colour("", "#4d4d4d", "#b5b5b5"),
];

/// The style of a learner's lines and markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// The index of the colour in `COLOURS`.
    colour: usize,
    /// The number of the marker's shape.
    pub marker: usize,
    /// Whether the learner's lines are thicker. Thick lines emphasise `ofw-ls`, `sc-ofw` and the
    /// default learner.
    pub heavy: bool,
}

impl Style {
    /// The CSS class of the colour. The page's style sheet defines it for light and dark schemes.
    pub fn class(&self) -> String {
        format!("k{}", self.colour)
    }

    /// The width of the learner's lines.
    pub fn width(&self) -> f64 {
        if self.heavy { 2.6 } else { 1.7 }
    }

    /// The colour for a light background, for figures without a style sheet.
    pub fn light(&self) -> &'static str {
        COLOURS[self.colour].light
    }
}

/// The styles of all learners of a page, by their names in the experiments.
#[derive(Debug)]
pub(super) struct Palette {
    styles: Vec<(String, Style)>,
}

impl Palette {
    /// Chooses a style for every learner. A colour is reserved for each known algorithm. Other learners get
    /// the colours that remain, in order.
    pub fn new(all: &[Results]) -> Self {
        let mut styles: Vec<(String, Style)> = Vec::new();
        for (name, config) in all.iter().flat_map(|r| &r.experiment.learners) {
            if styles.iter().any(|(known, _)| known == name) {
                continue;
            }
            let algorithm = config.spec.as_ref().map_or("default", |s| s.entry().name);
            let taken = |c: usize| styles.iter().any(|(_, style)| style.colour == c);
            let own = COLOURS.iter().position(|c| c.learner == algorithm);
            let free = || (0..COLOURS.len()).find(|&c| COLOURS[c].learner.is_empty() && !taken(c));
            // If all colours are in use, colours repeat. Markers still differ.
            let again = || (0..COLOURS.len()).find(|&c| !taken(c));
            let colour = own
                .filter(|&c| !taken(c))
                .or_else(free)
                .or_else(again)
                .unwrap_or(styles.len() % COLOURS.len());
            let style = Style {
                colour,
                marker: styles.len(),
                heavy: ["ofw-ls", "sc-ofw", "default"].contains(&algorithm),
            };
            styles.push((name.clone(), style));
        }
        Self { styles }
    }

    /// A learner's style.
    pub fn style(&self, learner: &str) -> Style {
        let found = self.styles.iter().find(|(name, _)| name == learner);
        found.map_or(
            Style {
                colour: COLOURS.len() - 1,
                marker: 0,
                heavy: false,
            },
            |(_, style)| *style,
        )
    }
}

/// The CSS classes of the colours. Printed pages use the light colours.
pub(super) fn css() -> String {
    let rules = |of: fn(&Colour) -> &'static str| {
        let mut text = String::new();
        for (i, colour) in COLOURS.iter().enumerate() {
            let _ = write!(text, ".k{i}{{color:{}}}", of(colour));
        }
        text
    };
    format!(
        "{}\n@media screen and (prefers-color-scheme:dark){{{}}}\n",
        rules(|c| c.light),
        rules(|c| c.dark)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::fixture;

    #[test]
    fn known_learners_keep_their_colours_under_any_name() {
        let mut results = fixture();
        let learners = &mut results.experiment.learners;
        for name in ["ours", "ours again"] {
            let config = learners["ofw-ls"].clone();
            learners.insert(name.into(), config);
        }
        learners.shift_remove("ofw-ls");
        let palette = Palette::new(&[results]);
        let [first, second] = ["ours", "ours again"].map(|name| palette.style(name));
        assert_eq!(first.light(), "#0a4f9e");
        assert!(second.light() != first.light() && second.marker != first.marker);
    }

    #[test]
    fn no_colour_comes_twice() {
        for of in [|c: &Colour| c.light, |c: &Colour| c.dark] {
            let all: std::collections::HashSet<_> = COLOURS.iter().map(of).collect();
            assert_eq!(all.len(), COLOURS.len());
        }
    }
}
