//! The laws of oracles. For every finite direction, an oracle returns a feasible minimiser. Every call
//! with the same direction returns the same minimiser. For any other input, an oracle returns an error.

use extremal::set::Atom;

use super::{FEASIBLE, Sample, ask};
use crate::kit::{bits, dot, max_abs, norm, normals, rng, spike};
use crate::report::{Law, Verdict, ensure, show};

pub(crate) fn laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("every atom is feasible", feasible),
        ("no point of the set is below the oracle's minimum", optimal),
        (
            "no entry of an atom can be improved by itself",
            optimal_in_every_entry,
        ),
        (
            "the value returned is ⟨direction, atom⟩, and no less than the floor",
            true_value,
        ),
        (
            "the earlier calls of an oracle do not affect its answer",
            same_bits,
        ),
        (
            "NaN, ∞ and a wrong length are errors, after which the oracle answers as before",
            bad_directions,
        ),
    ]
}

pub(crate) fn exact_laws<'a>() -> Vec<Law<Sample<'a>>> {
    vec![
        ("the oracle is exact", exact),
        (
            "an atom does not depend on the earlier content of its memory",
            forgetful_atom,
        ),
    ]
}

fn feasible(sample: &Sample<'_>) -> Verdict {
    for answer in &sample.answers {
        let violation = sample.set.violation(&answer.atom).unwrap_or(0.0);
        ensure!(
            violation <= FEASIBLE,
            "direction {}, {}: the atom {} has violation {violation:e}",
            answer.kind,
            show(&answer.direction),
            show(&answer.atom)
        );
    }
    Ok(())
}

fn optimal(sample: &Sample<'_>) -> Verdict {
    for answer in &sample.answers {
        for point in &sample.points {
            answer.check_floor("its point", point, sample)?;
        }
    }
    Ok(())
}

/// Moves one entry of an atom to the largest or smallest value that the set allows. The result is
/// strictly better than the atom, so it must be infeasible. This law finds wrong entries that
/// contribute less to the value than rounding errors.
fn optimal_in_every_entry(sample: &Sample<'_>) -> Verdict {
    let n = sample.set.dim();
    if n > 40 || sample.set.violation(&sample.centre).is_none() {
        return Ok(());
    }
    for i in 0..n {
        let low = sample.atom(&spike(n, i, 1.0))?[i];
        let high = sample.atom(&spike(n, i, -1.0))?[i];
        for answer in &sample.answers {
            let (d, v) = (answer.direction[i], answer.atom[i]);
            let end = if d > 0.0 { low } else { high };
            if d == 0.0 || answer.found.floor < answer.found.value {
                continue;
            }
            if (end - v).abs() <= 1e-6 * sample.size {
                continue;
            }
            let mut better = answer.atom.clone();
            better[i] = end;
            ensure!(
                sample.set.violation(&better) != Some(0.0),
                "direction {}, {}: entry {i} of the atom is {v}, and {end} is feasible and better",
                answer.kind,
                show(&answer.direction)
            );
        }
    }
    Ok(())
}

fn true_value(sample: &Sample<'_>) -> Verdict {
    for answer in &sample.answers {
        let top = max_abs(&answer.direction).max(f64::MIN_POSITIVE);
        let unit: Vec<f64> = answer.direction.iter().map(|d| d / top).collect();
        let (said, here) = (answer.found.value / top, dot(&unit, &answer.atom));
        ensure!(
            (said - here).abs() <= sample.check.oracle * norm(&unit) * sample.size,
            "direction {}, {}: the oracle returned {:e} for ⟨direction, atom⟩ = {:e}",
            answer.kind,
            show(&answer.direction),
            answer.found.value,
            here * top
        );
        ensure!(
            answer.found.floor <= answer.found.value,
            "direction {}, {}: the floor {:e} is above the value {:e}",
            answer.kind,
            show(&answer.direction),
            answer.found.floor,
            answer.found.value
        );
    }
    Ok(())
}

fn same_bits(sample: &Sample<'_>) -> Verdict {
    let (mut used, count) = (sample.set.oracle(), sample.answers.len());
    for (k, answer) in sample.answers.iter().enumerate() {
        // a call with a different direction in between
        ask(&mut *used, &sample.answers[(k * 7 + 3) % count].direction)?;
        for (what, oracle) in [
            ("an oracle with other earlier calls answers", &mut used),
            ("a new oracle answers", &mut sample.set.oracle()),
        ] {
            let (atom, found) = ask(&mut **oracle, &answer.direction)?;
            ensure!(
                bits(&atom) == bits(&answer.atom)
                    && found.value.to_bits() == answer.found.value.to_bits(),
                "direction {}, {}: one oracle answers {}, {what} {}",
                answer.kind,
                show(&answer.direction),
                show(&answer.atom),
                show(&atom)
            );
        }
    }
    Ok(())
}

fn bad_directions(sample: &Sample<'_>) -> Verdict {
    let n = sample.set.dim();
    let mut oracle = sample.set.oracle();
    let good = normals(&mut rng(3), n);
    let before = ask(&mut *oracle, &good)?;
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for i in [0, n / 2, n - 1] {
            let mut direction = good.clone();
            direction[i] = bad;
            let answer = oracle.minimise(&direction, &mut Atom::new());
            ensure!(answer.is_err(), "a direction with {bad} at {i} is accepted");
        }
    }
    for length in [0, n - 1, n + 1, 2 * n] {
        let answer = oracle.minimise(&vec![1.0; length], &mut Atom::new());
        ensure!(
            answer.is_err() || length == n,
            "a direction with {length} entries is accepted in dimension {n}"
        );
    }
    let after = ask(&mut *oracle, &good)?;
    ensure!(
        after == before,
        "direction {}: {} before the errors, {} after them",
        show(&good),
        show(&before.0),
        show(&after.0)
    );
    Ok(())
}

fn exact(sample: &Sample<'_>) -> Verdict {
    for answer in &sample.answers {
        let found = answer.found;
        let zero = max_abs(&answer.direction) == 0.0;
        ensure!(
            found.floor == found.value && (!zero || found.value == 0.0),
            "direction {}, {}: {found:?}",
            answer.kind,
            show(&answer.direction)
        );
    }
    Ok(())
}

fn forgetful_atom(sample: &Sample<'_>) -> Verdict {
    let mut oracle = sample.set.oracle();
    let mut reused = Atom::new();
    for answer in &sample.answers {
        let found = oracle.minimise(&answer.direction, &mut reused)?;
        let mut v = vec![f64::NAN; answer.direction.len()];
        reused.write(&mut v);
        ensure!(
            bits(&v) == bits(&answer.atom) && found == answer.found,
            "direction {}, {}: the atom is {} in new memory and {} in used memory",
            answer.kind,
            show(&answer.direction),
            show(&answer.atom),
            show(&v)
        );
    }
    Ok(())
}
