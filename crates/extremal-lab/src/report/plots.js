// Shows values under the pointer, hides series, and saves files. The figures do not need this script.
(function () {
  'use strict';
  document.documentElement.classList.add('js');
  const SVG = 'http://www.w3.org/2000/svg';
  const tip = document.createElement('div');
  tip.id = 'tip';
  tip.hidden = true;
  tip.setAttribute('role', 'status');
  document.body.append(tip);

  // The number with six digits, formatted for readers.
  function number(v) {
    if (v === null || v === undefined) return '—';
    const size = Math.abs(v);
    if (v !== 0 && (size < 1e-4 || size >= 1e9)) return v.toExponential(3).replace('-', '−');
    const digits = size >= 1000 ? 0 : 4;
    return v.toLocaleString('en', {
      maximumSignificantDigits: digits ? digits : undefined,
      maximumFractionDigits: digits ? undefined : 0,
    }).replace('-', '−');
  }

  function place(axis, v) {
    return axis[2] + ((Math.log10(v) - axis[0]) / (axis[1] - axis[0])) * (axis[3] - axis[2]);
  }

  function save(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  function quoted(text) {
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function csv(data) {
    const rows = [['series', 'kind', data.x, data.y, 'least', 'most'].map(quoted).join(',')];
    for (const s of data.series)
      for (const p of s.points)
        rows.push([quoted(s.name), s.kind, p[0], p[1], p[2] ?? '', p[3] ?? ''].join(','));
    return rows.join('\n') + '\n';
  }

  function panel(root) {
    const svg = root.querySelector('svg.figure');
    const data = JSON.parse(root.querySelector('script').textContent);
    const name = data.key.replace(/[^\p{L}\p{N}._-]/gu, '-');
    const ring = document.createElementNS(SVG, 'circle');
    ring.setAttribute('class', 'near');
    ring.setAttribute('r', '6');
    ring.setAttribute('fill', 'none');
    ring.setAttribute('stroke-width', '1.6');
    const lines = data.series.map((s) =>
      s.points
        .filter((p) => p[0] > 0 && p[1] > 0)
        .map((p) => ({ s, p, x: place(data.ax, p[0]), y: place(data.ay, p[1]) })));
    let shown = null;

    const hidden = (s) => svg.querySelector('[data-s="' + s.s + '"].off') !== null;

    function show(point) {
      shown = point;
      ring.setAttribute('cx', point.x);
      ring.setAttribute('cy', point.y);
      svg.append(ring);
      const row = (tag, text) => {
        const e = document.createElement(tag);
        e.textContent = text;
        return e;
      };
      const kind = { measured: '', theorem: ', theorem’s bound', certificate: ', its certificate' };
      tip.replaceChildren(
        row('b', point.s.name + kind[point.s.kind]),
        row('span', data.x + ' ' + number(point.p[0])),
        row('span', data.y + ' ' + number(point.p[1])));
      if (point.p.length > 2)
        tip.append(row('span', 'over seeds ' + number(point.p[2]) + ' to ' + number(point.p[3])));
      tip.hidden = false;
      const box = svg.getBoundingClientRect();
      const view = svg.viewBox.baseVal;
      const x = box.left + (point.x / view.width) * box.width + scrollX;
      const y = box.top + (point.y / view.height) * box.height + scrollY;
      const width = document.documentElement.clientWidth;
      const left = x + 14 + tip.offsetWidth > scrollX + width ? x - 14 - tip.offsetWidth : x + 14;
      tip.style.left = Math.max(4, left) + 'px';
      tip.style.top = Math.max(4, y - tip.offsetHeight - 10) + 'px';
    }

    function hide() {
      shown = null;
      ring.remove();
      tip.hidden = true;
    }

    function nearest(event) {
      const box = svg.getBoundingClientRect();
      const view = svg.viewBox.baseVal;
      const x = ((event.clientX - box.left) / box.width) * view.width;
      const y = ((event.clientY - box.top) / box.height) * view.height;
      let best = null;
      let least = 60 * 60;
      for (const line of lines) {
        if (line.length === 0 || hidden(line[0].s)) continue;
        for (const point of line) {
          const d = (point.x - x) ** 2 + (point.y - y) ** 2;
          if (d < least) [best, least] = [point, d];
        }
      }
      return best;
    }

    function point(event) {
      const best = nearest(event);
      if (best) show(best);
      else hide();
    }
    svg.addEventListener('pointermove', point);
    svg.addEventListener('pointerdown', point);
    svg.addEventListener('pointerleave', hide);
    svg.addEventListener('blur', hide);
    // The left and right keys move along a line, and the up and down keys move between lines.
    svg.tabIndex = 0;
    svg.addEventListener('keydown', (event) => {
      const open = lines.filter((l) => l.length > 0 && !hidden(l[0].s));
      if (open.length === 0) return;
      if (event.key === 'Escape') return hide();
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!step) return;
      event.preventDefault();
      let l = shown ? open.findIndex((line) => line.includes(shown)) : -1;
      let k = l >= 0 ? open[l].indexOf(shown) + step[1] : open[0].length - 1;
      l = l >= 0 ? (l + step[0] + open.length) % open.length : 0;
      k = Math.min(Math.max(k, 0), open[l].length - 1);
      show(open[l][k]);
    });

    root.querySelector('.get-csv').addEventListener('click', () => save(name + '.csv', 'text/csv', csv(data)));
    root.querySelector('.get-svg').addEventListener('click', () => {
      // The attributes have the light colours, so that the file needs no style sheet.
      const copy = svg.cloneNode(true);
      for (const e of copy.querySelectorAll('.off, .near')) e.remove();
      copy.removeAttribute('tabindex');
      save(name + '.svg', 'image/svg+xml', new XMLSerializer().serializeToString(copy));
    });
  }

  // Names without a line in the visible figure are pale.
  function absent(problem) {
    for (const panel of problem.querySelectorAll('.panel'))
      if (getComputedStyle(panel).display !== 'none')
        for (const chip of problem.querySelectorAll('.chip'))
          chip.classList.toggle('absent', !panel.querySelector('.name[data-s="' + chip.dataset.s + '"]'));
  }

  for (const problem of document.querySelectorAll('.problem')) {
    for (const root of problem.querySelectorAll('.panel')) panel(root);
    absent(problem);
    problem.addEventListener('change', () => absent(problem));
    for (const chip of problem.querySelectorAll('.chip'))
      chip.addEventListener('click', () => {
        const on = chip.getAttribute('aria-pressed') !== 'true';
        chip.setAttribute('aria-pressed', String(on));
        for (const part of problem.querySelectorAll('.figure [data-s="' + chip.dataset.s + '"]'))
          part.classList.toggle('off', !on);
      });
  }
})();
