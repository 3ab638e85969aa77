//! Every method comes to the same end, each at its own pace.

use extremal::Row;
use extremal::hindsight::{Method, Options, Sum, solve};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{CustomSet, Geometry};

use crate::common::{bits, normals, rng};
use crate::{Data, SETS, set};

fn with(method: Method, gap: f64) -> Options {
    Options {
        method,
        relative_gap: gap,
        ..Options::default()
    }
}

#[test]
fn every_method_finds_the_same_value() {
    for text in SETS {
        for loss in ["squared", "logistic"] {
            let data = Data::draw(11, loss, 200, 6);
            let (sum, set) = (data.sum(), set(text, 6));
            let exact = solve(&sum, &*set, &with(Method::Auto, 1e-9)).unwrap();
            assert!(exact.relative_gap() <= 1e-9, "{loss} over {text}");
            // Frank-Wolfe alone is slow where the best point is inside a face, and sets without
            // corners offer no atoms to come back to.
            let curved = set.geometry().strong_convexity.is_some() || text.starts_with("lp");
            for (method, gap) in [
                (Method::Spectral, 1e-8),
                (Method::Accelerated, 1e-8),
                (Method::FrankWolfe, 1e-3),
                (Method::Pairwise, if curved { 1e-3 } else { 1e-7 }),
            ] {
                let best = solve(&sum, &*set, &with(method, gap)).unwrap();
                let name = format!("{loss} over {text}, {method}: {best:?}");
                assert_eq!(best.method, method);
                assert!(best.relative_gap() <= gap, "{name}");
                assert!(best.value >= exact.floor - 1e-12 * exact.value, "{name}");
                assert!(best.floor <= exact.value * (1.0 + 1e-12), "{name}");
            }
        }
    }
}

#[test]
fn no_gradient_changes_faster_than_the_bound_of_the_curvature() {
    use extremal::hindsight::Total;
    let data = Data::draw(16, "logistic", 50, 4);
    let sum = data.sum();
    let bound = sum.smoothness_bound(0.0);
    let gradient = |x: &[f64]| {
        let (mut image, mut g) = (vec![0.0; sum.images()], vec![0.0; 4]);
        sum.evaluate(0.0, x, &mut image, &mut g);
        g
    };
    let mut r = crate::common::rng(17);
    for _ in 0..200 {
        let x = crate::common::normals(&mut r, 4);
        let y = crate::common::normals(&mut r, 4);
        let apart = crate::common::distance(&x, &y);
        assert!(crate::common::distance(&gradient(&x), &gradient(&y)) <= bound * apart);
    }
}

#[test]
fn pairwise_steps_converge_linearly_on_a_polytope() {
    let data = Data::draw(12, "squared", 200, 20);
    let (sum, set) = (data.sum(), set("simplex", 20));
    let steps = |gap| {
        let best = solve(&sum, &*set, &with(Method::Pairwise, gap)).unwrap();
        assert!(best.relative_gap() <= gap, "{best:?}");
        best.steps
    };
    let (some, more) = (steps(1e-5), steps(1e-10));
    // five more digits cost no more than the first five; a rate of 1/t would cost 10⁵ times
    assert!(more <= 3 * some + 20, "{some} and {more} steps");
    let plain = Options {
        steps: more,
        ..with(Method::FrankWolfe, 1e-10)
    };
    let plain = solve(&sum, &*set, &plain).unwrap();
    assert!(plain.relative_gap() > 1e-8, "{plain:?}");
}

#[test]
fn linear_losses_take_one_oracle_call() {
    let objective = Objective::new("linear".parse::<LossSpec>().unwrap().build().unwrap(), 0.0);
    let mut r = rng(13);
    for text in SETS {
        let mut sum = Sum::new(7, objective.as_ref().unwrap()).unwrap();
        let mut total = vec![0.0; 7];
        for _ in 0..20 {
            let row = normals(&mut r, 7);
            sum.push(Row::Dense(&row), 0.0, 2.0).unwrap();
            total.iter_mut().zip(&row).for_each(|(t, a)| *t += 2.0 * a);
        }
        let set = set(text, 7);
        let best = solve(&sum, &*set, &Options::default()).unwrap();
        assert_eq!((best.method, best.oracle_calls), (Method::Linear, 1));
        assert!(best.relative_gap() <= 1e-12, "{text}: {best:?}");
        let atom = crate::common::atom(&*set, &total);
        let low = total.iter().zip(&atom).map(|(a, b)| a * b).sum::<f64>();
        assert!((best.value - low).abs() <= 1e-9 * low.abs(), "{text}");
    }
}

/// The square with corners (±1, ±1), through its oracle alone.
fn square() -> CustomSet {
    let geometry = Geometry {
        diameter: 8f64.sqrt(),
        norm_bound: 2f64.sqrt(),
        inner_radius: Some(1.0),
        strong_convexity: None,
    };
    CustomSet::new("square", 2, geometry, |direction, v| {
        for (v, d) in v.iter_mut().zip(direction) {
            *v = if *d > 0.0 { -1.0 } else { 1.0 };
        }
        Ok(())
    })
    .unwrap()
}

#[test]
fn a_users_oracle_is_enough() {
    let data = Data::draw(14, "logistic", 40, 2);
    let best = solve(&data.sum(), &square(), &with(Method::Auto, 1e-9)).unwrap();
    assert_eq!(best.method, Method::Pairwise);
    assert!(best.relative_gap() <= 1e-9, "{best:?}");
    let same = set("box:lower=-1,upper=1", 2);
    let other = solve(&data.sum(), &*same, &with(Method::Auto, 1e-9)).unwrap();
    assert!((best.value - other.value).abs() <= 2e-9 * best.value);
    let error = solve(&data.sum(), &square(), &with(Method::Spectral, 1e-9)).unwrap_err();
    assert!(error.to_string().contains("projection"), "{error}");
}

#[test]
fn the_same_search_gives_the_same_bits() {
    let data = Data::draw(15, "absolute", 40, 6);
    for method in [Method::Auto, Method::Pairwise, Method::Accelerated] {
        let options = Options {
            steps: 60,
            ..with(method, 1e-9)
        };
        let run = || solve(&data.sum(), &*set("l1", 6), &options).unwrap();
        let (a, b) = (run(), run());
        assert_eq!(bits(&a.x), bits(&b.x));
        assert_eq!((a.value, a.floor), (b.value, b.floor));
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let data = Data::draw(16, "squared", 10, 3);
    let sum = data.sum();
    let refused = |text: &str, dim: usize, options: Options| {
        let result = solve(&sum, &*set(text, dim), &options);
        result.unwrap_err().to_string()
    };
    let error = refused("l2", 4, Options::default());
    assert!(error.contains("expected 3 entries, found 4"), "{error}");
    let outside = Options {
        start: Some(vec![2.0, 0.0, 0.0]),
        ..Options::default()
    };
    assert!(refused("l2", 3, outside).contains("a point of the set"));
    let not_a_number = Options {
        start: Some(vec![f64::NAN, 0.0, 0.0]),
        ..Options::default()
    };
    assert!(refused("l2", 3, not_a_number).contains("NaN"));
    assert!(refused("l2", 3, with(Method::Auto, f64::NAN)).contains("relative_gap"));
    assert!(refused("l2", 3, with(Method::Linear, 1e-6)).contains("linear losses"));
}

#[test]
fn a_warm_start_at_the_optimum_needs_hardly_a_step() {
    let data = Data::draw(17, "logistic", 200, 10);
    let (sum, set) = (data.sum(), set("l2:radius=0.5", 10));
    let cold = solve(&sum, &*set, &with(Method::Auto, 1e-9)).unwrap();
    let warm = Options {
        start: Some(cold.x.clone()),
        ..with(Method::Auto, 1e-8)
    };
    let warm = solve(&sum, &*set, &warm).unwrap();
    assert!(warm.steps <= 1 && cold.steps > 3, "{cold:?} {warm:?}");
}
