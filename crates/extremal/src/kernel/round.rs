//! The passes of one dense round. A round reads g, c and x once to form the direction
//! ∇F = c' + βx (c' = c + k·g + m·x) with every inner product that the step needs, and once more
//! to move; nothing is written before the step is known to succeed.

use pulp::Simd;

use super::pow::{Exponent, Half, One, Power, Three, Two, copysign, signed_powers};
use super::sweep::{Body, sweep};

/// What the direction is made of: c' = c + k·g + m·x, and ∇F = c' + βx, n entries of each; the
/// vectors may be filled up with zeros to a multiple of eight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<'a> {
    pub n: usize,
    pub c: &'a [f64],
    pub x: &'a [f64],
    pub g: &'a [f64],
    pub weights: Weights,
}

/// The factors of a [`Form`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weights {
    pub k: f64,
    pub m: f64,
    pub beta: f64,
}

impl Weights {
    #[inline(always)]
    fn sum<S: Simd>(self, s: S, c: S::f64s, x: S::f64s, g: S::f64s) -> S::f64s {
        let kg = s.mul_f64s(s.splat_f64s(self.k), g);
        let mx = s.mul_f64s(s.splat_f64s(self.m), x);
        s.add_f64s(s.add_f64s(c, kg), mx)
    }

    /// c + k·g + (m + β)x: one product less than c' + βx, and the same bits where m = 0.
    #[inline(always)]
    fn direction<S: Simd>(self, s: S, c: S::f64s, x: S::f64s, g: S::f64s) -> S::f64s {
        let kg = s.mul_f64s(s.splat_f64s(self.k), g);
        let x = s.mul_f64s(s.splat_f64s(self.m + self.beta), x);
        s.add_f64s(s.add_f64s(c, kg), x)
    }
}

impl Form<'_> {
    /// One entry of ∇F.
    pub(crate) fn direction(&self, i: usize) -> f64 {
        let Weights { k, m, beta } = self.weights;
        (self.c[i] + k * self.g[i]) + (m + beta) * self.x[i]
    }

    fn read(&self) -> [&[f64]; 3] {
        [self.c, self.x, self.g]
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
        st: "⟨s, t⟩", sx: "⟨s, x⟩", ss: "‖s‖²",
        dx: "⟨∇F, x⟩", xx: "‖x‖²", gg: "‖g‖²", gx: "⟨g, x⟩",
    }
);
sums!(
    /// What every other set needs to know.
    GeneralScan { dx: "⟨∇F, x⟩", xx: "‖x‖²", gg: "‖g‖²", gx: "⟨g, x⟩" }
);

#[inline(always)]
fn add_product<S: Simd>(s: S, sum: &mut S::f64s, a: S::f64s, b: S::f64s) {
    *sum = s.add_f64s(*sum, s.mul_f64s(a, b));
}

#[derive(Clone, Copy)]
struct ScanQuadratic(Weights);

impl Body<3, 0, 5> for ScanQuadratic {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 0],
        sums: &mut [S::f64s; 5],
    ) -> [S::f64s; 0] {
        let d = self.0.direction(s, c, x, g);
        add_product(s, &mut sums[0], d, d);
        add_product(s, &mut sums[1], d, x);
        add_product(s, &mut sums[2], x, x);
        add_product(s, &mut sums[3], g, g);
        add_product(s, &mut sums[4], g, x);
        []
    }
}

pub(crate) fn scan_quadratic(form: Form<'_>) -> QuadraticScan {
    let [dd, dx, xx, gg, gx] = sweep(form.n, form.read(), [], ScanQuadratic(form.weights));
    QuadraticScan { dd, dx, xx, gg, gx }
}

#[derive(Clone, Copy)]
struct ScanPower<P> {
    weights: Weights,
    scale: f64,
    power: P,
}

impl<P: Power> Body<3, 1, 7> for ScanPower<P> {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 1],
        sums: &mut [S::f64s; 7],
    ) -> [S::f64s; 1] {
        let d = self.weights.direction(s, c, x, g);
        let t = s.mul_f64s(s.splat_f64s(self.scale), d);
        let p = copysign(s, self.power.of(s, s.abs_f64s(t)), t);
        add_product(s, &mut sums[0], p, t);
        add_product(s, &mut sums[1], p, x);
        add_product(s, &mut sums[2], p, p);
        add_product(s, &mut sums[3], d, x);
        add_product(s, &mut sums[4], x, x);
        add_product(s, &mut sums[5], g, g);
        add_product(s, &mut sums[6], g, x);
        [p]
    }
}

/// As [`scan_quadratic`], and writes s = sgn(t)|t|^a for t = scale·∇F. `direction` is scratch.
pub(crate) fn scan_power(
    form: Form<'_>,
    scale: f64,
    a: Exponent,
    out: &mut [f64],
    direction: &mut [f64],
) -> PowerScan {
    macro_rules! fused {
        ($power:expr) => {{
            let body = ScanPower {
                weights: form.weights,
                scale,
                power: $power,
            };
            let [st, sx, ss, dx, xx, gg, gx] = sweep(form.n, form.read(), [out], body);
            PowerScan {
                st,
                sx,
                ss,
                dx,
                xx,
                gg,
                gx,
            }
        }};
    }
    match a {
        Exponent::One => fused!(One),
        Exponent::Two => fused!(Two),
        Exponent::Three => fused!(Three),
        Exponent::Half => fused!(Half),
        Exponent::Other(a) => {
            let GeneralScan { dx, xx, gg, gx } = scan_general(form, direction);
            signed_powers(direction, scale, a, out);
            let [sd, sx, ss] = sweep(form.n, [out, direction, form.x], [], ScanPowers);
            PowerScan {
                st: scale * sd,
                sx,
                ss,
                dx,
                xx,
                gg,
                gx,
            }
        }
    }
}

#[derive(Clone, Copy)]
struct ScanPowers;

impl Body<3, 0, 3> for ScanPowers {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [p, d, x]: [S::f64s; 3],
        _: [S::f64s; 0],
        sums: &mut [S::f64s; 3],
    ) -> [S::f64s; 0] {
        add_product(s, &mut sums[0], p, d);
        add_product(s, &mut sums[1], p, x);
        add_product(s, &mut sums[2], p, p);
        []
    }
}

#[derive(Clone, Copy)]
struct ScanGeneral(Weights);

impl Body<3, 1, 4> for ScanGeneral {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 1],
        sums: &mut [S::f64s; 4],
    ) -> [S::f64s; 1] {
        let d = self.0.direction(s, c, x, g);
        add_product(s, &mut sums[0], d, x);
        add_product(s, &mut sums[1], x, x);
        add_product(s, &mut sums[2], g, g);
        add_product(s, &mut sums[3], g, x);
        [d]
    }
}

/// Writes the direction itself, for sets whose oracle reads it.
pub(crate) fn scan_general(form: Form<'_>, direction: &mut [f64]) -> GeneralScan {
    let [dx, xx, gg, gx] = sweep(form.n, form.read(), [direction], ScanGeneral(form.weights));
    GeneralScan { dx, xx, gg, gx }
}

#[derive(Clone, Copy)]
struct ResidualDirection {
    weights: Weights,
    alpha: f64,
}

impl Body<3, 0, 2> for ResidualDirection {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 0],
        [gap, square]: &mut [S::f64s; 2],
    ) -> [S::f64s; 0] {
        let d = self.weights.direction(s, c, x, g);
        let away = s.sub_f64s(x, s.mul_f64s(s.splat_f64s(self.alpha), d));
        add_product(s, gap, d, away);
        add_product(s, square, away, away);
        []
    }
}

/// (⟨∇F, x−v⟩, ‖v−x‖²) entry by entry for v = α∇F: exact where the sums would cancel.
pub(crate) fn residual_direction(form: Form<'_>, alpha: f64) -> (f64, f64) {
    let [gap, square] = sweep(
        form.n,
        form.read(),
        [],
        ResidualDirection {
            weights: form.weights,
            alpha,
        },
    );
    (gap, square)
}

#[derive(Clone, Copy)]
struct ResidualDense {
    weights: Weights,
    kappa: f64,
}

impl Body<4, 0, 2> for ResidualDense {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [c, x, g, v]: [S::f64s; 4],
        _: [S::f64s; 0],
        [gap, square]: &mut [S::f64s; 2],
    ) -> [S::f64s; 0] {
        let d = self.weights.direction(s, c, x, g);
        let away = s.sub_f64s(x, s.mul_f64s(s.splat_f64s(self.kappa), v));
        add_product(s, gap, d, away);
        add_product(s, square, away, away);
        []
    }
}

/// (⟨∇F, x−κv⟩, ‖κv−x‖²) entry by entry.
pub(crate) fn residual_dense(form: Form<'_>, kappa: f64, v: &[f64]) -> (f64, f64) {
    let body = ResidualDense {
        weights: form.weights,
        kappa,
    };
    let [gap, square] = sweep(form.n, [form.c, form.x, form.g, v], [], body);
    (gap, square)
}

/// Where x goes, from the new c', the old x and an atom's entry v.
trait Motion: Copy {
    fn of<S: Simd>(self, s: S, c: S::f64s, x: S::f64s, v: S::f64s) -> S::f64s;
}

/// c = c', and x as the motion says; with an atom as a second vector that is read, or without.
#[derive(Clone, Copy)]
struct Commit<M> {
    weights: Weights,
    motion: M,
}

impl<M: Motion> Body<1, 2, 0> for Commit<M> {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [g]: [S::f64s; 1],
        [c, x]: [S::f64s; 2],
        _: &mut [S::f64s; 0],
    ) -> [S::f64s; 2] {
        let c = self.weights.sum(s, c, x, g);
        [c, self.motion.of(s, c, x, g)]
    }
}

impl<M: Motion> Body<2, 2, 0> for Commit<M> {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [g, v]: [S::f64s; 2],
        [c, x]: [S::f64s; 2],
        _: &mut [S::f64s; 0],
    ) -> [S::f64s; 2] {
        let c = self.weights.sum(s, c, x, g);
        [c, self.motion.of(s, c, x, v)]
    }
}

macro_rules! motion {
    ($name:ident { $($field:ident),* }: ($s:ident, $c:ident, $x:ident, $v:ident) => $new:expr) => {
        #[derive(Clone, Copy)]
        struct $name { $($field: f64),* }

        impl Motion for $name {
            #[inline(always)]
            fn of<S: Simd>(self, $s: S, $c: S::f64s, $x: S::f64s, $v: S::f64s) -> S::f64s {
                let Self { $($field),* } = self;
                $(let $field = $s.splat_f64s($field);)*
                $new
            }
        }
    };
}

motion!(Shrink { sigma }: (s, _c, x, _v) => s.sub_f64s(x, s.mul_f64s(sigma, x)));
motion!(ToDense { sigma, kappa }: (s, _c, x, v) =>
    s.add_f64s(x, s.mul_f64s(sigma, s.sub_f64s(s.mul_f64s(kappa, v), x))));
motion!(AtDense { kappa }: (s, _c, _x, v) => s.mul_f64s(kappa, v));
motion!(ToDirection { sigma, alpha, beta }: (s, c, x, _v) => {
    let d = s.add_f64s(c, s.mul_f64s(beta, x));
    s.add_f64s(x, s.mul_f64s(sigma, s.sub_f64s(s.mul_f64s(alpha, d), x)))
});
motion!(AtDirection { alpha, beta }: (s, c, x, _v) =>
    s.mul_f64s(alpha, s.add_f64s(c, s.mul_f64s(beta, x))));

/// The two vectors of a pair and the gradient, for the pass that moves.
pub(crate) struct Moving<'a> {
    pub n: usize,
    pub c: &'a mut [f64],
    pub x: &'a mut [f64],
    pub g: &'a [f64],
    pub weights: Weights,
}

impl Moving<'_> {
    fn run(self, motion: impl Motion) {
        let [] = sweep(
            self.n,
            [self.g],
            [self.c, self.x],
            Commit {
                weights: self.weights,
                motion,
            },
        );
    }

    fn run_with(self, v: &[f64], motion: impl Motion) {
        let [] = sweep(
            self.n,
            [self.g, v],
            [self.c, self.x],
            Commit {
                weights: self.weights,
                motion,
            },
        );
    }

    /// c = c', x += σ(α∇F − x).
    pub(crate) fn step_to_direction(self, sigma: f64, alpha: f64) {
        let beta = self.weights.beta;
        self.run(ToDirection { sigma, alpha, beta });
    }

    /// c = c', x = s·α∇F.
    pub(crate) fn place_at_direction(self, s: f64, alpha: f64) {
        let beta = self.weights.beta;
        self.run(AtDirection {
            alpha: s * alpha,
            beta,
        });
    }

    /// c = c', x += σ(κv − x).
    pub(crate) fn step_to_dense(self, sigma: f64, kappa: f64, v: &[f64]) {
        self.run_with(v, ToDense { sigma, kappa });
    }

    /// c = c', x = s·κv.
    pub(crate) fn place_at_dense(self, s: f64, kappa: f64, v: &[f64]) {
        self.run_with(v, AtDense { kappa: s * kappa });
    }

    /// c = c', x −= σx: the rest of a move towards an atom with few entries.
    pub(crate) fn shrink(self, sigma: f64) {
        self.run(Shrink { sigma });
    }
}
