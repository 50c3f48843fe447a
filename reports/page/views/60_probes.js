// A probe's own curves and tables, as its document declares them, and all of its entries.
// A column or an axis of a view, of one entry: {value, unit}, or null.
function figureOf(e, name, view) {
  const [unit, role] = [e.metric[1], name.replace(/^(counter|extra):/, '')];
  const counter = () => {
    const found = counterOf(e).get(role);
    return typeof found?.[1] === 'number' ?
        {value: found[1], unit: docs[e.doc].counters[found[0]][2]} :
        null;
  };
  const extra = () => e.extras?.[role] == null ? null : {value: e.extras[role], unit: ''};
  const share = of => of ? {value: 100 * e.value / of, unit: '%'} : null;
  if (name === 'metric') return {value: e.value, unit};
  if (name === 'metric_per_cycle')
    return e.measuredClock ? {value: e.value / e.measuredClock, unit: unit.replace('/s', '/clk')} :
                             null;
  if (name === 'bound') return e.bound ? {value: e.bound[0], unit} : null;
  if (name === 'expected') return e.expected ? {value: e.expected[0], unit} : null;
  if (name === 'of_bound') return share(e.bound?.[0]);
  if (name === 'of_opponent')
    return share(Math.max(...(e.opponents ?? []).map(o => o.value).filter(Boolean), 0));
  if (name.startsWith('of_level:'))
    return share(view?.levels?.find(l => l.label === name.slice(9))?.y);
  if (name === 'time') return e.time == null ? null : {value: e.time, unit: 's'};
  if (name === 'sm_clock') return e.measuredClock ? {value: e.measuredClock, unit: 'Hz'} : null;
  if (name === 'power') return e.power == null ? null : {value: e.power, unit: 'W'};
  if (name.startsWith('ratio:')) {
    const o = e.opponents?.find(o => o.name === name.slice(6));
    return o?.ratio == null ? null : {value: o.ratio, unit: '', interval: o.interval};
  }
  if (e.axes[name] != null) return {value: e.axes[name], unit: ''};
  return name.startsWith('extra:') ? extra() :
      name.startsWith('counter:')  ? counter() :
                                     counter() ?? extra();
}
function columnText(e, name, view) {
  if (name === 'metric') return withMark(e, figure(e.value, e.metric[1]));
  if (e.axes[name] != null) return axisText(name, e.axes[name]);
  if (name === 'interval') return range(e.interval, e.metric[1]);
  if (name === 'verdict') return e.status ?? 'ok';
  if (name === 'throttle_reasons') return (e.throttle ?? []).join(', ') || 'none';
  if (name.startsWith('note:')) return e.notes?.[name.slice(5)] ?? '';
  const found = figureOf(e, name, view);
  if (found == null) return '–';
  const text = typeof found.value === 'string' ? found.value : figure(found.value, found.unit);
  return found.interval ? `${text} (${range(found.interval, '')})` : text;
}
// A long table opens on a click.
function viewTable(view, entries) {
  const columns = view.columns.map(c => [c, entries.map(e => columnText(e, c, view))])
                      .filter(([, cells]) => cells.some(cell => cell !== '–' && cell !== ''));
  const many = new Set(entries.map(e => e.doc)).size > 1;
  const whole = table(
      [...(many ? ['Document'] : []), ...columns.map(([c]) => columnTitle(c)), 'Entry'],
      entries.map(
          (e, row) =>
              [...(many ? [docs[e.doc].label] : []), ...columns.map(([, cells]) => cells[row]),
               entryLink(e, 'entry')]),
      view.title);
  return entries.length <= 30 ?
      whole :
      el('details', {}, el('summary', {}, `${entries.length} rows`), whole);
}
const columnTitle = name => name.replace(/^(counter|extra|note):/, '')
                                .replace(/^ratio:/, 'against ')
                                .replace(/^of_level:/, 'of ')
                                .replaceAll('_', ' ');
const shownBy = (i, probe, view) =>
    entriesOf(i, probe, Object.fromEntries((view.where ?? []).map(w => [w.axis, w.values])));

function drawPlot(main, view, entries) {
  const label = e => (view.series ?? []).map(n => columnText(e, n)).join(', ') || view.title;
  const rows = entries.flatMap(e => {
    const [x, y] = [figureOf(e, view.x)?.value, figureOf(e, view.y)];
    if (x == null || y?.value == null || (view.x_log2 && !(x > 0))) return [];
    const own = point(e, {
      x,
      y: y.value,
      series: label(e),
      shown: figure(y.value, y.unit),
      shownX: axisText(view.x, x),
      expected: view.y === 'metric' && view.show_expected ? e.expected?.[0] : undefined,
      bound: view.y === 'metric' && view.show_bound ? e.bound?.[0] : undefined,
      shownRange: view.y === 'metric' ? range(e.interval, y.unit) || 'none' : 'none'
    });
    if (view.y !== 'metric') own.low = own.high = undefined;
    const others = (view.show_opponents && e.opponents || []).filter(o => o.value != null);
    return [
      own, ...others.map(o => ({
                           ...own,
                           y: o.value,
                           series: o.name,
                           low: undefined,
                           high: undefined,
                           expected: undefined,
                           bound: undefined,
                           shown: figure(o.value, y.unit),
                           shownRange: 'none'
                         }))
    ];
  });
  if (!rows.length) return main.append(p('There is nothing to draw.'));
  const named = rows.some(r => typeof r.x === 'string');
  if (named) {
    const names = [...new Set(rows.map(r => r.x))],
          many = new Set(rows.map(r => r.series)).size > 1;
    const split = new Set(rows.map(r => r.doc)).size > 1 ? 'document' : 'series';
    const apart = split === 'document' ? byDoc() : {field: split};
    const encoding = {
      y: {field: 'x', type: 'nominal', sort: names, axis: {title: null, labelOverlap: false}},
      ...(many || split === 'document' ? {yOffset: apart} : {}),
      x: {field: 'y', type: 'quantitative', axis: {title: view.y_label, format: '~s'}},
      color: {...apart, legend: many || split === 'document' ? {title: null} : null},
      opacity: {condition: {test: 'datum.status !== \'ok\'', value: 0.5}, value: 1},
      tooltip: hover(view.x_label, view.y_label)
    };
    if (view.levels)
      main.append(p(soft(
          'Lines: ' +
          view.levels.map(l => `${l.label}, ${figure(l.y, entries[0].metric[1])}`).join('; ') +
          '.')));
    return chart(
        main, {
          layer: [
            {data: {values: rows}, mark: {type: 'bar', cursor: 'pointer'}, encoding},
            ...(view.levels ? [{
              data: {values: view.levels},
              mark: {type: 'rule', strokeDash: [4, 3], color: colours[theme()][1]},
              encoding: {
                x: {field: 'y', type: 'quantitative'},
                tooltip: [{field: 'label', title: 'Line'}]
              }
            }] :
                              [])
          ]
        },
        view.title, Math.max(120, names.length * (many || split === 'document' ? 26 : 18)), true);
  }
  const inBytes = view.x.includes('(B)') || view.x === 'size';
  const drawnLines = [
    rows.some(r => r.expected != null) ? 'Dotted: the model.' : '',
    rows.some(r => r.bound != null) ? 'Dashed: the bound.' : '',
    new Set(rows.map(r => r.series)).size > 2 ?
        'A click on a name in the legend shows its line alone.' :
        ''
  ].filter(Boolean);
  if (drawnLines.length) main.append(p(soft(drawnLines.join(' '))));
  curve(main, rows, {
    xTitle: view.x_label,
    yTitle: view.y === 'metric' && !view.y_label.includes('(') ?
        `${view.y_label} (${entries[0].metric[1]})` :
        view.y_label,
    xBytes: inBytes && view.x_log2,
    xLog: view.x_log2,
    yLog: view.y_log,
    yZero: view.y_from_zero,
    label: view.title,
    stretches: view.stretches ?? [],
    marks: (view.markers ?? []).map(m => ({x: m.x, label: m.label, shown: digits(m.x)}))
  });
}
function drawHeatMap(main, view, entries) {
  const rows = entries.flatMap(e => {
    const y = e.axes[view.y_axis];
    if (view.x === 'profile')
      return (e.profile?.values ?? [])
          .map((value, x) => ({x, y, value, entry: e.name, doc: e.doc}));
    const found = figureOf(e, view.y);
    return found?.value == null ? [] : [{
      x: e.axes[view.x],
      y,
      value: found.value,
      entry: e.name,
      doc: e.doc,
      shown: figure(found.value, found.unit)
    }];
  });
  if (!rows.length)
    return main.append(p('This page has no profile of these entries; the JSON has.'));
  // A few figures are read, not looked at.
  if (rows.length <= 64) {
    const across = [...new Set(rows.map(r => r.x))], down = [...new Set(rows.map(r => r.y))];
    const at = (x, y) => rows.filter(r => r.x === x && r.y === y)
                             .map(r => withMark(docs[r.doc].byName.get(r.entry), r.shown));
    return main.append(table(
        [`${columnTitle(view.y_axis)}, ${view.x_label}`, ...across],
        down.map(y => [`${y}`, ...across.map(x => at(x, y))]), view.title));
  }
  chart(
      main, {
        data: {values: rows},
        mark: {type: 'rect', cursor: 'pointer'},
        encoding: {
          x: {field: 'x', type: 'ordinal', axis: {title: view.x_label, labelAngle: 0}},
          y: {
            field: 'y',
            type: 'ordinal',
            sort: view.row_order ?? 'ascending',
            axis: {title: columnTitle(view.y_axis)}
          },
          color: {
            field: 'value',
            type: 'quantitative',
            scale: {scheme: 'viridis'},
            legend: {title: view.y_label}
          },
          tooltip: [
            {field: 'x', title: view.x_label}, {field: 'y', title: columnTitle(view.y_axis)},
            {field: 'value', title: view.y_label}
          ]
        }
      },
      view.title, 460);
}
function drawSteps(main, view, entries) {
  main.append(table(
      ['Rung', 'What it adds', 'Figure', ''],
      entries.map(
          e =>
              [columnText(e, view.x), e.notes?.idea, withMark(e, figure(e.value, e.metric[1])),
               el('a', {href: state.link({view: 'ladder', type: e.axes.type, rung: e.axes.rung})},
                  'source and counters')]),
      view.title));
}

views.push({
  id: 'probes',
  title: 'Probes',
  draw(main) {
    main.append(h2('Probes: every curve, table and entry'));
    const names = [...new Set(shownDocs().flatMap(i => docs[i].probes.map(q => q.name)))];
    if (!names.length) return main.append(nothing('probe'));
    const name = names.includes(state.get('probe')) ? state.get('probe') : names[0];
    const here = shownDocs().filter(i => docs[i].probes.some(q => q.name === name));
    const probe = docs[here[0]].probes.find(q => q.name === name);
    const shown = probe.views ?? [], sections = [...new Set(shown.map(v => v.section ?? ''))];
    const section = sections.includes(state.get('section')) ? state.get('section') : sections[0];
    main.append(controls(
        choice('Probe', 'probe', names.map(n => [n, n]), names[0]),
        sections.length > 1 ?
            choice('Section', 'section', sections.map(s => [s, s || 'all types']), sections[0]) :
            null));
    main.append(p(el('i', {}, probe.question)), p(probe.answer));
    for (const view of shown.filter(v => (v.section ?? '') === (section ?? ''))) {
      const entries = here.flatMap(i => shownBy(i, name, view));
      main.append(el('h3', {}, view.title));
      if (!entries.length)
        main.append(p('Nothing was measured for it.'));
      else if (view.kind === 'plot')
        drawPlot(main, view, entries);
      else if (view.kind === 'heat_map')
        drawHeatMap(main, view, entries);
      else if (view.kind === 'steps')
        drawSteps(main, view, entries);
      else if (view.kind === 'roofline')
        main.append(p(
            el('a', {href: state.link({view: 'roofline', type: entries[0].axes.type})},
               'The roofline with these kernels')));
      else
        main.append(viewTable(view, entries));
      if (view.note) main.append(p(soft(view.note)));
    }
    const search = el('input', {
      type: 'search',
      value: state.get('q'),
      'data-key': 'q',
      oninput: () => {
        state.set('q', search.value, true);
        fill();
      }
    });
    const all = here.flatMap(i => docs[i].entries.filter(e => e.probe === name));
    const count = el('span', {class: 'soft', role: 'status'}), box = el('div', {});
    const fill = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), most = 500;
      const found = all.filter(
          e => words.every(
              w => `${e.name} ${e.status ?? 'ok'} ${(e.reasons ?? []).join(' ')}`
                       .toLowerCase()
                       .includes(w)));
      count.textContent = `${found.length} of ${all.length} entries` +
          (found.length > most ? `, the first ${most} are shown` : '');
      box.replaceChildren(table(
          ['Document', 'Entry', 'Figure', 'Interval', 'Why not ok'],
          found.slice(0, most).map(
              e =>
                  [docs[e.doc].label, entryLink(e), withMark(e, figure(e.value, e.metric[1])),
                   range(e.interval, e.metric[1]), (e.reasons ?? []).join(' ')]),
          'Entries'));
    };
    main.append(el('h3', {}, 'Entries'), controls(el('label', {}, 'Search', search), count), box);
    fill();
    main.append(el('h3', {}, 'How it was measured'), p(probe.method));
  }
});
