//! Projections from as far away as points may come.

use crate::common::{NamedSet, atom, hard_sets, minus, normals, rng, scaled, sets, unit};
use extremal::kernel::{dot, max_abs, norm};
use extremal::set::SetSpec;

const DIM: usize = 5;

fn all() -> Vec<NamedSet> {
    let mut all = sets(DIM);
    all.extend(hard_sets(DIM));
    all.retain(|set| set.set.projection().is_some());
    assert!(all.len() > 30);
    all
}

/// What is tried at a distance: telling directions, at this size.
fn points(size: f64) -> Vec<Vec<f64>> {
    let mut r = rng(1);
    let mut points = vec![vec![1.0; DIM], vec![-1.0; DIM]];
    for _ in 0..4 {
        points.push(unit(&mut r, DIM));
        points.push(normals(&mut r, DIM));
    }
    for point in &mut points {
        let top = max_abs(point);
        point.iter_mut().for_each(|v| *v = (*v / top) * size);
    }
    points
}

#[test]
fn from_any_distance_the_set_lies_behind_the_plane_across_the_way() {
    for NamedSet { name, set, .. } in all() {
        let mut projection = set.projection().unwrap();
        let bound = set.geometry().norm_bound;
        for size in [1e60, 1e80, 1e100] {
            for y in points(size) {
                let mut x = y.clone();
                projection.project(&mut x).unwrap();
                let violation = set.violation(&x).unwrap_or(0.0);
                assert!(violation <= 1e-9, "{name}: {violation:e} from {y:?}");
                let way = scaled(&minus(&y, &x), 1.0 / size);
                let n = scaled(&way, 1.0 / norm(&way));
                let furthest = atom(&*set, &scaled(&n, -1.0));
                let beyond = dot(&n, &minus(&furthest, &x));
                assert!(
                    beyond <= 1e-9 * bound,
                    "{name}: {:e} beyond from {size:e}",
                    beyond / bound
                );
            }
        }
    }
}

/// A box that is scaled is a box, in every coordinate by itself: however far one of them lies,
/// the others are where they are.
#[test]
fn a_scaled_box_is_a_box_however_far_one_coordinate_lies() {
    for by in [1e-49, 1e-3, 1.0, 1e49] {
        let scaled: SetSpec = format!("scale:by={by},set=(box:lower=0,upper=1)")
            .parse()
            .unwrap();
        let plain: SetSpec = format!("box:lower=0,upper={by}").parse().unwrap();
        let (scaled, plain) = (scaled.build(Some(DIM)), plain.build(Some(DIM)));
        let mut projection = scaled.unwrap().projection().unwrap();
        let mut direct = plain.unwrap().projection().unwrap();
        for far in [1.0, 1e50, 1e100] {
            let y = [far, 5.0 * by, 0.25 * by, -by, -far];
            let (mut x, mut expected) = (y, y);
            direct.project(&mut expected).unwrap();
            projection.project(&mut x).unwrap();
            let apart = norm(&minus(&x, &expected));
            assert!(apart <= 1e-15 * by, "{by:e}, {far:e}: {x:?}");
        }
    }
}
