#![allow(missing_docs)]
use extremal::learner::LearnerSpec;
use extremal::pair::{Gradient, Point};
use extremal::set::SharedSet;
pub struct Follower;
impl Follower {
    pub fn new(_s: &LearnerSpec, _set: &SharedSet) -> Option<Self> {
        None
    }
    pub fn see(&mut self, _x: &dyn Point, _g: &Gradient<'_>) {}
    pub fn gap(&mut self, _n: &dyn Point) -> Option<(f64, Option<f64>)> {
        None
    }
}
