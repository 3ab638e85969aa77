//! Our side of the comparisons with the Python package: the same calls, made from Rust.

use std::sync::Arc;
use std::time::Instant;

use extremal::Gradient;
use extremal::learner::{LearnerSpec, Storage, default_for};
use extremal::loss::{LossSpec, Objective};
use extremal::set::{CustomSet, Geometry, SetSpec, SharedSet};

use crate::{DenseStream, Failure, answer, read_doubles, serve_with};

/// Rows and labels of a stream's file.
struct Data {
    numbers: Vec<f64>,
    rounds: usize,
    dim: usize,
}

impl Data {
    fn read(d: &str, t: &str, file: &str) -> Result<Self, Failure> {
        let (dim, rounds) = (d.parse::<usize>()?, t.parse::<usize>()?);
        let numbers = read_doubles(file, rounds * (dim + 1))?;
        Ok(Self {
            numbers,
            rounds,
            dim,
        })
    }

    fn parts(&self) -> (&[f64], &[f64]) {
        let all = &self.numbers[self.numbers.len() - self.rounds * (self.dim + 1)..];
        all.split_at(self.rounds * self.dim)
    }
}

/// The learner decides, the decision is written out, and the row is its gradient.
pub fn rounds(learner: &str, set: &str, [d, t, file]: [&str; 3]) -> Result<(), Failure> {
    let data = Data::read(d, t, file)?;
    let (rows, _) = data.parts();
    let set = set.parse::<SetSpec>()?.build(Some(data.dim))?;
    let spec: LearnerSpec = learner.parse()?;
    let mut x = vec![0.0; data.dim];
    answer(|| {
        let mut learner = spec.build(&set)?;
        let mut loss = 0.0;
        let start = Instant::now();
        for row in rows.chunks_exact(data.dim) {
            learner.decide()?.write(&mut x);
            loss += learner.observe(&Gradient::dense(row))?.gradient_dot;
        }
        let seconds = start.elapsed().as_secs_f64();
        let average = loss / data.rounds as f64;
        Ok([seconds, average, learner.decision().norm_squared().sqrt()])
    })
}

/// The library plays all rows on a set with an oracle of its user's, who wrote it in Rust; the losses
/// are linear.
pub fn oracle([d, t, file]: [&str; 3]) -> Result<(), Failure> {
    let data = Data::read(d, t, file)?;
    let (rows, labels) = data.parts();
    let geometry = Geometry {
        diameter: 2f64.sqrt(),
        norm_bound: 1.0,
        inner_radius: None,
        strong_convexity: None,
    };
    let corner = |_: &[f64], v: &mut [f64]| {
        v.fill(0.0);
        v[0] = 1.0;
        Ok(())
    };
    let mut centre = vec![0.0; data.dim];
    centre[0] = 1.0;
    let set = CustomSet::new("corner", data.dim, geometry, corner)?.with_centre(&centre)?;
    let set: SharedSet = Arc::new(set);
    let spec: LearnerSpec = format!("ofw:horizon={},gradient-bound=10", data.rounds).parse()?;
    let objective = Objective::new("linear".parse::<LossSpec>()?.build()?, 0.0)?;
    let stream = || DenseStream {
        rows,
        labels,
        dim: data.dim,
        next: 0,
    };
    serve_with(
        || Ok(spec.build(&set)?),
        stream,
        &objective,
        data.rounds,
        |decision| decision.norm_squared().sqrt(),
    )
}

/// The library plays all rows; LEARNER may be `default`.
pub fn play(
    [learner, storage, set, loss]: [&str; 4],
    [d, t, file]: [&str; 3],
) -> Result<(), Failure> {
    let data = Data::read(d, t, file)?;
    let (rows, labels) = data.parts();
    let set = set.parse::<SetSpec>()?.build(Some(data.dim))?;
    let storage = match storage {
        "lazy" => Storage::Lazy,
        "dense" => Storage::Dense,
        _ => return Err(format!("no storage `{storage}`").into()),
    };
    let objective = Objective::new(loss.parse::<LossSpec>()?.build()?, 0.0)?;
    let spec: LearnerSpec = match learner {
        "default" => default_for(&*set, &objective, storage),
        text => text.parse()?,
    };
    let stream = || DenseStream {
        rows,
        labels,
        dim: data.dim,
        next: 0,
    };
    serve_with(
        || Ok(spec.build_stored(&set, storage)?),
        stream,
        &objective,
        data.rounds,
        |decision| decision.norm_squared().sqrt(),
    )
}
