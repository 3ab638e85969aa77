//! Faults of sets.

use extremal::Error;
use extremal::set::{Atom, Geometry, Minimum, Oracle, Projection, Set, SharedSet};
use extremal_check::kit;

/// What may be wrong with a box [−1, 1]^d by hand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Wrong {
    Nothing,
    Sign,
    Scale,
    Inside,
    TinyDirections,
    Value,
    Memory,
    Nan,
    Length,
    Diameter,
    NormBound,
    InnerRadius,
    StrongConvexity,
    Centre,
    Violation,
    ViolationOfNan,
    Gauge,
    Projection,
    Zero,
}

#[derive(Clone, Copy)]
pub struct ByHand {
    pub wrong: Wrong,
    pub calls: u64,
}

pub const DIM: usize = 3;

impl ByHand {
    fn is(&self, wrong: Wrong) -> bool {
        self.wrong == wrong
    }
}

impl Set for ByHand {
    fn name(&self) -> &str {
        "by-hand"
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn geometry(&self) -> Geometry {
        let root = (DIM as f64).sqrt();
        Geometry {
            diameter: if self.is(Wrong::Diameter) {
                root
            } else {
                2.0 * root
            },
            norm_bound: if self.is(Wrong::NormBound) { 1.0 } else { root },
            inner_radius: Some(if self.is(Wrong::InnerRadius) {
                1.1
            } else {
                1.0
            }),
            strong_convexity: self.is(Wrong::StrongConvexity).then_some(0.01),
        }
    }

    fn oracle(&self) -> Box<dyn Oracle> {
        Box::new(*self)
    }

    fn centre(&self, out: &mut [f64]) {
        out.fill(if self.is(Wrong::Centre) { 1.5 } else { 0.0 });
    }

    fn gauge(&self, x: &[f64]) -> Option<f64> {
        let top = kit::max_abs(x);
        let bad = x.iter().find(|v| v.is_nan());
        Some(match (self.wrong, bad) {
            (Wrong::Gauge, _) => top * top,
            (_, Some(nan)) => *nan,
            _ => top,
        })
    }

    fn violation(&self, x: &[f64]) -> Option<f64> {
        let gauge = kit::max_abs(x);
        if self.is(Wrong::Violation) {
            return Some(0.0);
        }
        if !self.is(Wrong::ViolationOfNan) && x.iter().any(|v| v.is_nan()) {
            return Some(f64::NAN);
        }
        Some((gauge - 1.0).max(0.0))
    }

    fn projection(&self) -> Option<Box<dyn Projection>> {
        Some(Box::new(*self))
    }
}

fn check(x: &[f64], what: &'static str) -> extremal::Result<()> {
    if x.len() != DIM {
        let (expected, found) = (DIM, x.len());
        return Err(Error::Size {
            what,
            expected,
            found,
        });
    }
    match x.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(Error::NotFinite {
            what,
            index,
            value: x[index],
        }),
    }
}

impl Oracle for ByHand {
    fn minimise(&mut self, direction: &[f64], atom: &mut Atom) -> extremal::Result<Minimum> {
        self.calls += 1;
        match self.wrong {
            Wrong::Nan => {}
            Wrong::Length => check(&direction[..DIM], "direction")?, // panics if it is too short
            _ => check(direction, "direction")?,
        }
        let tiny = self.is(Wrong::TinyDirections) && kit::norm(direction) < 1e-120;
        let v = atom.dense_mut(direction.len());
        for (v, d) in v.iter_mut().zip(direction) {
            *v = if *d > 0.0 { -1.0 } else { 1.0 };
            *v *= match self.wrong {
                Wrong::Sign => -1.0,
                Wrong::Scale => 1.01,
                Wrong::Inside => 0.9,
                Wrong::Zero => d.abs() / d.abs(),
                Wrong::Memory if self.calls % 11 == 5 && *d == 0.0 => -1.0,
                _ if tiny => 0.0,
                _ => 1.0,
            };
        }
        let value = kit::dot(direction, v);
        Ok(Minimum::exact(match self.wrong {
            Wrong::Value => 1.001 * value,
            _ => value,
        }))
    }
}

impl Projection for ByHand {
    fn project(&mut self, x: &mut [f64]) -> extremal::Result<()> {
        check(x, "point")?;
        let top = kit::max_abs(x).max(1.0);
        for v in x {
            *v = match self.wrong {
                Wrong::Projection => *v / top, // in the set, and not the nearest point
                _ => v.clamp(-1.0, 1.0),
            };
        }
        Ok(())
    }
}

#[test]
fn every_fault_of_a_set_breaks_the_law_that_names_it() {
    let set = |wrong| ByHand { wrong, calls: 0 };
    extremal_check::set(&set(Wrong::Nothing)).unwrap();
    let exact = extremal_check::SetCheck {
        exact: true,
        oracle: 1e-12,
        projection: 1e-12,
    };
    exact.run(&set(Wrong::Nothing)).unwrap();
    for (wrong, law) in [
        (
            Wrong::Sign,
            "no point of the set is below the oracle's minimum",
        ),
        (Wrong::Scale, "every atom is feasible"),
        (Wrong::Inside, "a point beyond an atom has a violation"),
        (
            Wrong::TinyDirections,
            "no point of the set is below the oracle's minimum",
        ),
        (
            Wrong::Value,
            "the value returned is ⟨direction, atom⟩, and no less than the floor",
        ),
        (
            Wrong::Memory,
            "the earlier calls of an oracle do not affect its answer",
        ),
        (
            Wrong::Nan,
            "NaN, ∞ and a wrong length are errors, after which the oracle answers as before",
        ),
        (
            Wrong::Length,
            "NaN, ∞ and a wrong length are errors, after which the oracle answers as before",
        ),
        (
            Wrong::Diameter,
            "no distance of two points exceeds the diameter",
        ),
        (Wrong::NormBound, "no point has a norm above the norm bound"),
        (
            Wrong::InnerRadius,
            "the ball of the inner radius around the centre lies inside",
        ),
        (
            Wrong::StrongConvexity,
            "the set is as strongly convex as its constant",
        ),
        (Wrong::Centre, "the centre lies inside"),
        (Wrong::Violation, "a point beyond an atom has a violation"),
        (
            Wrong::ViolationOfNan,
            "a point with NaN or ∞ is not feasible",
        ),
        (
            Wrong::Gauge,
            "the gauge is 1 at atoms, is homogeneous and convex, and agrees with the violation",
        ),
        (
            Wrong::Projection,
            "every point of the set has ⟨y − p, u − p⟩ ≤ 0 for the projection p of y",
        ),
        (
            Wrong::Zero,
            "every direction of norm 0 or between 1e-140 and 1e140 has a finite atom",
        ),
    ] {
        let failures = extremal_check::set(&set(wrong)).unwrap_err();
        let example = failures.of(law);
        assert!(example.is_some(), "{wrong:?}: {failures}");
        assert!(!example.unwrap().is_empty(), "{wrong:?}");
    }
}

/// Constants that are too large break no theorem; they are found where they should be exact.
#[test]
fn generous_constants_are_faults_of_exact_sets_alone() {
    let set = kit::set("scale:by=2,set=(sum:sets=[(l2),(simplex)])", 3);
    extremal_check::set(&*set).unwrap();
    struct Generous(SharedSet);
    impl Set for Generous {
        fn name(&self) -> &str {
            "generous"
        }
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn geometry(&self) -> Geometry {
            Geometry {
                diameter: 3.0,
                norm_bound: 1.5,
                ..Geometry::default()
            }
        }
        fn oracle(&self) -> Box<dyn Oracle> {
            self.0.oracle()
        }
    }
    let generous = Generous(kit::set("l1", 3));
    extremal_check::set(&generous).unwrap();
    let exact = extremal_check::SetCheck {
        exact: true,
        ..Default::default()
    };
    let failures = exact.run(&generous).unwrap_err();
    assert!(failures.of("the diameter is attained").is_some());
    assert!(failures.of("the norm bound is attained").is_some());
    assert_eq!(failures.list().len(), 2, "{failures}");
}
