//! The laws of the functions that measure infeasibility: the violation, the inspector and the gauge.

use super::{FEASIBLE, Sample};
use crate::kit::{dot, minus, norm, normals, plus, rng, scaled, telling_directions, unit};
use crate::report::{Law, Verdict, ensure, show};

pub(crate) fn laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("atoms and their mixtures have violation 0", inside),
        ("a point beyond an atom has a violation", |s| {
            outside(s, false)
        }),
        ("a point with NaN or ∞ is not feasible", not_finite),
        ("an inspector returns the violation", inspector),
        (
            "the gauge is 1 at atoms, is homogeneous and convex, and agrees with the violation",
            gauge,
        ),
        (
            "a gauge's subgradient s at x has ⟨s, x⟩ = gauge(x), and ⟨s, u⟩ ≤ 1 in the set",
            subgradient,
        ),
    ]
}

pub(crate) fn exact_laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![(
        "the violation grows in proportion to the distance from the set",
        |s| outside(s, true),
    )]
}

fn inside(sample: &Sample<'_>) -> Verdict {
    for x in &sample.points {
        let violation = sample.set.violation(x).unwrap_or(0.0);
        ensure!(
            violation <= FEASIBLE,
            "{} has violation {violation:e}",
            show(x)
        );
    }
    Ok(())
}

fn outside(sample: &Sample<'_>, exact: bool) -> Verdict {
    for answer in &sample.answers {
        let (d, v) = (&answer.direction, &answer.atom);
        let out = minus(v, &sample.centre);
        let d = scaled(d, 1.0 / norm(d).max(f64::MIN_POSITIVE));
        // skips atoms that are no better than the centre, up to rounding errors
        if -dot(&d, &out) <= 1e-6 * sample.size || sample.set.violation(v).is_none() {
            continue;
        }
        let at = |k: f64| {
            let violation = sample.set.violation(&plus(v, k, &out));
            violation.unwrap_or(f64::NAN)
        };
        let (near, far) = (at(1e-3), at(1e-2));
        ensure!(
            near > 0.0 && far > near,
            "direction {}: on the ray from the centre through the atom {}, the violation is {near:e} at \
             1.001 times the atom's distance and {far:e} at 1.01 times",
            show(&answer.direction),
            show(v)
        );
        ensure!(
            !exact || (5.0..20.0).contains(&(far / near)) && near > 1e-6 && near < 1e-1,
            "direction {}: on the ray from the centre through the atom {}, the violation is {near:e} at \
             1.001 times the atom's distance and {far:e} at 1.01 times; it is not proportional",
            show(&answer.direction),
            show(v)
        );
    }
    Ok(())
}

fn not_finite(sample: &Sample<'_>) -> Verdict {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for i in [0, sample.set.dim() - 1] {
            let mut x = sample.centre.clone();
            x[i] = bad;
            let violation = sample.set.violation(&x);
            ensure!(
                violation.is_none_or(|v| !(v <= FEASIBLE)),
                "{} has violation {violation:?}",
                show(&x)
            );
        }
    }
    Ok(())
}

fn inspector(sample: &Sample<'_>) -> Verdict {
    let Some(mut inspect) = sample.set.inspector() else {
        return Ok(());
    };
    for x in &sample.points {
        for k in [1.0, 3.0, -0.5] {
            let x = scaled(x, k);
            let (one, other) = (inspect(&x), sample.set.violation(&x));
            ensure!(one == other, "{}: {one:?} and {other:?}", show(&x));
        }
    }
    Ok(())
}

fn gauge(sample: &Sample<'_>) -> Verdict {
    let (set, n) = (sample.set, sample.set.dim());
    let Some(zero) = set.gauge(&vec![0.0; n]) else {
        return Ok(());
    };
    ensure!(zero == 0.0, "the gauge of 0 is {zero}");
    let gauge = |x: &[f64]| set.gauge(x).unwrap_or(f64::NAN);
    let told = sample
        .answers
        .iter()
        .filter(|a| a.kind == "of extreme points");
    for answer in told {
        let here = gauge(&answer.atom);
        ensure!(
            (here - 1.0).abs() <= sample.check.oracle,
            "the atom {} has gauge {here}",
            show(&answer.atom)
        );
    }
    let mut r = rng(9);
    for size in [1e-3, 0.3, 1.0, 3.0, 1e3] {
        let x = scaled(&normals(&mut r, n), size * sample.size);
        let (here, violation) = (gauge(&x), set.violation(&x));
        ensure!(
            violation.is_none_or(|v| (v == 0.0) == (here <= 1.0)),
            "{} has gauge {here} and violation {violation:?}",
            show(&x)
        );
        for k in [1e-80, 1e-3, 2.0, 1e80] {
            let there = gauge(&scaled(&x, k));
            ensure!(
                (there / (k * here) - 1.0).abs() <= 1e-12,
                "{} has gauge {here}, and {k} times this point has gauge {there}",
                show(&x)
            );
        }
        let y = unit(&mut r, n);
        let sum = gauge(&plus(&x, 1.0, &y));
        ensure!(
            sum <= (here + gauge(&y)) * (1.0 + 1e-12),
            "{} and {} have gauges {here} and {}; their sum has gauge {sum}",
            show(&x),
            show(&y),
            gauge(&y)
        );
    }
    Ok(())
}

fn subgradient(sample: &Sample<'_>) -> Verdict {
    let (set, n) = (sample.set, sample.set.dim());
    let at = |x: &[f64]| {
        let mut s = vec![f64::NAN; n];
        let gauge = set.gauge_gradient(x, &mut s);
        gauge.map(|gauge| (gauge, s))
    };
    let zero = at(&vec![0.0; n]);
    let stated = set.facts().gauge;
    ensure!(
        stated == zero.is_some(),
        "facts().gauge is {stated}, and gauge_gradient at 0 is {zero:?}"
    );
    let Some((gauge, s)) = zero else {
        return Ok(());
    };
    ensure!(
        gauge == 0.0 && s.iter().all(|v| v.is_finite()),
        "at 0, gauge_gradient returns the gauge {gauge} and the subgradient {}",
        show(&s)
    );
    for d in telling_directions(&mut rng(1), n, 6) {
        for length in [1e-3, 0.7, 1.0, 40.0] {
            let x = scaled(&d, length * sample.size / norm(&d));
            let (gauge, s) = at(&x).unwrap_or((f64::NAN, Vec::new()));
            let plain = set.gauge(&x).unwrap_or(f64::NAN);
            ensure!(
                (gauge / plain - 1.0).abs() <= 1e-12,
                "at {} gauge_gradient returns the gauge {gauge}, but gauge returns {plain}",
                show(&x)
            );
            let along = dot(&s, &x);
            ensure!(
                (along / gauge - 1.0).abs() <= 1e-9,
                "at {} the gauge is {gauge}, but ⟨s, x⟩ is {along}",
                show(&x)
            );
            // the largest value of ⟨s, u⟩ in the set
            let (most, _) = sample.furthest(&s)?;
            ensure!(
                (most - 1.0).abs() <= 1e-7 && most <= 1.0 + 10.0 * sample.check.oracle.max(1e-10),
                "at {} the largest ⟨s, u⟩ in the set is {most}",
                show(&x)
            );
        }
    }
    Ok(())
}
