//! Projected gradient methods, for sets with a projection.

use super::search::Memory;
use super::{Imaged, Search, Task};
use crate::set::Projection;
use crate::{Result, kernel};

/// Writes the projection of x − step·gradient to `out`.
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

/// 1 divided by the total's estimated curvature, or 1 if the estimate is 0 or infinite.
fn first_step(task: &Task<'_>) -> f64 {
    let step = 1.0 / task.total.smoothness(task.mu);
    if step > 0.0 && step.is_finite() {
        step
    } else {
        1.0
    }
}

/// Projected gradient with Barzilai-Borwein steps. A step moves to the projected point. If the value
/// of this point exceeds the largest of the last few values, or if the total is a square, a line
/// search moves to the best point on the segment instead.
pub(super) fn spectral(
    search: &mut Search,
    task: &Task<'_>,
    memory: &mut Memory,
    projection: &mut dyn Projection,
    x: &mut [f64],
) -> Result<bool> {
    const LOOK_BACK: usize = 5;
    let [gradient, next_gradient, next, way, ..] = &mut memory.points;
    let [image, next_image, way_image, ..] = &mut memory.images;
    let mut reading = task.evaluate(x, image, gradient);
    let guess = first_step(task);
    let mut step = guess;
    let mut recent = [f64::NEG_INFINITY; LOOK_BACK];
    let mut k = 0;
    loop {
        let gap = search.certify(task, x, gradient, reading)?;
        if let Some(good) = search.stop(task, x, gap) {
            return Ok(good);
        }
        recent[k % LOOK_BACK] = reading.value;
        forward(projection, x, step, gradient, next)?;
        difference(next, x, way);
        let slope = kernel::dot(gradient, way);
        if !(slope < 0.0) {
            return Ok(false);
        }
        let there = if task.total.is_square() {
            search.atom.dense_mut(next.len()).copy_from_slice(next);
            task.total.map(&search.atom, next_image);
            None
        } else {
            Some(task.evaluate(next, next_image, next_gradient))
        };
        let worst = recent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ahead = match there.filter(|there| there.value <= worst + 1e-4 * slope) {
            Some(there) => there,
            None => {
                difference(next_image, image, way_image);
                let (from, by) = (Imaged { x, image }, Imaged::of(way, way_image));
                let s = task.line_search(slope, 1.0, from, by);
                if s == 0.0 {
                    return Ok(false);
                }
                if s < 1.0 {
                    way.iter_mut().for_each(|w| *w *= s);
                    next.copy_from_slice(x);
                    kernel::axpy(1.0, way, next);
                    next_image.copy_from_slice(image);
                    kernel::axpy(s, way_image, next_image);
                }
                task.total
                    .at_image(task.mu, next, next_image, next_gradient)
            }
        };
        let moved = kernel::dot(way, way);
        let (mut bend, mut turn) = (0.0, 0.0);
        for ((w, new), old) in way.iter().zip(&*next_gradient).zip(&*gradient) {
            bend += w * (new - old);
            turn += (new - old) * (new - old);
        }
        // Alternate between the long and the short Barzilai-Borwein step.
        step = match (bend > 0.0, k % 2) {
            (true, 0) => moved / bend,
            (true, _) => bend / turn,
            _ => 10.0 * step,
        };
        step = step.clamp(1e-12 * guess, 1e12 * guess);
        x.copy_from_slice(next);
        std::mem::swap(image, next_image);
        std::mem::swap(gradient, next_gradient);
        reading = ahead;
        k += 1;
    }
}

/// Accelerated projected gradient. Gradients are computed only at extrapolated points
/// y = x' + b(x' − x). The image of x' follows from the images of y and x, and is sufficient to check a step.
pub(super) fn accelerated(
    search: &mut Search,
    task: &Task<'_>,
    memory: &mut Memory,
    projection: &mut dyn Projection,
    x: &mut [f64],
) -> Result<bool> {
    let [gradient, next_gradient, next, way, y, next_y] = &mut memory.points;
    let [image, next_image, way_image, x_image, next_x_image] = &mut memory.images;
    let mut reading = task.evaluate(x, image, gradient);
    search.offer(x, reading.unsmoothed + reading.rounding);
    y.copy_from_slice(x);
    x_image.copy_from_slice(image);
    let mut curvature = 1.0 / first_step(task);
    let mut theta = 1.0;
    let mut x_value = reading.value;
    loop {
        let gap = search.bound(task, y, gradient, reading)?;
        // the gap of x, since y may lie outside the set
        if let Some(good) = search.stop(task, x, x_value - reading.value + gap) {
            return Ok(good);
        }
        let mut tries = 0;
        loop {
            forward(projection, y, 1.0 / curvature, gradient, next)?;
            let entries = y.iter().zip(&*next).zip(&*x);
            let uphill: f64 = entries.map(|((y, n), x)| (y - n) * (n - x)).sum();
            if uphill > 0.0 {
                theta = 1.0;
            }
            let momentum = (theta - 1.0) / later(theta);
            for ((y, n), x) in next_y.iter_mut().zip(&*next).zip(&*x) {
                *y = n + momentum * (n - x);
            }
            let ahead = task.evaluate(next_y, next_image, next_gradient);
            for ((z, new), old) in next_x_image.iter_mut().zip(&*next_image).zip(&*x_image) {
                *z = (new + momentum * old) / (1.0 + momentum);
            }
            difference(next, y, way);
            difference(next_x_image, image, way_image);
            let far = kernel::dot(way, way);
            if far == 0.0 && momentum == 0.0 {
                return Ok(false);
            }
            let (from, by) = (Imaged::of(y, image), Imaged::of(way, way_image));
            let (value, slope) = task.total.along(task.mu, 1.0, from, by);
            // The curvature between the two points, computed from the slopes at both points. A difference of
            // values would lose all its digits long before the end of the search.
            let bend = slope - task.total.along(task.mu, 0.0, from, by).1;
            tries += 1;
            if bend <= curvature * far || tries > 60 {
                let unsmoothed = match task.mu {
                    0.0 => value,
                    _ => task.total.along(0.0, 1.0, from, by).0,
                };
                search.offer(next, unsmoothed + reading.rounding);
                x_value = value;
                reading = ahead;
                // The next step may be slightly longer, as far as the measured curvature allows.
                curvature = (0.95 * curvature).max((bend / far).min(curvature));
                break;
            }
            curvature = (bend / far).max(2.0 * curvature);
        }
        theta = later(theta);
        x.copy_from_slice(next);
        std::mem::swap(x_image, next_x_image);
        std::mem::swap(y, next_y);
        std::mem::swap(image, next_image);
        std::mem::swap(gradient, next_gradient);
    }
}

fn later(theta: f64) -> f64 {
    0.5 * (1.0 + (1.0 + 4.0 * theta * theta).sqrt())
}
