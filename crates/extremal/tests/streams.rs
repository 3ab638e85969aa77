//! The battery for streams: every one that is registered, in every example.

mod common;

use common::{At, DIMS, normals, rng, scaled, spike, streams, unit};
use extremal::kernel::{dot, norm};
use extremal::pair::Point;
use extremal::stream::{Stream, StreamSpec};

/// Decisions as learners make them: 0 first, then anything.
fn decisions(dim: usize, rounds: usize) -> Vec<At> {
    let mut r = rng(3);
    let one = |t| {
        At(match t % 5 {
            0 => vec![0.0; dim],
            1 => spike(dim, t % dim, -1.0),
            2 => scaled(&normals(&mut r, dim), 1e-200),
            _ => normals(&mut r, dim),
        })
    };
    (0..rounds).map(one).collect()
}

/// A round written out: row, label, weight.
type Written = (Vec<u64>, u64, u64);

fn written(stream: &mut dyn Stream, decisions: &[At]) -> Vec<Written> {
    let next = |x: &At| {
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
            assert!(
                longest >= 0.5 * row_bound,
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
        let elsewhere: Vec<At> = here
            .iter()
            .map(|x| At(common::plus(&x.0, 1.0, &[0.3; 10])))
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
    let (x, mut sum) = (At(vec![0.0; dim]), vec![0.0; dim]);
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
            let x = At(x);
            let dense = |round: extremal::stream::Round<'_>| {
                let mut row = vec![0.0; dim];
                round.row.add_to(1.0, &mut row);
                row
            };
            let row = dense(along.next(&x).unwrap().unwrap());
            assert!((dot(&row, &x.0) / size - 1.0).abs() < 1e-12);
            let row = dense(sign.next(&x).unwrap().unwrap());
            let one_norm: f64 = x.0.iter().map(|v| v.abs()).sum();
            assert!((dot(&row, &x.0) * (dim as f64).sqrt() / one_norm - 1.0).abs() < 1e-12);
            let row = dense(across.next(&x).unwrap().unwrap());
            assert!(
                dot(&row, &x.0).abs() <= 1e-9 * size,
                "round {t}: {}",
                dot(&row, &x.0)
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
        let (x, mut guess) = (At(vec![0.0; 10]), vec![0.0; 10]);
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
