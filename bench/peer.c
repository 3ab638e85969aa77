/* The same learners in plain C: one thread, f64, loops left to the compiler.
 *
 *   peer ALGO SET LOSS D T LAMBDA DATAFILE
 *
 * README.md describes the arguments and the ready/go protocol.
 *
 * Every learner keeps a decision x and a running sum c, and with its curvature
 * m (2 for ofw-ls, lambda t for sc-ofw) plays a round as
 *
 *   c += k a + h x,   dF = c + m x,   v = argmin over the set of <dF, v>,
 *   sigma = clip(<-dF, v - x> / (m |v - x|^2), 0, 1),   x += sigma (v - x).
 *
 * On an lp ball v = -scale u, u_i = sign(dF_i) |dF_i|^(q-1), scale = r / |dF|_q^(q-1),
 * so a round takes three passes over memory: <a, x>; the new c together with
 * all the sums the step needs; the new x.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum ball { L2, L1_5, LP };

struct game {
    const double *rows, *labels;
    size_t d, rounds;
    double p, radius, lambda, eta;
    double *x, *c, *u; /* u is used for a general p only: pow is worth storing */
};

/* Always inlined with constant `ball`, `ridge` and `sc`: one tight loop for each combination. */
static inline __attribute__((always_inline)) double
play(const struct game *g, const enum ball ball, const bool ridge, const bool sc)
{
    const size_t d = g->d;
    const double r = g->radius, lambda = g->lambda, eta = g->eta, power = 1 / (g->p - 1);
    const double h = ridge && !sc ? eta * lambda : 0;
    double *restrict x = g->x, *restrict c = g->c, *restrict u = g->u;
    double total = 0;

    memset(x, 0, d * sizeof *x);
    memset(c, 0, d * sizeof *c);
    for (size_t t = 0; t < g->rounds; t++) {
        const double *restrict a = g->rows + t * d;
        const double y = g->labels[t], m = sc ? lambda * (double)(t + 1) : 2;

        double ax = 0;
        for (size_t i = 0; i < d; i++)
            ax += a[i] * x[i];

        double slope;
        if (ridge) {
            slope = ax - y;
            total += 0.5 * slope * slope; /* the ridge term follows when |x|^2 is known */
        } else {
            const double margin = y * ax, e = exp(-fabs(margin));
            total += log1p(e) + (margin < 0 ? -margin : 0);
            slope = -y * (margin < 0 ? 1 : e) / (1 + e);
        }
        const double k = sc ? slope : eta * slope;

        double fq = 0, uu = 0, ux = 0, fx = 0, xx = 0; /* |dF|_q^q, |u|^2, <u,x>, <dF,x>, |x|^2 */
        for (size_t i = 0; i < d; i++) {
            const double xi = x[i], ci = c[i] + k * a[i] + (h != 0 ? h * xi : 0), f = ci + m * xi;
            c[i] = ci;
            fx += f * xi;
            xx += xi * xi;
            if (ball == L2) {
                uu += f * f;
            } else {
                const double ui = ball == L1_5 ? f * fabs(f) : copysign(pow(fabs(f), power), f);
                if (ball == LP)
                    u[i] = ui;
                fq += f * ui;
                uu += ui * ui;
                ux += ui * xi;
            }
        }
        if (ball == L2) {
            fq = uu;
            ux = fx;
        }
        if (ridge)
            total += 0.5 * lambda * xx;
        if (fq <= 0)
            continue;

        const double root = ball == L2 ? sqrt(fq) : ball == L1_5 ? cbrt(fq) : pow(fq, 1 / g->p);
        const double scale = r / (ball == L1_5 ? root * root : root); /* |dF|_q^(q-1) = fq^(1/p) */
        const double gap = scale * fq + fx, length2 = scale * scale * uu + 2 * scale * ux + xx;
        if (!(gap > 0 && length2 > 0))
            continue;
        const double sigma = fmin(1, gap / (m * length2)), keep = 1 - sigma, step = sigma * scale;

        for (size_t i = 0; i < d; i++) {
            const double f = c[i] + m * x[i];
            const double ui = ball == L2 ? f : ball == L1_5 ? f * fabs(f) : u[i];
            x[i] = keep * x[i] - step * ui;
        }
    }
    return total / (double)g->rounds;
}

static double play_game(const struct game *g, enum ball ball, bool ridge, bool sc)
{
#define PLAY(BALL) (!ridge ? play(g, BALL, false, false) : sc ? play(g, BALL, true, true) : play(g, BALL, true, false))
    return ball == L2 ? PLAY(L2) : ball == L1_5 ? PLAY(L1_5) : PLAY(LP);
}

static double norm2(const double *x, size_t d)
{
    double s = 0;
    for (size_t i = 0; i < d; i++)
        s += x[i] * x[i];
    return sqrt(s);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *message, const char *what)
{
    fprintf(stderr, "peer: %s: %s\n", message, what);
    exit(2);
}

static double *doubles(size_t n)
{
    double *memory = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64);
    if (!memory)
        fail("out of memory", "cannot hold the stream");
    return memory;
}

int main(int argc, char **argv)
{
    if (argc != 8)
        fail("expected", "ALGO SET LOSS D T LAMBDA DATAFILE");
    struct game g = {.d = strtoull(argv[4], 0, 10), .rounds = strtoull(argv[5], 0, 10), .lambda = atof(argv[6])};
    const bool sc = !strcmp(argv[1], "sc-ofw"), ridge = !strcmp(argv[3], "ridge");
    if (!sc && strcmp(argv[1], "ofw-ls"))
        fail("ALGO must be ofw-ls or sc-ofw, found", argv[1]);
    if (!ridge && strcmp(argv[3], "logistic"))
        fail("LOSS must be logistic or ridge, found", argv[3]);
    if (sc && !ridge)
        fail("sc-ofw needs LOSS", "ridge");
    if (sscanf(argv[2], "l2:%lf", &g.radius) == 1)
        g.p = 2;
    else if (sscanf(argv[2], "lp:%lf:%lf", &g.p, &g.radius) != 2 || g.p <= 1 || g.p > 2)
        fail("SET must be l2:RADIUS or lp:P:RADIUS with 1 < P <= 2, found", argv[2]);

    const size_t d = g.d, n = g.rounds * d + g.rounds;
    double *data = doubles(n);
    FILE *file = fopen(argv[7], "rb");
    if (!file || fread(data, sizeof *data, n, file) != n)
        fail("expected T rows of D features and T labels in", argv[7]);
    fclose(file);
    g.rows = data;
    g.labels = data + g.rounds * d;
    g.x = doubles(d), g.c = doubles(d), g.u = doubles(d);

    double bound = 0; /* on the gradient norm over the set */
    for (size_t t = 0; t < g.rounds; t++) {
        const double a = norm2(g.rows + t * d, d);
        bound = fmax(bound, ridge ? a * (fabs(g.labels[t]) + g.radius * a) + g.lambda * g.radius : a);
    }
    g.eta = 2 * g.radius / (2 * bound * pow((double)g.rounds + 2, 2.0 / 3.0));
    const enum ball ball = g.p == 2 ? L2 : g.p == 1.5 ? L1_5 : LP;

    puts("ready");
    fflush(stdout);
    for (char line[16]; fgets(line, sizeof line, stdin);) {
        const double start = now(), loss = play_game(&g, ball, ridge, sc), seconds = now() - start;
        printf("%.9f %.17g %.17g\n", seconds, loss, norm2(g.x, d));
        fflush(stdout);
    }
    return 0;
}
