//! Converts figures from SVG to PNG.

use std::sync::{Arc, OnceLock};

use resvg::{tiny_skia, usvg};

use crate::error::{Error, Result};

/// The fonts of the operating system, which are loaded once.
fn fonts() -> Arc<usvg::fontdb::Database> {
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_system_fonts();
        // The figures use a sans-serif font, which differs between systems.
        let known = [
            "Liberation Sans",
            "DejaVu Sans",
            "Arial",
            "Helvetica",
            "Noto Sans",
        ];
        let has = |name: &str| {
            fonts
                .faces()
                .any(|f| f.families.iter().any(|(n, _)| n == name))
        };
        let first = fonts
            .faces()
            .next()
            .and_then(|f| Some(f.families.first()?.0.clone()));
        let chosen = known.into_iter().find(|n| has(n)).map(String::from);
        if let Some(name) = chosen.or(first) {
            fonts.set_sans_serif_family(name);
        }
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

/// Converts a figure of [`plots`](super::plots) to a PNG with the given width in pixels.
pub fn png(svg: &str, width: u32) -> Result<Vec<u8>> {
    let fonts = fonts();
    if fonts.is_empty() {
        return Err(Error::Unsupported(
            "no font is installed, so that the text of a PNG can't be drawn; install a font, for \
             example the package fonts-dejavu, or save the figure as SVG"
                .into(),
        ));
    }
    let failed = |why: &str| Error::Unsupported(format!("a figure can't be drawn as PNG: {why}"));
    let options = usvg::Options {
        fontdb: fonts,
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|why| failed(&why.to_string()))?;
    let scale = width as f32 / tree.size().width();
    let height = (tree.size().height() * scale).round() as u32;
    let mut image = tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| failed(&format!("{width} × {height} pixels")))?;
    let transform = tiny_skia::Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut image.as_mut());
    image.encode_png().map_err(|why| failed(&why.to_string()))
}
