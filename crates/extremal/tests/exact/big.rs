//! Numbers of 400 bits, some 120 digits, and what the tests compute with them.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use dashu_float::{FBig, round::mode::HalfEven};

#[derive(Clone, Debug)]
pub struct Big(FBig<HalfEven, 2>);

const BITS: usize = 400;

/// Exactly this number.
pub fn big(v: f64) -> Big {
    let exact = FBig::<HalfEven, 2>::try_from(v).expect("a finite number");
    Big(exact.with_precision(BITS).value())
}

impl Big {
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().value()
    }

    pub fn sqrt(&self) -> Big {
        if *self <= big(0.0) {
            return big(0.0);
        }
        Big(self.0.sqrt())
    }

    pub fn min(self, other: Big) -> Big {
        if other < self { other } else { self }
    }

    pub fn clamp(self, low: &Big, high: &Big) -> Big {
        if self < *low {
            low.clone()
        } else if self > *high {
            high.clone()
        } else {
            self
        }
    }
}

impl PartialEq for Big {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.partial_cmp(&other.0)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl $trait<&Big> for &Big {
            type Output = Big;
            fn $method(self, other: &Big) -> Big {
                Big($trait::$method(&self.0, &other.0))
            }
        }
        impl $trait<Big> for Big {
            type Output = Big;
            fn $method(self, other: Big) -> Big {
                Big($trait::$method(self.0, other.0))
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl Neg for Big {
    type Output = Big;
    fn neg(self) -> Big {
        Big(-self.0)
    }
}

pub fn bigs(x: &[f64]) -> Vec<Big> {
    x.iter().map(|v| big(*v)).collect()
}

pub fn dot(a: &[Big], b: &[Big]) -> Big {
    a.iter().zip(b).fold(big(0.0), |sum, (a, b)| sum + a * b)
}

/// The convex quadratic ½xᵀGx − ⟨b, x⟩ + c.
#[derive(Clone, Debug)]
pub struct Quadratic {
    pub g: Vec<Vec<Big>>,
    pub b: Vec<Big>,
    pub c: Big,
}

impl Quadratic {
    pub fn zero(dim: usize) -> Self {
        Self {
            g: vec![vec![big(0.0); dim]; dim],
            b: vec![big(0.0); dim],
            c: big(0.0),
        }
    }

    /// Adds ½(⟨a, x⟩ − y)² + (ridge/2)‖x‖².
    pub fn push(&mut self, a: &[f64], y: f64, ridge: f64) {
        let (a, y) = (bigs(a), big(y));
        for i in 0..a.len() {
            for j in 0..a.len() {
                self.g[i][j] = &self.g[i][j] + &(&a[i] * &a[j]);
            }
            self.g[i][i] = &self.g[i][i] + &big(ridge);
            self.b[i] = &self.b[i] + &(&a[i] * &y);
        }
        self.c = &self.c + &(&(&y * &y) * &big(0.5));
    }

    /// Adds ⟨a, x⟩.
    pub fn push_linear(&mut self, a: &[Big]) {
        for (b, a) in self.b.iter_mut().zip(a) {
            *b = &*b - a;
        }
    }

    pub fn value(&self, x: &[Big]) -> Big {
        let image: Vec<Big> = self.g.iter().map(|line| dot(line, x)).collect();
        dot(x, &image) * big(0.5) - dot(&self.b, x) + self.c.clone()
    }

    /// argmin of the quadratic plus (μ/2)‖x − p‖² over the coordinates that are free; the others
    /// stay as in x. `None` where it is singular.
    fn solve(&self, mu: &Big, p: &[Big], x: &[Big], free: &[usize]) -> Option<Vec<Big>> {
        let n = free.len();
        let mut m = vec![vec![big(0.0); n + 1]; n];
        for (r, &i) in free.iter().enumerate() {
            let mut right = &self.b[i] + &(mu * &p[i]);
            for (j, x) in x.iter().enumerate() {
                match free.iter().position(|k| *k == j) {
                    Some(c) => m[r][c] = self.g[i][j].clone(),
                    None => right = right - &self.g[i][j] * x,
                }
            }
            m[r][r] = &m[r][r] + mu;
            m[r][n] = right;
        }
        for k in 0..n {
            let pivot = m[k].clone();
            if pivot[k] <= big(0.0) {
                return None;
            }
            for (_, line) in m.iter_mut().enumerate().filter(|(r, _)| *r != k) {
                let factor = &line[k] / &pivot[k];
                for (v, p) in line.iter_mut().zip(&pivot).skip(k) {
                    *v = &*v - &(&factor * p);
                }
            }
        }
        let mut out = x.to_vec();
        for (r, &i) in free.iter().enumerate() {
            out[i] = &m[r][n] / &m[r][r];
        }
        Some(out)
    }
}

/// A set whose quadratics can be minimised exactly.
#[derive(Clone, Debug)]
pub enum Shape {
    /// ‖x − centre‖ ≤ radius.
    Ball { centre: Vec<f64>, radius: f64 },
    /// low ≤ x ≤ high.
    Box { low: Vec<f64>, high: Vec<f64> },
    /// All between two points.
    Segment { a: Vec<f64>, b: Vec<f64> },
}

impl Shape {
    /// The minimum of a quadratic over the set.
    pub fn minimum(&self, f: &Quadratic) -> Big {
        match self {
            Self::Ball { centre, radius } => ball(f, &bigs(centre), &big(*radius)),
            Self::Box { low, high } => {
                let (low, high) = (bigs(low), bigs(high));
                let mut best: Option<Big> = None;
                // every coordinate at its lower end, at its upper end, or free
                for choice in 0..3usize.pow(low.len() as u32) {
                    let sides: Vec<usize> = (0..low.len())
                        .map(|i| choice / 3usize.pow(i as u32) % 3)
                        .collect();
                    let x: Vec<Big> = (0..low.len())
                        .map(|i| [&low[i], &high[i], &low[i]][sides[i]].clone())
                        .collect();
                    let free: Vec<usize> = (0..low.len()).filter(|i| sides[*i] == 2).collect();
                    let none = vec![big(0.0); low.len()];
                    let Some(x) = f.solve(&big(0.0), &none, &x, &free) else {
                        continue;
                    };
                    let inside = x
                        .iter()
                        .zip(low.iter().zip(&high))
                        .all(|(x, (low, high))| x >= low && x <= high);
                    if inside {
                        let value = f.value(&x);
                        best = Some(match best {
                            Some(best) => best.min(value),
                            None => value,
                        });
                    }
                }
                best.expect("a box has corners")
            }
            Self::Segment { a, b } => {
                let (a, b) = (bigs(a), bigs(b));
                let way: Vec<Big> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                let at = |s: &Big| -> Big {
                    let x: Vec<Big> = a.iter().zip(&way).map(|(a, w)| a + &(s * w)).collect();
                    f.value(&x)
                };
                let (zero, half, one) = (at(&big(0.0)), at(&big(0.5)), at(&big(1.0)));
                // the parabola through three points
                let bend = (&zero + &one - &half + -half.clone()) * big(4.0);
                let slope = &one - &zero - &bend * &big(0.5);
                let mut best = zero.min(one);
                if bend > big(0.0) {
                    let s = (-slope / bend).clamp(&big(0.0), &big(1.0));
                    best = best.min(at(&s));
                }
                best
            }
        }
    }
}

impl Sub<&Big> for Big {
    type Output = Big;
    fn sub(self, other: &Big) -> Big {
        &self - other
    }
}

impl Sub<Big> for &Big {
    type Output = Big;
    fn sub(self, other: Big) -> Big {
        self - &other
    }
}

/// The secular equation ‖x(μ) − p‖ = r with x(μ) = argmin f + (μ/2)‖x − p‖², by bisection.
fn ball(f: &Quadratic, p: &[Big], radius: &Big) -> Big {
    let all: Vec<usize> = (0..p.len()).collect();
    let at = |mu: &Big| f.solve(mu, p, p, &all);
    let too_far = |x: &[Big]| {
        let way: Vec<Big> = x.iter().zip(p).map(|(x, p)| x - p).collect();
        dot(&way, &way) > radius * radius
    };
    if let Some(x) = at(&big(0.0))
        && !too_far(&x)
    {
        return f.value(&x);
    }
    let slope: Vec<Big> =
        f.g.iter()
            .zip(&f.b)
            .map(|(line, b)| dot(line, p) - b)
            .collect();
    // at μ = ‖∇f(p)‖/r the point is inside
    let steep = dot(&slope, &slope).sqrt();
    if steep == big(0.0) {
        return f.value(p);
    }
    let (mut low, mut high) = (big(0.0), &(&steep / radius) * &big(1.000001));
    for _ in 0..300 {
        let middle = &(&low + &high) * &big(0.5);
        match at(&middle) {
            Some(x) if !too_far(&x) => high = middle,
            _ => low = middle,
        }
    }
    // inside the ball by 300 bisections' worth: no less than the minimum, and equal to 1e-80 of it
    f.value(&at(&high).expect("μ > 0"))
}
