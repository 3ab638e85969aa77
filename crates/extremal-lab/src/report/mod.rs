//! The report: one self-contained HTML file, and its figures.
//!
//! This module draws the figures as SVG. The figures need no scripts, work in print and in both colour
//! schemes, and can be saved as files. Plotting libraries for the browser do not offer all of this:
//! vega-lite adds 870 KB to every report and draws by script, and uPlot draws on a canvas. Two short
//! scripts show the values under the pointer, hide and show series, save files, and step through the
//! pictures.
//!
//! The HTML is in templates beside this file. [`page`](page()) fills them in.

mod axis;
mod chart;
mod curves;
mod page;
mod palette;
mod picture;
mod raster;

pub use page::{page, plots};
pub use raster::png;

/// A figure to be saved as a file.
#[derive(Debug, Clone)]
pub struct SavedFigure {
    /// The file's name without extension.
    pub name: String,
    /// The SVG.
    pub content: String,
}
