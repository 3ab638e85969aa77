//! Gradients of every size, of every structure, and none at all.

use extremal::learner::{LearnerSpec, Storage};
use extremal::set::SetSpec;
use extremal::{Gradient, Row};
use proptest::prelude::*;

use crate::common::{
    Team, atom, centre, distance, hard_sets, rng, teams, teams_on, uniform, written,
};
use extremal_check::script::{self, Given};

const DIM: usize = 6;
const SCALES: [f64; 6] = [1e-98, 1e-80, 1e-30, 1e30, 1e80, 1e98];

/// Whether it keeps decisions as mixtures of vertices.
fn is_mixed(team: &Team) -> bool {
    team.learner.entry().name == "lloo"
}

#[test]
fn gradients_of_any_size_keep_decisions_feasible_and_move_them() {
    for size in SCALES {
        for (kind, script) in [
            ("dense", script::dense(1, DIM, 60, 1.0)),
            ("sparse", script::sparse(2, DIM, 60, 1.0)),
        ] {
            for team in teams(DIM, |_, _| {}) {
                let name = format!("{}, {kind} gradients of {size:e}", team.name);
                let mut learner = team.build();
                let start = centre(&*team.set);
                let mut furthest = 0.0_f64;
                for (k, given) in script.iter().enumerate() {
                    let x = written(learner.decide().unwrap());
                    let violation = team.set.violation(&x).unwrap_or(0.0);
                    assert!(violation <= 1e-9, "{name}: violation {violation:e}");
                    furthest = furthest.max(distance(&x, &start));
                    // small or large in its entries or by its factor, with a ridge or without
                    let mut sized = given.clone();
                    if k % 4 < 2 {
                        sized.values.iter_mut().for_each(|v| *v *= size);
                    } else {
                        sized.scale *= size;
                    }
                    sized.ridge = if k % 2 == 0 { 0.0 } else { 0.1 };
                    match learner.observe(&sized.gradient()) {
                        Ok(record) => {
                            let numbers = [record.sigma, record.gradient_norm, record.norm_squared];
                            assert!(numbers.iter().all(|v| v.is_finite()), "{name}: {record:?}");
                        }
                        Err(e) => panic!("{name}: {e}"),
                    }
                }
                // next to a centre other than 0 a small step is lost in rounding, and so it is
                // where 0 is a mixture of vertices
                let centred = start.iter().all(|v| *v == 0.0) && !is_mixed(&team);
                let can_tell = centred || size >= 1.0;
                if can_tell && team.set.geometry().diameter > 0.0 {
                    assert!(furthest > 0.0, "{name}: it never moved");
                }
            }
        }
    }
}

#[test]
fn sets_of_any_size_and_shape_keep_decisions_feasible_and_move_them() {
    for dim in [1, 2, DIM] {
        let scripts = [
            script::dense(6, dim, 80, 1.0),
            script::sparse(7, dim, 80, 1.0),
        ];
        for team in teams_on(hard_sets(dim), |_, _| {}) {
            for script in &scripts {
                let mut learner = team.build();
                let start = written(learner.decision());
                let mut moved = false;
                for given in script {
                    let x = written(learner.decide().unwrap());
                    let violation = team.set.violation(&x).unwrap_or(0.0);
                    assert!(violation <= 1e-9, "{}: violation {violation:e}", team.name);
                    moved |= x != start;
                    let record = learner.observe(&given.gradient()).unwrap();
                    let numbers = [record.sigma, record.gradient_norm, record.norm_squared];
                    assert!(
                        numbers.iter().all(|v| v.is_finite()),
                        "{}: {record:?}",
                        team.name
                    );
                }
                // next to a centre of 1e50 a step of 1 is lost
                let centred = start.iter().all(|v| *v == 0.0) && !is_mixed(&team);
                assert!(moved || !centred, "{}: it never moved", team.name);
            }
        }
    }
}

#[test]
fn a_start_at_a_corner_is_as_good_as_the_centre() {
    for team in teams(DIM, |_, _| {}) {
        let keys = team.learner.entry().parameters;
        if !keys.iter().any(|p| p.name == "start") {
            continue;
        }
        let corner = atom(&*team.set, &[1.0, -2.0, 0.5, 0.1, 3.0, -1.0]);
        let given = team.learner.to_string();
        let joint = if given.contains(':') { ',' } else { ':' };
        let text = format!("{given}{joint}start={corner:?}");
        let spec: LearnerSpec = text.parse().unwrap();
        if team.storage == Storage::Lazy && team.learner.entry().name == "dual-averaging" {
            // its decisions would be no multiples of the gradients' sum
            assert!(spec.build_stored(&team.set, team.storage).is_err());
            continue;
        }
        let mut learner = spec.build_stored(&team.set, team.storage).unwrap();
        let apart = distance(&written(learner.decision()), &corner);
        let size = team.set.geometry().norm_bound;
        assert!(apart <= 1e-14 * size, "{text}: starts {apart:e} off");
        for given in script::mixed(8, DIM, 300) {
            let x = written(learner.decide().unwrap());
            let violation = team.set.violation(&x).unwrap_or(0.0);
            assert!(violation <= 1e-9, "{}: violation {violation:e}", team.name);
            learner.observe(&given.gradient()).unwrap();
        }
    }
}

#[test]
fn gradients_that_jump_between_scales_keep_decisions_feasible() {
    let mut r = rng(3);
    for team in teams(DIM, |_, _| {}) {
        let mut learner = team.build();
        for given in script::mixed(4, DIM, 400) {
            let x = written(learner.decide().unwrap());
            let violation = team.set.violation(&x).unwrap_or(0.0);
            assert!(violation <= 1e-9, "{}: violation {violation:e}", team.name);
            let size = 10f64.powf(60.0 * uniform(&mut r) - 30.0);
            let sized = Given {
                scale: size * given.scale,
                ..given
            };
            learner.observe(&sized.gradient()).unwrap();
        }
    }
}

#[test]
fn matrix_entries_are_a_sparse_row() {
    let script = script::sparse(9, DIM, 100, 1.0);
    for team in teams(DIM, |_, _| {}) {
        let (mut flat, mut matrix) = (team.build(), team.build());
        for given in &script {
            let gradient = given.gradient();
            let (rows, columns): (Vec<u32>, Vec<u32>) = gradient
                .row
                .entries()
                .map(|(i, _)| (i as u32 / 3, i as u32 % 3))
                .unzip();
            let row = Row::Entries {
                width: 3,
                rows: &rows,
                columns: &columns,
                values: &given.values,
            };
            let x = written(flat.decide().unwrap());
            assert!(
                distance(&x, &written(matrix.decide().unwrap())) <= 1e-12,
                "{}",
                team.name
            );
            flat.observe(&gradient).unwrap();
            matrix.observe(&Gradient { row, ..gradient }).unwrap();
        }
    }
}

#[test]
fn sparse_and_dense_forms_of_a_gradient_are_the_same_gradient() {
    for dim in [1, 5, 23] {
        let script = script::sparse(5, dim, 200, 1.0);
        for team in teams(dim, |_, _| {}) {
            let (mut few, mut all) = (team.build(), team.build());
            let size = team.set.geometry().norm_bound;
            // The two forms add the same numbers in another order. In high dimension some learners
            // amplify a difference in the last bit about tenfold every ten rounds.
            let rounds = if dim > 5 { 40 } else { script.len() };
            let tolerance = 1e-9;
            for given in &script[..rounds] {
                let x = written(few.decide().unwrap());
                let y = written(all.decide().unwrap());
                let apart = distance(&x, &y);
                assert!(apart <= tolerance * size, "{}: {apart:e} apart", team.name);
                let one = few.observe(&given.gradient()).unwrap();
                let other = all.observe(&given.spread(dim).gradient()).unwrap();
                let scale = one.gradient_norm * size;
                assert!(
                    (one.gradient_norm - other.gradient_norm).abs() <= 1e-12 * one.gradient_norm
                );
                assert!(
                    (one.gradient_dot - other.gradient_dot).abs() <= 1e-9 * scale,
                    "{}",
                    team.name
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_gradients_decisions_stay_feasible(
        rows in prop::collection::vec((prop::array::uniform3(-1.0..1.0f64), -99.0..99.0f64, 0..4u8), 30),
    ) {
        for team in teams(3, |_, _| {}) {
            let mut learner = team.build();
            for (row, exponent, kind) in &rows {
                let x = written(learner.decide().unwrap());
                let violation = team.set.violation(&x).unwrap_or(0.0);
                prop_assert!(violation <= 1e-9, "{}: violation {violation:e}", team.name);
                let scale = 10f64.powf(*exponent);
                let given = match kind {
                    0 => Given { indices: Some(vec![2]), values: row[..1].to_vec(), scale, ridge: 0.0 },
                    1 => Given { indices: None, values: row.to_vec(), scale, ridge: 0.3 },
                    2 => Given { indices: None, values: vec![0.0, row[1], 0.0], scale, ridge: 0.0 },
                    _ => Given { indices: None, values: row.to_vec(), scale, ridge: 0.0 },
                };
                let seen = learner.observe(&given.gradient());
                prop_assert!(seen.is_ok(), "{}: {seen:?} for {:?} times {:e} plus {}x", team.name, given.values, given.scale, given.ridge);
            }
        }
    }
}

/// Where the direction is what rounding leaves of a sum, one that is rounded otherwise may be 0
/// in the same place: the scale of the powers must come from the very numbers they are taken of.
#[test]
fn a_direction_that_is_all_rounding_is_no_overflow() {
    let set = "lp:p=1.1"
        .parse::<SetSpec>()
        .unwrap()
        .build(Some(3))
        .unwrap();
    for spec in ["sc-ofw:lambda=0.1", "sc-ofw:lambda=0.1,warm=5"] {
        let mut learner = spec.parse::<LearnerSpec>().unwrap().build(&set).unwrap();
        for (indices, values, exponent) in [
            ([2], [-0.6437935489409153], -38.5440204431755_f64),
            ([1], [0.6217077011680208], -118.5174911774698),
        ] {
            learner.decide().unwrap();
            let mut gradient = Gradient::sparse(&indices, &values);
            gradient.scale = 10f64.powf(exponent);
            learner.observe(&gradient).unwrap();
        }
    }
}
