//! What the support and the bytes have to do with the dimension: as little as can be.

use extremal::learner::{Learner, LearnerSpec, on_surrogate};
use extremal::set::grown;
use extremal::{
    Gradient, Point,
    surrogate::{Move, SparseSurrogate, Surrogate, Update},
};

use super::{SETS, bits, set};
use crate::games::{DIM, Entries, PLAYS, Random, stream};

fn grow(pair: &mut SparseSurrogate, dim: usize) -> extremal::Result<()> {
    let set = grown(pair.set().unwrap(), dim)?;
    pair.reserve(&set)?;
    pair.grow(set);
    Ok(())
}

#[test]
fn bytes_are_as_many_as_non_zeros_and_the_same_whatever_the_dimension() {
    let after = |dim: usize, rounds: u32| {
        let mut pair = SparseSurrogate::new(set("l1", dim), None).unwrap();
        for t in 0..rounds {
            let indices = [7 * t + 1, 7 * t + 5];
            let values = [1.0 + f64::from(t), -0.5];
            let gradient = Gradient::sparse(&indices, &values);
            let update = Update::new(1.0, &gradient, 1.0);
            pair.probe(&update, true).unwrap();
            pair.commit(Move::Towards(0.1));
        }
        assert_eq!(pair.support(), rounds as usize);
        pair.save().unwrap().len()
    };
    // an index, x and c inside, an index and c outside
    assert!(after(1_000_000, 40) < 40 * (3 + 16 + 3 + 8) + 100);
    assert!(after(1_000_000, 40) <= after(1_000, 40) + 5);
}

#[test]
fn the_support_is_what_the_last_atoms_have_left() {
    for text in SETS {
        let mut pair = SparseSurrogate::new(set(text, DIM), None).unwrap();
        pair.start(1.0);
        let mut random = Random(1);
        let mut largest = 0;
        for t in 0..4_000 {
            let row = Entries::noisy(&mut random, DIM, 6, 1.0);
            let gradient = Gradient {
                row: row.row(),
                scale: 1.0,
                ridge: 0.0,
            };
            let update = Update::new(1.0, &gradient, 1.0);
            let probe = pair.probe(&update, true).unwrap();
            let whole = t % 1000 == 999;
            pair.commit(Move::Towards(probe.step_unless_flat(if whole {
                1.0
            } else {
                0.3
            })));
            largest = largest.max(pair.support());
            let mut x = vec![0.0; DIM];
            pair.write(&mut x);
            if whole {
                // nothing is left but the atom
                let stored = x.iter().filter(|v| **v != 0.0).count();
                assert_eq!(pair.support(), stored, "{text}");
                assert!(stored <= 3, "{text}: {stored}");
            }
        }
        // 0.7^194 is below 1e-30
        assert!(largest > 3 && largest < DIM, "{text}: {largest}");
    }
}

#[test]
fn a_pair_that_grows_is_one_that_always_had_the_features() {
    for &play in PLAYS {
        let mut large = SparseSurrogate::new(set("l1:radius=2", DIM), None).unwrap();
        let mut growing = SparseSurrogate::new(set("l1:radius=2", 1), None).unwrap();
        play.start(&mut large);
        play.start(&mut growing);
        let mut seen = 1;
        for (t, row) in stream("noisy", 300, 9).iter().enumerate() {
            // features come in as they are first met
            let mut row = row.clone();
            row.indices.iter_mut().for_each(|i| *i %= 2 + t as u32 / 3);
            row.indices.sort_unstable();
            row.indices.dedup();
            row.values.truncate(row.indices.len());
            let needed = row.indices.last().map_or(0, |i| *i as usize + 1);
            if needed > seen {
                seen = needed;
                grow(&mut growing, seen).unwrap();
            }
            let a = play.round(t, &mut large, row.row());
            let b = play.round(t, &mut growing, row.row());
            assert_eq!(a, b, "{play:?}, round {t}");
            assert_eq!(bits(&large)[..seen], bits(&growing), "{play:?}, round {t}");
        }
        assert!(seen > 20);
        grow(&mut growing, DIM).unwrap();
        assert_eq!(growing.dim(), DIM);
        assert_eq!(growing.save().unwrap(), large.save().unwrap());
    }
}

#[test]
fn only_balls_whose_shape_has_nothing_to_do_with_the_dimension_grow() {
    for text in SETS {
        let mut pair = SparseSurrogate::new(set(text, 10), None).unwrap();
        let before = pair.save().unwrap();
        assert_eq!(
            grow(&mut pair, 20).is_ok(),
            text.starts_with("l1"),
            "{text}"
        );
        if text.starts_with("l1") {
            let error = grow(&mut pair, 19).unwrap_err().to_string();
            assert!(error.contains("can't grow to dimension 19"), "{error}");
            assert_eq!(pair.dim(), 20);
        } else {
            assert_eq!(pair.save().unwrap(), before);
        }
    }
}

/// On a million features a round costs what its non-zeros do; what is asked here is only that it
/// plays, feasibly, and that few features are ever stored.
#[test]
fn a_million_features_are_played_by_their_support() {
    let set = set("l1:radius=10", 1_000_000);
    let spec: LearnerSpec = "ofw-ls:horizon=2000,gradient-bound=1".parse().unwrap();
    let LearnerSpec::OfwLs(spec) = spec else {
        panic!("{spec}")
    };
    let rule = spec.rule(&set.geometry()).unwrap();
    let pair = SparseSurrogate::new(set.clone(), None).unwrap();
    let mut player = on_surrogate("ofw-ls", rule, pair, set.geometry());
    let mut random = Random(2);
    for _ in 0..2_000 {
        let row = Entries::noisy(&mut random, 1_000_000, 75, 0.1);
        player.decide().unwrap();
        let gradient = Gradient {
            row: row.row(),
            scale: 1.0,
            ridge: 0.0,
        };
        player.observe(&gradient).unwrap();
    }
    let mut x = vec![0.0; 1_000_000];
    player.decision().write(&mut x);
    assert!(set.violation(&x).unwrap() <= 1e-9);
    let stored = player.body().surrogate().support();
    assert_eq!(x.iter().filter(|v| **v != 0.0).count(), stored);
    assert!(stored > 100 && stored <= 2_000, "{stored}");
}
