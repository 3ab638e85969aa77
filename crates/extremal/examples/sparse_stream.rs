//! A sparse stream in 100,000 dimensions. The run is saved half-way and resumed in a new learner. The
//! resumed run ends with the same bits as an uninterrupted run.

use extremal::game::Game;
use extremal::hindsight::Meter;
use extremal::learner::{Learner, Storage, default_for};
use extremal::stream::{Round, Stream};
use extremal::{LossSpec, Objective, Point, Result, Row, SetSpec};

const FEATURES: usize = 100_000;
const NONZEROS: usize = 50;

/// Examples with 50 features each, labelled by a hidden rule. `t` is the round.
#[derive(Default)]
struct Clicks {
    t: usize,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Stream for Clicks {
    fn next(&mut self, _decision: &dyn Point) -> Result<Option<Round<'_>>> {
        self.indices.clear();
        self.values.clear();
        let (block, mut score) = (FEATURES / NONZEROS, 0.0);
        for k in 0..NONZEROS {
            let random = (self.t * NONZEROS + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let index = k * block + random % 40; // one index per block, so that indices increase
            let value = if random & 0x1000 == 0 { 0.14 } else { -0.14 };
            score += [1.0, -0.5, -0.5][index % 3] * value;
            self.indices.push(index as u32);
            self.values.push(value);
        }
        self.t += 1;
        let row = Row::sparse(&self.indices, &self.values);
        Ok(Some(Round::new(row, if score > 0.0 { 1.0 } else { -1.0 })))
    }

    fn row_bound(&self) -> f64 {
        1.0
    }
}

fn main() -> Result<()> {
    let set = "l2:radius=10".parse::<SetSpec>()?.build(Some(FEATURES))?;
    let objective = Objective::new("logistic".parse::<LossSpec>()?.build()?, 0.0)?;
    let spec = default_for(&*set, &objective, Storage::Lazy); // O(non-zeros) per round
    let build = || spec.build_stored(&set, Storage::Lazy);
    let play = |learner: &mut dyn Learner, meter: &mut Meter, stream: &mut Clicks, rounds| {
        let game = Game::default().with_meter(meter);
        game.play(learner, stream, &objective, rounds)
    };

    let (mut learner, mut meter) = (build()?, Meter::of(&set, &objective));
    let summary = play(&mut *learner, &mut meter, &mut Clicks::default(), 2000)?;
    let certificate = meter.certificate(1)?;

    let (mut first, mut meter) = (build()?, Meter::of(&set, &objective));
    let mut stream = Clicks::default();
    play(&mut *first, &mut meter, &mut stream, 1000)?;
    let saved = (first.save()?, meter.save()?); // bytes to write into a file
    let (mut second, mut meter) = (build()?, Meter::of(&set, &objective));
    second.load(&saved.0)?;
    meter.load(&saved.1)?;
    play(&mut *second, &mut meter, &mut stream, 1000)?;
    assert_eq!(second.save()?, learner.save()?);
    assert_eq!(meter.certificate(1)?, certificate);

    let (loss, regret) = (summary.total_loss, certificate.regret);
    println!("{spec}: loss {loss:.1}, regret at most {regret:.1}");
    Ok(())
}
