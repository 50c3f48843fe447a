'use strict';
// Everything that views share: the data, the state in the URL, elements, numbers, charts.
const data = JSON.parse(document.getElementById('data').textContent);
const docs = data.documents;
const views = [];  // {id, title, draw(main)}, in the order of the navigation

docs.forEach((doc, i) => {
  doc.byName = new Map(doc.entries.map(e => [e.name, e]));
  doc.entries.forEach(e => {
    e.doc = i;
  });
  const name = (doc.machine.Name || 'unknown GPU').replace(/^NVIDIA /, '');
  doc.title = `${name}, ${doc.suite || 'run'}`;
});
// What tells a document from others of its GPU and suite: its day, its time, or its place.
docs.forEach(doc => {
  const same = docs.filter(d => d.title === doc.title);
  const date = (d, length) => d.date.slice(0, length).replace('T', ' ');
  const length = [10, 19].find(n => new Set(same.map(d => date(d, n))).size === same.length);
  doc.label = same.length < 2 ? doc.title :
      length                  ? `${doc.title}, ${date(doc, length)}` :
                                `${doc.title} (${same.indexOf(doc) + 1})`;
  if (doc.source === 'replay') doc.label = 'REPLAY ' + doc.label;
});

// --- state: "#view=latency&unit=ns"; what equals the default is left out
const state = {
  read() {
    return new URLSearchParams(location.hash.slice(1));
  },
  get(key, fallback = '') {
    return this.read().get(key) ?? fallback;
  },
  link(changes, keep = ['docs', 'theme']) {
    const now = this.read(), next = new URLSearchParams();
    for (const key of keep)
      if (now.has(key)) next.set(key, now.get(key));
    for (const [key, value] of Object.entries(changes)) next.set(key, value);
    return '#' + next;
  },
  set(key, value, quiet) {
    const next = this.read();
    if (value === '' || value == null)
      next.delete(key);
    else
      next.set(key, value);
    history.replaceState(null, '', '#' + next);
    if (!quiet) show();
  },
};
const shownDocs = () => {
  const chosen = state.get('docs', 'all');
  return docs.map((doc, i) => i)
      .filter(i => chosen === 'all' || chosen.split(',').includes(`${i}`));
};
const entriesOf = (i, probe, axes = {}) => docs[i].entries.filter(
    e => e.probe === probe && e.value != null &&
        Object.entries(axes).every(([k, v]) => [].concat(v).includes(e.axes[k])));
const allEntries = (probe, axes) => shownDocs().flatMap(i => entriesOf(i, probe, axes));

// --- elements: texts become text nodes, never markup
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on'))
      node.addEventListener(key.slice(2), value);
    else if (value === true)
      node.setAttribute(key, '');
    else if (value != null && value !== false)
      node.setAttribute(key, value);
  }
  node.append(...children.flat().filter(c => c != null));
  return node;
}
const p = (...children) => el('p', {}, ...children);
const h2 = text => el('h2', {}, text);
const soft = text => el('span', {class: 'soft'}, text);
function choice(label, key, options, fallback) {
  const now = state.get(key, fallback);
  return el(
      'label', {}, label,
      el('select', {
        'data-key': key,
        onchange: e => state.set(key, e.target.value === fallback ? '' : e.target.value)
      },
         options.map(([value, text]) => el('option', {value, selected: value === now}, text))));
}
const controls = (...children) => el('div', {class: 'controls'}, ...children);
function table(head, rows, caption) {
  return el(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
      el('table', head.length > 3 ? {class: 'wide'} : {},
         el('thead', {}, el('tr', {}, head.map(h => el('th', {scope: 'col'}, h)))),
         el('tbody', {}, rows.map(r => el('tr', {}, r.map((c, n) => cell(head[n], c)))))));
}
// On a narrow screen, where a row of a wide table stands as a block, each cell names its column.
const cell = (head, content) => {
  const all = [].concat(content ?? '').filter(c => c !== '');
  return el('td', {'data-head': head}, all.length ? el('span', {}, ...all) : null);
};

// --- numbers
const prefixes = [
  [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'],
  [1e-9, 'n'], [1e-12, 'p']
];
const prefixed =
    new Set(['B/s', 'FLOP/s', 'OP/s', 's', 'Hz', 'J', 'J/B', 'J/FLOP', 'J/op', 'FLOP']);
const digits = v => v === 0                  ? '0' :
    Number.isInteger(v) && Math.abs(v) < 1e6 ? `${v}` :
    Math.abs(v) >= 1e7 || Math.abs(v) < 1e-3 ? v.toExponential(3) :
                                               `${Number(v.toPrecision(4))}`;
function bytes(v) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (Number(v.toPrecision(4)) >= 1024 && i < 4) {
    v /= 1024;
    ++i;
  }
  return `${Number(v.toPrecision(4))} ${units[i]}`;
}
function figure(value, unit) {
  if (value == null) return '–';
  if (unit === 'B') return bytes(value);
  const counted = !prefixed.has(unit);  // "2.282 G wavefronts"
  if (value === 0 || (counted && Math.abs(value) < 1e7))
    return `${digits(value)} ${unit ?? ''}`.trim();
  const [factor, sign] = prefixes.find(([f]) => Math.abs(value) >= f) ?? prefixes.at(-1);
  return `${digits(value / factor)} ${sign}${counted ? ' ' : ''}${unit ?? ''}`.trim();
}
// An axis that counts bytes, as results/text.h has it.
const axisText = (name, v) => typeof v !== 'number' ? `${v ?? ''}` :
    name === 'size' || name.endsWith('(B)') || name.endsWith('bytes') ? bytes(v) :
                                                                        digits(v);
const range = (interval, unit) =>
    interval ? `${figure(interval[0], unit)} to ${figure(interval[1], unit)}` : '';
// How far a ratio of two entries may be off, by the ends of both intervals: " ± 0.3 %".
function reach(over, under) {
  const [a, b] = [over.interval, under.interval], ratio = over.value / under.value;
  if (![a, b].every(i => i && i[2] >= 0.8 && i[0] > 0)) return '';
  const off = Math.max(a[1] / b[0] - ratio, ratio - a[0] / b[1]) / ratio;
  return ` ± ${(100 * off).toFixed(1)} %`;
}
const noisy = e => e.status != null;
const entryLink = (e, text) =>
    el('a', {
      href: state.link({view: 'entry', doc: e.doc, name: e.name}),
      title: e.name,
      class: text ? 'figure' : null
    },
       text ?? e.name);
const withMark = (e, text) => noisy(e) ?
    el('span', {}, entryLink(e, text), ' ',
       el('span', {class: 'noisy', title: (e.reasons ?? []).join(' ')},
          e.status.replace('_', ' '))) :
    entryLink(e, text);

// --- charts: Vega-Lite draws axes, legends, labels and tooltips
const colours = {
  light: [
    '#0550ae', '#bc4c00', '#116329', '#8250df', '#a40e26', '#0a7590', '#7d4e00', '#57606a',
    '#d4409a', '#4d7c0f'
  ],
  dark: [
    '#79b8ff', '#ffa657', '#6fdd8b', '#d2a8ff', '#ff8f87', '#5fd3e8', '#e3c06a', '#a5afba',
    '#ff9bce', '#b5e36a'
  ]
};
const theme = () =>
    state.get('theme', matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
const bytesAxis = {
  labelExpr: 'datum.value >= 1073741824 ? datum.value/1073741824 + \' GiB\' : ' +
      'datum.value >= 1048576 ? datum.value/1048576 + \' MiB\' : datum.value >= 1024 ? ' +
      'datum.value/1024 + \' KiB\' : datum.value + \' B\'',
  labelOverlap: 'greedy'
};
const powersOfTwo = (low, high, step = 2) => {
  const out = [];
  for (let i = Math.ceil(Math.log2(low)); i <= Math.log2(high); ++i)
    if (i % step === 0) out.push(2 ** i);
  return out;
};
let drawn = [];  // of the view: finalized when it goes
// `whole`: each of its rows has a label, so it is as high on a narrow screen.
async function chart(parent, spec, label, height = 420, whole = false) {
  const box = el('div', {class: 'chart'});
  parent.append(box);
  const dark = theme() === 'dark', ink = dark ? '#e6edf3' : '#1b1f24',
        line = dark ? '#3d444d' : '#d0d7de';
  const narrow = innerWidth < 700;
  const full = {
    width: 'container',
    height: narrow && !whole ? Math.min(height, 340) : height,
    autosize: {type: 'fit-x', contains: 'padding'},
    background: 'transparent',
    ...spec,
    config: {
      font: 'system-ui, sans-serif',
      view: {stroke: null},
      range: {category: colours[theme()]},
      axis: {
        labelColor: ink,
        titleColor: ink,
        gridColor: line,
        domainColor: line,
        tickColor: line,
        labelFontSize: 12,
        titleFontSize: 12,
        labelOverlap: 'greedy',
        labelSeparation: 6,
        gridOpacity: 0.6,
        labelLimit: narrow ? 110 : 260
      },
      legend: {
        orient: 'bottom',
        columns: narrow ? 1 : 3,
        labelColor: ink,
        titleColor: ink,
        labelFontSize: 12,
        labelLimit: narrow ? (whole ? 120 : 200) : 420,
        symbolLimit: 60,
        symbolOpacity: 1,
        symbolBaseFillColor: ink,
        layout: {bottom: {anchor: 'start', direction: 'vertical', margin: 6}}
      },
      text: {color: ink},
      header: {labelColor: ink, titleColor: ink},
      aria: false,
      ...spec.config
    }
  };
  try {
    const result =
        await vegaEmbed(box, full, {actions: false, renderer: 'svg', tooltip: {theme: theme()}});
    // One picture with a name; each point as an element of its own would drown a screen reader.
    // Its figures stand in the table below.
    box.querySelector('svg')?.setAttribute('aria-hidden', 'true');
    box.setAttribute('role', 'img');
    box.setAttribute('aria-label', label);
    box.removeAttribute('aria-roledescription');
    result.view.addEventListener('click', (event, item) => {
      const at = item?.datum;
      if (at?.entry != null)
        location.hash = state.link(at.leads ?? {view: 'entry', doc: at.doc, name: at.entry});
    });
    drawn.push(result);
    return result;
  } catch (error) {
    box.append(p('This chart cannot be drawn: ' + error.message));
    throw error;
  }
}
function figuresBelow(parent, entries, columns) {
  const details =
      el('details', {},
         el('summary', {},
            entries.length === 1 ? 'The figure as a table' :
                                   `The ${entries.length} figures as a table`));
  details.addEventListener('toggle', () => {
    if (!details.open || details.children.length > 1) return;
    const most = 1000;
    details.append(table(
        ['Document', ...columns, 'Figure', 'Interval', 'Entry'],
        entries.slice(0, most).map(
            e =>
                [docs[e.doc].label, ...columns.map(c => axisText(c, e.axes[c])),
                 figure(e.value, e.metric[1]), range(e.interval, e.metric[1]), withMark(e)]),
        'Figures'));
    if (entries.length > most) details.append(p(`The first ${most} are shown.`));
  });
  parent.append(details);
}
// Documents in their order, so that each has the same colour in every view.
const byDoc = (more = {}) =>
    ({field: 'document', type: 'nominal', sort: docs.map(doc => doc.label), ...more});
const point = (e, more) => ({
  entry: e.name,
  doc: e.doc,
  document: docs[e.doc].label,
  status: e.status ?? 'ok',
  low: e.interval?.[0],
  high: e.interval?.[1],
  ...more
});
const nothing = what => p(`The chosen documents have no ${what}.`);
