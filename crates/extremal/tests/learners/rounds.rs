//! The body of a round and the loop around it, with a learner that draws its decision at random.

use std::ops::ControlFlow;

use extremal::Error;
use extremal::game::{self, Game};
use extremal::hindsight::Meter;
use extremal::learner::{ByExample, Certificate, Learner, Learnt, Record, RunStatistics};
use extremal::loss::{LossSpec, Objective, Scratch};
use extremal::set::SetSpec;
use extremal::stream::{Round, Stream};
use extremal::theory::Guarantee;
use extremal::{Example, Gradient, Point, Row};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::common::{rng, written};

/// A point of the unit interval, drawn anew in every round, and all points drawn so far.
struct Drawing {
    rng: ChaCha8Rng,
    drawn: bool,
    point: At,
    points: Vec<f64>,
    seen: RunStatistics,
}

struct At(f64);

impl Point for At {
    fn dim(&self) -> usize {
        1
    }
    fn dot(&self, row: &Row<'_>) -> extremal::Result<f64> {
        row.check_shape(1)?;
        Ok(row.dot(&[self.0]))
    }
    fn norm_squared(&self) -> f64 {
        self.0 * self.0
    }
    fn write(&self, out: &mut [f64]) {
        out[0] = self.0;
    }
}

impl Drawing {
    fn new() -> Self {
        Self {
            rng: rng(1),
            drawn: false,
            point: At(f64::NAN),
            points: Vec::new(),
            seen: RunStatistics::default(),
        }
    }
}

impl Learner for Drawing {
    fn dim(&self) -> usize {
        1
    }
    fn decide(&mut self) -> extremal::Result<&dyn Point> {
        if !self.drawn {
            self.point = At(self.rng.random());
            self.points.push(self.point.0);
            self.drawn = true;
        }
        Ok(&self.point)
    }
    fn observe(&mut self, gradient: &Gradient<'_>) -> extremal::Result<Record> {
        self.decide()?;
        gradient.check(1)?;
        self.drawn = false;
        self.seen.rounds += 1;
        Ok(Record::new(self.seen.rounds, 0.0, 0.0, 0.0))
    }
    fn decision(&self) -> &dyn Point {
        &self.point
    }
    fn rounds(&self) -> u64 {
        self.seen.rounds
    }
    fn guarantee(&self) -> Option<Guarantee> {
        None
    }
    fn seen(&self) -> &RunStatistics {
        &self.seen
    }
    fn certificate(&self) -> Option<Certificate> {
        None
    }
    fn save(&self) -> extremal::Result<Vec<u8>> {
        Ok(Vec::new())
    }
    fn load(&mut self, _saved: &[u8]) -> extremal::Result<()> {
        Ok(())
    }
    fn grow(&mut self, _dim: usize) -> extremal::Result<()> {
        Ok(())
    }
    fn reserve(&mut self, _dim: usize) -> extremal::Result<()> {
        Ok(())
    }
    fn plan(&mut self, gradient: &Gradient<'_>) -> extremal::Result<Record> {
        self.observe(gradient)
    }
    fn commit(&mut self) {}
    fn discard(&mut self) {}
    fn learn(&mut self, _: &Example<'_>) -> extremal::Result<Learnt> {
        Err(extremal::Error::Unsupported("it takes gradients".into()))
    }
    fn by_example(&self) -> Option<&dyn ByExample> {
        None
    }
}

/// A few rounds of ⟨1, x⟩, and the decisions that it was shown.
struct Ones(u64, Vec<f64>);

impl Stream for Ones {
    fn next(&mut self, decision: &dyn Point) -> extremal::Result<Option<Round<'_>>> {
        self.1.push(written(decision)[0]);
        self.0 = self.0.saturating_sub(1);
        Ok((self.0 > 0).then_some(one(1.0)))
    }
    fn row_bound(&self) -> f64 {
        1.0
    }
}

fn one(weight: f64) -> Round<'static> {
    Round {
        row: Row::Dense(&[1.0]),
        label: 0.0,
        weight,
    }
}

fn linear() -> Objective {
    let loss: LossSpec = "linear".parse().unwrap();
    Objective::new(loss.build().unwrap(), 0.0).unwrap()
}

#[test]
fn stream_loss_and_gradient_are_of_one_decision_drawn_once() {
    let (mut learner, mut losses) = (Drawing::new(), Vec::new());
    // the decision that the first stream's end left open is the second one's first
    for rounds in [5, 9] {
        let mut stream = Ones(rounds, Vec::new());
        let before = learner.rounds() as usize;
        let summary =
            Game::default().play_while(&mut learner, &mut stream, &linear(), 1000, |turn| {
                losses.push(turn.evaluation.value);
                ControlFlow::Continue(())
            });
        assert_eq!(summary.unwrap().rounds, rounds - 1);
        assert_eq!(stream.1, learner.points[before..]);
    }
    assert_eq!(losses, learner.points[..12]);
    assert_eq!(learner.points.len(), 13);
}

#[test]
fn a_round_that_fails_changes_neither_learner_nor_meter() {
    let set = "l2:dim=1".parse::<SetSpec>().unwrap().build(None).unwrap();
    let objective = linear();
    let (mut learner, mut meter) = (Drawing::new(), Meter::of(&set, &objective));
    let mut scratch = Scratch::default();
    let before = meter.save().unwrap();
    for bad in [
        one(-1.0),
        Round {
            row: Row::Dense(&[f64::NAN]),
            ..one(1.0)
        },
        Round {
            row: Row::Dense(&[1.0, 1.0]),
            ..one(1.0)
        },
    ] {
        let meter = Some(&mut meter);
        assert!(game::round(&mut learner, &objective, bad, meter, &mut scratch).is_err());
    }
    assert_eq!((learner.rounds(), learner.points.len()), (0, 1));
    assert_eq!(meter.save().unwrap(), before);
    let played = game::round(
        &mut learner,
        &objective,
        one(2.0),
        Some(&mut meter),
        &mut scratch,
    );
    let turn = played.unwrap();
    assert_eq!(turn.evaluation.value, 2.0 * learner.points[0]);
    assert_eq!((turn.record.round, learner.points.len()), (1, 1));
    // against −1, the best fixed decision
    let regret = meter.certificate(1).unwrap().regret;
    assert!((regret - 2.0 * (learner.points[0] + 1.0)).abs() <= 1e-9);
}

#[test]
fn an_onlooker_stops_a_run_or_fails_it() {
    let mut learner = Drawing::new();
    let mut play = |end: fn() -> extremal::Result<()>| {
        let mut stream = Ones(100, Vec::new());
        let mut rounds = 0;
        let onlooker = |_: &game::Turn<'_>| {
            rounds += 1;
            if rounds == 7 {
                ControlFlow::Break(end())
            } else {
                ControlFlow::Continue(())
            }
        };
        let played = Game::default().play_while(&mut learner, &mut stream, &linear(), 50, onlooker);
        (played, learner.rounds())
    };
    let (stopped, rounds) = play(|| Ok(()));
    assert_eq!((stopped.unwrap().rounds, rounds), (7, 7));
    let (failed, rounds) = play(|| Err(Error::Unsupported("enough".into())));
    assert!(matches!(failed, Err(Error::Unsupported(why)) if why == "enough"));
    assert_eq!(rounds, 14);
}

#[test]
fn learners_and_meters_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync + ?Sized>() {}
    is_shared::<Box<dyn Learner>>();
    is_shared::<Meter>();
    is_shared::<extremal::set::SharedSet>();
}
