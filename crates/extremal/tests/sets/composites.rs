//! Sets made of other sets: against the sets that they are by another name, and against their
//! definitions.

use crate::common::{
    atom, bits, centre, distance, feasible_points, normals, plus, rng, scaled, support,
    telling_directions, uniform, unit, written,
};
use extremal::Error;
use extremal::kernel::{dot, norm};
use extremal::learner::{Learner, LearnerSpec, Storage};
use extremal::set::affine::AffineSet;
use extremal::set::{Atom, AtomView, SetSpec, hull::HullSet};
use extremal::{Gradient, Row};
use extremal_check::kit::{set, stored};

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-13 * (1.0 + a.abs().max(b.abs()))
}

/// The same set by two names, in dimension 4; the constants of the second are exact.
const TWINS: [(&str, &str); 16] = [
    ("scale:by=3,set=(l1:radius=0.5)", "l1:radius=1.5"),
    ("scale:by=0.5,set=(lp:p=3)", "lp:p=3,radius=0.5"),
    (
        "scale:by=0.5,set=(box:lower=-1,upper=3)",
        "box:lower=-0.5,upper=1.5",
    ),
    (
        "translate:by=2,set=(box:lower=-1,upper=3)",
        "box:lower=1,upper=5",
    ),
    (
        "translate:by=[1,2,-3,4],set=(box)",
        "box:lower=[0,1,-4,3],upper=[2,3,-2,5]",
    ),
    (
        "translate:by=-1,set=(translate:by=1,set=(simplex))",
        "simplex",
    ),
    ("product:sets=[(lp:p=1.5)]", "lp:p=1.5"),
    (
        "product:sets=[(box:lower=0),(box:upper=2)]",
        "box:lower=[0,0,-1,-1],upper=[1,1,2,2]",
    ),
    (
        "product:sets=[(box:lower=0,dim=1),(box:upper=2)]",
        "box:lower=[0,-1,-1,-1],upper=[1,2,2,2]",
    ),
    (
        "sum:sets=[(box),(box:lower=0,upper=3)]",
        "box:lower=-1,upper=4",
    ),
    ("sum:sets=[(l2),(l2:radius=2)]", "l2:radius=3"),
    (
        "sum:sets=[(lp:p=1.5),(lp:p=1.5,radius=2)]",
        "lp:p=1.5,radius=3",
    ),
    (
        "image:matrix=[[1,0,0,0],[0,2,0,0],[0,0,3,0],[0,0,0,4]],set=(box:lower=0)",
        "box:lower=0,upper=[1,2,3,4]",
    ),
    // a turn, and coordinates exchanged and turned over
    (
        "image:matrix=[[0.6,0.8,0,0],[-0.8,0.6,0,0],[0,0,0.28,0.96],[0,0,-0.96,0.28]],set=(l2)",
        "l2",
    ),
    (
        "image:matrix=[[0,-1,0,0],[1,0,0,0],[0,0,0,1],[0,0,-1,0]],set=(lp:p=1.5)",
        "lp:p=1.5",
    ),
    (
        "hull:points=[[1,0,0,0],[-1,0,0,0],[0,1,0,0],[0,-1,0,0],[0,0,1,0],[0,0,-1,0],[0,0,0,1],[0,0,0,-1],[0.5,0.5,0,0]]",
        "l1",
    ),
];

#[test]
fn a_set_by_another_name_is_the_same_set() {
    for (made, plain) in TWINS {
        let (made_set, plain_set) = (set(made, 4), set(plain, 4));
        let mut r = rng(1);
        for _ in 0..100 {
            let d = normals(&mut r, 4);
            let apart = distance(&atom(&*made_set, &d), &atom(&*plain_set, &d));
            assert!(apart <= 1e-13, "{made}: {apart:e} from {plain}");
        }
        for _ in 0..200 {
            let x = scaled(&normals(&mut r, 4), 3.0 * uniform(&mut r));
            let outside = plain_set.violation(&x).unwrap();
            if let Some(ours) = made_set.violation(&x).filter(|_| outside.abs() > 1e-12) {
                assert_eq!(ours > 0.0, outside > 0.0, "{made}: {ours} at {x:?}");
            }
            if let Some(gauge) = made_set.gauge(&x) {
                let theirs = plain_set.gauge(&x).unwrap_or(gauge);
                assert!(near(gauge, theirs), "{made}: {gauge}, not {theirs}");
            }
            if let Some(mut projection) = made_set.projection() {
                let (mut ours, mut theirs) = (x.clone(), x.clone());
                projection.project(&mut ours).unwrap();
                let mut plainly = plain_set.projection().unwrap();
                plainly.project(&mut theirs).unwrap();
                let apart = distance(&ours, &theirs);
                assert!(apart <= 1e-12, "{made}: {apart:e} from {plain} at {x:?}");
            }
        }
        assert_eq!(made_set.structure(), {
            let passes_it_on = made.starts_with("scale") || made.starts_with("product:sets=[(lp");
            if passes_it_on {
                plain_set.structure()
            } else {
                extremal::set::Structure::General
            }
        });
    }
}

#[test]
fn constants_of_a_set_by_another_name_are_its_own_or_err_on_the_safe_side() {
    for (made, plain) in TWINS {
        let (ours, theirs) = (set(made, 4).geometry(), set(plain, 4).geometry());
        // stretched unevenly, and moved there and back: bounds only
        let loose = [
            "image:matrix=[[1,0,0,0],[0,2",
            "translate:by=-1,set=(translate",
        ];
        let exact = !loose.iter().any(|start| made.starts_with(start));
        for (what, ours, theirs) in [
            ("D", ours.diameter, theirs.diameter),
            ("R", ours.norm_bound, theirs.norm_bound),
        ] {
            assert!(ours >= theirs * (1.0 - 1e-13), "{made}: {what} = {ours}");
            assert!(!exact || near(ours, theirs), "{made}: {what} = {ours}");
        }
        for (what, ours, theirs) in [
            ("r", ours.inner_radius, theirs.inner_radius),
            ("α", ours.strong_convexity, theirs.strong_convexity),
        ] {
            if let Some(ours) = ours {
                let theirs = theirs.unwrap();
                assert!(near(ours, theirs), "{made}: {what} = {ours}, not {theirs}");
            } else {
                let none = theirs.is_none() || made.starts_with("hull");
                assert!(none, "{made}: {what}");
            }
        }
    }
}

const MATRIX: &str = "[[2,1,0,0],[0,1,0,-1],[0.5,0,3,0],[0,0.2,0,1]]";

/// Sets in sets in dimension 4, most with constants that are only bounds.
fn nested() -> Vec<String> {
    vec![
        format!("image:matrix={MATRIX},set=(lp:p=1.5)"),
        format!("image:matrix={MATRIX},set=(simplex:at-most=true)"),
        format!("translate:by=[3,-2,0,1],set=(image:matrix={MATRIX},set=(l1))"),
        "sum:sets=[(lp:p=1.5),(translate:by=[1,0,0,-1],set=(lp:p=1.2,radius=2))]".into(),
        "sum:sets=[(simplex),(l1:radius=0.5),(box:lower=0)]".into(),
        "product:sets=[(sum:sets=[(l2),(box)]),(scale:by=4,set=(simplex:dim=2))]".into(),
        "scale:by=0.1,set=(product:sets=[(simplex),(translate:by=2,set=(lp:p=3))])".into(),
        "translate:by=[0.1,0.2,0.3,0.4],set=(lp:p=1.3)".into(),
        "sum:sets=[(scale:by=2,set=(l2)),(hull:points=[[1,0,0,0],[0,1,1,0],[0,0,0,3]])]".into(),
        format!("sum:sets=[(l2),(image:matrix={MATRIX},set=(l2:radius=0.3))]"),
    ]
}

/// max ⟨n, x⟩ over the set, from the definitions and the parts' own oracles.
fn defined_support(spec: &SetSpec, n: &[f64]) -> f64 {
    let dim = n.len();
    match spec {
        SetSpec::Scale(scaled) => scaled.by * defined_support(&scaled.set, n),
        SetSpec::Translate(moved) => {
            let by = match &moved.by {
                extremal::set::boxes::Bound::All(v) => vec![*v; dim],
                extremal::set::boxes::Bound::Each(v) => v.clone(),
            };
            let along: f64 = n.iter().zip(&by).map(|(n, s)| n * s).sum();
            defined_support(&moved.set, n) + along
        }
        SetSpec::Sum(sum) => sum.sets.iter().map(|part| defined_support(part, n)).sum(),
        SetSpec::Product(product) => {
            let (first, second) = n.split_at(dim / 2);
            defined_support(&product.sets[0], first) + defined_support(&product.sets[1], second)
        }
        SetSpec::Image(image) => {
            let pulled: Vec<f64> = (0..dim)
                .map(|j| (0..dim).map(|i| image.matrix[i][j] * n[i]).sum())
                .collect();
            defined_support(&image.set, &pulled)
        }
        SetSpec::Hull(hull) => {
            let along = |p: &Vec<f64>| p.iter().zip(n).map(|(p, n)| p * n).sum::<f64>();
            hull.points.iter().map(along).fold(f64::MIN, f64::max)
        }
        leaf => support(&*leaf.build(Some(dim)).unwrap(), n),
    }
}

#[test]
fn oracles_of_sets_in_sets_are_what_their_definitions_say() {
    let mut r = rng(2);
    for text in nested() {
        let spec: SetSpec = text.parse().unwrap();
        let set = spec.build(Some(4)).unwrap();
        for n in telling_directions(&mut r, 4, 50) {
            let (ours, defined) = (support(&*set, &n), defined_support(&spec, &n));
            assert!(near(ours, defined), "{text}: {ours}, not {defined}");
        }
        for x in feasible_points(&mut r, &*set, 50) {
            let violation = set.violation(&x).unwrap_or(0.0);
            assert!(violation <= 1e-12, "{text}: {violation:e} at {x:?}");
        }
    }
}

#[test]
fn constants_of_sets_in_sets_hold() {
    let mut r = rng(3);
    for text in nested() {
        let set = set(&text, 4);
        let geometry = set.geometry();
        let middle = centre(&*set);
        let points = feasible_points(&mut r, &*set, 100);
        for x in &points {
            assert!(norm(x) <= geometry.norm_bound * (1.0 + 1e-12), "{text}");
            for y in &points {
                let apart = distance(x, y);
                assert!(apart <= geometry.diameter * (1.0 + 1e-12), "{text}");
            }
        }
        let room = |m: &[f64], n: &[f64]| support(&*set, n) - dot(n, m);
        for _ in 0..2000 {
            let n = unit(&mut r, 4);
            let inner = geometry.inner_radius.unwrap_or(0.0);
            assert!(room(&middle, &n) >= inner * (1.0 - 1e-12), "{text}");
        }
        let Some(alpha) = geometry.strong_convexity else {
            continue;
        };
        let mut least = f64::INFINITY;
        for _ in 0..3000 {
            let (a, b) = (unit(&mut r, 4), unit(&mut r, 4));
            let b = plus(&a, 0.7, &b);
            let (x, y) = (atom(&*set, &a), atom(&*set, &b));
            let m = scaled(&plus(&x, 1.0, &y), 0.5);
            let ball = 0.125 * alpha * distance(&x, &y).powi(2);
            let n = plus(&a, norm(&a) / norm(&b), &b);
            let n = scaled(&n, -1.0 / norm(&n));
            least = least.min(room(&m, &n) / ball);
        }
        println!("{text}: a ball {least:.2} times as large fits");
        assert!(least >= 1.0 - 1e-9, "{text}: α = {alpha} is too large");
        assert!(least < 40.0, "{text}: α = {alpha} is of no use");
    }
}

/// What a game's decisions are, and the learner's bytes at the end.
fn game(learner: &mut dyn Learner, dim: usize, sparse: bool) -> (Vec<Vec<f64>>, Vec<u8>) {
    let mut r = rng(4);
    let mut decisions = Vec::new();
    for t in 0..200 {
        decisions.push(written(learner.decide().unwrap()));
        let g = scaled(&unit(&mut r, dim), 0.9);
        let indices = [t as u32 % dim as u32];
        let row = if sparse {
            Row::Sparse {
                indices: &indices,
                values: &g[..1],
            }
        } else {
            Row::Dense(&g)
        };
        let gradient = Gradient {
            row,
            scale: 1.0,
            ridge: 0.0,
        };
        learner.observe(&gradient).unwrap();
    }
    (decisions, learner.save().unwrap())
}

#[test]
fn a_scaled_ball_plays_as_the_ball_that_it_is_bit_for_bit() {
    let texts = [
        "ofw-ls:horizon=200,gradient-bound=1",
        "gauge-ftrl",
        "sc-ofw:lambda=0.1",
    ];
    for (made, plain) in [
        ("scale:by=2,set=(l2:radius=1.5)", "l2:radius=3"),
        (
            "product:sets=[(scale:by=4,set=(l2:radius=0.75))]",
            "l2:radius=3",
        ),
        ("scale:by=0.5,set=(lp:p=1.5)", "lp:p=1.5,radius=0.5"),
    ] {
        for text in texts {
            for storage in [Storage::Dense, Storage::Lazy] {
                if storage == Storage::Lazy && plain.starts_with("lp") {
                    continue;
                }
                for sparse in [false, true] {
                    let play = |name: &str| {
                        let mut learner = stored(text, &set(name, 6), storage);
                        let (decisions, _) = game(&mut *learner, 6, sparse);
                        decisions.iter().map(|x| bits(x)).collect::<Vec<_>>()
                    };
                    assert!(play(made) == play(plain), "{text} on {made}, {storage:?}");
                }
            }
        }
    }
    let moved = set("translate:by=1,set=(l2:radius=2)", 6);
    let spec: LearnerSpec = "gauge-ftrl".parse().unwrap();
    assert!(spec.build_stored(&moved, Storage::Lazy).is_err());
}

#[test]
fn on_a_set_that_is_moved_the_same_game_is_played_elsewhere() {
    let shift = [1.5, -0.25, 0.5, 2.0, -3.0];
    for inner in ["l2:radius=2", "lp:p=1.5", "l1", "simplex", "box:lower=0"] {
        let (here, there) = (set(inner, 5), {
            set(&format!("translate:by={shift:?},set=({inner})"), 5)
        });
        for text in [
            "ofw:horizon=200,gradient-bound=1",
            "ofw-ls:horizon=200,gradient-bound=1",
            "gauge-ftrl",
            "ogd:gradient-bound=1",
        ] {
            if text == "gauge-ftrl" && here.curvature().is_none() {
                continue;
            }
            let play = |set| game(&mut *stored(text, set, Storage::Dense), 5, false).0;
            for (t, (x, y)) in play(&here).iter().zip(&play(&there)).enumerate() {
                let apart = distance(&plus(x, 1.0, &shift), y);
                assert!(apart <= 1e-9, "{text} on {inner}, round {t}: {apart:e}");
            }
        }
    }
}

#[test]
fn atoms_of_a_product_are_as_sparse_as_those_of_its_blocks() {
    let direction = [0.5, -2.0, 1.0, 3.0, -1.0, 0.25];
    let mut atom = Atom::new();
    let ask = |text: &str, atom: &mut Atom| {
        let found = set(text, 6).oracle().minimise(&direction, atom).unwrap();
        assert_eq!(found.value, atom.dot(&direction), "{text}");
    };
    ask("product:sets=[(l1:radius=2),(simplex)]", &mut atom);
    let expected = AtomView::Sparse {
        indices: &[1, 4],
        values: &[2.0, 1.0],
    };
    assert_eq!(atom.view(), expected);
    ask(
        "product:sets=[(l1),(product:sets=[(simplex:at-most=true,dim=1),(l1:dim=2)])]",
        &mut atom,
    );
    let expected = AtomView::Sparse {
        indices: &[1, 4],
        values: &[1.0, 1.0],
    };
    assert_eq!(atom.view(), expected);
    ask("product:sets=[(l1),(box)]", &mut atom);
    assert_eq!(
        atom.view(),
        AtomView::Dense(&[0.0, 1.0, 0.0, -1.0, 1.0, -1.0])
    );
    ask("scale:by=3,set=(simplex)", &mut atom);
    let expected = AtomView::Coordinate {
        index: 1,
        value: 3.0,
    };
    assert_eq!(atom.view(), expected);
}

#[test]
fn blocks_without_a_dimension_share_what_is_left() {
    let dims = |text: &str, dim: Option<usize>| -> Vec<usize> {
        let built = text.parse::<SetSpec>().unwrap().build(dim).unwrap();
        // the block's centre tells its size: 1/dim of a simplex
        let mut sizes = Vec::new();
        let middle = centre(&*built);
        let mut at = 0;
        while at < middle.len() {
            sizes.push((1.0 / middle[at]).round() as usize);
            at += sizes.last().unwrap();
        }
        sizes
    };
    let text = "product:sets=[(simplex),(simplex:dim=3),(simplex),(simplex)]";
    assert_eq!(dims(text, Some(6)), [1, 3, 1, 1]);
    assert_eq!(dims(text, Some(7)), [2, 3, 1, 1]);
    assert_eq!(dims(text, Some(8)), [2, 3, 2, 1]);
    assert_eq!(dims(text, Some(12)), [3, 3, 3, 3]);
    let fixed = "product:sets=[(simplex:dim=2),(simplex:dim=5)]";
    assert_eq!(dims(fixed, None), [2, 5]);
    assert_eq!(dims(fixed, Some(7)), [2, 5]);
}

#[test]
fn what_can_not_be_made_is_refused_in_words() {
    for (text, dim, words) in [
        ("product:sets=[]", Some(3), "sets = [] is not allowed"),
        ("product:sets=[(l2),(l2)]", Some(1), "dimension 1"),
        ("product:sets=[(l2),(l2)]", None, "dim"),
        ("product:sets=[(l2:dim=2),(l2:dim=2)]", Some(5), "dim=4"),
        ("product:sets=[(l2:radius=-1),(l2)]", Some(4), "radius = -1"),
        ("sum:sets=[]", Some(3), "sets = [] is not allowed"),
        ("sum:sets=[(l2:dim=2),(l1:dim=3)]", None, "dim"),
        ("sum:sets=[(l2),(l1)]", None, "dim"),
        ("translate:by=[1,2],set=(l2)", Some(3), "dim"),
        ("translate:by=[1,2],set=(l2:dim=3)", None, "dim"),
        ("translate:by=1e6,set=(l2)", Some(3), "‖by‖₁ = 3000000"),
        // each coordinate near enough, but a simplex adds them up
        ("translate:by=100,set=(simplex)", Some(100), "‖by‖₁ = 10000"),
        (
            "hull:points=[[1e9,1000000001],[1000000001,1e9]]",
            None,
            "10⁴ diameters",
        ),
        ("scale:by=1e50,set=(l2:radius=1e50)", Some(3), "by"),
        ("scale:by=1e-50,set=(l2:radius=1e-50)", Some(3), "by"),
        ("image:matrix=[[1,2],[2,4]],set=(l2)", None, "invertible"),
        ("image:matrix=[[1,0],[0,1e-7]],set=(l2)", None, "condition"),
        ("image:matrix=[[0,0],[0,0]],set=(l2)", None, "invertible"),
        ("image:matrix=[[1,2],[3]],set=(l2)", None, "matrix"),
        ("image:matrix=[[1,2],[3,5]],set=(l2)", Some(3), "dim=2"),
        ("image:matrix=[[1e200]],set=(l2)", None, "matrix"),
        ("image:matrix=[],set=(l2)", None, "dim"),
        ("hull:points=[]", None, "points = [] is not allowed"),
        ("hull:points=[[]]", None, "dim"),
        ("hull:points=[[1,2],[3]]", None, "points"),
        ("hull:points=[[1,2],[3,1e101]]", None, "points"),
        ("hull:points=[[1,2]]", Some(3), "dim=2"),
    ] {
        let spec: SetSpec = text.parse().unwrap();
        let error = spec.build(dim).err().unwrap_or_else(|| panic!("{text}"));
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
    for (text, words) in [
        ("scale:set=(l2)", "by"),
        ("scale:by=2", "set"),
        ("scale:by=2,set=l2", "invalid type"),
        ("scale:by=2,set=(l3)", "l3"),
        ("product:sets=(l2)", "invalid type"),
        ("hull:points=[1,2]", "invalid type"),
    ] {
        let error = text.parse::<SetSpec>().unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(HullSet::new(2, &[0.0, bad]).is_err());
        let ball = set("l2", 2);
        assert!(AffineSet::image(ball.clone(), &[1.0, bad, 0.0, 1.0]).is_err());
        assert!(AffineSet::translated(ball.clone(), &[0.0, bad]).is_err());
        assert!(AffineSet::scaled(ball, bad).is_err());
    }
}

#[test]
fn specs_within_specs_are_tables_within_tables() {
    let json = r#"{"name":"product","sets":[{"name":"scale","by":2.0,"set":{"name":"simplex","total":1.0}},
        {"name":"hull","points":[[0.0],[1.0]]}]}"#;
    let spec: SetSpec = serde_json::from_str(json).unwrap();
    let text = "product:sets=[(scale:by=2,set=(simplex)),(hull:points=[[0],[1]])]";
    assert_eq!(text.parse::<SetSpec>().unwrap(), spec);
    assert_eq!(spec.to_string().parse::<SetSpec>().unwrap(), spec);
    let again = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<SetSpec>(&again).unwrap(), spec);
}

#[test]
fn specs_nest_thirty_two_deep_and_no_deeper() {
    let deep = |levels: usize| {
        let (open, close) = ("scale:by=1,set=(".repeat(levels), ")".repeat(levels));
        format!("{open}l2:dim=2{close}").parse::<SetSpec>()
    };
    let set = deep(32).unwrap().build(None).unwrap();
    assert_eq!(set.geometry().diameter, 2.0);
    for levels in [33, 100_000] {
        let error = deep(levels).unwrap_err().to_string();
        assert!(error.contains("more than 32"), "{error}");
    }
    // brackets that close nothing do not make room for more
    let (close, open) = (")".repeat(100_000), "(n:a=".repeat(100_000));
    let error = format!("{close}:a={open}{close}").parse::<SetSpec>();
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("more than 32"),
        "{}",
        &error[error.len() - 200..]
    );
}

#[test]
fn a_state_goes_back_to_no_other_set_of_the_same_size() {
    for (one, other) in [
        ("translate:by=[1,0],set=(l2)", "translate:by=[0,1],set=(l2)"),
        ("product:sets=[(l2),(box)]", "product:sets=[(box),(l2)]"),
        (
            "hull:points=[[0,0],[1,0],[0,1],[1,1]]",
            "hull:points=[[0,0],[1,0],[0.5,1],[1,1]]",
        ),
        (
            "image:matrix=[[2,0],[0,1]],set=(l2)",
            "image:matrix=[[1,0],[0,2]],set=(l2)",
        ),
        (
            "sum:sets=[(l2),(box:lower=[0,0],upper=[1,2])]",
            "sum:sets=[(l2),(box:lower=[0,0],upper=[2,1])]",
        ),
        (
            "box:lower=[-1,-2],upper=[1,2]",
            "box:lower=[-2,-1],upper=[2,1]",
        ),
        ("ellipsoid:axes=[1,2]", "ellipsoid:axes=[2,1]"),
        (
            "ellipsoid:matrix=[[2,1],[1,2]]",
            "ellipsoid:matrix=[[2,-1],[-1,2]]",
        ),
        (
            "group:groups=[[0,1]],s=1.5,p=2",
            "group:groups=[[0],[1]],s=1.5,p=2",
        ),
        (
            "scale:by=2,set=(translate:by=[1,0],set=(l2))",
            "scale:by=2,set=(translate:by=[-1,0],set=(l2))",
        ),
    ] {
        for text in ["ofw-ls:horizon=200,gradient-bound=1", "ogd"] {
            let (here, there) = (set(one, 2), set(other, 2));
            if text == "ogd" && here.projection().is_none() {
                continue;
            }
            let mut player = stored(text, &here, Storage::Dense);
            let (_, saved) = game(&mut *player, 2, false);
            let mut stranger = stored(text, &there, Storage::Dense);
            let before = stranger.save().unwrap();
            assert!(
                matches!(stranger.load(&saved), Err(Error::State(_))),
                "{text}: from {one} to {other}"
            );
            assert_eq!(stranger.save().unwrap(), before);
            let twin = set(one, 2);
            stored(text, &twin, Storage::Dense).load(&saved).unwrap();
        }
    }
}

#[test]
fn a_violation_depends_on_nothing_but_the_point() {
    let mut r = rng(5);
    for text in nested() {
        let shared = set(&text, 4);
        let points: Vec<_> = (0..40)
            .map(|_| scaled(&normals(&mut r, 4), 5.0 * uniform(&mut r)))
            .collect();
        let fresh: Vec<_> = points
            .iter()
            .map(|x| set(&text, 4).violation(x).map(f64::to_bits))
            .collect();
        std::thread::scope(|scope| {
            for start in 0..4 {
                let (shared, points, fresh) = (&shared, &points, &fresh);
                scope.spawn(move || {
                    for k in 0..points.len() {
                        let k = (k * 7 + start) % points.len();
                        let again = shared.violation(&points[k]).map(f64::to_bits);
                        assert_eq!(again, fresh[k], "point {k}");
                    }
                });
            }
        });
    }
}

#[test]
fn an_ellipsoid_is_the_image_of_a_ball() {
    let mut r = rng(10);
    let matrix = [[2.0, 1.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 3.0]];
    let text = format!("image:matrix={matrix:?},set=(l2:radius=0.5)");
    let set = set(&text, 3);
    for _ in 0..100 {
        let c = normals(&mut r, 3);
        // −r·M·Mᵀc/‖Mᵀc‖
        let pulled: Vec<f64> = (0..3)
            .map(|j| (0..3).map(|i| matrix[i][j] * c[i]).sum())
            .collect();
        let long = norm(&pulled);
        let expected: Vec<f64> = matrix
            .iter()
            .map(|row| -0.5 * dot(row, &pulled) / long)
            .collect();
        assert!(distance(&atom(&*set, &c), &expected) <= 1e-14);
        // the gauge is twice the norm of what M maps to the point
        let y = normals(&mut r, 3);
        let x: Vec<f64> = matrix.iter().map(|row| dot(row, &y)).collect();
        assert!(near(set.gauge(&x).unwrap(), 2.0 * norm(&y)));
        let excess = (2.0 * norm(&y) - 1.0).max(0.0);
        assert!(near(set.violation(&x).unwrap(), excess));
    }
}
