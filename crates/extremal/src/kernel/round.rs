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
    /// k and m + β, from which ∇F is formed with one product less than c' + βx; the same bits
    /// where m = 0.
    #[inline(always)]
    fn direction(self) -> [f64; 2] {
        [self.k, self.m + self.beta]
    }
}

/// c + k·g + m·x.
#[inline(always)]
fn combine<S: Simd>(s: S, c: S::f64s, k: S::f64s, g: S::f64s, m: S::f64s, x: S::f64s) -> S::f64s {
    s.mul_add_e_f64s(m, x, s.mul_add_e_f64s(k, g, c))
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
        tt: "‖t‖²", st: "⟨s, t⟩", sx: "⟨s, x⟩", ss: "‖s‖²",
        dx: "⟨∇F, x⟩", xx: "‖x‖²", gg: "‖g‖²", gx: "⟨g, x⟩",
    }
);
sums!(
    /// What every other set needs to know.
    GeneralScan { dd: "‖∇F‖²", dx: "⟨∇F, x⟩", xx: "‖x‖²", gg: "‖g‖²", gx: "⟨g, x⟩" }
);

#[inline(always)]
fn add_product<S: Simd>(s: S, sum: &mut S::f64s, a: S::f64s, b: S::f64s) {
    *sum = s.mul_add_e_f64s(a, b, *sum);
}

#[derive(Clone, Copy)]
struct ScanQuadratic;

impl Body<2, 3, 0, 5> for ScanQuadratic {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [k, m]: [S::f64s; 2],
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 0],
        sums: &mut [S::f64s; 5],
    ) -> [S::f64s; 0] {
        let d = combine(s, c, k, g, m, x);
        add_product(s, &mut sums[0], d, d);
        add_product(s, &mut sums[1], d, x);
        add_product(s, &mut sums[2], x, x);
        add_product(s, &mut sums[3], g, g);
        add_product(s, &mut sums[4], g, x);
        []
    }
}

#[inline(always)]
pub(crate) fn scan_quadratic(form: Form<'_>) -> QuadraticScan {
    let [dd, dx, xx, gg, gx] = sweep(
        form.n,
        form.weights.direction(),
        form.read(),
        [],
        ScanQuadratic,
    );
    QuadraticScan { dd, dx, xx, gg, gx }
}

#[derive(Clone, Copy)]
struct ScanPower<P>(P);

impl<P: Power> Body<3, 3, 1, 8> for ScanPower<P> {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [k, m, scale]: [S::f64s; 3],
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 1],
        sums: &mut [S::f64s; 8],
    ) -> [S::f64s; 1] {
        let d = combine(s, c, k, g, m, x);
        let t = s.mul_f64s(scale, d);
        let p = copysign(s, self.0.of(s, s.abs_f64s(t)), t);
        add_product(s, &mut sums[0], p, t);
        add_product(s, &mut sums[1], p, x);
        add_product(s, &mut sums[2], p, p);
        add_product(s, &mut sums[3], d, x);
        add_product(s, &mut sums[4], x, x);
        add_product(s, &mut sums[5], g, g);
        add_product(s, &mut sums[6], g, x);
        add_product(s, &mut sums[7], t, t);
        [p]
    }
}

/// As [`scan_quadratic`], and writes s = sgn(t)|t|^a for t = scale·∇F. `direction` is scratch.
#[inline(always)]
pub(crate) fn scan_power(
    form: Form<'_>,
    scale: f64,
    a: Exponent,
    out: &mut [f64],
    direction: &mut [f64],
) -> PowerScan {
    macro_rules! fused {
        ($power:expr) => {{
            let [k, m] = form.weights.direction();
            let numbers = [k, m, scale];
            let [st, sx, ss, dx, xx, gg, gx, tt] =
                sweep(form.n, numbers, form.read(), [out], ScanPower($power));
            PowerScan {
                tt,
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
            let GeneralScan { dd, dx, xx, gg, gx } = scan_general(form, direction);
            signed_powers(direction, scale, a, out);
            let [sd, sx, ss] = sweep(form.n, [], [out, direction, form.x], [], ScanPowers);
            PowerScan {
                tt: (scale * scale) * dd,
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

impl Body<0, 3, 0, 3> for ScanPowers {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        []: [S::f64s; 0],
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
struct ScanGeneral;

impl Body<2, 3, 1, 5> for ScanGeneral {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [k, m]: [S::f64s; 2],
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 1],
        sums: &mut [S::f64s; 5],
    ) -> [S::f64s; 1] {
        let d = combine(s, c, k, g, m, x);
        add_product(s, &mut sums[0], d, x);
        add_product(s, &mut sums[1], x, x);
        add_product(s, &mut sums[2], g, g);
        add_product(s, &mut sums[3], g, x);
        add_product(s, &mut sums[4], d, d);
        [d]
    }
}

/// Writes the direction itself, for sets whose oracle reads it.
#[inline(always)]
pub(crate) fn scan_general(form: Form<'_>, direction: &mut [f64]) -> GeneralScan {
    let [dx, xx, gg, gx, dd] = sweep(
        form.n,
        form.weights.direction(),
        form.read(),
        [direction],
        ScanGeneral,
    );
    GeneralScan { dd, dx, xx, gg, gx }
}

#[derive(Clone, Copy)]
struct ResidualDirection;

impl Body<3, 3, 0, 2> for ResidualDirection {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [k, m, alpha]: [S::f64s; 3],
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 0],
        [gap, square]: &mut [S::f64s; 2],
    ) -> [S::f64s; 0] {
        let d = combine(s, c, k, g, m, x);
        let away = s.negate_mul_add_e_f64s(alpha, d, x);
        add_product(s, gap, d, away);
        add_product(s, square, away, away);
        []
    }
}

/// (⟨∇F, x−v⟩, ‖v−x‖²) entry by entry for v = α∇F: exact where the sums would cancel.
pub(crate) fn residual_direction(form: Form<'_>, alpha: f64) -> (f64, f64) {
    let [k, m] = form.weights.direction();
    let [gap, square] = sweep(form.n, [k, m, alpha], form.read(), [], ResidualDirection);
    (gap, square)
}

#[derive(Clone, Copy)]
struct ResidualDense;

impl Body<3, 4, 0, 2> for ResidualDense {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [k, m, kappa]: [S::f64s; 3],
        [c, x, g, v]: [S::f64s; 4],
        _: [S::f64s; 0],
        [gap, square]: &mut [S::f64s; 2],
    ) -> [S::f64s; 0] {
        let d = combine(s, c, k, g, m, x);
        let away = s.negate_mul_add_e_f64s(kappa, v, x);
        add_product(s, gap, d, away);
        add_product(s, square, away, away);
        []
    }
}

/// (⟨∇F, x−κv⟩, ‖κv−x‖²) entry by entry.
pub(crate) fn residual_dense(form: Form<'_>, kappa: f64, v: &[f64]) -> (f64, f64) {
    let [k, m] = form.weights.direction();
    let read = [form.c, form.x, form.g, v];
    let [gap, square] = sweep(form.n, [k, m, kappa], read, [], ResidualDense);
    (gap, square)
}

/// Where x goes, from up to three numbers, the new c', the old x and an atom's entry v.
trait Motion: Copy {
    fn of<S: Simd>(s: S, numbers: [S::f64s; 3], c: S::f64s, x: S::f64s, v: S::f64s) -> S::f64s;
}

/// c = c', and x as the motion says; with an atom as a second vector that is read, or without.
#[derive(Clone, Copy)]
struct Commit<M>(M);

impl<M: Motion> Body<5, 1, 2, 0> for Commit<M> {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [k, m, n0, n1, n2]: [S::f64s; 5],
        [g]: [S::f64s; 1],
        [c, x]: [S::f64s; 2],
        _: &mut [S::f64s; 0],
    ) -> [S::f64s; 2] {
        let c = combine(s, c, k, g, m, x);
        [c, M::of(s, [n0, n1, n2], c, x, g)]
    }
}

impl<M: Motion> Body<5, 2, 2, 0> for Commit<M> {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [k, m, n0, n1, n2]: [S::f64s; 5],
        [g, v]: [S::f64s; 2],
        [c, x]: [S::f64s; 2],
        _: &mut [S::f64s; 0],
    ) -> [S::f64s; 2] {
        let c = combine(s, c, k, g, m, x);
        [c, M::of(s, [n0, n1, n2], c, x, v)]
    }
}

macro_rules! motion {
    ($name:ident: ($s:ident, $numbers:pat, $c:ident, $x:ident, $v:ident) => $new:expr) => {
        #[derive(Clone, Copy)]
        struct $name;

        impl Motion for $name {
            #[inline(always)]
            fn of<S: Simd>(
                $s: S,
                $numbers: [S::f64s; 3],
                $c: S::f64s,
                $x: S::f64s,
                $v: S::f64s,
            ) -> S::f64s {
                $new
            }
        }
    };
}

motion!(Shrink: (s, [sigma, _, _], _c, x, _v) => s.negate_mul_add_e_f64s(sigma, x, x));
motion!(ToDense: (s, [sigma, kappa, _], _c, x, v) =>
    s.mul_add_e_f64s(sigma, s.mul_add_e_f64s(kappa, v, s.neg_f64s(x)), x));
motion!(AtDense: (s, [kappa, _, _], _c, _x, v) => s.mul_f64s(kappa, v));
motion!(ToDirection: (s, [sigma, alpha, beta], c, x, _v) => {
    let d = s.mul_add_e_f64s(beta, x, c);
    s.mul_add_e_f64s(sigma, s.mul_add_e_f64s(alpha, d, s.neg_f64s(x)), x)
});
motion!(AtDirection: (s, [alpha, beta, _], c, x, _v) =>
    s.mul_f64s(alpha, s.mul_add_e_f64s(beta, x, c)));

/// The two vectors of a pair and the gradient, for the pass that moves.
pub(crate) struct Moving<'a> {
    pub n: usize,
    pub c: &'a mut [f64],
    pub x: &'a mut [f64],
    pub g: &'a [f64],
    pub weights: Weights,
}

impl Moving<'_> {
    #[inline(always)]
    fn run(self, [a, b, c]: [f64; 3], motion: impl Motion) {
        let numbers = [self.weights.k, self.weights.m, a, b, c];
        let [] = sweep(self.n, numbers, [self.g], [self.c, self.x], Commit(motion));
    }

    #[inline(always)]
    fn run_with(self, v: &[f64], [a, b, c]: [f64; 3], motion: impl Motion) {
        let numbers = [self.weights.k, self.weights.m, a, b, c];
        let [] = sweep(
            self.n,
            numbers,
            [self.g, v],
            [self.c, self.x],
            Commit(motion),
        );
    }

    /// c = c', x += σ(α∇F − x).
    #[inline(always)]
    pub(crate) fn step_to_direction(self, sigma: f64, alpha: f64) {
        let beta = self.weights.beta;
        self.run([sigma, alpha, beta], ToDirection);
    }

    /// c = c', x = s·α∇F.
    #[inline(always)]
    pub(crate) fn place_at_direction(self, s: f64, alpha: f64) {
        let beta = self.weights.beta;
        self.run([s * alpha, beta, 0.0], AtDirection);
    }

    /// c = c', x += σ(κv − x).
    #[inline(always)]
    pub(crate) fn step_to_dense(self, sigma: f64, kappa: f64, v: &[f64]) {
        self.run_with(v, [sigma, kappa, 0.0], ToDense);
    }

    /// c = c', x = s·κv.
    #[inline(always)]
    pub(crate) fn place_at_dense(self, s: f64, kappa: f64, v: &[f64]) {
        self.run_with(v, [s * kappa, 0.0, 0.0], AtDense);
    }

    /// c = c', x −= σx: the rest of a move towards an atom with few entries.
    #[inline(always)]
    pub(crate) fn shrink(self, sigma: f64) {
        self.run([sigma, 0.0, 0.0], Shrink);
    }
}
