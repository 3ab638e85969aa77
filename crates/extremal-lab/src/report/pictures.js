// Steps through the pictures in the plane. Without this script, the page shows the last round. All
// coordinates were computed when the page was made; the script only copies them.
(function () {
  'use strict';
  const stage = document.querySelector('.stage');
  if (!stage) return;
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

  const dots = (places) => places.map((p) => 'M' + p + 'l.1.1').join('');

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

    set(name, attributes) {
      const e = this.svg.querySelector(name);
      for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    }

    circle(name, at) {
      this.set(name, at ? { cx: at[0], cy: at[1], visibility: 'visible' } : { visibility: 'hidden' });
    }

    // The elements that do not move.
    choose(picture) {
      this.picture = picture;
      for (const e of this.svg.querySelectorAll('.own')) {
        e.setAttribute('class', 'own ' + picture.colour);
        e.setAttribute('color', picture.light);
      }
      this.root.querySelector('.what').textContent = picture.set;
      // in print, the learner's name replaces the selection box
      this.root.querySelector('.no-js').textContent = picture.learner;
      this.svg.querySelector('title').textContent = picture.title;
      this.svg.setAttribute('aria-label', picture.title);
      this.set('.p-set', { points: picture.outline });
      this.set('.p-star', { transform: 'translate(' + picture.best + ')' });
      this.set('.p-zero', { d: picture.zero });
      this.set('.p-later', { points: picture.rounds.map((r) => r.regret).join(' ') });
      this.svg.querySelector('.p-rounds').textContent = picture.rounds.length + ' rounds';
    }

    draw(wanted) {
      const steps = this.picture.rounds;
      const t = Math.min(wanted, steps.length) - 1;
      const now = steps[t];
      const past = steps.slice(0, t);
      const shown = steps.slice(0, t + 1);
      this.set('.p-atoms', { d: dots(past.flatMap((r) => r.v)) });
      this.set('.p-path', { points: shown.map((r) => r.x).join(' ') });
      this.set('.p-past', { d: dots(past.map((r) => r.x)) });
      this.set('.p-reach', { d: now.v.map((v) => 'M' + now.x + 'L' + v).join('') });
      this.set('.p-now-atoms', { d: dots(now.v) });
      this.set('.p-arrow', { d: now.g });
      this.circle('.p-x', now.x);
      this.circle('.p-next', t + 1 < steps.length ? steps[t + 1].x : null);
      this.set('.p-regret', { points: shown.map((r) => r.regret).join(' ') });
      this.circle('.p-dot', now.regret);
      this.root.querySelector('.said').textContent = now.text;
    }
  }

  const panes = [...stage.querySelectorAll('.pane')].map((root) => new Pane(root));

  function limits() {
    rounds = Math.max(...panes.map((p) => p.picture.rounds.length));
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
  round = Math.max(...all.map((p) => p.rounds.length));
  open(all[0].id);
})();
