//! The battery for streams: every one that is registered, in every example.

use crate::common::{self, DIMS, normals, rng, scaled, spike, streams, unit};
use extremal::Point;
use extremal::kernel::{dot, norm};
use extremal::stream::{Stream, StreamSpec};

/// Decisions as learners make them: 0 first, then anything.
fn decisions(dim: usize, rounds: usize) -> Vec<Vec<f64>> {
    let mut r = rng(3);
    let one = |t| match t % 5 {
        0 => vec![0.0; dim],
        1 => spike(dim, t % dim, -1.0),
        2 => scaled(&normals(&mut r, dim), 1e-200),
        _ => normals(&mut r, dim),
    };
    (0..rounds).map(one).collect()
}

/// A round written out: row, label, weight.
type Written = (Vec<u64>, u64, u64);

fn written(stream: &mut dyn Stream, decisions: &[Vec<f64>]) -> Vec<Written> {
    let next = |x: &Vec<f64>| {
        let round = stream.next(x).unwrap().expect("a stream without end");
        let mut row = vec![0.0; x.dim()];
        round.row.add_to(1.0, &mut row);
        (
            common::bits(&row),
            round.label.to_bits(),
            round.weight.to_bits(),
        )
    };
    decisions.iter().map(next).collect()
}

#[test]
fn rows_and_labels_keep_their_bounds_and_rows_are_well_formed() {
    for dim in DIMS {
        let decisions = decisions(dim, 2000);
        for (text, spec) in streams() {
            let name = format!("{text} in dimension {dim}");
            let mut stream = spec.build(dim, 1).unwrap();
            let (row_bound, label_bound) = (stream.row_bound(), stream.label_bound());
            let (mut longest, mut largest) = (0.0_f64, 0.0_f64);
            for x in &decisions {
                let round = stream.next(x).unwrap().unwrap();
                round.row.check_shape(dim).unwrap();
                let mut seen = vec![false; dim];
                let mut values = Vec::new();
                for (i, v) in round.row.entries() {
                    assert!(
                        !std::mem::replace(&mut seen[i], true),
                        "{name}: index {i} twice"
                    );
                    values.push(v);
                }
                let size = norm(&values);
                assert!(
                    size <= row_bound,
                    "{name}: a row of norm {size} > {row_bound}"
                );
                assert!(
                    round.label.abs() <= label_bound,
                    "{name}: label {}",
                    round.label
                );
                assert!(round.weight > 0.0 && round.weight.is_finite(), "{name}");
                longest = longest.max(size);
                largest = largest.max(round.label.abs());
            }
            // where no bound is known, none is kept
            assert!(
                row_bound.is_infinite() || longest >= 0.5 * row_bound,
                "{name}: no row longer than {longest}"
            );
            assert!(
                largest >= 0.3 * label_bound,
                "{name}: no label above {largest}"
            );
        }
    }
}

#[test]
fn the_seed_makes_the_rounds() {
    for dim in [1, 2, 10, 100] {
        let decisions = decisions(dim, 200);
        for (text, spec) in streams() {
            let play = |seed| written(&mut *spec.build(dim, seed).unwrap(), &decisions);
            assert_eq!(play(7), play(7), "{text} in dimension {dim}");
            // in one dimension there are but two unit vectors
            if dim > 1 {
                assert_ne!(play(7), play(8), "{text} in dimension {dim}");
            }
        }
    }
}

#[test]
fn only_adaptive_streams_look_at_the_decision() {
    for (text, spec) in streams() {
        let here = decisions(10, 200);
        let elsewhere: Vec<Vec<f64>> = here
            .iter()
            .map(|x| common::plus(x, 1.0, &[0.3; 10]))
            .collect();
        let mut stream = spec.build(10, 1).unwrap();
        let one = written(&mut *stream, &here);
        let other = written(&mut *spec.build(10, 1).unwrap(), &elsewhere);
        assert_eq!(one != other, stream.is_adaptive(), "{text}");
    }
}

/// The rows' mean over many rounds.
fn mean_row(spec: &StreamSpec, dim: usize, rounds: usize) -> Vec<f64> {
    let mut stream = spec.build(dim, 1).unwrap();
    let (x, mut sum) = (vec![0.0; dim], vec![0.0; dim]);
    for _ in 0..rounds {
        let round = stream.next(&x).unwrap().unwrap();
        round.row.add_to(1.0 / rounds as f64, &mut sum);
    }
    sum
}

#[test]
fn noise_has_no_mean_and_drift_has_the_one_it_says() {
    let mean = |text: &str, dim| norm(&mean_row(&text.parse().unwrap(), dim, 20_000));
    for dim in [1, 3, 20] {
        // a mean of n unit vectors has norm about 1/√n
        assert!(
            mean("noise", dim) < 5.0 / 20_000f64.sqrt(),
            "dimension {dim}"
        );
        assert!(mean("alternating", dim) < 1e-12, "dimension {dim}");
        assert!(mean("drift:mean=0", dim) < 0.02, "dimension {dim}");
        // noise that keeps rows below norm 1 leaves the mean as it is; the cut only shortens
        let quiet = mean("drift:mean=0.5,noise=0.05", dim);
        assert!((quiet - 0.5).abs() < 0.005, "dimension {dim}: {quiet}");
        let loud = mean("drift", dim);
        assert!(loud > 0.3 && loud < 0.52, "dimension {dim}: {loud}");
    }
}

#[test]
fn adversaries_do_what_they_are_called() {
    let mut r = rng(4);
    for dim in [3, 10, 37] {
        let build = |kind: &str| {
            let spec: StreamSpec = format!("adversary:kind={kind}").parse().unwrap();
            spec.build(dim, 1).unwrap()
        };
        let (mut along, mut sign, mut across) =
            (build("along"), build("sign"), build("orthogonal"));
        let mut past = vec![0.0; dim];
        for t in 0..500 {
            // decisions that chase the past, as a learner's do, and others
            let mut x = unit(&mut r, dim);
            if t % 2 == 0 && norm(&past) > 0.0 {
                x = common::plus(&scaled(&past, -1.0 / norm(&past)), 1e-3, &x);
            }
            let size = norm(&x);
            let x = x;
            let dense = |round: extremal::stream::Round<'_>| {
                let mut row = vec![0.0; dim];
                round.row.add_to(1.0, &mut row);
                row
            };
            let row = dense(along.next(&x).unwrap().unwrap());
            assert!((dot(&row, &x) / size - 1.0).abs() < 1e-12);
            let row = dense(sign.next(&x).unwrap().unwrap());
            let one_norm: f64 = x.iter().map(|v| v.abs()).sum();
            assert!((dot(&row, &x) * (dim as f64).sqrt() / one_norm - 1.0).abs() < 1e-12);
            let row = dense(across.next(&x).unwrap().unwrap());
            assert!(
                dot(&row, &x).abs() <= 1e-9 * size,
                "round {t}: {}",
                dot(&row, &x)
            );
            assert!((norm(&row) - 1.0).abs() < 1e-12);
            past = common::plus(&past, 1.0, &row);
        }
        // each gradient across the sum of those before it: the sum's norm is √T
        let grown = norm(&past) / 500f64.sqrt();
        assert!((0.9..1.1).contains(&grown), "dimension {dim}: {grown}");
    }
}

#[test]
fn planted_labels_can_be_learnt() {
    for text in ["regression", "classification", "zipf:nonzeros=5"] {
        let spec: StreamSpec = text.parse().unwrap();
        // Σ label·row points towards the planted weights, on fresh rounds of the same seed
        let mut stream = spec.build(10, 1).unwrap();
        let (x, mut guess) = (vec![0.0; 10], vec![0.0; 10]);
        for _ in 0..3000 {
            let round = stream.next(&x).unwrap().unwrap();
            round.row.add_to(round.label, &mut guess);
        }
        let mut right = 0;
        for _ in 0..1000 {
            let round = stream.next(&x).unwrap().unwrap();
            right += usize::from(round.row.dot(&guess) * round.label > 0.0);
        }
        assert!(right > 750, "{text}: {right} of 1000");
    }
}

/// The dense rows and the labels of a stream's first rounds.
fn first(text: &str, dim: usize, rounds: usize) -> Vec<(Vec<f64>, f64)> {
    let mut stream = text.parse::<StreamSpec>().unwrap().build(dim, 2).unwrap();
    let x = vec![0.0; dim];
    let next = |_| {
        let round = stream.next(&x).unwrap().unwrap();
        let mut row = vec![0.0; dim];
        round.row.add_to(1.0, &mut row);
        (row, round.label)
    };
    (0..rounds).map(next).collect()
}

/// w of labels ⟨a, w⟩ without noise, from as many rounds as there are dimensions, by elimination.
fn planted(rounds: &[(Vec<f64>, f64)]) -> Vec<f64> {
    let n = rounds.len();
    let with_label = |(row, label): &(Vec<f64>, f64)| [row.clone(), vec![*label]].concat();
    let mut a: Vec<Vec<f64>> = rounds.iter().map(with_label).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()));
        a.swap(k, pivot.unwrap());
        for i in (0..n).filter(|i| *i != k) {
            let factor = a[i][k] / a[k][k];
            a[i] = common::plus(&a[i], -factor, &a[k]);
        }
    }
    (0..n).map(|k| a[k][n] / a[k][k]).collect()
}

#[test]
fn a_rotating_optimum_comes_back_after_its_period_and_moves_evenly_between() {
    for dim in [2, 3, 10] {
        let rows = first("rotating:kind=linear,period=60,noise=0", dim, 180);
        for t in 0..180 {
            assert!((norm(&rows[t].0) - 1.0).abs() < 1e-12);
            let back = common::distance(&rows[t].0, &rows[(t + 60) % 180].0);
            assert_eq!(back, 0.0, "round {t}");
            // 6° per round, and −w after half a turn
            let ahead = dot(&rows[t].0, &rows[(t + 1) % 180].0);
            assert!((ahead - 6f64.to_radians().cos()).abs() < 1e-12, "round {t}");
            assert!((dot(&rows[t].0, &rows[(t + 30) % 180].0) + 1.0).abs() < 1e-12);
        }
        // labels of a w that stands still for a while tell where it is
        let slow = format!("rotating:period={},norm=2,noise=0", 1u64 << 50);
        let w = planted(&first(&slow, dim, dim));
        assert!((norm(&w) - 2.0).abs() < 1e-6, "{w:?}");
        // one full turn later, rows differ but w is the same
        let rounds = first("rotating:period=5,norm=2,noise=0", dim, 5 * dim);
        let every_fifth: Vec<_> = rounds.iter().step_by(5).cloned().collect();
        let w = planted(&every_fifth);
        assert!((norm(&w) - 2.0).abs() < 1e-6, "{w:?}");
    }
    // in one dimension it swings
    let rows = first("rotating:kind=linear,period=4,noise=0", 1, 4);
    let swing: Vec<f64> = rows.iter().map(|(row, _)| row[0] / rows[0].0[0]).collect();
    for (found, expected) in swing.iter().zip([1.0, 0.0, -1.0, 0.0]) {
        assert!((found - expected).abs() < 1e-12, "{swing:?}");
    }
}

#[test]
fn a_switching_solution_stands_still_between_its_switches() {
    for dim in [2, 5] {
        let every = 3 * dim;
        let text = format!("switching:every={every},norm=3,noise=0");
        let rounds = first(&text, dim, 20 * every);
        let found: Vec<Vec<f64>> = rounds.chunks(dim).map(planted).collect();
        for (k, w) in found.iter().enumerate() {
            assert!((norm(w) - 3.0).abs() < 1e-6, "{w:?}");
            let moved = k > 0 && common::distance(w, &found[k - 1]) > 1e-3;
            assert_eq!(
                moved,
                k > 0 && k % 3 == 0,
                "solution {k} in dimension {dim}"
            );
        }
    }
}

/// The tail index by Hill's estimator, from the largest `k` of the values.
fn hill(mut values: Vec<f64>, k: usize) -> f64 {
    values.sort_by(|a, b| b.total_cmp(a));
    let sum: f64 = values[..k].iter().map(|v| (v / values[k]).ln()).sum();
    k as f64 / sum
}

#[test]
fn heavy_tails_have_the_index_they_say_and_no_bound() {
    for index in [0.5, 1.5, 3.0] {
        let rows = first(&format!("heavy-tailed:index={index}"), 3, 50_000);
        let norms: Vec<f64> = rows.iter().map(|(row, _)| norm(row)).collect();
        // Pareto's law is exact: Hill's estimate from all values errs by index/√n
        assert!(norms.iter().all(|n| *n >= 1.0 - 1e-12));
        let found = norms.len() as f64 / norms.iter().map(|n| n.ln()).sum::<f64>();
        assert!(
            (found / index - 1.0).abs() < 5.0 / 50_000f64.sqrt(),
            "{index}: {found}"
        );
        for r in [1.5_f64, 4.0] {
            let beyond = norms.iter().filter(|n| **n > r).count() as f64 / 50_000.0;
            assert!(
                (beyond - r.powf(-index)).abs() < 0.012,
                "{index}, {r}: {beyond}"
            );
        }
        let text = format!("heavy-tailed:law=student,index={index}");
        let rows = first(&text, 1, 200_000);
        let found = hill(rows.iter().map(|(row, _)| row[0].abs()).collect(), 1000);
        assert!((found / index - 1.0).abs() < 0.2, "{index}: {found}");
    }
    for text in ["heavy-tailed", "heavy-tailed:law=student"] {
        let stream = text.parse::<StreamSpec>().unwrap().build(4, 1).unwrap();
        assert_eq!(stream.row_bound(), f64::INFINITY);
        // all on one side: there is a direction that every gradient agrees with
        let rows = first(text, 4, 20_000);
        let mut mean = vec![0.0; 4];
        for (row, _) in &rows {
            mean = common::plus(&mean, 1.0 / norm(row), row);
        }
        let agree = rows.iter().filter(|(row, _)| dot(row, &mean) > 0.0).count();
        assert!(agree > 19_000, "{text}: {agree}");
    }
}

#[test]
fn scales_jump_by_their_factor_when_they_say_up_and_down() {
    for (text, factor, every) in [
        ("scale-jump", 1e8, 100),
        ("scale-jump:factor=1000,every=10", 1e3, 10),
        ("scale-jump:factor=1e100,every=1", 1e100, 1),
    ] {
        let rows = first(text, 5, 8 * every);
        for (t, (row, _)) in rows.iter().enumerate() {
            let scale = [1.0, factor, 1.0, 1.0 / factor][t / every % 4];
            assert!((norm(row) / scale - 1.0).abs() < 1e-12, "{text}, round {t}");
        }
    }
}

#[test]
fn duplicated_columns_are_equal_to_the_bit_and_others_are_not() {
    for (copies, dim) in [(1, 6), (2, 6), (2, 7), (3, 7), (7, 7), (100, 7)] {
        let rows = first(&format!("duplicated:copies={copies},noise=0"), dim, 50);
        let distinct = dim.div_ceil(copies);
        for (row, _) in &rows {
            assert!((norm(row) - 1.0).abs() < 1e-12);
            for i in 0..dim {
                for j in 0..i {
                    let equal = row[i].to_bits() == row[j].to_bits();
                    let copy = i % distinct == j % distinct;
                    assert_eq!(equal, copy, "columns {i} and {j} of {dim}, {copies} copies");
                }
            }
        }
        // the labels are those of a w of norm 1: at most 1, and linear in the distinct columns
        if dim % distinct == 0 {
            let merged = |(row, label): &(Vec<f64>, f64)| (row[..distinct].to_vec(), *label);
            let few: Vec<_> = rows.iter().take(distinct).map(merged).collect();
            let w = planted(&few);
            // merged, a column's weight is that of its dim/distinct copies together
            let whole = norm(&w) / ((dim / distinct) as f64).sqrt();
            assert!(
                (whole - 1.0).abs() < 1e-6,
                "{copies} copies of {dim}: {whole}"
            );
            for (row, label) in &rows {
                assert!((dot(&row[..distinct], &w) - label).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn a_seed_gives_the_numbers_it_always_gave() {
    let spec: StreamSpec = "noise".parse().unwrap();
    let mut stream = spec.build(2, 42).unwrap();
    let round = stream.next(&[0.0; 2]).unwrap().unwrap();
    let row: Vec<f64> = round.row.entries().map(|(_, value)| value).collect();
    assert_eq!(row, [0.3372921533016077, 0.9414000230089039]);
}
