//! The guide's oracle of one's own, checked.

use extremal::set::{CustomSet, Geometry};

/// 2 of 5 items: 0 ≤ x ≤ 1 with total 2.
fn choices(diameter: f64) -> CustomSet {
    let geometry = Geometry {
        diameter,
        norm_bound: 2.0_f64.sqrt(),
        ..Geometry::default()
    };
    let set = CustomSet::new("choices", 5, geometry, |direction, v| {
        let mut order: Vec<usize> = (0..5).collect();
        order.sort_by(|&i, &j| direction[i].total_cmp(&direction[j]));
        v.fill(0.0);
        order[..2].iter().for_each(|&i| v[i] = 1.0);
        Ok(())
    });
    set.unwrap().with_centre(&[0.4; 5]).unwrap()
}

#[test]
fn choices_keep_the_laws_of_sets() {
    extremal_check::set(&choices(2.0)).unwrap();
}

#[test]
fn a_diameter_that_is_too_small_is_found() {
    let failures = extremal_check::set(&choices(1.9)).unwrap_err();
    let law = "no distance of two points exceeds the diameter";
    let example = failures.of(law).unwrap();
    assert!(
        example.ends_with("are 2 apart; the diameter is 1.9"),
        "{failures}"
    );
}
