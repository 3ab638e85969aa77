//! The report: one self-contained HTML file, and its figures.
//!
//! The figures are drawn here, as SVG, and not by a plotting library in the reader's browser. They
//! are right without scripts, in print and in both colour schemes, and can be saved as files. The
//! alternatives can do neither: vega-lite adds 870 KB to every report and draws by script, and uPlot
//! draws on a canvas. Two short scripts show values under the pointer, hide and show series, save
//! files, and step through the pictures.
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

/// A figure for a file of its own.
#[derive(Debug, Clone)]
pub struct SavedFigure {
    /// The file's name without extension.
    pub name: String,
    /// The SVG.
    pub content: String,
}
