//! Problems whose optimum is published. Skipped, with a word about it, where their folder is not.

use std::path::PathBuf;

use extremal::Row;
use extremal::hindsight::{Method, Options, QuadraticSum, solve};

use crate::{mat, set};

/// A file of the anchors, from `EXTREMAL_DATA` or a folder next to the workspace.
fn anchor(path: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("EXTREMAL_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join("anchors").join(path);
    let found = std::fs::read(&path).ok();
    if found.is_none() {
        println!("skipped: no {} (set EXTREMAL_DATA)", path.display());
    }
    found
}

/// min ½xᵀPx + ⟨q, x⟩ over the simplex, from the Maros-Mészáros collection.
#[test]
fn quadratics_over_the_simplex_reach_their_published_optimum() {
    for (name, published) in [
        ("DUAL1", 3.5012965736e-02),
        ("DUAL2", 3.3733676124e-02),
        ("DUAL3", 1.3575583687e-01),
        ("DUAL4", 7.4609084180e-01),
    ] {
        let Some(file) = anchor(&format!("maros_meszaros/{name}.mat")) else {
            return;
        };
        let parts = mat::read(&file);
        let (p, q, a) = (&parts["P"], &parts["q"].values, &parts["A"]);
        let dim = q.len();
        assert_eq!((p.rows, p.columns, a.columns), (dim, dim, dim));
        // one row says Σx = 1, the others 0 ≤ x ≤ 1: the simplex
        let mut total = vec![0.0; dim];
        for row in 0..a.rows {
            let entries: Vec<f64> = (0..dim).map(|j| a.values[j * a.rows + row]).collect();
            if entries.iter().filter(|v| **v != 0.0).count() > 1 {
                total = entries;
            }
        }
        assert_eq!(total, vec![1.0; dim]);
        let sum = QuadraticSum::from_parts(p.values.clone(), q, parts["r"].values[0]).unwrap();
        for (method, gap) in [(Method::Auto, 1e-10), (Method::Pairwise, 1e-8)] {
            let options = Options {
                method,
                relative_gap: gap,
                steps: 100_000,
                ..Options::default()
            };
            let best = solve(&sum, &*set("simplex", dim), &options).unwrap();
            assert!(best.relative_gap() <= gap, "{name}, {method}: {best:?}");
            assert!(
                (best.value / published - 1.0).abs() <= 2.0 * gap + 1e-10,
                "{name}, {method}: {} {published}",
                best.value
            );
        }
    }
}

/// NIST's certified least squares for Longley's data, in columns of mean 0 and norm 1: the
/// original ones differ by 10⁶ in scale, which no first-order method can look past.
#[test]
fn longleys_regression_reaches_its_certified_digits() {
    let Some(file) = anchor("longley/longley.csv") else {
        return;
    };
    let text = String::from_utf8(file).unwrap();
    let table: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|l| l.split(',').skip(1).map(|v| v.parse().unwrap()).collect())
        .collect();
    let standard = |j: usize| -> (Vec<f64>, f64) {
        let column: Vec<f64> = table.iter().map(|row| row[j]).collect();
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        let centred: Vec<f64> = column.iter().map(|v| v - mean).collect();
        let norm = centred.iter().map(|v| v * v).sum::<f64>().sqrt();
        (centred.iter().map(|v| v / norm).collect(), norm)
    };
    let columns: Vec<(Vec<f64>, f64)> = (0..7).map(standard).collect();
    let mut sum = QuadraticSum::new(6, 0.0).unwrap();
    for i in 0..table.len() {
        let row: Vec<f64> = (1..7).map(|j| columns[j].0[i]).collect();
        sum.push(Row::Dense(&row), columns[0].0[i], 1.0).unwrap();
    }
    let options = Options {
        relative_gap: 1e-9,
        steps: 200_000,
        ..Options::default()
    };
    let best = solve(&sum, &*set("l2:radius=10", 6), &options).unwrap();
    assert!(best.relative_gap() <= 1e-9, "{best:?}");
    // ½·(residual sum of squares) in the scale of the standardised label
    let residual = 2.0 * best.value * columns[0].1 * columns[0].1;
    assert!(
        (residual / 836424.055505915 - 1.0).abs() < 1e-8,
        "{residual}"
    );
    let certified = [
        15.0618722713733,
        -0.358191792925910e-01,
        -2.02022980381683,
        -1.03322686717359,
        -0.511041056535807e-01,
        1829.15146461355,
    ];
    for (j, certified) in certified.iter().enumerate() {
        let ours = best.x[j] * columns[0].1 / columns[j + 1].1;
        let relative = ours / certified - 1.0;
        assert!(relative.abs() < 1e-2, "coefficient {j}: {ours}");
    }
}
