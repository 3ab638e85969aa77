//! Learners whose dimension is not known in advance: growing gives what knowing it from the start
//! would have given, and what is saved takes the room of what was touched.

use crate::common::{self, bits, normal, rng, teams, uniform, written};
use extremal::hindsight::Meter;
use extremal::learner::frank_wolfe::ofw_line_search::OfwLs;
use extremal::learner::{Learner, LearnerSpec, Record, Storage, on_surrogate};
use extremal::set::{SetSpec, SharedSet};
use extremal::{Error, Result};
use extremal::{
    Gradient, Point, Row,
    surrogate::{Move, Probe, Surrogate, Update},
};
use extremal_check::kit::stored;

fn set_of(text: &str, dim: usize) -> SharedSet {
    text.parse::<SetSpec>().unwrap().build(Some(dim)).unwrap()
}

/// A round of a stream whose features appear one after the other.
struct Example {
    indices: Vec<u32>,
    values: Vec<f64>,
    scale: f64,
    ridge: f64,
}

impl Example {
    fn gradient(&self) -> Gradient<'_> {
        Gradient {
            row: Row::Sparse {
                indices: &self.indices,
                values: &self.values,
            },
            scale: self.scale,
            ridge: self.ridge,
        }
    }

    fn needs(&self) -> usize {
        self.indices.iter().max().map_or(1, |i| *i as usize + 1)
    }
}

const FIRST: usize = 3;
const LAST: usize = 400;

fn stream(seed: u64, rounds: usize, ridge: f64) -> Vec<Example> {
    let mut r = rng(seed);
    let mut all: Vec<Example> = (0..rounds)
        .map(|t| {
            let reach = FIRST + t * (LAST - FIRST) / rounds;
            let mut indices: Vec<u32> = (0..6)
                .map(|_| (uniform(&mut r) * reach as f64) as u32)
                .collect();
            indices.sort_unstable();
            indices.dedup();
            Example {
                values: indices.iter().map(|_| 0.2 + normal(&mut r)).collect(),
                indices,
                // now and then a jump, which lazy storage has to write out
                scale: if t % 97 == 50 { 1e6 } else { 1.0 },
                ridge,
            }
        })
        .collect();
    all.push(Example {
        indices: vec![LAST as u32 - 1],
        values: vec![1.0],
        scale: 1.0,
        ridge,
    });
    all
}

fn play(learner: &mut dyn Learner, example: &Example) -> Record {
    learner.decide().unwrap();
    learner.observe(&example.gradient()).unwrap()
}

/// Every learner that can grow, with the ridge of its gradients.
const LEARNERS: &[(&str, f64)] = &[
    ("ofw:horizon=1000,gradient-bound=1", 0.0),
    ("ofw-weibel:horizon=1000,gradient-bound=1", 0.0),
    ("ofw-ls:horizon=1000,gradient-bound=1,eta-scale=10", 0.0),
    (
        "ofw-ls:horizon=1000,gradient-bound=1,start=[0.1,-0.2,0]",
        0.0,
    ),
    ("ofw-ls", 0.0),
    ("ofw-ls:gradient-bound=1", 0.0),
    ("ofw-ls:doubling=true", 0.0),
    ("sc-ofw:lambda=0.1", 0.1),
    ("sc-ofw:lambda=0.1,warm=3,start=[0.1,-0.2,0]", 0.1),
    ("gauge-ftrl", 0.0),
    ("gauge-ftrl", 0.05),
    ("gauge-ftrl:balance=adagrad,gradient-bound=2", 0.0),
    ("ogd", 0.0),
    ("ogd:gradient-bound=1,start=[0.1,-0.2,0]", 0.0),
    ("ogd:lambda=0.1", 0.1),
    ("dual-averaging", 0.0),
    ("dual-averaging:gradient-bound=1", 0.1),
];

/// The same with a start that has all entries.
fn in_full(text: &str) -> String {
    let start = format!("start=[0.1,-0.2{}]", ",0".repeat(LAST - 2));
    text.replace("start=[0.1,-0.2,0]", &start)
}

#[test]
fn a_lazy_run_that_grows_is_the_run_that_knew_the_dimension_bit_for_bit() {
    for (n, (text, ridge)) in LEARNERS.iter().enumerate() {
        for radius in [1.0, 20.0] {
            let spec = format!("l2:radius={radius}");
            let (small, large) = (set_of(&spec, FIRST), set_of(&spec, LAST));
            let mut grown = stored(text, &small, Storage::Lazy);
            let mut knew = stored(&in_full(text), &large, Storage::Lazy);
            let mut resumed = stored(&in_full(text), &large, Storage::Lazy);
            let examples = stream(n as u64, 1500, *ridge);
            for (t, example) in examples.iter().enumerate() {
                // some features ahead of time, some in bulk, most of them one by one
                let dim = example.needs().max(grown.dim()) + usize::from(t % 50 == 0);
                if t % 2 == 0 {
                    grown.decide().unwrap(); // it may grow between deciding and observing
                }
                grown.grow(dim.min(LAST)).unwrap();
                let a = written(grown.decision());
                let b = written(knew.decision());
                assert_eq!(bits(&a), bits(&b[..a.len()]), "{text}, round {t}");
                assert!(b[a.len()..].iter().all(|v| *v == 0.0), "{text}, round {t}");
                assert_eq!(
                    grown.decision().norm_squared(),
                    knew.decision().norm_squared()
                );
                let (a, b) = (play(&mut *grown, example), play(&mut *knew, example));
                assert_eq!(format!("{a:?}"), format!("{b:?}"), "{text}, round {t}");
            }
            assert_eq!(grown.dim(), LAST);
            let saved = grown.save().unwrap();
            assert!(saved == knew.save().unwrap(), "{text}: the bytes differ");
            resumed.load(&saved).unwrap();
            assert!(saved == resumed.save().unwrap(), "{text}: loaded");
            assert_eq!(grown.guarantee(), knew.guarantee(), "{text}");
            assert_eq!(grown.certificate(), knew.certificate(), "{text}");
            // and on: none of them depends on how much room there is
            for example in &stream(100 + n as u64, 200, *ridge) {
                let records = [&mut grown, &mut knew, &mut resumed]
                    .map(|learner| format!("{:?}", play(&mut **learner, example)));
                assert!(records.iter().all(|r| *r == records[0]), "{text}");
            }
            assert!(grown.save().unwrap() == resumed.save().unwrap(), "{text}");
        }
    }
}

#[test]
fn a_dense_run_that_grows_is_the_run_that_knew_the_dimension() {
    for set in [
        "l2:radius=2",
        "l1:radius=3",
        "lp:p=1.5",
        "lp:p=2",
        "scale:by=2,set=(l2)",
    ] {
        for (n, (text, ridge)) in LEARNERS.iter().enumerate() {
            let (small, large) = (set_of(set, FIRST), set_of(set, LAST));
            let spec: LearnerSpec = text.parse().unwrap();
            let Ok(mut grown) = spec.build(&small) else {
                continue;
            };
            let mut knew = stored(&in_full(text), &large, Storage::Dense);
            let radius = large.geometry().norm_bound;
            for (t, example) in stream(n as u64, 150, *ridge).iter().enumerate() {
                grown.grow(example.needs().max(grown.dim())).unwrap();
                let a = written(grown.decision());
                let b = written(knew.decision());
                for (i, b) in b.iter().enumerate() {
                    let a = a.get(i).unwrap_or(&0.0);
                    let error = (a - b).abs() / radius;
                    assert!(error <= 1e-9, "{text} on {set}, round {t}: {error:e}");
                }
                play(&mut *grown, example);
                play(&mut *knew, example);
            }
            assert_eq!(grown.dim(), LAST);
            let [a, b] =
                [&grown, &knew].map(|l| l.guarantee().map(|g| (g.exponent(), g.bound(1e3))));
            match (a, b) {
                (Some(a), Some(b)) => {
                    assert_eq!(a.0, b.0, "{text} on {set}");
                    assert!(
                        (a.1 / b.1 - 1.0).abs() < 1e-9,
                        "{text} on {set}: {a:?} {b:?}"
                    );
                }
                (a, b) => assert_eq!(a, b, "{text} on {set}"),
            }
            // bytes of one go into the other
            knew.load(&grown.save().unwrap()).unwrap();
            assert!(
                knew.save().unwrap() == grown.save().unwrap(),
                "{text} on {set}"
            );
        }
    }
}

#[test]
fn several_learners_grow_together() {
    let text = "hedge:base=(ofw-free),grid=[1,8],bases=[(ofw-ls:gradient-bound=1)]";
    let (small, large) = (set_of("l1:radius=2", 1), set_of("l1:radius=2", LAST));
    let mut grown = stored(text, &small, Storage::Dense);
    let mut knew = stored(text, &large, Storage::Dense);
    for example in &stream(5, 150, 0.0) {
        grown.grow(example.needs().max(grown.dim())).unwrap();
        let a = written(grown.decision());
        for (a, b) in a.iter().zip(&written(knew.decision())) {
            assert!((a - b).abs() <= 1e-9, "{a} {b}");
        }
        play(&mut *grown, example);
        play(&mut *knew, example);
    }
    assert_eq!(grown.guarantee().is_some(), knew.guarantee().is_some());
}

#[test]
fn what_can_not_grow_says_why_and_changes_nothing() {
    let l2 = || set_of("l2", 4);
    let refused = |mut learner: Box<dyn Learner>, dim: usize, why: &str| {
        let before = learner.save().unwrap();
        let error = learner.grow(dim).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(learner.save().unwrap(), before, "{why}");
        learner.grow(learner.dim()).unwrap();
        assert_eq!(learner.save().unwrap(), before, "{why}");
    };
    for storage in [Storage::Dense, Storage::Lazy] {
        for text in ["gauge-ftrl", "ogd", "dual-averaging"] {
            refused(stored(text, &l2(), storage), 3, "can't grow to dimension 3");
            refused(
                stored(text, &l2(), storage),
                1 << 33,
                "between 4 and 4294967295",
            );
        }
    }
    for (set, text) in [
        ("simplex", "ogd"),
        ("box", "ofw-ls"),
        ("lp:p=3", "gauge-ftrl"),
        ("lp:p=3", "dual-averaging"),
        ("simplex", "hedge:base=(ofw-free),grid=[1,2]"),
    ] {
        refused(
            stored(text, &set_of(set, 4), Storage::Dense),
            5,
            "can't grow",
        );
    }
    // a segment is as curved as a ball, a square on its tip is not
    let segment = set_of("l1", 1);
    for text in ["gauge-ftrl", "hedge:base=(ofw-free),bases=[(gauge-ftrl)]"] {
        refused(stored(text, &segment, Storage::Dense), 2, "curvature");
    }
    let mut line_search = stored(
        "ofw-ls:horizon=9,gradient-bound=1",
        &segment,
        Storage::Dense,
    );
    assert!(line_search.guarantee().is_some());
    line_search.grow(2).unwrap();
    assert!(line_search.guarantee().is_none());
}

/// A pair of a user's own that knows nothing of growing.
struct Own(extremal::surrogate::DenseSurrogate);

impl Point for Own {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn dot(&self, row: &Row<'_>) -> Result<f64> {
        self.0.dot(row)
    }
    fn norm_squared(&self) -> f64 {
        self.0.norm_squared()
    }
    fn write(&self, out: &mut [f64]) {
        self.0.write(out);
    }
}

impl Surrogate for Own {
    fn probe(&mut self, update: &Update<'_>, sure: bool) -> Result<Probe> {
        self.0.probe(update, sure)
    }
    fn commit(&mut self, motion: Move) {
        self.0.commit(motion);
    }
    fn discard(&mut self) {
        self.0.discard();
    }
    fn start(&mut self, weight: f64) {
        self.0.start(weight);
    }
    fn gradient_norm(&self, gradient: &Gradient<'_>, q: f64) -> f64 {
        self.0.gradient_norm(gradient, q)
    }
    fn save(&self) -> Result<Vec<u8>> {
        self.0.save()
    }
    fn load(&mut self, saved: &[u8]) -> Result<()> {
        self.0.load(saved)
    }
}

#[test]
fn a_pair_that_says_nothing_of_growing_does_not() {
    let set = set_of("l2", 3);
    let rule = OfwLs(extremal::learner::Known::default())
        .rule(&set.geometry())
        .unwrap();
    let geometry = set.geometry();
    let pair = Own(extremal::surrogate::DenseSurrogate::new(set, None).unwrap());
    let mut learner = on_surrogate("ofw-ls", rule, pair, geometry);
    assert!(matches!(learner.grow(4), Err(Error::Unsupported(_))));
    learner.grow(3).unwrap();
    let found = |point: &dyn Point| {
        let mut found = Vec::new();
        point.for_each_nonzero(&mut |i, v| found.push((i, v)));
        found
    };
    assert_eq!(found(learner.decision()), []);
    learner.decide().unwrap();
    learner.observe(&Gradient::dense(&[0.0, 1.0, 0.0])).unwrap();
    let x = written(learner.decision());
    assert_eq!(found(learner.decision()), [(1, x[1])]);
}

#[test]
fn every_decision_shows_its_non_zeros_in_order() {
    let mut r = rng(3);
    for team in teams(6, |_, _| {}) {
        let mut learner = team.build();
        for t in 0..20 {
            let x = written(learner.decision());
            let mut found = vec![0.0; x.len()];
            let mut last = None;
            learner.decision().for_each_nonzero(&mut |i, v| {
                assert!(
                    last < Some(i) && v != 0.0,
                    "{}: {i} after {last:?}",
                    team.name
                );
                (last, found[i]) = (Some(i), v);
            });
            assert_eq!(found, x, "{}, round {t}", team.name);
            learner.decide().unwrap();
            let (i, v) = ((uniform(&mut r) * 6.0) as u32, normal(&mut r));
            learner.observe(&Gradient::sparse(&[i], &[v])).unwrap();
        }
    }
}

#[test]
fn what_is_saved_takes_the_room_of_what_was_touched() {
    const WIDE: usize = 10_000_000;
    let set = set_of("l2:radius=5", WIDE);
    let mut r = rng(8);
    let features: Vec<u32> = (0..1000)
        .map(|_| (uniform(&mut r) * WIDE as f64) as u32)
        .collect();
    let mut meter = Meter::new(&set, 0.0, false);
    let mut again = Meter::new(&set, 0.0, false);
    for text in [
        "ofw-ls:horizon=400,gradient-bound=1",
        "ogd",
        "dual-averaging",
    ] {
        let mut learner = stored(text, &set, Storage::Lazy);
        let mut touch = |learner: &mut dyn Learner, meter: Option<&mut Meter>, t: usize| {
            let mut indices = features[5 * (t % 200)..][..5].to_vec();
            indices.sort_unstable();
            indices.dedup();
            let values: Vec<f64> = indices.iter().map(|_| normal(&mut r)).collect();
            let gradient = Gradient::sparse(&indices, &values);
            let x = learner.decide().unwrap();
            if let Some(meter) = meter {
                meter.see(x, &gradient).unwrap();
            }
            learner.observe(&gradient).unwrap();
        };
        for t in 0..400 {
            touch(&mut *learner, Some(&mut meter), t);
        }
        let mut nonzeros = 0;
        learner
            .decision()
            .for_each_nonzero(&mut |_, _| nonzeros += 1);
        assert!((900..=1000).contains(&nonzeros), "{text}: {nonzeros}");
        let saved = learner.save().unwrap();
        assert!(saved.len() < 40_000, "{text}: {} bytes", saved.len());
        // into the same memory, from elsewhere
        touch(&mut *learner, None, 7);
        learner.load(&saved).unwrap();
        assert_eq!(learner.save().unwrap(), saved, "{text}");
        let bytes = meter.save().unwrap();
        assert!(bytes.len() < 40_000, "{} bytes", bytes.len());
        again.load(&bytes).unwrap();
        assert_eq!(again.save().unwrap(), bytes);
    }
}

#[test]
fn a_meter_that_grows_is_the_meter_that_knew_the_dimension() {
    for (set, lambda) in [
        ("l2:radius=2", 0.0),
        ("l2", 0.1),
        ("l1:radius=3", 0.0),
        ("lp:p=1.5", 0.1),
    ] {
        let (small, large) = (set_of(set, FIRST), set_of(set, LAST));
        let mut player = stored("ogd", &small, Storage::Dense);
        let (mut grown, mut knew) = (
            Meter::new(&small, lambda, false),
            Meter::new(&large, lambda, false),
        );
        let mut shadow = stored("ogd", &large, Storage::Dense);
        for (t, example) in stream(9, 300, lambda).iter().enumerate() {
            let dim = example.needs().max(player.dim());
            player.grow(dim).unwrap();
            grown.grow(dim).unwrap();
            let gradient = example.gradient();
            grown.see(player.decide().unwrap(), &gradient).unwrap();
            knew.see(shadow.decide().unwrap(), &gradient).unwrap();
            player.observe(&gradient).unwrap();
            shadow.observe(&gradient).unwrap();
            if t % 60 == 0 {
                let (a, b) = (grown.certificate(3).unwrap(), knew.certificate(3).unwrap());
                let scale = 1.0 + b.regret.abs();
                assert!(
                    (a.regret - b.regret).abs() <= 1e-9 * scale,
                    "{set}: {a:?} {b:?}"
                );
            }
        }
        assert_eq!(player.dim(), LAST);
        let mut point = vec![0.0; LAST];
        grown.candidate(&mut point);
        assert!(large.violation(&point).unwrap() <= 1e-9);
        grown.certificate(3).unwrap();
        grown.candidate(&mut point);
        assert!(large.violation(&point).unwrap() <= 1e-9);
        let error = grown.grow(LAST - 1).unwrap_err();
        assert!(error.to_string().contains("can't grow"), "{error}");
    }
    let error = Meter::new(&set_of("simplex", 3), 0.0, false)
        .grow(4)
        .unwrap_err();
    assert!(error.to_string().contains("can't grow"), "{error}");
}

#[test]
fn a_loaded_meter_goes_on_as_one_that_was_never_asked() {
    for named in common::sets(6) {
        for lambda in [0.0, 0.1] {
            let new = || Meter::new(&named.set, lambda, false);
            let (mut asked, mut never, mut resumed) = (new(), new(), new());
            let mut r = rng(4);
            let mut x = vec![0.0; named.set.dim()];
            named.set.centre(&mut x);
            let at = x;
            let dim = named.set.dim();
            let mut see = |meter: &mut [&mut Meter]| {
                let gradient = common::normals(&mut r, dim);
                for meter in meter {
                    meter.see(&at, &Gradient::dense(&gradient)).unwrap();
                }
            };
            for t in 0..20 {
                see(&mut [&mut asked, &mut never]);
                if t % 5 == 0 {
                    asked.certificate(2).unwrap();
                }
            }
            let saved = asked.save().unwrap();
            assert_eq!(never.save().unwrap(), saved, "{}", named.name);
            resumed.load(&saved).unwrap();
            assert_eq!(resumed.save().unwrap(), saved, "{}", named.name);
            for _ in 0..5 {
                see(&mut [&mut never, &mut resumed]);
                let (a, b) = (
                    never.certificate(2).unwrap(),
                    resumed.certificate(2).unwrap(),
                );
                assert_eq!(a, b, "{}", named.name);
            }
            assert_eq!(never.save().unwrap(), resumed.save().unwrap());
        }
    }
}

#[test]
fn bytes_that_are_not_this_meters_change_nothing() {
    let set = set_of("l2", 4);
    let mut meter = Meter::new(&set, 0.1, false);
    let mut player = stored("ogd", &set, Storage::Dense);
    let gradient = Gradient::sparse(&[1], &[2.0]);
    meter.see(player.decide().unwrap(), &gradient).unwrap();
    let own = meter.save().unwrap();
    let mut longer = own.clone();
    longer.push(0);
    let others = [
        Meter::new(&set, 0.2, false).save().unwrap(),
        Meter::new(&set, 0.0, true).save().unwrap(),
        Meter::new(&set_of("l2", 5), 0.1, false).save().unwrap(),
        Meter::new(&set_of("l2:radius=2", 4), 0.1, false)
            .save()
            .unwrap(),
        player.save().unwrap(),
        longer,
    ];
    let parts = (0..own.len()).map(|n| own[..n].to_vec());
    for bytes in others.into_iter().chain(parts) {
        assert!(matches!(meter.load(&bytes), Err(Error::State(_))));
        assert_eq!(meter.save().unwrap(), own);
    }
    let mut r = rng(1);
    for _ in 0..500 {
        let mut broken = own.clone();
        let at = (uniform(&mut r) * own.len() as f64) as usize;
        broken[at] ^= 1 << (uniform(&mut r) * 8.0) as u32;
        let mut victim = Meter::new(&set, 0.1, false);
        // numbers may be off, or an error say so; that is all
        if victim.load(&broken).is_ok() {
            let _ = victim.certificate(2);
        }
    }
}

#[test]
fn a_meter_without_memory_to_grow_is_an_error_and_stays_as_it_was() {
    let mut meter = Meter::new(&set_of("l2", 3), 0.0, true);
    meter
        .see(&[0.0; 3], &Gradient::dense(&[1.0, 2.0, 3.0]))
        .unwrap();
    let before = meter.save().unwrap();
    let features = usize::MAX / 8;
    let error = meter.reserve(features).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("not enough memory for {features} features")
    );
    assert_eq!(meter.save().unwrap(), before);
    meter.reserve(100).unwrap();
    assert_eq!(meter.save().unwrap(), before);
}
