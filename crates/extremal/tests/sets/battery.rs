//! Every set that is registered, in every example and several dimensions, keeps the laws of sets,
//! and its constants are exact.

use extremal::set::{Answers, Facts, Geometry, Oracle, Set, SharedSet};
use extremal_check::SetCheck;

use crate::common::{NamedSet, all_sets, sets};

#[test]
fn every_set_keeps_the_laws_of_sets() {
    let mut all = all_sets();
    assert!(all.len() > 300, "{}", all.len());
    let second = all.split_off(all.len() / 2);
    let check = |sets: Vec<NamedSet>| {
        for named in sets {
            let check = SetCheck {
                oracle: 1e-11,
                projection: named.precision,
                exact: true,
            };
            check
                .run(&*named.set)
                .unwrap_or_else(|failures| panic!("{}: {failures}", named.name));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check(all));
        scope.spawn(|| check(second));
    });
}

/// A set by its oracle alone, that states four times its strong convexity.
struct Overstated(SharedSet);

impl Set for Overstated {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn geometry(&self) -> Geometry {
        let geometry = self.0.geometry();
        Geometry {
            strong_convexity: geometry.strong_convexity.map(|alpha| 4.0 * alpha),
            ..geometry
        }
    }
    fn oracle(&self) -> Box<dyn Oracle> {
        self.0.oracle()
    }
    fn centre(&self, out: &mut [f64]) {
        self.0.centre(out);
    }
    fn facts(&self) -> Facts {
        Facts {
            oracle: Answers::Trusted,
            curvature: self.0.facts().curvature,
            ..Facts::default()
        }
    }
}

#[test]
fn a_strong_convexity_four_times_too_large_would_be_noticed_on_every_ball() {
    let small = [2, 10].into_iter().flat_map(sets);
    // near p = 1 the constant itself is 4.6 times too small in dimension 100
    let large = sets(100)
        .into_iter()
        .filter(|s| s.name.starts_with("lp:p=1.5") || s.name.starts_with("l2"));
    let balls = small.chain(large).filter(|s| {
        let names = ["l2", "lp", "ellipsoid", "group", "elastic-net"];
        names.iter().any(|name| s.name.starts_with(name))
    });
    for NamedSet { name, set, .. } in balls {
        if set.geometry().strong_convexity.is_some() {
            let failures = extremal_check::set(&Overstated(set)).unwrap_err();
            let law = "the set is as strongly convex as its constant";
            assert!(failures.of(law).is_some(), "{name}: {failures}");
        }
    }
}
