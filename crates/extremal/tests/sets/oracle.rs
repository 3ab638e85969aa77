//! What an oracle promises: a feasible minimiser for every finite direction, the same every
//! time, and an error for everything else.

use extremal::Error;
use extremal::kernel::{dot, max_abs, norm};
use extremal::set::{Atom, Minimum, Oracle};
use proptest::prelude::*;

use crate::common::{self, NamedSet, all_sets, bits, normals, rng, scaled, spike, uniform};

/// Directions meant to break an oracle.
fn hard_directions(n: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut r = rng(7);
    let sign = |i: usize| if i % 3 == 1 { -1.0 } else { 1.0 };
    let ramp = |k: f64| -> Vec<f64> { (0..n).map(|i| k * sign(i) * (1 + i) as f64).collect() };
    let mut all = vec![
        ("zero", vec![0.0; n]),
        ("negative zero", vec![-0.0; n]),
        ("1e-140", ramp(1e-140)),
        ("1e-138", scaled(&normals(&mut r, n), 1e-138)),
        ("1e-100", scaled(&normals(&mut r, n), 1e-100)),
        ("1e140", scaled(&normals(&mut r, n), 1e140)),
        ("ones", vec![1.0; n]),
        ("minus ones", vec![-1.0; n]),
        ("signs", (0..n).map(sign).collect()),
        ("ramp", ramp(1.0)),
        (
            "nearly equal",
            (0..n).map(|i| 1.0 + i as f64 * f64::EPSILON).collect(),
        ),
    ];
    for _ in 0..10 {
        let wide = (0..n)
            .map(|_| 10f64.powf(270.0 * uniform(&mut r) - 135.0) * normals(&mut r, 1)[0].signum())
            .collect();
        all.push(("mixed scales", wide));
        all.push(("random", normals(&mut r, n)));
        let coarse = normals(&mut r, n).iter().map(|v| v.round()).collect();
        all.push(("many ties and zeros", coarse));
    }
    for i in [0, n / 2, n - 1] {
        for k in [1.0, -1.0, 1e-140, -1e140] {
            all.push(("one entry", spike(n, i, k)));
        }
    }
    all
}

fn ask(oracle: &mut dyn Oracle, direction: &[f64]) -> (Vec<f64>, f64) {
    let mut atom = Atom::new();
    let Minimum { value, floor } = oracle.minimise(direction, &mut atom).unwrap();
    assert_eq!(floor, value, "the library's own oracles are exact");
    let mut v = vec![f64::NAN; direction.len()];
    atom.write(&mut v);
    (v, value)
}

/// Feasible, optimal against `others`, and the value told is the value.
fn check_answer(
    named: &NamedSet,
    what: &str,
    d: &[f64],
    v: &[f64],
    value: f64,
    others: &[Vec<f64>],
) {
    let NamedSet { name, set, .. } = named;
    let violation = set.violation(v).unwrap_or(0.0);
    assert!(
        violation <= 1e-9,
        "{name}, {what}: the atom violates by {violation:e}"
    );
    let top = max_abs(d);
    let size = set.geometry().norm_bound;
    if top == 0.0 {
        assert_eq!(value, 0.0, "{name}, {what}");
        return;
    }
    let unit: Vec<f64> = d.iter().map(|d| d / top).collect();
    let tolerance = 1e-11 * norm(&unit) * size;
    let low = dot(&unit, v);
    assert!(
        (value / top - low).abs() <= tolerance,
        "{name}, {what}: told {value:e}, is {:e}",
        low * top
    );
    for y in others {
        let there = dot(&unit, y);
        assert!(
            low <= there + tolerance,
            "{name}, {what}: {low} at the atom, {there} elsewhere"
        );
    }
}

/// Moves one coordinate to where the set ends in that coordinate: strictly better, so
/// that it must not be feasible. This sees coordinates whose share of the value is lost in
/// rounding.
fn check_every_coordinate(named: &NamedSet, what: &str, d: &[f64], v: &[f64]) {
    let NamedSet { name, set, .. } = named;
    for i in (0..d.len()).filter(|&i| d[i] != 0.0) {
        let end = common::atom(&**set, &spike(d.len(), i, d[i].signum()))[i];
        let mut y = v.to_vec();
        y[i] = end;
        let gained = (y[i] - v[i]).abs() > 1e-6 * set.geometry().norm_bound;
        let inside = set.violation(&y).is_some_and(|violation| violation == 0.0);
        assert!(
            !(gained && inside),
            "{name}, {what}: entry {i} is {} where {} is feasible and better",
            v[i],
            y[i]
        );
    }
}

#[test]
fn every_atom_is_feasible_and_optimal_whatever_the_direction() {
    for named in all_sets() {
        let (set, n) = (&named.set, named.set.dim());
        let mut oracle = set.oracle();
        let mut others = common::feasible_points(&mut rng(1), &**set, 20);
        if let Some(mut projection) = set.projection() {
            for _ in 0..10 {
                let mut y = scaled(&normals(&mut rng(2), n), set.geometry().norm_bound);
                projection.project(&mut y).unwrap();
                others.push(y);
            }
        }
        let directions = hard_directions(n);
        let answers: Vec<_> = directions
            .iter()
            .map(|(_, d)| ask(&mut *oracle, d))
            .collect();
        others.extend(answers.iter().map(|(v, _)| v.clone()));
        for ((what, d), (v, value)) in directions.iter().zip(&answers) {
            check_answer(&named, what, d, v, *value, &others);
            if n <= 37 {
                check_every_coordinate(&named, what, d, v);
            }
        }
    }
}

#[test]
fn an_oracle_gives_the_same_bits_whatever_it_was_asked_before() {
    for NamedSet { name, set, .. } in all_sets() {
        let directions = hard_directions(set.dim());
        let (mut one, mut other) = (set.oracle(), set.oracle());
        for (k, (what, d)) in directions.iter().enumerate() {
            let (v, value) = ask(&mut *one, d);
            // the second one meets the directions in another order, in between
            let (_, between) = &directions[(k * 7 + 3) % directions.len()];
            ask(&mut *other, between);
            for oracle in [&mut one, &mut other] {
                let (w, again) = ask(&mut **oracle, d);
                assert_eq!(bits(&w), bits(&v), "{name}, {what}");
                assert_eq!(again.to_bits(), value.to_bits(), "{name}, {what}");
            }
            let (w, _) = ask(&mut *set.oracle(), d);
            assert_eq!(bits(&w), bits(&v), "{name}, {what}: a fresh oracle differs");
        }
    }
}

#[test]
fn an_atom_does_not_depend_on_what_its_memory_held() {
    for NamedSet { name, set, .. } in all_sets() {
        let mut oracle = set.oracle();
        let mut reused = Atom::new();
        for (what, d) in hard_directions(set.dim()) {
            let value = oracle.minimise(&d, &mut reused).unwrap().value;
            let mut v = vec![f64::NAN; d.len()];
            reused.write(&mut v);
            assert_eq!(
                (bits(&v), value),
                {
                    let (v, value) = ask(&mut *set.oracle(), &d);
                    (bits(&v), value)
                },
                "{name}, {what}"
            );
        }
    }
}

#[test]
fn bad_directions_are_errors_and_spoil_nothing() {
    for NamedSet { name, set, .. } in all_sets() {
        let n = set.dim();
        let mut oracle = set.oracle();
        let good = normals(&mut rng(3), n);
        let before = ask(&mut *oracle, &good);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for i in [0, n / 2, n - 1] {
                let mut d = good.clone();
                d[i] = bad;
                let error = oracle.minimise(&d, &mut Atom::new()).unwrap_err();
                assert!(
                    matches!(error, Error::NotFinite { index, .. } if index == i),
                    "{name}: {error}"
                );
            }
        }
        for length in [0, n - 1, n + 1, 2 * n] {
            let error = oracle.minimise(&vec![1.0; length], &mut Atom::new());
            assert!(
                matches!(error, Err(Error::Size { expected, found, .. }) if expected == n && found == length)
                    || length == n,
                "{name}: {error:?}"
            );
        }
        assert_eq!(ask(&mut *oracle, &good), before, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_direction_in_range_has_an_answer(
        d in prop::collection::vec(prop::num::f64::ANY.prop_filter("finite", |v| v.is_finite()), 5),
    ) {
        let d: Vec<f64> = d.iter().map(|v| v.signum() * v.abs().clamp(1e-140, 1e140)).collect();
        for named in common::sets(5).into_iter().filter(|n| n.set.dim() == 5) {
            let others = [common::centre(&*named.set), common::atom(&*named.set, &[1.0; 5])];
            let (v, value) = ask(&mut *named.set.oracle(), &d);
            check_answer(&named, "proptest", &d, &v, value, &others);
        }
    }
}
