//! Walks the registries: whatever is registered is tested, in every spec that it gives as an
//! example, with no edit here.

#![allow(dead_code, unused_imports)] // every test file takes what it needs

use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::loss::{Loss, LossSpec};
use extremal::set::{SetSpec, SharedSet};
use extremal::stream::StreamSpec;
use std::sync::Arc;

pub use extremal_check::kit::*;

/// The dimensions that sets are tested in.
pub const DIMS: [usize; 6] = [1, 2, 3, 10, 37, 100];

/// Every way to store a decision.
pub const STORAGES: [Storage; 3] = [Storage::Dense, Storage::Lazy, Storage::Sparse];

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
    "group:size=3,s=1.000001",
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

/// Every example of a learner that takes gradients.
pub fn learners() -> Vec<(&'static str, LearnerSpec)> {
    let entries = LearnerSpec::ENTRIES
        .iter()
        .filter(|e| e.name != "unit-free");
    let texts = entries.flat_map(|e| e.examples);
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
