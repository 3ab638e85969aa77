//! Walks the registries: whatever is registered is tested, in every spec that it gives as an
//! example, with no edit here.

#![allow(dead_code)] // every test file takes what it needs

use extremal::kernel::{dot, norm};
use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::loss::{Loss, LossSpec};
use extremal::set::{Atom, Set, SetSpec, SharedSet};
use extremal::stream::StreamSpec;
use extremal::{Point, Row};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;

/// The dimensions that sets are tested in.
pub const DIMS: [usize; 6] = [1, 2, 3, 10, 37, 100];

/// Every way to store a decision.
pub const STORAGES: [Storage; 3] = [Storage::Dense, Storage::Lazy, Storage::Sparse];

/// Whether the long figures were asked for.
pub fn soak() -> bool {
    std::env::var("EXTREMAL_SOAK").is_ok_and(|v| v == "1")
}

/// A set with what it is called when a test fails.
pub struct NamedSet {
    pub name: String,
    pub spec: SetSpec,
    pub set: SharedSet,
    /// How exact a projection must be; less where powers of 10⁶ are taken.
    pub precision: f64,
}

/// Every set example in this dimension. One whose spec fixes another dimension comes as it is,
/// with the 10-dimensional ones.
pub fn sets(dim: usize) -> Vec<NamedSet> {
    let mut all = Vec::new();
    for text in SetSpec::ENTRIES.iter().flat_map(|e| e.examples) {
        let spec: SetSpec = text.parse().unwrap();
        let set = match spec.build(Some(dim)) {
            Ok(set) => set,
            Err(_) if dim != 10 => continue,
            Err(e) => spec.build(None).unwrap_or_else(|own| {
                panic!("{text} builds neither with dim = 10 ({e}) nor without ({own})")
            }),
        };
        all.push(NamedSet {
            name: format!("{text} in dimension {}", set.dim()),
            spec,
            set,
            precision: 1e-12,
        });
    }
    assert!(!all.is_empty());
    all
}

/// Sets as small, large, thin, flat and pointed as their parameters allow.
const HARD: &[&str] = &[
    "l2:radius=1e50",
    "l2:radius=1e-50",
    "l1:radius=1e50",
    "l1:radius=1e-50",
    "lp:p=1.5,radius=1e50",
    "lp:p=1.5,radius=1e-50",
    "lp:p=1.1,radius=1e-50",
    "lp:p=5,radius=1e50",
    "lp:p=1.000001",
    "lp:p=1.001",
    "lp:p=1.03",
    "lp:p=1.999999",
    "lp:p=2.000001",
    "lp:p=100",
    "lp:p=1e6",
    "simplex:total=1e50",
    "simplex:total=1e-50",
    "simplex:total=1e-50,at-most=true",
    "simplex:total=1e50,at-most=true",
    "box:lower=-1e50,upper=1e50",
    "box:lower=0,upper=1e-50",
    "box:lower=3,upper=3",
    "box:lower=1000,upper=1000.001",
    "box:lower=-1e-50,upper=1e50",
    "capped-simplex:total=1e-50",
    "capped-simplex:total=0.999999",
    "k-sparse:k=1,radius=1e-50",
    "k-sparse:k=2,radius=1e50",
    "k-sparse:k=5,radius=1e-50",
    "k-sparse:k=1000000,radius=1e50",
    "k-support:k=1,radius=1e50",
    "k-support:k=2,radius=1e-50",
    "k-support:k=9,radius=1e50",
    "k-support:k=1000000,radius=1e-50",
    "hypercube:radius=1e50",
    "hypercube:radius=1e-50",
    "hypercube:radius=1e-50,centred=true",
    "ellipsoid:axes=1e50",
    "ellipsoid:axes=1e-50",
    "ellipsoid:axes=1e-50,centre=3e-51",
    "group:size=3,radius=1e50",
    "group:size=3,radius=1e-50",
    "group:size=2,s=1.001,p=2",
    "group:size=2,s=2,p=1.001",
    "group:size=3,s=1.5,p=1.000001,radius=1e-50",
    "group:size=3,s=3,p=1.5",
    "group:size=1,s=7,p=1.5",
    "group:size=100,s=1.5,p=7",
    "group:size=2,s=2,p=100",
    "group:size=3,s=1.5,p=1000",
    "group:size=5,s=1,p=1",
    "elastic-net:omega=1e50,tau=1e50",
    "elastic-net:omega=1e-50,tau=1e-50",
    "elastic-net:omega=1e-50,tau=1e50",
    "elastic-net:omega=1e50,tau=1e-50",
    "elastic-net:omega=1e-8,tau=1",
    "product:sets=[(l2:radius=1e20),(l2:radius=1e-20)]",
    "product:sets=[(simplex),(box:lower=1000,upper=1000.001)]",
    "translate:by=100,set=(box)",
    "translate:by=-1e49,set=(l1:radius=1e49)",
    "scale:by=1e50,set=(l1:radius=1e-50)",
    "scale:by=1e-50,set=(lp:p=3)",
    "scale:by=1e25,set=(simplex:total=1e24,at-most=true)",
    "sum:sets=[(l2:radius=1e50),(simplex)]",
    "sum:sets=[(l2:radius=1e-3),(l1:radius=1e3)]",
];

/// [`HARD`] in this dimension; those of two blocks have none in dimension 1.
pub fn hard_sets(dim: usize) -> Vec<NamedSet> {
    let build = |text: &&str| {
        let spec: SetSpec = text.parse().unwrap();
        let set = match spec.build(Some(dim)) {
            Err(_) if dim == 1 && text.starts_with("product") => return None,
            built => built.unwrap(),
        };
        let name = format!("{text} in dimension {dim}");
        Some(NamedSet {
            name,
            spec,
            set,
            precision: 1e-9,
        })
    };
    HARD.iter().filter_map(build).collect()
}

/// Every set example in every dimension, and the hard ones in some.
pub fn all_sets() -> Vec<NamedSet> {
    let hard = [2, 10].into_iter().flat_map(hard_sets);
    DIMS.into_iter().flat_map(sets).chain(hard).collect()
}

/// Every learner example.
pub fn learners() -> Vec<(&'static str, LearnerSpec)> {
    let texts = LearnerSpec::ENTRIES.iter().flat_map(|e| e.examples);
    texts.map(|t| (*t, t.parse().unwrap())).collect()
}

/// Every stream example.
pub fn streams() -> Vec<(&'static str, StreamSpec)> {
    let texts = StreamSpec::ENTRIES.iter().flat_map(|e| e.examples);
    texts.map(|t| (*t, t.parse().unwrap())).collect()
}

/// Every loss example.
pub fn all_losses() -> Vec<(&'static str, Arc<dyn Loss>)> {
    let texts = LossSpec::ENTRIES.iter().flat_map(|e| e.examples);
    texts
        .map(|t| (*t, t.parse::<LossSpec>().unwrap().build().unwrap()))
        .collect()
}

/// Every loss example that is defined whatever the row and the decision.
pub fn losses() -> Vec<(&'static str, Arc<dyn Loss>)> {
    let mut all = all_losses();
    all.retain(|(_, loss)| {
        [-1.0, 0.0]
            .iter()
            .all(|z| loss.check_prediction(*z).is_ok())
    });
    all
}

/// A combination of learner, set and storage that can be built anew at any time.
pub struct Team {
    pub name: String,
    pub learner: LearnerSpec,
    pub set: SharedSet,
    pub storage: Storage,
}

impl Team {
    pub fn build(&self) -> Box<dyn Learner> {
        self.learner.build_stored(&self.set, self.storage).unwrap()
    }
}

/// Every learner on every set in this dimension, in every storage that goes together; what does
/// not is handed to `refused`.
pub fn teams(dim: usize, refused: impl FnMut(&str, extremal::Error)) -> Vec<Team> {
    teams_on(sets(dim), refused)
}

/// Every learner on these sets.
pub fn teams_on(sets: Vec<NamedSet>, mut refused: impl FnMut(&str, extremal::Error)) -> Vec<Team> {
    let mut all = Vec::new();
    for NamedSet { name, set, .. } in sets {
        for (text, learner) in learners() {
            for storage in STORAGES {
                let name = format!("{text} on {name}, {storage:?}");
                match learner.build_stored(&set, storage) {
                    Err(e) => refused(&name, e),
                    Ok(_) => all.push(Team {
                        name,
                        learner: learner.clone(),
                        set: set.clone(),
                        storage,
                    }),
                }
            }
        }
    }
    assert!(!all.is_empty());
    all
}

/// A point as something that losses and streams can look at.
pub struct At(pub Vec<f64>);

impl Point for At {
    fn dim(&self) -> usize {
        self.0.len()
    }

    fn dot(&self, row: &Row<'_>) -> extremal::Result<f64> {
        row.check_shape(self.0.len())?;
        Ok(row.dot(&self.0))
    }

    fn norm_squared(&self) -> f64 {
        dot(&self.0, &self.0)
    }

    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.0);
    }
}

/// Random numbers that are the same every time.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

pub fn normals(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| normal(rng)).collect()
}

pub fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    rng.random()
}

/// A point of the unit sphere.
pub fn unit(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    let v = normals(rng, n);
    scaled(&v, 1.0 / norm(&v))
}

pub fn scaled(a: &[f64], k: f64) -> Vec<f64> {
    a.iter().map(|v| k * v).collect()
}

/// a + k·b.
pub fn plus(a: &[f64], k: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + k * b).collect()
}

pub fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    plus(a, -1.0, b)
}

pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    norm(&minus(a, b))
}

/// k·e_i.
pub fn spike(n: usize, i: usize, k: f64) -> Vec<f64> {
    let mut v = vec![0.0; n];
    v[i] = k;
    v
}

pub fn bits(a: &[f64]) -> Vec<u64> {
    a.iter().map(|v| v.to_bits()).collect()
}

pub fn written(x: &dyn Point) -> Vec<f64> {
    let mut out = vec![f64::NAN; x.dim()];
    x.write(&mut out);
    out
}

pub fn centre(set: &dyn Set) -> Vec<f64> {
    let mut out = vec![f64::NAN; set.dim()];
    set.centre(&mut out);
    out
}

/// The set's atom for a direction, written out, by a fresh oracle.
pub fn atom(set: &dyn Set, direction: &[f64]) -> Vec<f64> {
    let mut atom = Atom::new();
    set.oracle().minimise(direction, &mut atom).unwrap();
    let mut out = vec![f64::NAN; set.dim()];
    atom.write(&mut out);
    out
}

/// max ⟨n, x⟩ over the set.
pub fn support(set: &dyn Set, n: &[f64]) -> f64 {
    dot(n, &atom(set, &scaled(n, -1.0)))
}

/// Directions in which sets show their extremes: spikes, sign vectors, differences of two
/// coordinates, one large entry among small equal ones, and random ones.
pub fn telling_directions(rng: &mut ChaCha8Rng, n: usize, random: usize) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    let picked = |k: usize| if n <= 10 { k < n } else { k < 3 || k == n - 1 };
    for i in (0..n).filter(|&i| picked(i)) {
        for sign in [1.0, -1.0] {
            all.push(spike(n, i, sign));
            let mut uneven = vec![0.05 * sign; n];
            uneven[i] = sign;
            all.push(uneven);
        }
        let mut pair = spike(n, i, 1.0);
        pair[(i + 1) % n] -= 1.0;
        all.push(pair);
    }
    all.push(vec![1.0; n]);
    all.push(vec![-1.0; n]);
    all.push(
        (0..n)
            .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect(),
    );
    for _ in 0..random {
        all.push(normals(rng, n));
        all.push(normals(rng, n).iter().map(|v| v.signum()).collect());
    }
    all.retain(|d| d.iter().any(|v| *v != 0.0));
    all
}

/// Points of the set: atoms, mixtures of them, the centre.
pub fn feasible_points(rng: &mut ChaCha8Rng, set: &dyn Set, random: usize) -> Vec<Vec<f64>> {
    let n = set.dim();
    let mut points: Vec<_> = telling_directions(rng, n, random)
        .iter()
        .map(|d| atom(set, d))
        .collect();
    let atoms = points.len();
    points.push(centre(set));
    for _ in 0..random {
        let (a, b, c) = (0, 1, 2);
        let chosen: [usize; 3] = std::array::from_fn(|_| rng.random_range(0..atoms));
        let weights: [f64; 3] = std::array::from_fn(|_| -uniform(rng).ln());
        let total: f64 = weights.iter().sum();
        let mut mix = scaled(&points[chosen[a]], weights[a] / total);
        for k in [b, c] {
            mix = plus(&mix, weights[k] / total, &points[chosen[k]]);
        }
        points.push(mix);
    }
    points
}
