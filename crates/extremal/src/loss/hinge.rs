//! The hinge losses for classification with y = ±1: max(0, 1 − yz), and half its square.

use super::{Labels, Loss, sign};
use crate::parameter::fields;
use crate::spec::{About, Described};

fields! {
    /// The hinge loss max(0, 1 − yz).
    #[derive(Copy)]
    pub struct Hinge {}
}

impl Described for Hinge {
    const ABOUT: About = About {
        summary: "max(0, 1 − y⟨a, x⟩), labels ±1 or 0/1",
        cost: "O(1)",
        guarantee: "slope at most 1, not smooth",
        reference: "Cortes & Vapnik, Machine Learning 1995",
        citations: &[],
        examples: &["hinge"],
    };
}

impl Loss for Hinge {
    fn name(&self) -> &'static str {
        "hinge"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let y = sign(label);
        let short = 1.0 - y * z;
        if short > 0.0 { (short, -y) } else { (0.0, 0.0) }
    }

    fn labels(&self) -> Labels {
        Labels::Signs
    }

    fn slope_bound(&self, _reach: f64, _label: f64) -> f64 {
        1.0
    }

    fn is_nonnegative(&self) -> bool {
        true
    }
}

fields! {
    /// The squared hinge loss ½max(0, 1 − yz)².
    #[derive(Copy)]
    pub struct SquaredHinge {}
}

impl Described for SquaredHinge {
    const ABOUT: About = About {
        summary: "½max(0, 1 − y⟨a, x⟩)², labels ±1 or 0/1",
        cost: "O(1)",
        guarantee: "slope at most 1 + |z|, 1-smooth",
        reference: "Chang, Hsieh & Lin, JMLR 2008",
        citations: &[],
        examples: &["squared-hinge"],
    };
}

impl Loss for SquaredHinge {
    fn name(&self) -> &'static str {
        "squared-hinge"
    }

    fn at(&self, z: f64, label: f64) -> (f64, f64) {
        let y = sign(label);
        let short = (1.0 - y * z).max(0.0);
        (0.5 * short * short, -y * short)
    }

    fn labels(&self) -> Labels {
        Labels::Signs
    }

    fn slope_bound(&self, reach: f64, _label: f64) -> f64 {
        1.0 + reach
    }

    fn smoothness(&self) -> f64 {
        1.0
    }

    fn is_nonnegative(&self) -> bool {
        true
    }
}
