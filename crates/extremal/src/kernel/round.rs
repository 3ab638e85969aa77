//! The passes of one dense round. A round reads g, c and x once to form the direction
//! ∇F = c' + βx (c' = c + k·g + m·x) with every inner product that the step needs, and once more
//! to move; nothing is written before the step is known to succeed.

use multiversion::multiversion;

use super::pow::{Exponent, Power, with_power};
use super::{LANES, tree};

/// What the direction is made of: c' = c + k·g + m·x, and ∇F = c' + βx.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    pub c: &'a [f64],
    pub x: &'a [f64],
    pub g: &'a [f64],
    pub k: f64,
    pub m: f64,
    pub beta: f64,
}

impl<'a> Form<'a> {
    /// The same slices cut to one length, so that the loops carry no bounds checks.
    #[inline(always)]
    fn cut(self) -> Self {
        let n = self.c.len().min(self.x.len()).min(self.g.len());
        Self {
            c: &self.c[..n],
            x: &self.x[..n],
            g: &self.g[..n],
            ..self
        }
    }
}

macro_rules! sums {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $what:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct $name { $(#[doc = $what] pub $field: f64),* }
    };
}

sums!(
    /// What an ℓ2 ball needs to know.
    QuadraticScan { dd: "‖∇F‖²", dx: "⟨∇F, x⟩", xx: "‖x‖²", gg: "‖g‖²", gx: "⟨g, x⟩" }
);
sums!(
    /// What an ℓp ball needs to know, with t = scale·∇F and s = sgn(t)|t|^a.
    PowerScan {
        top: "max |t|", tt: "‖t‖²", st: "⟨s, t⟩", sx: "⟨s, x⟩", ss: "‖s‖²",
        dx: "⟨∇F, x⟩", xx: "‖x‖²", gg: "‖g‖²", gx: "⟨g, x⟩",
    }
);
sums!(
    /// What every other set needs to know.
    GeneralScan { dd: "‖∇F‖²", dx: "⟨∇F, x⟩", xx: "‖x‖²", gg: "‖g‖²", gx: "⟨g, x⟩" }
);

/// Runs `$body` for every entry: whole chunks first, then the rest in the first lanes.
macro_rules! lanes {
    ($n:expr, |$i:ident, $j:ident| $body:block) => {
        let n = $n;
        let whole = n - n % LANES;
        let mut base = 0;
        while base < whole {
            for $j in 0..LANES {
                let $i = base + $j;
                $body
            }
            base += LANES;
        }
        for $j in 0..n - whole {
            let $i = whole + $j;
            $body
        }
    };
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn scan_quadratic(form: Form<'_>) -> QuadraticScan {
    let Form {
        c,
        x,
        g,
        k,
        m,
        beta,
    } = form.cut();
    let mut a = [[0.0; LANES]; 5];
    let [dd, dx, xx, gg, gx] = &mut a;
    lanes!(c.len(), |i, j| {
        let (x, g) = (x[i], g[i]);
        let d = ((c[i] + k * g) + m * x) + beta * x;
        dd[j] += d * d;
        dx[j] += d * x;
        xx[j] += x * x;
        gg[j] += g * g;
        gx[j] += g * x;
    });
    let [dd, dx, xx, gg, gx] = a.map(tree);
    QuadraticScan { dd, dx, xx, gg, gx }
}

/// As [`scan_quadratic`], and writes s = sgn(t)|t|^a for t = scale·∇F.
pub(crate) fn scan_power(form: Form<'_>, scale: f64, a: Exponent, s: &mut [f64]) -> PowerScan {
    with_power!(a, p => scan_power_with(form, scale, p, s))
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn scan_power_with<P: Power>(form: Form<'_>, scale: f64, p: P, out: &mut [f64]) -> PowerScan {
    let Form {
        c,
        x,
        g,
        k,
        m,
        beta,
    } = form.cut();
    let out = &mut out[..c.len()];
    let mut a = [[0.0; LANES]; 8];
    let mut top = [0.0_f64; LANES];
    let [tt, st, sx, ss, dx, xx, gg, gx] = &mut a;
    lanes!(c.len(), |i, j| {
        let (x, g) = (x[i], g[i]);
        let d = ((c[i] + k * g) + m * x) + beta * x;
        let t = scale * d;
        let u = t.abs();
        let s = p.of(u).copysign(t);
        out[i] = s;
        top[j] = if u > top[j] { u } else { top[j] };
        tt[j] += t * t;
        st[j] += s * t;
        sx[j] += s * x;
        ss[j] += s * s;
        dx[j] += d * x;
        xx[j] += x * x;
        gg[j] += g * g;
        gx[j] += g * x;
    });
    let [tt, st, sx, ss, dx, xx, gg, gx] = a.map(tree);
    let top = top.into_iter().fold(0.0, f64::max);
    PowerScan {
        top,
        tt,
        st,
        sx,
        ss,
        dx,
        xx,
        gg,
        gx,
    }
}

/// Writes the direction itself, for sets whose oracle reads it.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn scan_general(form: Form<'_>, direction: &mut [f64]) -> GeneralScan {
    let Form {
        c,
        x,
        g,
        k,
        m,
        beta,
    } = form.cut();
    let direction = &mut direction[..c.len()];
    let mut a = [[0.0; LANES]; 5];
    let [dd, dx, xx, gg, gx] = &mut a;
    lanes!(c.len(), |i, j| {
        let (x, g) = (x[i], g[i]);
        let d = ((c[i] + k * g) + m * x) + beta * x;
        direction[i] = d;
        dd[j] += d * d;
        dx[j] += d * x;
        xx[j] += x * x;
        gg[j] += g * g;
        gx[j] += g * x;
    });
    let [dd, dx, xx, gg, gx] = a.map(tree);
    GeneralScan { dd, dx, xx, gg, gx }
}

/// (⟨∇F, x−v⟩, ‖v−x‖²) entry by entry for v = α∇F: exact where the sums would cancel.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn residual_direction(form: Form<'_>, alpha: f64) -> (f64, f64) {
    let Form {
        c,
        x,
        g,
        k,
        m,
        beta,
    } = form.cut();
    let mut a = [[0.0; LANES]; 2];
    let [gap, square] = &mut a;
    lanes!(c.len(), |i, j| {
        let d = ((c[i] + k * g[i]) + m * x[i]) + beta * x[i];
        let away = x[i] - alpha * d;
        gap[j] += d * away;
        square[j] += away * away;
    });
    let [gap, square] = a.map(tree);
    (gap, square)
}

/// (⟨∇F, x−κv⟩, ‖κv−x‖²) entry by entry.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn residual_dense(form: Form<'_>, kappa: f64, v: &[f64]) -> (f64, f64) {
    let Form {
        c,
        x,
        g,
        k,
        m,
        beta,
    } = form.cut();
    let v = &v[..c.len()];
    let mut a = [[0.0; LANES]; 2];
    let [gap, square] = &mut a;
    lanes!(c.len(), |i, j| {
        let d = ((c[i] + k * g[i]) + m * x[i]) + beta * x[i];
        let away = x[i] - kappa * v[i];
        gap[j] += d * away;
        square[j] += away * away;
    });
    let [gap, square] = a.map(tree);
    (gap, square)
}

macro_rules! commit {
    ($(#[$doc:meta])* $name:ident($($extra:ident: $ty:ty),*) |$i:ident, $x:ident, $c:ident, $beta:ident| $new:expr) => {
        $(#[$doc])*
        #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
        #[allow(clippy::too_many_arguments)] // one flat pass over plain slices is what vectorises
        pub(crate) fn $name(c: &mut [f64], x: &mut [f64], g: &[f64], k: f64, m: f64, $beta: f64, $($extra: $ty),*) {
            let n = c.len();
            let (x, g) = (&mut x[..n], &g[..n]);
            for $i in 0..n {
                let $x = x[$i];
                let $c = (c[$i] + k * g[$i]) + m * $x;
                c[$i] = $c;
                x[$i] = $new;
            }
        }
    };
}

commit!(
    /// c = c', x += σ(α∇F − x).
    move_to_direction(sigma: f64, alpha: f64) |i, x, c, beta| x + sigma * (alpha * (c + beta * x) - x)
);
commit!(
    /// c = c', x = s·α∇F.
    place_direction(s: f64, alpha: f64) |i, x, c, beta| (s * alpha) * (c + beta * x)
);
commit!(
    /// c = c', x += σ(κv − x).
    move_to_dense(sigma: f64, kappa: f64, v: &[f64]) |i, x, _c, _beta| x + sigma * (kappa * v[i] - x)
);
commit!(
    /// c = c', x = s·κv.
    place_dense(s: f64, kappa: f64, v: &[f64]) |i, _x, _c, _beta| (s * kappa) * v[i]
);
commit!(
    /// c = c', x −= σx: the rest of a move towards an atom with few entries.
    move_shrunk(sigma: f64) |i, x, _c, _beta| x - sigma * x
);
