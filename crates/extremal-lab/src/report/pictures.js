// Steps through the pictures in the plane. The last round is drawn in the page without it.
(function () {
  'use strict';
  const stage = document.querySelector('.stage');
  if (!stage) return;
  const SVG = 'http://www.w3.org/2000/svg';
  const WIDTH = 420, PLANE = 396, ARROW = 74, STRIP = [404, 450];
  const all = JSON.parse(stage.querySelector('script').textContent);
  const problems = new Map(all.map((p) => [p.id, p.problem]));
  const find = (name) => stage.querySelector(name);
  const slider = find('.transport input');
  const play = find('.play');
  const pick = find('.pick-problem');
  let family = [];
  let round = 1;
  let rounds = 1;
  let timer = null;

  function option(text, value) {
    const e = document.createElement('option');
    e.textContent = text;
    e.value = value;
    return e;
  }

  function set(e, attributes) {
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  }

  function make(name, attributes) {
    const e = document.createElementNS(SVG, name);
    set(e, attributes);
    return e;
  }

  const two = (v) => v[0].toFixed(1) + ' ' + v[1].toFixed(1);
  const diamond = (v, r) =>
    make('path', { d: 'M' + two([v[0], v[1] - r]) + `l${r} ${r}-${r} ${r}-${r}-${r}z` });

  function number(v) {
    return (Math.abs(v) < 5e-4 ? 0 : v).toFixed(3).replace('-', '−');
  }
  const pair = (v) => '(' + number(v[0]) + ', ' + number(v[1]) + ')';

  // A place for a name around `at`, as in the page's own drawing.
  function beside(at, from, by, taken) {
    const away = Math.atan2(at[1] - from[1], at[0] - from[0]);
    let best = at;
    let most = -Infinity;
    for (let k = 0; k < 16; k++) {
      const angle = away + (k * Math.PI) / 8;
      const p = [at[0] + by * Math.cos(angle), at[1] + by * Math.sin(angle)];
      const room = Math.min(26, ...taken.map((t) => Math.hypot(t[0] - p[0], t[1] - p[1])));
      const inside = p[0] > 14 && p[0] < WIDTH - 14 && p[1] > 12 && p[1] < PLANE - 4;
      const worth = room + 4 * Math.cos(angle - away) - (inside ? 0 : 100);
      if (worth > most + 1e-9) [best, most] = [p, worth];
    }
    taken.push(best);
    return best;
  }

  function arrow(from, tip) {
    const d = [tip[0] - from[0], tip[1] - from[1]];
    const size = Math.hypot(...d);
    if (size < 2) return '';
    const u = [d[0] / size, d[1] / size];
    const head = Math.min(size, 8);
    const b = [tip[0] - head * u[0], tip[1] - head * u[1]];
    const w = 0.45 * head;
    return 'M' + two(from) + 'L' + two(b) + 'L' + two([b[0] - w * u[1], b[1] + w * u[0]]) + 'L' +
      two(tip) + 'L' + two([b[0] + w * u[1], b[1] - w * u[0]]) + 'L' + two(b) + 'z';
  }

  class Pane {
    constructor(root) {
      this.root = root;
      this.svg = root.querySelector('svg');
      this.pick = root.querySelector('.pick-learner');
      this.pick.addEventListener('change', () => {
        this.choose(family[this.pick.value]);
        limits();
      });
    }

    part(name) {
      return this.svg.querySelector(name);
    }

    at(p) {
      const [cx, cy, k] = this.picture.view;
      return [WIDTH / 2 + k * (p[0] - cx), PLANE / 2 - k * (p[1] - cy)];
    }

    strip(t, regret) {
      const [low, high] = this.picture.range;
      const part = high > low ? (regret - low) / (high - low) : 0;
      return [20 + ((WIDTH - 40) * t) / Math.max(this.picture.steps.length - 1, 1), STRIP[1] - part * (STRIP[1] - STRIP[0])];
    }

    // The parts that do not move.
    choose(picture) {
      const before = this.picture || all.find((p) => this.part('.' + p.colour + ' .p-path'));
      this.picture = picture;
      if (before)
        for (const e of this.svg.querySelectorAll('.' + before.colour)) {
          e.classList.remove(before.colour);
          e.classList.add(picture.colour);
          e.setAttribute('color', picture.light);
        }
      this.root.querySelector('.what').textContent = picture.set;
      // in print the name stands in the place of the chooser
      this.root.querySelector('.no-js').textContent = picture.learner;
      const title = picture.learner + ' on ' + picture.set + ', in the plane';
      this.part('title').textContent = title;
      this.svg.setAttribute('aria-label', title);
      set(this.part('.p-set'), { points: picture.outline.map((p) => two(this.at(p))).join(' ') });
      const best = this.at(picture.best);
      set(this.part('.p-star'), { transform: 'translate(' + two(best) + ')' });
      this.points = picture.steps.map((s, t) => two(this.strip(t, s[3])));
      set(this.part('.p-later'), { points: this.points.join(' ') });
      this.part('.p-rounds').textContent = picture.steps.length + ' rounds';
    }

    label(name, at) {
      const e = this.part(name);
      if (!at) return e.setAttribute('visibility', 'hidden');
      e.removeAttribute('visibility');
      set(e, { x: at[0].toFixed(1), y: (at[1] + 4.5).toFixed(1) });
    }

    draw(wanted) {
      const { steps, longest } = this.picture;
      const t = Math.min(wanted, steps.length) - 1;
      const [xt, g, atoms, regret] = steps[t];
      const x = this.at(xt);
      const past = steps.slice(0, t);
      this.part('.p-atoms').replaceChildren(
        ...past.flatMap((s) => s[2].map((v) => diamond(this.at(v), 3.6))));
      set(this.part('.p-path'), { points: steps.slice(0, t + 1).map((s) => two(this.at(s[0]))).join(' ') });
      this.part('.p-past').replaceChildren(...past.map((s) => {
        const [cx, cy] = this.at(s[0]);
        return make('circle', { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 2.2 });
      }));
      const answers = atoms.map((v) => this.at(v));
      set(this.part('.p-reach'), { d: answers.map((v) => 'M' + two(x) + 'L' + two(v)).join('') });
      this.part('.p-now-atoms').replaceChildren(...answers.map((v) => diamond(v, 5.2)));
      const size = Math.hypot(...g);
      const length = longest > 0 ? (ARROW * size) / longest : 0;
      const tip = size > 0 ? [x[0] + (length * g[0]) / size, x[1] - (length * g[1]) / size] : x;
      set(this.part('.p-arrow'), { d: arrow(x, tip) });
      set(this.part('.p-x'), { cx: x[0].toFixed(1), cy: x[1].toFixed(1) });
      const next = this.part('.p-next');
      if (t + 1 < steps.length) {
        const [nx, ny] = this.at(steps[t + 1][0]);
        next.removeAttribute('visibility');
        set(next, { cx: nx.toFixed(1), cy: ny.toFixed(1) });
      } else next.setAttribute('visibility', 'hidden');
      const middle = [WIDTH / 2, PLANE / 2];
      const best = this.at(this.picture.best);
      const taken = [x, tip, best, [(x[0] + tip[0]) / 2, (x[1] + tip[1]) / 2], ...answers];
      // and the lines that leave x
      for (const to of [...answers, ...past.slice(-1).map((s) => this.at(s[0]))]) {
        const d = [to[0] - x[0], to[1] - x[1]];
        const part = 17 / Math.max(Math.hypot(...d), 17);
        taken.push([x[0] + part * d[0], x[1] + part * d[1]]);
      }
      this.label('.l-g', size > 0 ? beside(tip, x, 12, taken) : null);
      this.label('.l-x', beside(x, tip, 17, taken));
      this.label('.l-v', answers.length ? beside(answers[0], middle, 16, taken) : null);
      this.label('.l-b', beside(best, middle, 24, taken));
      set(this.part('.p-regret'), { points: this.points.slice(0, t + 1).join(' ') });
      const dot = this.strip(t, regret);
      set(this.part('.p-dot'), { cx: dot[0].toFixed(1), cy: dot[1].toFixed(1) });
      const answer = atoms.length === 0 ? 'No answer of the oracle to show in this round.'
        : atoms.length === 1 ? 'The oracle answers v = ' + pair(atoms[0]) + '.'
          : 'The oracle answers ' + atoms.length + ' times, first v = ' + pair(atoms[0]) + '.';
      this.root.querySelector('.said').textContent =
        'Round ' + (t + 1) + ' of ' + steps.length + '. Plays x = ' + pair(xt) + '. ' + answer +
        ' Regret: ' + number(regret) + '.';
    }
  }

  const panes = [...stage.querySelectorAll('.pane')].map((root) => new Pane(root));

  function limits() {
    rounds = Math.max(...panes.map((p) => p.picture.steps.length));
    slider.max = rounds;
    go(round);
  }

  function go(to) {
    round = Math.min(Math.max(to, 1), rounds);
    slider.value = round;
    find('.transport output').textContent = 'round ' + round + ' of ' + rounds;
    for (const pane of panes) if (!pane.root.hidden) pane.draw(round);
    if (round === rounds) stop();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = 'Play';
  }

  function toggle() {
    if (timer) return stop();
    if (round === rounds) go(1);
    play.textContent = 'Pause';
    timer = setInterval(() => go(round + 1), 450);
  }

  function open(id) {
    family = all.filter((p) => p.id === id);
    panes.forEach((pane, i) => {
      pane.root.hidden = i >= family.length;
      pane.pick.replaceChildren(...family.map((p, k) => option(p.learner, k)));
      const k = Math.min(i, family.length - 1);
      pane.pick.value = k;
      pane.choose(family[k]);
    });
    limits();
  }

  pick.replaceChildren(...[...problems].map(([id, title]) => option(title, id)));
  pick.addEventListener('change', () => open(pick.value));
  find('.first').addEventListener('click', () => go(1));
  find('.back').addEventListener('click', () => go(round - 1));
  find('.forward').addEventListener('click', () => go(round + 1));
  find('.last').addEventListener('click', () => go(rounds));
  play.addEventListener('click', toggle);
  slider.addEventListener('input', () => go(Number(slider.value)));
  stage.addEventListener('keydown', (event) => {
    if (event.target.matches('select, input')) return;
    const to = { ArrowLeft: round - 1, ArrowRight: round + 1, Home: 1, End: rounds }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  find('.panes').tabIndex = 0;
  round = Math.max(...all.map((p) => p.steps.length));
  open(all[0].id);
})();
