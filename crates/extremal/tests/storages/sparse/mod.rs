//! Sparse storage against dense storage: the same decisions on noisy streams, and never an
//! infeasible or worse one on streams made to break it.

mod growth;
mod pairs;

use crate::games::{DIM, Entries, NONZEROS, Random, soak};
use extremal::Error;
use extremal::learner::{LearnerSpec, Storage};
use extremal::set::SharedSet;
use extremal::{Gradient, Point};
use extremal_check::kit;
use extremal_check::kit::{set, stored};

/// Every kind of set with few entries per atom.
const SETS: &[&str] = &[
    "l1",
    "simplex:total=3",
    "k-sparse:k=3,radius=0.5",
    "simplex:at-most=true",
    "l1:radius=7.3",
    "simplex",
    "scale:by=2,set=(k-sparse:k=2)",
];

/// A point with few entries, or with many, of any of the sets.
fn start(set: &SharedSet, dense: bool) -> Vec<f64> {
    let (dim, size) = (set.dim(), set.geometry().norm_bound);
    let mut x = vec![0.0; dim];
    if dense {
        let sum: f64 = (0..dim).map(|i| (i % 3) as f64).sum();
        for (i, x) in x.iter_mut().enumerate() {
            *x = 0.999_999_999_999 * size * (i % 3) as f64 / sum;
        }
    } else {
        (x[dim / 2], x[1]) = (0.75 * size, 0.25 * size);
    }
    // k-sparse atoms have a norm above any entry's size
    if set.violation(&x).unwrap() > 1e-9 {
        x.iter_mut().for_each(|x| *x *= 0.5);
    }
    assert!(set.violation(&x).unwrap() <= 1e-9);
    x
}

/// The largest difference of two decisions, relative to the set's size.
fn apart(a: &dyn Point, b: &dyn Point, set: &SharedSet) -> f64 {
    let (mut x, mut y) = (vec![0.0; a.dim()], vec![0.0; b.dim()]);
    a.write(&mut x);
    b.write(&mut y);
    let differences = x.iter().zip(&y).map(|(x, y)| (x - y).abs());
    let largest = differences.fold(0.0, |top, v| if v <= top { top } else { v });
    largest / set.geometry().norm_bound
}

fn bits(point: &dyn Point) -> Vec<u64> {
    kit::bits(&kit::written(point))
}

/// Every rule, with the ridge of its gradients. Gauge-FTRL is for curved sets.
const RULES: &[(&str, f64)] = &[
    ("ofw:horizon=100000,gradient-bound=1", 0.0),
    ("ofw:horizon=100000,gradient-bound=1,eta-scale=30", 0.1),
    ("ofw-weibel:horizon=100000,gradient-bound=1", 0.0),
    ("ofw-weibel:horizon=100,gradient-bound=1,start=FEW", 0.0),
    ("ofw-ls:horizon=100000,gradient-bound=1", 0.0),
    ("ofw-ls:horizon=100000,gradient-bound=1,eta-scale=30", 0.0),
    ("ofw-ls:horizon=100000,gradient-bound=1,start=MANY", 0.0),
    ("ofw-ls:horizon=100000,doubling=true", 0.0),
    ("ofw-ls:gradient-bound=1,start=FEW", 0.0),
    ("ofw-ls", 0.1),
    ("sc-ofw:lambda=0.1", 0.1),
    ("sc-ofw:lambda=3,start=FEW", 3.0),
    ("sc-ofw:lambda=0.1,warm=5,start=MANY", 0.1),
    ("sc-ofw:lambda=0.2", 0.5),
    ("ofw-free", 0.0),
    ("ofw-free:growth=steady,start=FEW", 0.05),
];

fn with_start(spec: &str, set: &SharedSet) -> String {
    let list = |dense| format!("{:?}", start(set, dense)).replace(' ', "");
    spec.replace("FEW", &list(false))
        .replace("MANY", &list(true))
}

fn everywhere(random: &mut Random) -> Entries {
    let mut row = Entries::default();
    row.indices.extend(0..DIM as u32);
    row.values.extend((0..DIM).map(|_| random.signed()));
    row
}

#[test]
fn every_learner_plays_the_dense_decisions_on_noisy_streams() {
    let mut worst = 0.0_f64;
    for (n, (rule, ridge)) in RULES.iter().enumerate() {
        for (m, text) in SETS.iter().enumerate() {
            // all are played, one set per rule for long, and the others too if there is time
            let long = soak() || (n + m) % SETS.len() == 0;
            let rounds = if long { 100_000 } else { 4_000 };
            let set = set(text, DIM);
            let size = set.geometry().norm_bound;
            let spec = with_start(rule, &set);
            let mut sparse = stored(&spec, &set, Storage::Sparse);
            let mut dense = stored(&spec, &set, Storage::Dense);
            let mut random = Random((7 * n + m) as u64);
            for t in 0..rounds {
                // With atoms of several entries a line search may well end where two of them are
                // equally good, and stay there until a gradient tells them apart: each does here. So
                // may one on the way to 0, after many rounds.
                let tied = text.contains("k-sparse") || (text.contains("at-most") && t >= 4_000);
                let row = if tied {
                    everywhere(&mut random)
                } else {
                    Entries::noisy(&mut random, DIM, NONZEROS, 1.0)
                };
                let (a, b) = (sparse.decide().unwrap(), dense.decide().unwrap());
                let what = format!("{rule} on {text}, round {t}");
                if t % 37 == 0 {
                    let apart = apart(a, b, &set);
                    assert!(apart <= 1e-10, "{what}: {apart:e}");
                    worst = worst.max(apart);
                }
                let gradient = Gradient {
                    row: row.row(),
                    scale: random.signed(),
                    ridge: *ridge,
                };
                let a = sparse.observe(&gradient).unwrap();
                let b = dense.observe(&gradient).unwrap();
                let scale = size * (1.0 + size) * (1.0 + t as f64);
                assert!(
                    (a.gap - b.gap).abs() <= 1e-10 * scale,
                    "{what}: {a:?} {b:?}"
                );
                // A gap that is all rounding leaves no digit of the step: σ is as accurate as the gap.
                let gap = a.gap.abs().max(b.gap.abs()).max(f64::MIN_POSITIVE);
                let noise = a.sigma.max(b.sigma) * 1e-14 * scale / gap;
                let off = (a.sigma - b.sigma).abs();
                assert!(off <= 1e-8 + noise, "{what}: {a:?} {b:?}");
                for (name, a, b) in [
                    ("norm", a.norm_squared, b.norm_squared),
                    ("gradient's norm", a.gradient_norm, b.gradient_norm),
                    ("gradient's dot", a.gradient_dot, b.gradient_dot),
                ] {
                    let bound = 1e-10 * (1.0 + size * size);
                    assert!((a - b).abs() <= bound, "{name}, {what}: {a} {b}");
                }
            }
        }
    }
    println!("decisions apart by at most {worst:e} of the set's size");
}

#[test]
fn where_dense_storage_has_a_certificate_this_one_has_one_that_holds_as_well() {
    for text in SETS {
        let set = set(text, DIM);
        let mut sparse = stored("sc-ofw:lambda=0.1", &set, Storage::Sparse);
        let mut dense = stored("sc-ofw:lambda=0.1", &set, Storage::Dense);
        let mut random = Random(3);
        for t in 0..3000 {
            let row = Entries::noisy(&mut random, DIM, NONZEROS, 1.0);
            let gradient = Gradient {
                row: row.row(),
                scale: 1.0,
                ridge: 0.1,
            };
            sparse.decide().unwrap();
            dense.decide().unwrap();
            sparse.observe(&gradient).unwrap();
            dense.observe(&gradient).unwrap();
            let (a, b) = (sparse.certificate().unwrap(), dense.certificate().unwrap());
            assert_eq!(a.level, b.level);
            // ‖∇F‖, which it does without, can only make it smaller
            assert!(
                a.regret >= b.regret - 1e-9 * t as f64,
                "{text}: {a:?} {b:?}"
            );
        }
    }
}

#[test]
fn what_has_no_sparse_form_is_refused_in_words() {
    for (name, text, storage) in [
        ("ofw-ls", "l2", Storage::Sparse),
        ("ofw-ls", "capped-simplex", Storage::Sparse),
        ("ofw-ls", "translate:by=1,set=(l1)", Storage::Sparse),
        ("ogd", "l1", Storage::Sparse),
        ("hedge:bases=[(ofw-ls),(ofw-free)]", "l1", Storage::Sparse),
        ("dual-averaging", "simplex", Storage::Sparse),
        ("ofw-ls", "box", Storage::Lazy),
        ("ofw-free", "l2", Storage::Lazy),
        ("ftl", "l2", Storage::Lazy),
    ] {
        let spec: LearnerSpec = name.parse().unwrap();
        let refused = spec.build_stored(&set(text, 4), storage);
        let Err(Error::CannotPlay { needs, instead, .. }) = refused else {
            panic!("{text} is not refused");
        };
        assert!(needs.starts_with("dense storage"), "{needs}");
        // no learner is named where the set is what stands in the way
        let allowed = name != "ofw-ls";
        assert_eq!(!instead.is_empty(), allowed, "{text}: {instead:?}");
        for other in instead {
            let other = other.parse::<LearnerSpec>().unwrap();
            assert!(other.build_stored(&set(text, 4), storage).is_ok());
        }
    }
}
