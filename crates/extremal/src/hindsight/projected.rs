//! Methods for sets with a projection.

use super::solve::{Search, Stop};
use super::total::Place;
use crate::kernel;
use crate::{Result, set::Projection};

/// out = x − step·gradient, projected.
fn forward(
    projection: &mut dyn Projection,
    x: &[f64],
    step: f64,
    gradient: &[f64],
    out: &mut [f64],
) -> Result<()> {
    for ((out, x), g) in out.iter_mut().zip(x).zip(gradient) {
        *out = x - step * g;
    }
    projection.project(out)
}

fn difference(a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a - b;
    }
}

/// One over the curvature that the total guesses; where it has none, any step.
fn first_step(search: &Search<'_>) -> f64 {
    let step = 1.0 / search.total.smoothness_at(search.mu);
    if step > 0.0 && step.is_finite() {
        step
    } else {
        1.0
    }
}

/// Projected gradient with Barzilai-Borwein steps. The whole way to the projection is taken
/// unless the value ends above the worst of the last few; then the best point on it.
pub(super) fn spectral(search: &mut Search<'_>, x: &mut Vec<f64>) -> Result<Stop> {
    const MEMORY: usize = 5;
    let mut projection = search.projection()?;
    let (mut image, mut gradient) = search.room();
    let (mut next_image, mut next_gradient) = search.room();
    let mut next = x.clone();
    let mut way = vec![0.0; x.len()];
    let mut way_image = vec![0.0; image.len()];
    let mut reading = search
        .total
        .evaluate(search.mu, x, &mut image, &mut gradient);
    let guess = first_step(search);
    let mut step = guess;
    let mut recent = [f64::NEG_INFINITY; MEMORY];
    let mut k = 0;
    loop {
        let gap = search.certify(x, &gradient, reading)?;
        if let Some(stop) = search.stop(gap) {
            return Ok(stop);
        }
        recent[k % MEMORY] = reading.value;
        forward(&mut *projection, x, step, &gradient, &mut next)?;
        difference(&next, x, &mut way);
        let slope = kernel::dot(&gradient, &way);
        if !(slope < 0.0) {
            return Ok(Stop::Stalled);
        }
        let mut ahead =
            search
                .total
                .evaluate(search.mu, &next, &mut next_image, &mut next_gradient);
        let worst = recent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !(ahead.value <= worst + 1e-4 * slope) {
            difference(&next_image, &image, &mut way_image);
            let (from, by) = (
                Place { x, image: &image },
                Place {
                    x: &way,
                    image: &way_image,
                },
            );
            let s = search.line_search(slope, 1.0, from, by);
            if s == 0.0 {
                return Ok(Stop::Stalled);
            }
            for ((n, x), w) in next.iter_mut().zip(&*x).zip(&mut way) {
                *w *= s;
                *n = x + *w;
            }
            ahead = search
                .total
                .evaluate(search.mu, &next, &mut next_image, &mut next_gradient);
        }
        let moved = kernel::dot(&way, &way);
        let (mut bend, mut turn) = (0.0, 0.0);
        for ((w, new), old) in way.iter().zip(&next_gradient).zip(&gradient) {
            bend += w * (new - old);
            turn += (new - old) * (new - old);
        }
        // The long and the short quotient in turn.
        step = match (bend > 0.0, k % 2) {
            (true, 0) => moved / bend,
            (true, _) => bend / turn,
            _ => 10.0 * step,
        };
        step = step.clamp(1e-12 * guess, 1e12 * guess);
        std::mem::swap(x, &mut next);
        std::mem::swap(&mut image, &mut next_image);
        std::mem::swap(&mut gradient, &mut next_gradient);
        reading = ahead;
        k += 1;
    }
}

/// Accelerated projected gradient. Gradients are taken at extrapolated points y = x' + b(x' − x)
/// only; the image of x' follows from those of y and x, and with it the check of the last step.
pub(super) fn accelerated(search: &mut Search<'_>, x: &mut Vec<f64>) -> Result<Stop> {
    let mut projection = search.projection()?;
    let (mut image, mut gradient) = search.room();
    let (mut next_image, mut next_gradient) = search.room();
    let mut reading = search
        .total
        .evaluate(search.mu, x, &mut image, &mut gradient);
    search.offer(x, reading.truth + reading.rounding);
    let mut y = x.clone();
    let mut x_image = image.clone();
    let (mut next, mut next_y) = (x.clone(), x.clone());
    let mut way = vec![0.0; x.len()];
    let mut next_x_image = image.clone();
    let mut way_image = image.clone();
    let mut curvature = 1.0 / first_step(search);
    let mut theta = 1.0;
    let mut x_value = reading.value;
    loop {
        let gap = search.bound(&y, &gradient, reading)?;
        // What x is short of: y may lie outside.
        if let Some(stop) = search.stop(x_value - reading.value + gap) {
            return Ok(stop);
        }
        let mut tries = 0;
        loop {
            forward(&mut *projection, &y, 1.0 / curvature, &gradient, &mut next)?;
            let uphill: f64 = y
                .iter()
                .zip(&next)
                .zip(&*x)
                .map(|((y, n), x)| (y - n) * (n - x))
                .sum();
            if uphill > 0.0 {
                theta = 1.0;
            }
            let momentum = (theta - 1.0) / later(theta);
            for ((y, n), x) in next_y.iter_mut().zip(&next).zip(&*x) {
                *y = n + momentum * (n - x);
            }
            let ahead =
                search
                    .total
                    .evaluate(search.mu, &next_y, &mut next_image, &mut next_gradient);
            for ((z, new), old) in next_x_image.iter_mut().zip(&next_image).zip(&x_image) {
                *z = (new + momentum * old) / (1.0 + momentum);
            }
            difference(&next, &y, &mut way);
            difference(&next_x_image, &image, &mut way_image);
            let far = kernel::dot(&way, &way);
            if far == 0.0 && momentum == 0.0 {
                return Ok(Stop::Stalled);
            }
            let from = Place {
                x: &y,
                image: &image,
            };
            let by = Place {
                x: &way,
                image: &way_image,
            };
            let (value, slope) = search.total.along(search.mu, 1.0, from, by);
            // The bend between the two, from slopes along the same image: a difference of values
            // would drown in their rounding long before the end.
            let bend = slope - search.total.along(search.mu, 0.0, from, by).1;
            tries += 1;
            if bend <= curvature * far || tries > 60 {
                let truth = match search.mu {
                    0.0 => value,
                    _ => search.total.along(0.0, 1.0, from, by).0,
                };
                search.offer(&next, truth + reading.rounding);
                x_value = value;
                reading = ahead;
                // A little bolder next time, but not beyond what this step needed.
                curvature = (0.95 * curvature).max((bend / far).min(curvature));
                break;
            }
            curvature = (bend / far).max(2.0 * curvature);
        }
        theta = later(theta);
        std::mem::swap(x, &mut next);
        std::mem::swap(&mut x_image, &mut next_x_image);
        std::mem::swap(&mut y, &mut next_y);
        std::mem::swap(&mut image, &mut next_image);
        std::mem::swap(&mut gradient, &mut next_gradient);
    }
}

fn later(theta: f64) -> f64 {
    0.5 * (1.0 + (1.0 + 4.0 * theta * theta).sqrt())
}
