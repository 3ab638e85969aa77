//! The surrogate gap ⟨∇F, x − v⟩ where the two products that it is the difference of are far
//! larger than itself: it is that of the stored numbers, summed in twice their precision.

use crate::support::{Sum, kit, learner, normals, rounds, set, written};
use extremal::set::{Atom, Set, SharedSet};
use extremal::{
    Gradient,
    surrogate::{DenseSurrogate, LazySurrogate, Move, SparseSurrogate, Surrogate, Update},
};

const BETA: f64 = 2.0;
const DIM: usize = 12;

/// Sets of vertices, and whether a vertex may stay where gradients are large and go elsewhere
/// where they are not: then the difference of two products is not good enough.
const FLAT: [(&str, bool); 9] = [
    ("l1", false),
    ("simplex", false),
    ("box", true),
    ("box:lower=-0.7,upper=0.3", true),
    ("capped-simplex:total=5", true),
    ("k-sparse:k=5", true),
    ("scale:by=3,set=(box)", true),
    ("product:sets=[(box:dim=6),(l1)]", true),
    ("sum:sets=[(box),(l1)]", true),
];

/// Σ a_i·b_i as if in twice the precision.
#[derive(Default)]
struct Dot(Sum);

impl Dot {
    fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.0.add(product);
        self.0.add(a.mul_add(b, -product));
    }
}

/// What a gap should be, and may be off by.
struct Exact {
    gap: f64,
    /// |⟨∇F, x⟩| + |⟨∇F, v⟩|
    size: f64,
    /// Σ|∇F_i|·|x_i − v_i|
    terms: f64,
    /// ⟨∇F, x⟩ − ⟨∇F, v⟩, each rounded.
    difference: f64,
}

impl Exact {
    fn new(set: &dyn Set, x: &[f64], c: &[f64]) -> Self {
        let d: Vec<f64> = x.iter().zip(c).map(|(x, c)| BETA.mul_add(*x, *c)).collect();
        let (mut atom, mut v) = (Atom::new(), vec![0.0; x.len()]);
        set.oracle().minimise(&d, &mut atom).unwrap();
        atom.write(&mut v);
        let (mut gap, mut terms, mut sums) = (Dot::default(), 0.0, [0.0; 2]);
        for ((d, x), v) in d.iter().zip(x).zip(&v) {
            gap.add(*d, *x);
            gap.add(*d, -v);
            terms += d.abs() * (x - v).abs();
            sums[0] += d * x;
            sums[1] += d * v;
        }
        Self {
            gap: gap.0.value(),
            size: sums[0].abs() + sums[1].abs(),
            terms,
            difference: sums[0] - sums[1],
        }
    }
}

/// (x, c) of any storage, to look at.
trait Stored: Surrogate {
    fn sum(&self) -> Vec<f64>;
}

impl Stored for DenseSurrogate {
    fn sum(&self) -> Vec<f64> {
        self.gradient_sum().to_vec()
    }
}

impl Stored for SparseSurrogate {
    fn sum(&self) -> Vec<f64> {
        let mut c = vec![0.0; written(self).len()];
        self.write_sum(&mut c);
        c
    }
}

impl Stored for LazySurrogate {
    fn sum(&self) -> Vec<f64> {
        let mut c = vec![0.0; written(self).len()];
        self.write_sum(&mut c);
        c
    }
}

/// What begins a game.
#[derive(Debug, Clone, Copy)]
enum First {
    /// Gradients of 1e9 along a few coordinates, which get no more.
    Large,
    /// −1e9 along each: later ones decide between them.
    Level,
}

/// The gaps of a game, and what they should be.
fn gaps(set: &SharedSet, mut pair: impl Stored, first: First, seed: u64) -> Vec<(f64, Exact)> {
    let mut rng = kit::rng(seed);
    pair.start(BETA);
    let mut play = |t: u64| {
        let mut g = normals(&mut rng, set.dim());
        for (i, g) in g.iter_mut().enumerate() {
            match (first, i % 4, t) {
                (First::Large, 0, 0) => *g *= 1e9,
                (First::Large, 0, _) => *g = 0.0,
                (First::Large, 1, 0..10) => *g *= 1e3,
                (First::Level, _, 0) => *g = -1e9,
                _ => {}
            }
        }
        let gradient = Gradient::dense(&g);
        let update = Update::new(1.0, &gradient, BETA);
        let x = written(&pair);
        let probe = pair.probe(&update, true).unwrap();
        pair.commit(Move::Towards(probe.line_search()));
        (probe.gap, Exact::new(&**set, &x, &pair.sum()))
    };
    (0..rounds(100, 10_000)).map(&mut play).collect()
}

/// [`gaps`] in every storage that the set has.
fn all_gaps(set: &SharedSet, first: First, seed: u64) -> Vec<(&'static str, Vec<(f64, Exact)>)> {
    let dense = DenseSurrogate::new(set.clone(), None).unwrap();
    let mut all = vec![("dense", gaps(set, dense, first, seed))];
    if let Ok(sparse) = SparseSurrogate::new(set.clone(), None) {
        all.push(("sparse", gaps(set, sparse, first, seed)));
    }
    if let Ok(lazy) = LazySurrogate::new(set.clone(), None) {
        all.push(("lazy", gaps(set, lazy, first, seed)));
    }
    all
}

fn games() -> impl Iterator<Item = (First, u64)> {
    [First::Large, First::Level]
        .into_iter()
        .flat_map(|first| (0..5).map(move |seed| (first, seed)))
}

#[test]
fn on_polytopes_it_keeps_nine_digits() {
    for (text, loses) in FLAT {
        let set = set(text, DIM);
        let (mut small, mut lost) = (0, 0);
        for (first, seed) in games() {
            for (storage, gaps) in all_gaps(&set, first, seed) {
                for (t, (gap, exact)) in gaps.iter().enumerate() {
                    // and ∇F itself is rounded
                    let allowed = 1e-9 * exact.gap.abs() + 8.0 * f64::EPSILON * exact.terms;
                    let what = format!("{text}, {storage}, {first:?}, seed {seed}, round {t}");
                    let error = (gap - exact.gap).abs();
                    assert!(error <= allowed, "{what}: {gap} not {}", exact.gap);
                    small += u32::from(exact.gap < 1e-8 * exact.size);
                    lost += u32::from((exact.difference - exact.gap).abs() > allowed);
                }
            }
        }
        // or else nothing was tested
        assert!(small > 0 && (lost > 0 || !loses), "{text}: {small} {lost}");
    }
}

/// There the atom's entries are rounded, and no gap is known better than they are.
#[test]
fn on_round_sets_it_is_as_good_as_the_atom() {
    for text in [
        "l2",
        "l2:radius=30",
        "lp:p=1.5",
        "lp:p=4",
        "lp:p=30",
        "elastic-net",
    ] {
        let set = set(text, DIM);
        for (first, seed) in games() {
            for (storage, gaps) in all_gaps(&set, first, seed) {
                for (t, (gap, exact)) in gaps.iter().enumerate() {
                    let what = format!("{text}, {storage}, {first:?}, seed {seed}, round {t}");
                    let error = (gap - exact.gap).abs();
                    let allowed = 1e-9 * exact.gap.abs() + 16.0 * f64::EPSILON * exact.size;
                    assert!(error <= allowed, "{what}: {gap} not {}", exact.gap);
                }
            }
        }
    }
}

#[test]
fn a_large_sum_along_one_side_does_not_spoil_the_step_along_the_other() {
    let horizon = 100.0_f64;
    let bound = 8.0_f64.sqrt() / (2.0 * (horizon + 2.0).powf(2.0 / 3.0)); // so that η = 1
    let text = format!("ofw-ls:horizon={horizon},gradient-bound={bound}");
    let mut learner = learner(&text, &set("box", 2));
    for g in [[1e9, 0.5], [0.0, 1.2]] {
        learner.decide().unwrap();
        learner.observe(&Gradient::dense(&g)).unwrap();
    }
    let x = written(learner.decision());
    assert_eq!(x[0], -1.0);
    assert!((x[1] + 0.85).abs() < 1e-12, "{}", x[1]);
}
