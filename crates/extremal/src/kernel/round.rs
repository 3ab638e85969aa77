//! The two passes of a dense round. F(x) = ⟨c, x⟩ + (β/2)‖x‖² is the surrogate, and g is the
//! gradient. The first pass reads g, c and x. It writes c' = c + k·g + m·x to a second vector, and
//! computes the direction ∇F = c' + βx and all inner products that the step needs. The second pass
//! moves x. An error between the two passes leaves c and x unchanged.

use pulp::Simd;

use super::buffer::Buffer;
use super::pow::{Exponent, Half, One, Power, Three, Two, copysign, signed_powers};
use super::sweep::{Body, Own, sweep};

/// The inputs of the first pass, and the vector `next` to which it writes c'. All vectors have the
/// same length.
pub(crate) struct Pass<'a, O: ?Sized = Buffer> {
    pub c: &'a [f64],
    pub x: &'a [f64],
    pub g: &'a [f64],
    pub next: &'a mut O,
    pub k: f64,
    pub m: f64,
    pub beta: f64,
}

impl<'a, O: ?Sized> Pass<'a, O> {
    #[inline(always)]
    fn numbers(&self) -> [f64; 3] {
        [self.k, self.m, self.beta]
    }

    fn read(&self) -> [&'a [f64]; 3] {
        [self.c, self.x, self.g]
    }
}

/// The results of the first pass, which determine ∇F = c' + βx. The field `c` is c'.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassResult<'a> {
    pub c: &'a [f64],
    pub x: &'a [f64],
    pub beta: f64,
}

impl PassResult<'_> {
    /// Entry i of ∇F, with the same bits as in the first pass.
    pub(crate) fn direction(&self, i: usize) -> f64 {
        self.beta.mul_add(self.x[i], self.c[i])
    }
}

/// Computes c' and ∇F. If M is false, m is 0 (as for most learners), and the product m·x is skipped.
#[inline(always)]
fn form<S: Simd, const M: bool>(
    s: S,
    [k, m, beta]: [S::f64s; 3],
    [c, x, g]: [S::f64s; 3],
) -> (S::f64s, S::f64s) {
    let c = s.mul_add_e_f64s(k, g, c);
    let c = if M { s.mul_add_e_f64s(m, x, c) } else { c };
    (c, s.mul_add_e_f64s(beta, x, c))
}

#[inline(always)]
fn add_product<S: Simd>(s: S, sum: &mut S::f64s, a: S::f64s, b: S::f64s) {
    *sum = s.mul_add_e_f64s(a, b, *sum);
}

macro_rules! sums {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $what:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct $name { $(#[doc = $what] pub $field: f64),* }
    };
}

sums!(
    /// The sums that every set needs. An ℓ2 ball needs no other sums.
    InnerProducts { dd: "‖∇F‖²", dx: "⟨∇F, x⟩", xx: "‖x‖²", gg: "‖g‖²", gx: "⟨g, x⟩" }
);
sums!(
    /// The additional sums that an ℓp ball needs, with t = scale·∇F and s = sgn(t)|t|^a.
    PowerScan { st: "⟨s, t⟩", sx: "⟨s, x⟩", ss: "‖s‖²" }
);

/// Computes c' and ∇F. Writes c' to the first vector, and ∇F to the second vector if it is given.
#[derive(Clone, Copy)]
struct ScanAll<const M: bool>;

impl<const M: bool> ScanAll<M> {
    #[inline(always)]
    fn sums<S: Simd>(s: S, d: S::f64s, x: S::f64s, g: S::f64s, sums: &mut [S::f64s]) {
        // The sum that a short round waits for comes first.
        add_product(s, &mut sums[0], d, d);
        add_product(s, &mut sums[1], d, x);
        add_product(s, &mut sums[2], x, x);
        add_product(s, &mut sums[3], g, x);
        add_product(s, &mut sums[4], g, g);
    }
}

impl<const M: bool, const W: usize> Body<3, 3, W, 5> for ScanAll<M> {
    const PREFETCHES_NEXT_ROW: bool = true;

    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        numbers: [S::f64s; 3],
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; W],
        sums: &mut [S::f64s; 5],
    ) -> [S::f64s; W] {
        let (c, d) = form::<S, M>(s, numbers, [c, x, g]);
        Self::sums(s, d, x, g, sums);
        let mut written = [c; W];
        if W > 1 {
            written[1] = d;
        }
        written
    }
}

#[derive(Clone, Copy)]
struct ScanPower<P, const M: bool>(P);

impl<P: Power, const M: bool> Body<4, 3, 2, 8> for ScanPower<P, M> {
    const PREFETCHES_NEXT_ROW: bool = true;

    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [k, m, beta, scale]: [S::f64s; 4],
        [c, x, g]: [S::f64s; 3],
        _: [S::f64s; 2],
        sums: &mut [S::f64s; 8],
    ) -> [S::f64s; 2] {
        let (c, d) = form::<S, M>(s, [k, m, beta], [c, x, g]);
        let t = s.mul_f64s(scale, d);
        let p = copysign(s, self.0.of(s, s.abs_f64s(t)), t);
        ScanAll::<M>::sums(s, d, x, g, sums);
        add_product(s, &mut sums[5], p, t);
        add_product(s, &mut sums[6], p, x);
        add_product(s, &mut sums[7], p, p);
        [c, p]
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

/// The first pass, for sets that need only the inner products of the direction.
#[inline(always)]
pub(crate) fn scan(form: Pass<'_>) -> InnerProducts {
    let (numbers, read) = (form.numbers(), form.read());
    let [dd, dx, xx, gx, gg] = if form.m == 0.0 {
        sweep(numbers, read, [form.next], ScanAll::<false>)
    } else {
        sweep(numbers, read, [form.next], ScanAll::<true>)
    };
    InnerProducts { dd, dx, xx, gg, gx }
}

/// The first pass. It also writes the direction, for an oracle that reads it.
#[inline(always)]
pub(crate) fn scan_direction<O: Own + ?Sized>(
    form: Pass<'_, O>,
    direction: &mut O,
) -> InnerProducts {
    let (numbers, read) = (form.numbers(), form.read());
    let own = [form.next, direction];
    let [dd, dx, xx, gx, gg] = if form.m == 0.0 {
        sweep(numbers, read, own, ScanAll::<false>)
    } else {
        sweep(numbers, read, own, ScanAll::<true>)
    };
    InnerProducts { dd, dx, xx, gg, gx }
}

/// The first pass on an ℓp ball. It also writes s = sgn(t)|t|^a for t = scale·∇F to `out`.
/// `direction` is scratch memory.
#[inline(always)]
pub(crate) fn scan_power(
    form: Pass<'_>,
    scale: f64,
    a: Exponent,
    out: &mut Buffer,
    direction: &mut Buffer,
) -> (InnerProducts, PowerScan) {
    macro_rules! fused {
        ($power:expr) => {{
            let ([k, m, beta], read) = (form.numbers(), form.read());
            let (numbers, own) = ([k, m, beta, scale], [form.next, out]);
            let [dd, dx, xx, gx, gg, st, sx, ss] = if m == 0.0 {
                sweep(numbers, read, own, ScanPower::<_, false>($power))
            } else {
                sweep(numbers, read, own, ScanPower::<_, true>($power))
            };
            (
                InnerProducts { dd, dx, xx, gg, gx },
                PowerScan { st, sx, ss },
            )
        }};
    }
    match a {
        Exponent::One => fused!(One),
        Exponent::Two => fused!(Two),
        Exponent::Three => fused!(Three),
        Exponent::Half => fused!(Half),
        Exponent::Other(a) => {
            let x = form.x;
            let scan = scan_direction(form, direction);
            signed_powers(direction.padded(), scale, a, out.padded_mut());
            let [sd, sx, ss] = sweep::<[f64], _, _, _, _>([], [out, direction, x], [], ScanPowers);
            let st = scale * sd;
            (scan, PowerScan { st, sx, ss })
        }
    }
}

#[derive(Clone, Copy)]
struct ResidualDirection;

impl Body<2, 2, 0, 2> for ResidualDirection {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [beta, alpha]: [S::f64s; 2],
        [c, x]: [S::f64s; 2],
        _: [S::f64s; 0],
        [gap, square]: &mut [S::f64s; 2],
    ) -> [S::f64s; 0] {
        let d = s.mul_add_e_f64s(beta, x, c);
        let away = s.negate_mul_add_e_f64s(alpha, d, x);
        add_product(s, gap, d, away);
        add_product(s, square, away, away);
        []
    }
}

/// (⟨∇F, x−v⟩, ‖v−x‖²) for v = α∇F, computed from the entries. A formula with the sums of the first
/// pass would lose digits by cancellation.
pub(crate) fn residual_direction(formed: PassResult<'_>, alpha: f64) -> (f64, f64) {
    let PassResult { c, x, beta } = formed;
    let [gap, square] = sweep::<[f64], _, _, _, _>([beta, alpha], [c, x], [], ResidualDirection);
    (gap, square)
}

#[derive(Clone, Copy)]
struct ResidualDense;

impl Body<2, 3, 0, 2> for ResidualDense {
    #[inline(always)]
    fn lane<S: Simd>(
        self,
        s: S,
        [beta, kappa]: [S::f64s; 2],
        [c, x, v]: [S::f64s; 3],
        _: [S::f64s; 0],
        [gap, square]: &mut [S::f64s; 2],
    ) -> [S::f64s; 0] {
        let d = s.mul_add_e_f64s(beta, x, c);
        let away = s.negate_mul_add_e_f64s(kappa, v, x);
        add_product(s, gap, d, away);
        add_product(s, square, away, away);
        []
    }
}

/// (⟨∇F, x−κv⟩, ‖κv−x‖²), computed from the entries.
pub(crate) fn residual_dense(formed: PassResult<'_>, kappa: f64, v: &[f64]) -> (f64, f64) {
    let PassResult { c, x, beta } = formed;
    let [gap, square] = sweep::<[f64], _, _, _, _>([beta, kappa], [c, x, v], [], ResidualDense);
    (gap, square)
}

/// A pass that moves x. It reads one other vector: c' or the atom.
macro_rules! motion {
    ($(#[$doc:meta])* $name:ident, $body:ident, [$($number:ident),*]: ($s:ident, $v:ident, $x:ident) => $new:expr) => {
        #[derive(Clone, Copy)]
        struct $body;

        impl Body<{ [$(stringify!($number)),*].len() }, 1, 1, 0> for $body {
            #[inline(always)]
            fn lane<S: Simd>(
                self,
                $s: S,
                [$($number),*]: [S::f64s; { [$(stringify!($number)),*].len() }],
                [$v]: [S::f64s; 1],
                [$x]: [S::f64s; 1],
                _: &mut [S::f64s; 0],
            ) -> [S::f64s; 1] {
                [$new]
            }
        }

        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name(v: &[f64], x: &mut Buffer, $($number: f64),*) {
            let [] = sweep([$($number),*], [v], [x], $body);
        }
    };
}

motion!(
    /// x ← x + σ(α(c' + βx) − x). Only one product depends on σ, because σ is computed last.
    step_to_direction, StepToDirection, [sigma, alpha, beta]: (s, c, x) => {
        let d = s.mul_add_e_f64s(beta, x, c);
        s.mul_add_e_f64s(sigma, s.mul_add_e_f64s(alpha, d, s.neg_f64s(x)), x)
    }
);
motion!(
    /// x ← keep·x + k(c' + βx).
    move_to_direction, MoveToDirection, [keep, k, beta]: (s, c, x) => {
        let d = s.mul_add_e_f64s(beta, x, c);
        s.mul_add_e_f64s(k, d, s.mul_f64s(keep, x))
    }
);
motion!(
    /// x ← keep·x + k·v.
    move_to_dense, MoveToDense, [keep, k]: (s, v, x) => {
        s.mul_add_e_f64s(k, v, s.mul_f64s(keep, x))
    }
);
