// The ladder: a rung's source and its diff to its parent, beside what it gained and its counters.
const folders = {
  fp16: 'half',
  bf16: 'half',
  'fp32-3xtf32': 'fp32_3xtf32'
};
const bare = name => name.replace(/^.*\//, '').replace(/^\d+_/, '');
// The file of the rung's name, the one that has it beside another, or that of the name with another
// number.
function sourceOf(type, rung) {
  if (!rung) return null;
  const folder = folders[type] ?? type;
  const paths = Object.keys(data.sources).filter(path => path.includes(`${folder}/`));
  const stem = path => path.replace(/\.cu$/, '');
  return paths.find(path => stem(path).endsWith(`/${rung}`)) ??
      paths.find(path => data.sources[path].includes(`.name = "${rung}"`)) ??
      paths.find(path => bare(stem(path)) === bare(rung)) ?? null;
}
// The diagram of a lesson: docs/ladder.md has one in the section that ends with its figure.
function diagramOf(type, rung) {
  if (type !== 'fp32') return null;
  const tick = '\x60', fence = tick.repeat(3);
  const section =
      data.lessons.split('\n## ').find(s => s.includes('*Measured, ' + tick + rung + tick));
  return section?.split(fence + 'text\n')[1]?.split(fence)[0] ?? null;
}
// Lines of `b` as a change of `a`: [sign, line], by the longest common subsequence.
function lineDiff(a, b) {
  const x = a.split('\n'), y = b.split('\n'), w = y.length + 1;
  const t = new Uint32Array((x.length + 1) * w);
  for (let i = x.length - 1; i >= 0; --i)
    for (let j = y.length - 1; j >= 0; --j)
      t[i * w + j] = x[i] === y[j] ? t[(i + 1) * w + j + 1] + 1 :
                                     Math.max(t[(i + 1) * w + j], t[i * w + j + 1]);
  const out = [];
  for (let i = 0, j = 0; i < x.length || j < y.length;)
    if (i < x.length && j < y.length && x[i] === y[j])
      out.push([' ', y[(i++, j++)]]);
    else if (j >= y.length || (i < x.length && t[(i + 1) * w + j] >= t[i * w + j + 1]))
      out.push(['-', x[i++]]);
    else
      out.push(['+', y[j++]]);
  return out;
}
const ladderOf = (i, type) => {
  const all = entriesOf(i, 'gemm', {part: 'ladder', type});
  const most = Math.max(...all.map(e => e.axes.m));
  return all.filter(e => e.axes.m === most);
};
// Rungs that are not on the way to the last one: branches, and the other trees.
function branches(ladder) {
  const names = ladder.map(e => e.axes.rung), away = new Set(names);
  for (let n = names.length - 1; n >= 0 && away.delete(names[n]);)
    n = ladder[n].notes?.parent ? names.indexOf(ladder[n].notes.parent) : n - 1;
  return away;
}
const counterOf = e => new Map((e.counters ?? []).map(c => [docs[e.doc].counters[c[0]][0], c]));
// Five that tell what a rung changed: the pipes in use, traffic, and what warps wait for most.
function fiveCounters(e, parent) {
  const now = counterOf(e), before = parent ? counterOf(parent) : new Map();
  // A pipe that is idle, or a memory that is not used, tells nothing.
  const most = role => Math.max(...[now, before].map(c => Number(c.get(role)?.[1] ?? 0) || 0));
  const tells = role => most(role) >= (role.endsWith('pipe_active') ? 1 : Number.MIN_VALUE);
  const stalls = [...now.keys()]
                     .filter(role => role.startsWith('stall_') && role !== 'stall_not_selected')
                     .sort((a, b) => most(b) - most(a));
  const wanted = [
    'tensor_pipe_active', 'issue_active', 'shared_load_wavefronts', 'l2_read_sectors', stalls[0],
    'dram_read_bytes', 'global_load_sectors', 'achieved_occupancy'
  ];
  return wanted.filter(role => now.has(role) && tells(role)).slice(0, 5).map(role => {
    const [n, v] = now.get(role), unit = docs[e.doc].counters[n][2], old = before.get(role)?.[1];
    const text = value => typeof value === 'number' ? figure(value, unit) : 'none';
    return [role.replaceAll('_', ' '), parent ? text(old) : '–', text(v)];
  });
}
views.push({
  id: 'ladder',
  title: 'Ladder',
  draw(main) {
    main.append(h2('Ladder'));
    const types = [...new Set(allEntries('gemm', {part: 'ladder'}).map(e => e.axes.type))];
    if (!types.length) return main.append(nothing('ladder; the suite "gemm" measures it'));
    const type = types.includes(state.get('type')) ? state.get('type') : types[0];
    const ladders = shownDocs().map(i => ladderOf(i, type)).filter(l => l.length);
    const ladder = ladders[0], names = ladder.map(e => e.axes.rung), away = branches(ladder);
    const way = names.filter(n => !away.has(n));
    const now = Math.max(0, names.indexOf(state.get('rung', way[1] ?? way[0])));
    main.append(controls(choice('Type', 'type', types.map(t => [t, t]), types[0])));
    const rows = ladders.flatMap((l, k) => l.map((e, n) => point(e, {
                                                   rung: e.axes.rung,
                                                   y: e.value,
                                                   at: n,
                                                   chosen: k === 0 && n === now,
                                                   branch: away.has(e.axes.rung),
                                                   shown: figure(e.value, 'FLOP/s'),
                                                   shownRange: range(e.interval, 'FLOP/s'),
                                                   bound: e.bound?.[0]
                                                 })));
    const many = ladders.length > 1;
    const named = {title: null, labelOverlap: false, labelLimit: innerWidth < 700 ? 160 : 300};
    chart(
        main, {
          data: {values: rows},
          layer:
              [{
                mark: {type: 'bar', cursor: 'pointer'},
                encoding: {
                  y: {field: 'rung', type: 'nominal', sort: names, axis: named},
                  ...(many ? {yOffset: byDoc()} : {}),
                  x: {
                    field: 'y',
                    type: 'quantitative',
                    axis: {title: 'Throughput (FLOP/s)', format: '~s'}
                  },
                  color: many ? {
                    condition: {test: 'datum.branch', value: colours[theme()][7]},
                    ...byDoc({legend: {title: null}})
                  } : {
                    condition: [
                      {test: 'datum.chosen', value: colours[theme()][1]},
                      {test: 'datum.branch', value: colours[theme()][7]}
                    ],
                    value: colours[theme()][0]
                  },
                  opacity: {condition: {test: 'datum.status !== \'ok\'', value: 0.5}, value: 1},
                  tooltip: [
                    {field: 'rung', title: 'Rung'}, {field: 'document', title: 'Document'},
                    {field: 'shown', title: 'Throughput'}, {field: 'shownRange', title: 'Interval'},
                    {field: 'status', title: 'Verdict'}
                  ]
                }
              }]
        },
        `Throughput of each rung, ${type}`, Math.max(120, ladder.length * (many ? 26 : 18)), true);
    main.append(p(soft(
        `${ladder[0].axes.m}³; a grey bar is a branch or another tree, a pale one is not ok. ` +
        `Gains are against the rung's parent, in the first document chosen.`)));
    const slider = el('input', {
      type: 'range',
      min: 0,
      max: ladder.length - 1,
      value: now,
      'data-key': 'rung',
      onchange: () => {
        state.set('rung', names[slider.value]);
        document.querySelector('[data-key=rung]')?.focus();
      }
    });
    const e = ladder[now], parentName = e.notes?.parent ?? names[now - 1];
    const parent = ladder[names.indexOf(parentName)];
    main.append(controls(el('label', {}, 'Rung', slider), el('b', {}, names[now])));
    main.append(el('h3', {}, names[now]), p(e.notes?.idea ?? ''), p(soft(e.notes?.gain ?? '')));
    const vendor = [...(e.opponents ?? [])].sort((a, b) => b.value - a.value)[0];
    main.append(
        p(withMark(e, figure(e.value, 'FLOP/s')), ` (${range(e.interval, 'FLOP/s')})`,
          parent ?
              `, ${digits(e.value / parent.value)} × its parent ${parentName}${reach(e, parent)}` :
              ', the first of its ladder',
          e.bound ? `, ${digits(100 * e.value / e.bound[0])} % of the bound` : '',
          vendor?.ratio ?
              `, ${digits(vendor.ratio)} × ${vendor.name} (${range(vendor.interval, '')})` :
              '',
          '.'));
    const five = fiveCounters(e, parent);
    main.append(
        five.length ?
            table(['Counter', parentName ?? 'before', names[now]], five, 'Five counters') :
            p('No counters were read.'));
    const picture = diagramOf(type, names[now]);
    if (picture)
      main.append(el('pre', {tabindex: 0, 'aria-label': 'Diagram', class: 'diagram'}, picture));
    const path = sourceOf(type, names[now]), old = sourceOf(type, parentName);
    if (!path)
      return main.append(
          p('This build has no source of that name: the rung was measured by ' +
            `another version (${docs[e.doc].version}).`));
    const text = data.sources[path],
          shownDiff = old && old !== path ? lineDiff(data.sources[old], text) : null;
    main.append(el(
        'div', {class: 'pair'},
        el('div', {}, el('h3', {}, path), el('pre', {tabindex: 0, 'aria-label': 'Source'}, text)),
        old === path && p('Shares its file with its parent.'),
        shownDiff &&
            el('div', {}, el('h3', {}, `Against ${old}`),
               el('pre', {tabindex: 0, 'aria-label': 'Difference to the parent'},
                  shownDiff.map(
                      ([sign, line]) =>
                          el(sign === '+'     ? 'ins' :
                                 sign === '-' ? 'del' :
                                                'span',
                             {}, `${sign} ${line}\n`))))));
  }
});

// Roofline: one level of memory at a time, the recorded kernels, and the reader's own.
views.push({
  id: 'roofline',
  title: 'Roofline',
  draw(main) {
    main.append(h2('Roofline'));
    const withLadder = shownDocs().filter(i => entriesOf(i, 'gemm', {part: 'ladder'}).length);
    const candidates = withLadder.length ? withLadder : shownDocs();
    const i = candidates.find(k => `${k}` === state.get('of')) ?? candidates[0];
    const doc = docs[i], bound = doc.bounds.find(b => b[0] === 'dram_bandwidth');
    const l2 = shownDocs().flatMap(
        k => docs[k].facts.filter(
            f => f.id === 'l2.bandwidth' && docs[k].machine.Name === doc.machine.Name))[0];
    const shared = doc.bounds.find(b => b[0] === 'shared_bandwidth');
    const levels = {
      DRAM: bound && [bound[2], bound[3]],
      L2: l2 && [l2.value, 'measured, fact l2.bandwidth'],
      'shared memory': shared && [shared[2], shared[3]]
    };
    const types = [...new Set(entriesOf(i, 'gemm', {part: 'ladder'}).map(e => e.axes.type))];
    const level = state.get('level', 'DRAM'), type = state.get('type', types[0] ?? '');
    main.append(controls(
        candidates.length > 1 ?
            choice('GPU', 'of', candidates.map(k => [`${k}`, docs[k].label]), `${candidates[0]}`) :
            null,
        choice('Memory', 'level', Object.keys(levels).map(l => [l, l]), 'DRAM'),
        types.length ? choice('Arithmetic', 'type', types.map(t => [t, t]), types[0]) : null));
    const rungs = types.length ? ladderOf(i, type) : [];
    const fma = doc.bounds.find(b => b[0] === 'fp32_fma');
    const peak = rungs.find(e => e.bound)?.bound ?? (fma && [fma[2], fma[3]]);
    if (!levels[level] || !peak)
      return main.append(nothing(`bandwidth of ${level} or peak to draw a roof`));
    const [speed, why] = levels[level];
    main.append(p(soft(
        `${doc.label}. ${level}: ${figure(speed, 'B/s')}, ${why}. Arithmetic: ` +
        `${figure(peak[0], 'FLOP/s')}, ${peak[1]}.`)));
    const own = {};
    const fields = [['bytes', 'Bytes moved'], ['flop', 'FLOPs'], ['time', 'Time (µs)']].map(
        ([key, label]) => el('label', {}, label, own[key] = el('input', {
                                                   type: 'number',
                                                   min: 0,
                                                   step: 'any',
                                                   'data-key': key,
                                                   value: state.get(key),
                                                   onchange: () => state.set(key, own[key].value)
                                                 })));
    main.append(el('h3', {}, 'Your kernel'), controls(fields));
    const [b, f, t] = ['bytes', 'flop', 'time'].map(k => Number(state.get(k)));
    // What the probe counts as moved there; of shared memory it says nothing where a tensor core
    // reads it unseen.
    const movedThere = doc.probes.flatMap(probe => probe.views)
                           .find(v => v.kind === 'roofline' && v.section === type)
                           ?.memory.find(m => m.name === level)
                           ?.counted ??
        [];
    if (rungs.length && !movedThere.length)
      main.append(p(soft(`No counter tells what ${type} moves through the ${level}.`)));
    const points = rungs
                       .map(e => {
                         const c = counterOf(e);
                         const moved = movedThere.reduce(
                             (sum, term) => sum +
                                 term.factor * c.get(term.figure.replace('counter:', ''))?.[1],
                             0);
                         return point(e, {
                           x: e.extras?.flop / moved,
                           y: e.value,
                           series: 'rungs',
                           name: e.axes.rung,
                           shown: figure(e.value, 'FLOP/s')
                         });
                       })
                       .filter(r => r.x > 0 && Number.isFinite(r.x));
    if (b > 0 && f > 0 && t > 0) {
      const reached = f / (t * 1e-6), possible = Math.min(peak[0], speed * f / b);
      points.push({
        x: f / b,
        y: reached,
        series: 'your kernel',
        name: 'your kernel',
        status: 'ok',
        shown: figure(reached, 'FLOP/s')
      });
      main.append(
          p(el('b', {id: 'answer'},
               `${figure(reached, 'FLOP/s')}, ${
                   digits(100 * reached / possible)} % of what the roof allows. `),
            reached > possible ?
                `That is above the roof: the bytes ` +
                    `may come from a nearer memory, or a figure is wrong.` :
                speed * f / b < peak[0] ?
                `${level} limits it: ${figure(b / (t * 1e-6), 'B/s')} of ${figure(speed, 'B/s')}.` :
                'Arithmetic limits it.'));
    } else
      main.append(p(soft('Give all three, and your kernel appears among the others.')));
    const ridge = peak[0] / speed, xs = points.map(r => r.x), low = Math.min(0.1, ...xs) / 2,
          high = Math.max(ridge * 100, ...xs) * 2;
    const roof = [low, ridge, high].map(x => ({x, y: Math.min(peak[0], speed * x)}));
    const x = {
      field: 'x',
      type: 'quantitative',
      scale: {type: 'log', nice: false},
      axis: {format: '~g', title: `FLOP per byte of ${level}`}
    };
    const y = {
      field: 'y',
      type: 'quantitative',
      scale: {type: 'log'},
      axis: {format: '~s', title: 'Throughput (FLOP/s)'}
    };
    chart(
        main, {
          layer: [
            {
              data: {values: roof},
              mark: {type: 'line', color: colours[theme()][7]},
              encoding: {x, y}
            },
            ...(points.length ? [{
              data: {values: points},
              params: [brush],
              mark: {type: 'point', filled: true, size: 70, cursor: 'pointer'},
              encoding: {
                x,
                y,
                color: {field: 'series', legend: {title: null}},
                opacity: {condition: {test: 'datum.status !== \'ok\'', value: 0.45}, value: 1},
                tooltip: [
                  {field: 'name', title: 'Kernel'}, {field: 'shown', title: 'Throughput'},
                  {field: 'x', title: 'FLOP/B', format: '.4~g'}, {field: 'status', title: 'Verdict'}
                ]
              }
            }] :
                                [])
          ]
        },
        `Roofline at ${level}`);
    figuresBelow(main, rungs, ['type', 'rung']);
  }
});
