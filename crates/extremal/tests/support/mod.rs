//! What the tests of the mathematics share. Everything here is written plainly and anew: nothing
//! of the library's arithmetic is used to check the library's arithmetic.
#![allow(dead_code, unused_imports)] // each test file uses its own part

pub use extremal_check::kit::{self, *};
use rand_chacha::ChaCha8Rng;

/// `name:key=value` with `key=[…]` appended.
pub fn with_list(text: &str, key: &str, values: &[f64]) -> String {
    let list: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
    let joint = if text.contains(':') { ',' } else { ':' };
    format!("{text}{joint}{key}=[{}]", list.join(","))
}

/// A set as the textbook has it: its oracle and projection by the plainest means.
#[derive(Clone, Debug)]
pub enum Body {
    Lp {
        p: f64,
        radius: f64,
    },
    L1 {
        radius: f64,
    },
    Box {
        lower: f64,
        upper: f64,
    },
    Simplex {
        total: f64,
        at_most: bool,
    },
    CappedSimplex {
        total: f64,
    },
    KSparse {
        k: usize,
        radius: f64,
    },
    KSupport {
        k: usize,
        radius: f64,
    },
    Hypercube {
        radius: f64,
        centred: bool,
    },
    Permutahedron,
    /// One semi-axis for all coordinates, or one for each.
    Ellipsoid {
        axes: &'static [f64],
        centre: f64,
    },
    Group {
        s: f64,
        p: f64,
        radius: f64,
        size: usize,
    },
    ElasticNet {
        omega: f64,
        tau: f64,
    },
    /// Another one, every coordinate moved.
    Moved {
        by: f64,
        body: Box<Body>,
    },
    /// The first half of the coordinates, the larger one, in one body, the others in another.
    Halves(Box<[Body; 2]>),
}

impl Body {
    /// The library's name for it.
    pub fn spec(&self) -> String {
        match self {
            Self::Lp { p: 2.0, radius } => format!("l2:radius={radius}"),
            Self::Lp { p, radius } => format!("lp:p={p},radius={radius}"),
            Self::L1 { radius } => format!("l1:radius={radius}"),
            Self::Box { lower, upper } => format!("box:lower={lower},upper={upper}"),
            Self::Simplex { total, at_most } => format!("simplex:total={total},at-most={at_most}"),
            Self::CappedSimplex { total } => format!("capped-simplex:total={total}"),
            Self::KSparse { k, radius } => format!("k-sparse:k={k},radius={radius}"),
            Self::KSupport { k, radius } => format!("k-support:k={k},radius={radius}"),
            Self::Hypercube { radius, centred } => {
                format!("hypercube:radius={radius},centred={centred}")
            }
            Self::Permutahedron => "permutahedron".into(),
            Self::Ellipsoid {
                axes: [axis],
                centre,
            } => format!("ellipsoid:axes={axis},centre={centre}"),
            Self::Ellipsoid { axes, centre } => {
                with_list(&format!("ellipsoid:centre={centre}"), "axes", axes)
            }
            Self::Group { s, p, radius, size } => {
                format!("group:s={s},p={p},radius={radius},size={size}")
            }
            Self::ElasticNet { omega, tau } => format!("elastic-net:omega={omega},tau={tau}"),
            Self::Moved { by, body } => format!("translate:by={by},set=({})", body.spec()),
            Self::Halves(halves) => {
                let [first, second] = halves.each_ref().map(Self::spec);
                format!("product:sets=[({first}),({second})]")
            }
        }
    }

    pub fn centre(&self, dim: usize) -> Vec<f64> {
        let d = dim as f64;
        match *self {
            Self::Lp { .. } | Self::L1 { .. } | Self::Group { .. } | Self::ElasticNet { .. } => {
                vec![0.0; dim]
            }
            Self::Ellipsoid { centre, .. } => vec![centre; dim],
            Self::Box { lower, upper } => vec![0.5 * (lower + upper); dim],
            Self::Simplex { total, at_most } => {
                vec![total / if at_most { d + d.sqrt() } else { d }; dim]
            }
            Self::CappedSimplex { total } => vec![total / d; dim],
            Self::KSparse { .. } | Self::KSupport { .. } => vec![0.0; dim],
            Self::Hypercube { radius, centred } => {
                vec![if centred { 0.0 } else { 0.5 * radius }; dim]
            }
            Self::Permutahedron => vec![0.5 * (d + 1.0); dim],
            Self::Moved { by, ref body } => body.centre(dim).iter().map(|v| v + by).collect(),
            Self::Halves(ref halves) => {
                let (a, b) = (halves[0].centre(dim.div_ceil(2)), halves[1].centre(dim / 2));
                [a, b].concat()
            }
        }
    }

    pub fn diameter(&self, dim: usize) -> f64 {
        let d = dim as f64;
        match *self {
            Self::Lp { p, radius } => 2.0 * radius * d.powf(0.5 - 1.0 / p).max(1.0),
            Self::L1 { radius } => 2.0 * radius,
            Self::Box { lower, upper } => (upper - lower) * d.sqrt(),
            // in dimension 1 it is a point, or a segment
            Self::Simplex { total, at_most } if dim == 1 => f64::from(at_most) * total,
            Self::Simplex { total, .. } => total * 2f64.sqrt(),
            Self::CappedSimplex { .. } | Self::Permutahedron => {
                let rising: Vec<f64> = (0..dim).map(|i| i as f64).collect();
                let falling = scaled(&rising, -1.0);
                distance(&self.oracle(&rising), &self.oracle(&falling))
            }
            Self::KSparse { k, radius } => 2.0 * radius * (k.min(dim) as f64).sqrt(),
            Self::KSupport { radius, .. } => 2.0 * radius,
            Self::Hypercube { radius, centred } => {
                radius * d.sqrt() * if centred { 2.0 } else { 1.0 }
            }
            Self::Ellipsoid { axes, .. } => 2.0 * axes.iter().copied().fold(0.0, f64::max),
            Self::Group { radius, .. } => 2.0 * radius, // s, p ≤ 2
            Self::ElasticNet { omega, tau } => {
                2.0 * ((1.0 + 2.0 * omega * tau).sqrt() - 1.0) / omega
            }
            Self::Moved { ref body, .. } => body.diameter(dim),
            Self::Halves(ref halves) => {
                let [a, b] = &**halves;
                a.diameter(dim.div_ceil(2)).hypot(b.diameter(dim / 2))
            }
        }
    }

    /// α_K, for p ≤ 2; of a group ball with more than one group, of more than one coordinate.
    pub fn strong_convexity(&self, dim: usize) -> Option<f64> {
        match *self {
            Self::Lp { p, radius } if p <= 2.0 => {
                Some((p - 1.0) * (dim as f64).powf(0.5 - 1.0 / p) / radius)
            }
            Self::Ellipsoid { axes, .. } => {
                let long = axes.iter().copied().fold(0.0, f64::max);
                Some(axes.iter().copied().fold(f64::INFINITY, f64::min) / long.powi(2))
            }
            Self::Group { s, p, radius, size } if s.min(p) > 1.0 => {
                let groups = dim.div_ceil(size) as f64;
                let norms = (size as f64).powf(0.5 - 1.0 / s) * groups.powf(0.5 - 1.0 / p);
                Some((s.min(p) - 1.0) * norms / radius)
            }
            Self::ElasticNet { omega, tau } if dim > 1 => {
                Some(omega / (dim as f64 + 2.0 * omega * tau).sqrt())
            }
            Self::ElasticNet { .. } => Some(2.0 / self.diameter(dim)),
            Self::Moved { ref body, .. } => body.strong_convexity(dim),
            _ => None,
        }
    }

    /// argmin over the set of ⟨c, v⟩.
    pub fn oracle(&self, c: &[f64]) -> Vec<f64> {
        let corner = |i: usize, value: f64| {
            let mut v = vec![0.0; c.len()];
            v[i] = value;
            v
        };
        match *self {
            Self::Lp { p, radius } => {
                let top = c.iter().fold(0.0_f64, |t, v| t.max(v.abs()));
                let w: Vec<f64> = c
                    .iter()
                    .map(|v| -v.signum() * (v.abs() / top).powf(1.0 / (p - 1.0)))
                    .collect();
                scaled(&w, radius / norm_p(&w, p))
            }
            Self::L1 { radius } => {
                let i = (0..c.len()).fold(0, |b, i| if c[i].abs() > c[b].abs() { i } else { b });
                corner(i, if c[i] > 0.0 { -radius } else { radius })
            }
            Self::Box { lower, upper } => c
                .iter()
                .map(|v| if *v > 0.0 { lower } else { upper })
                .collect(),
            Self::Simplex { total, at_most } => {
                let i = (0..c.len()).fold(0, |b, i| if c[i] < c[b] { i } else { b });
                corner(i, if at_most && c[i] >= 0.0 { 0.0 } else { total })
            }
            Self::CappedSimplex { total } => {
                let mut left = total;
                let mut v = vec![0.0; c.len()];
                for i in rising(c) {
                    v[i] = left.clamp(0.0, 1.0);
                    left -= v[i];
                }
                v
            }
            Self::KSparse { k, radius } => {
                let mut v = vec![0.0; c.len()];
                for &i in largest(c).iter().take(k) {
                    v[i] = if c[i] > 0.0 { -radius } else { radius };
                }
                v
            }
            Self::KSupport { k, radius } => {
                let mut v = vec![0.0; c.len()];
                for &i in largest(c).iter().take(k) {
                    v[i] = -c[i];
                }
                scaled(&v, radius / norm(&v))
            }
            Self::Hypercube { radius, centred } => {
                let low = if centred { -radius } else { 0.0 };
                let end = |v: &f64| if *v > 0.0 { low } else { radius };
                c.iter().map(end).collect()
            }
            Self::Permutahedron => {
                let mut v = vec![0.0; c.len()];
                for (rank, i) in rising(c).into_iter().enumerate() {
                    v[i] = (c.len() - rank) as f64;
                }
                v
            }
            Self::Ellipsoid { axes, centre } => {
                // c − Ad/√(dᵀAd)
                let axis = |i: usize| axes[i % axes.len()];
                let ad: Vec<f64> = (0..c.len()).map(|i| axis(i) * c[i]).collect();
                let length = norm(&ad);
                (0..c.len())
                    .map(|i| centre - axis(i) * (ad[i] / length))
                    .collect()
            }
            Self::Group { s, p, radius, size } => {
                let inner = Self::Lp { p: s, radius: 1.0 };
                let dual = |g: &[f64]| norm_p(g, s / (s - 1.0));
                let sizes: Vec<f64> = c.chunks(size).map(dual).collect();
                let across = if p == 1.0 {
                    Self::L1 { radius }
                } else {
                    Self::Lp { p, radius }
                };
                let shares = across.oracle(&sizes);
                let one = |(g, share): (&[f64], f64)| match share {
                    0.0 => vec![0.0; g.len()],
                    share => scaled(&inner.oracle(g), -share),
                };
                c.chunks(size).zip(shares).flat_map(one).collect()
            }
            Self::ElasticNet { omega, tau } => {
                let mut sorted: Vec<f64> = c.iter().map(|v| v.abs()).collect();
                sorted.sort_by(|a, b| b.total_cmp(a));
                let top = sorted[0];
                let (mut sum, mut threshold) = (0.0, 0.0);
                for (k, a) in sorted.iter().enumerate() {
                    sum += (a / top).powi(2);
                    let nu = top * (sum / (2.0 * omega * tau + (k + 1) as f64)).sqrt();
                    if *a > nu {
                        threshold = nu;
                    }
                }
                let size = |v: f64| (v.abs() / threshold - 1.0).max(0.0) / omega;
                c.iter().map(|v| -v.signum() * size(*v)).collect()
            }
            Self::Moved { by, ref body } => body.oracle(c).iter().map(|v| v + by).collect(),
            Self::Halves(ref halves) => {
                let (first, second) = c.split_at(c.len().div_ceil(2));
                [halves[0].oracle(first), halves[1].oracle(second)].concat()
            }
        }
    }

    /// The nearest point; ℓp only for p = 2, groups not, ellipsoids only where they are balls.
    pub fn project(&self, y: &[f64]) -> Vec<f64> {
        match *self {
            Self::Lp { p: 2.0, radius } => scaled(y, (radius / norm(y)).min(1.0)),
            Self::Ellipsoid {
                axes: [radius],
                centre,
            } => {
                let from = |v: &f64| v - centre;
                let way: Vec<f64> = y.iter().map(from).collect();
                let near = scaled(&way, (radius / norm(&way)).min(1.0));
                near.iter().map(|v| v + centre).collect()
            }
            Self::ElasticNet { omega, tau } => {
                let at = |m: f64| -> Vec<f64> {
                    let shrunk = |v: &f64| v.signum() * (v.abs() - m).max(0.0) / (1.0 + omega * m);
                    y.iter().map(shrunk).collect()
                };
                let outside = |x: &[f64]| {
                    x.iter().map(|v| v.abs()).sum::<f64>() + 0.5 * omega * dot(x, x) > tau
                };
                if !outside(y) {
                    return y.to_vec();
                }
                let (mut low, mut high) = (0.0, norm(y));
                for _ in 0..200 {
                    let middle = 0.5 * (low + high);
                    if outside(&at(middle)) {
                        low = middle
                    } else {
                        high = middle
                    }
                }
                at(high)
            }
            Self::Lp { .. } | Self::Ellipsoid { .. } | Self::Group { .. } => {
                panic!("not by plain means")
            }
            Self::Box { lower, upper } => y.iter().map(|v| v.clamp(lower, upper)).collect(),
            Self::L1 { radius } => {
                let sizes: Vec<f64> = y.iter().map(|v| v.abs()).collect();
                if sizes.iter().sum::<f64>() <= radius {
                    return y.to_vec();
                }
                let x = shift_to_total(&sizes, radius, f64::INFINITY);
                x.iter().zip(y).map(|(x, y)| x * y.signum()).collect()
            }
            Self::Simplex { total, at_most } => {
                let inside: Vec<f64> = y.iter().map(|v| v.max(0.0)).collect();
                if at_most && inside.iter().sum::<f64>() <= total {
                    return inside;
                }
                shift_to_total(y, total, f64::INFINITY)
            }
            Self::CappedSimplex { total } => shift_to_total(y, total, 1.0),
            Self::KSparse { k, radius } => {
                let sizes: Vec<f64> = y.iter().map(|v| v.abs().min(radius)).collect();
                let x = if sizes.iter().sum::<f64>() <= k as f64 * radius {
                    sizes
                } else {
                    let sizes: Vec<f64> = y.iter().map(|v| v.abs()).collect();
                    shift_to_total(&sizes, k as f64 * radius, radius)
                };
                x.iter().zip(y).map(|(x, y)| x * y.signum()).collect()
            }
            Self::KSupport { k, radius } => project_onto_k_support(y, k, radius),
            Self::Hypercube { radius, centred } => {
                let low = if centred { -radius } else { 0.0 };
                y.iter().map(|v| v.clamp(low, radius)).collect()
            }
            Self::Permutahedron => {
                // the falling sequence nearest to y − w, by the formula of means
                let d = y.len();
                let order = largest_first(y);
                let r: Vec<f64> = (0..d).map(|i| y[order[i]] - (d - i) as f64).collect();
                let mean = |a: usize, b: usize| r[a..=b].iter().sum::<f64>() / (b + 1 - a) as f64;
                let mut x = y.to_vec();
                for i in 0..d {
                    let most = |a| (i..d).map(|b| mean(a, b)).fold(f64::MIN, f64::max);
                    x[order[i]] -= (0..=i).map(most).fold(f64::MAX, f64::min);
                }
                x
            }
            Self::Moved { by, ref body } => {
                let back: Vec<f64> = y.iter().map(|v| v - by).collect();
                body.project(&back).iter().map(|v| v + by).collect()
            }
            Self::Halves(ref halves) => {
                let (first, second) = y.split_at(y.len().div_ceil(2));
                [halves[0].project(first), halves[1].project(second)].concat()
            }
        }
    }

    /// A point of the set that is no special one.
    pub fn some_point(&self, rng: &mut ChaCha8Rng, dim: usize) -> Vec<f64> {
        let mut x = scaled(&self.centre(dim), 0.4);
        for share in [0.1, 0.2, 0.3] {
            x = plus(&x, share, &self.oracle(&normals(rng, dim)));
        }
        x
    }
}

/// The places of the entries, smallest entry first; equal ones in their order.
fn rising(c: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..c.len()).collect();
    order.sort_by(|&a, &b| c[a].partial_cmp(&c[b]).unwrap());
    order
}

fn largest_first(c: &[f64]) -> Vec<usize> {
    rising(&scaled(c, -1.0))
}

/// The places of the entries, largest size first.
fn largest(c: &[f64]) -> Vec<usize> {
    largest_first(&c.iter().map(|v| v.abs()).collect::<Vec<_>>())
}

/// clip(y − θ, 0, cap) with θ such that the total is as asked, by bisection.
fn shift_to_total(y: &[f64], total: f64, cap: f64) -> Vec<f64> {
    let top = y.iter().fold(f64::NEG_INFINITY, |t, v| t.max(*v));
    let clipped = |v: f64, theta: f64| (v - theta).clamp(0.0, cap);
    let sum = |theta: f64| y.iter().map(|v| clipped(*v, theta)).sum::<f64>();
    let (mut low, mut high) = (top - total - 1.0, top);
    while sum(low) < total {
        low -= high - low;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if sum(middle) > total {
            low = middle
        } else {
            high = middle
        }
    }
    y.iter().map(|v| clipped(*v, high)).collect()
}

/// The k-support norm is the smallest √(Σ x²/θ) over 0 ≤ θ ≤ 1 with Σθ = k, and the nearest
/// point θy/(θ + λ) with θ = clip(α|y| − λ, 0, 1): α for every λ and λ for the radius, both by
/// bisection.
fn project_onto_k_support(y: &[f64], k: usize, radius: f64) -> Vec<f64> {
    let top = y.iter().fold(0.0_f64, |t, v| t.max(v.abs()));
    if y.iter().filter(|v| **v != 0.0).count() <= k {
        return scaled(y, (radius / norm(y)).min(1.0));
    }
    let shares = |lambda: f64| -> Vec<f64> {
        let at = |alpha: f64| {
            y.iter()
                .map(move |v| (alpha * v.abs() - lambda).clamp(0.0, 1.0))
        };
        let (mut low, mut high) = (0.0, (1.0 + lambda) / top);
        while at(high).sum::<f64>() < k as f64 {
            high *= 2.0;
        }
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if at(middle).sum::<f64>() < k as f64 {
                low = middle
            } else {
                high = middle
            }
        }
        at(high).collect()
    };
    let near = |lambda: f64| -> (Vec<f64>, f64) {
        let theta = shares(lambda);
        let x: Vec<f64> = (0..y.len())
            .map(|i| y[i] * theta[i] / (theta[i] + lambda.max(1e-300)))
            .collect();
        let held = (0..y.len()).filter(|&i| theta[i] > 0.0);
        let square = held.map(|i| x[i] * x[i] / theta[i]).sum::<f64>();
        (x, square.sqrt())
    };
    if near(0.0).1 <= radius {
        return y.to_vec();
    }
    let (mut low, mut high) = (0.0, 1.0);
    while near(high).1 > radius {
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if near(middle).1 > radius {
            low = middle
        } else {
            high = middle
        }
    }
    near(high).0
}

/// Every kind of set, with centres at 0 and elsewhere.
pub fn bodies() -> Vec<Body> {
    vec![
        Body::Lp {
            p: 2.0,
            radius: 2.0,
        },
        Body::Lp {
            p: 1.1,
            radius: 1.0,
        },
        Body::Lp {
            p: 1.5,
            radius: 3.0,
        },
        Body::Lp {
            p: 3.0,
            radius: 0.5,
        },
        Body::L1 { radius: 2.0 },
        Body::Box {
            lower: -0.5,
            upper: 2.0,
        },
        Body::Simplex {
            total: 2.0,
            at_most: false,
        },
        Body::Simplex {
            total: 1.0,
            at_most: true,
        },
        Body::CappedSimplex { total: 1.5 },
        Body::KSparse { k: 2, radius: 0.7 },
        Body::KSupport { k: 2, radius: 1.5 },
        Body::Hypercube {
            radius: 2.0,
            centred: true,
        },
        Body::Permutahedron,
        Body::Ellipsoid {
            axes: &[1.5],
            centre: -0.7,
        },
        Body::ElasticNet {
            omega: 0.5,
            tau: 2.0,
        },
        Body::Moved {
            by: 0.75,
            body: Box::new(Body::Lp {
                p: 2.0,
                radius: 1.5,
            }),
        },
        Body::Halves(Box::new([
            Body::L1 { radius: 1.0 },
            Body::Simplex {
                total: 2.0,
                at_most: false,
            },
        ])),
    ]
}
