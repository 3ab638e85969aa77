//! Local oracles and the learners on them, against their definitions.

mod lloo;
mod oracles;
mod pairwise;

use crate::common;
use extremal::Gradient;
use extremal::learner::Learner;
use extremal::set::{SetSpec, SharedSet};
use extremal_check::kit::learner;

fn set(text: &str) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(None).unwrap()
}

/// One round; the decision before it.
fn play(learner: &mut dyn Learner, g: &[f64]) -> Vec<f64> {
    let x = common::written(learner.decide().unwrap());
    learner.observe(&Gradient::dense(g)).unwrap();
    x
}

fn project(set: &SharedSet, y: &[f64]) -> Vec<f64> {
    let mut x = y.to_vec();
    set.projection().unwrap().project(&mut x).unwrap();
    x
}

fn facial_distance(set: &SharedSet) -> f64 {
    set.polytope().unwrap().facial_distance.unwrap()
}

fn rho(set: &SharedSet) -> f64 {
    set.geometry().diameter / facial_distance(set)
}
