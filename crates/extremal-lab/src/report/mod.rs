//! The report: one HTML file that needs nothing else, and its figures.
//!
//! The figures are drawn here, as SVG, rather than by a plotting library in the reader's browser:
//! they are right without scripts, in print and in both colour schemes, and the same figure is
//! saved as a file. Of the libraries that could be put into the page, vega-lite weighs 870 KB in
//! every report and draws by script, and uPlot draws on a canvas: neither takes its colours from
//! the style sheet nor gives the figure as a file. Two short scripts show values under the pointer,
//! hide and show series, save files, and step through the pictures.
//!
//! The HTML is in templates beside this file; [`page`](page()) fills them.

mod axis;
mod chart;
mod curves;
mod page;
mod palette;
mod picture;
mod raster;

pub use page::{page, plots};
pub use raster::png;

/// A figure to be saved by itself.
#[derive(Debug, Clone)]
pub struct SavedFigure {
    /// The file's name, without its ending.
    pub name: String,
    /// The SVG.
    pub content: String,
}
