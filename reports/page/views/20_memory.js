// Latency and bandwidth, from L1 to another GPU, on one axis.
const brush = {
  name: 'zoom',
  select: 'interval',
  bind: 'scales'
};
// Several lines on top of each other: a click on a name in the legend shows its line alone.
const pick = field => ({name: 'pick', select: {type: 'point', fields: [field]}, bind: 'legend'});
const byDocument = many => many ? {strokeDash: byDoc({legend: {title: 'Document'}})} : {};
const hover = (x, y) =>
    [{field: 'series', title: 'Series'}, {field: 'document', title: 'Document'},
     {field: 'shownX', title: x}, {field: 'shown', title: y},
     {field: 'shownRange', title: 'Interval'}, {field: 'status', title: 'Verdict'},
     {field: 'entry', title: 'Entry'}];

// The curve over one axis: lines with points and intervals; several documents by their dashes.
function curve(main, rows, {
  x,
  y,
  xTitle,
  yTitle,
  marks = [],
  label,
  xBytes = true,
  xLog = true,
  yLog = true,
  yZero = true,
  yFormat = '~s',
  by = 'series',
  stretches = []
}) {
  const xs = rows.map(r => r.x), many = new Set(rows.map(r => r.doc)).size > 1;
  const xScale = xLog ? {
    type: 'log',
    base: xBytes ? 2 : 10,
    nice: false,
    domain: [Math.min(...xs) / 1.3, Math.max(...xs) * 1.3]
  } :
                        {zero: false};
  const wide = Math.max(...xs) > Math.min(...xs) * 4096;
  const step = innerWidth < 700 ? 6 : wide ? 3 : 1;
  const xAxis = {
    title: xTitle,
    grid: true,
    ...(xBytes ?
            {...bytesAxis, values: powersOfTwo(Math.min(...xs), Math.max(...xs), step)} :
            {format: '~s'})
  };
  const encoding = {
    x: {field: 'x', type: 'quantitative', scale: xScale, axis: xAxis},
    y: {
      field: 'y',
      type: 'quantitative',
      scale: yLog ? {type: 'log'} : {zero: yZero},
      axis: {title: yTitle, format: yFormat}
    },
    color: by === 'document' ? byDoc({legend: {title: null}}) :
                               {field: by, type: 'nominal', sort: null, legend: {title: null}}
  };
  const several = new Set(rows.map(r => r[by])).size > 1,
        unpicked = several ? [{test: {not: {param: 'pick'}}, value: 0.06}] : [];
  const across = ['expected', 'bound'].filter(name => rows.some(r => r[name] != null));
  const drawnMarks = marks.filter(m => m.x >= Math.min(...xs) && m.x <= Math.max(...xs));
  return chart(
      main, {
        data: {values: rows},
        layer: [
          {
            mark: {type: 'line', strokeWidth: 2},
            transform: [{filter: '!datum.alone'}],
            encoding: {
              ...encoding,
              ...byDocument(many && by === 'series'),
              opacity: {condition: unpicked, value: 1},
              detail: [{field: 'document'}, {field: 'series'}]
            }
          },
          ...across.map(name => ({
                          mark: {
                            type: 'line',
                            strokeWidth: name === 'bound' ? 1 : 2,
                            strokeDash: name === 'bound' ? [8, 4] : [2, 4],
                            color: colours[theme()][7]
                          },
                          transform: [{filter: `isValid(datum.${name})`}],
                          encoding: {
                            x: encoding.x,
                            y: {...encoding.y, field: name},
                            detail: [{field: 'document'}, {field: 'series'}]
                          }
                        })),
          ...(stretches.length ? [{
            data: {values: stretches},
            mark: {type: 'rule', strokeWidth: 9, opacity: 0.3, color: colours[theme()][7]},
            encoding: {
              x: {field: 'first_x', type: 'quantitative'},
              x2: {field: 'last_x'},
              y: {field: 'first_y', type: 'quantitative'},
              y2: {field: 'last_y'}
            }
          }] :
                                 []),
          ...(rows.some(r => r.low != null) ? [{
            mark: {type: 'rule', opacity: 0.5},
            transform: [{filter: 'isValid(datum.low)'}],
            encoding: {...encoding, y: {...encoding.y, field: 'low'}, y2: {field: 'high'}}
          }] :
                                              []),
          {
            params: several ? [brush, pick(by)] : [brush],
            mark: {type: 'point', filled: true, cursor: 'pointer'},
            encoding: {
              ...encoding,
              size: {condition: {test: 'datum.alone', value: 180}, value: 45},
              ...(many ? {
                shape: by === 'series' ? byDoc({legend: null}) :
                                         {field: 'series', type: 'nominal', legend: {title: null}}
              } :
                         {}),
              opacity: {
                condition: [...unpicked, {test: 'datum.status !== \'ok\'', value: 0.45}],
                value: 1
              },
              tooltip: hover(xTitle, yTitle)
            }
          },
          ...(drawnMarks.length ? [{
            data: {values: drawnMarks},
            mark: {type: 'rule', strokeDash: [3, 3], opacity: 0.8, color: colours[theme()][7]},
            encoding: {
              x: {field: 'x', type: 'quantitative'},
              tooltip: [
                {field: 'label', title: 'Level'}, {field: 'document', title: 'Document'},
                {field: 'shown', title: 'Size'}
              ]
            }
          }] :
                                  [])
        ]
      },
      label);
}
const sizes = ids => shownDocs().flatMap(
    i => docs[i].facts.filter(f => ids.includes(f.id) && f.value > 0).map(f => ({
                                                                            x: f.value,
                                                                            label: f.subject,
                                                                            document: docs[i].label,
                                                                            shown: bytes(f.value)
                                                                          })));
// "Dotted: L1 241 KiB; L2 50.3 MiB (H100), 58.73 MiB (H200)."
function dotted(main, marks) {
  const texts = [...new Set(marks.map(m => m.label))].map(label => {
    const of = marks.filter(m => m.label === label), alike = of.every(m => m.shown === of[0].shown);
    return `${label}: ` +
        (alike ? of[0].shown : of.map(m => `${m.shown} (${m.document})`).join(', '));
  });
  if (texts.length) main.append(p(soft(`Dotted: ${texts.join('; ')}.`)));
}

views.push({
  id: 'latency',
  title: 'Latency',
  draw(main) {
    main.append(h2('Latency, from L1 to another GPU'));
    main.append(controls(
        choice('Unit', 'unit', [['cycles', 'cycles'], ['ns', 'nanoseconds']], 'cycles'),
        choice(
            'Memory', 'memory',
            [['global', 'global'], ['constant', 'constant'], ['carve', 'L1 by carve-out']],
            'global')));
    const memory = state.get('memory', 'global'), unit = state.get('unit', 'cycles');
    const inUnit = e => unit === 'cycles' ? e.value : e.extras?.latency_ns;
    const sweep =
        allEntries('memory_latency', {sweep: 'size'})
            .filter(
                e => memory === 'constant' ? e.axes.level === 'constant' :
                                             e.axes.level !== 'constant' &&
                        (memory === 'carve' ? e.axes['carve-out (KiB)'] != null :
                                              [undefined, 8].includes(e.axes['carve-out (KiB)'])));
    const facts = memory !== 'global' ?
        [] :
        shownDocs().flatMap(
            i => ['dram.latency', 'host.latency', 'peer.latency'].flatMap(
                id => docs[i]
                          .facts.filter(f => f.id === id && f.value != null)
                          .map(f => [f, docs[i].byName.get(f.evidence?.[0])])
                          .filter(([, e]) => e)));
    const row = (e, series, single) => {
      const scale = inUnit(e) / e.value;
      return point(e, {
        x: e.axes['working set (B)'],
        y: inUnit(e),
        series,
        alone: single,
        low: single || !e.interval ? undefined : e.interval[0] * scale,
        high: single || !e.interval ? undefined : e.interval[1] * scale,
        shown: `${digits(inUnit(e))} ${unit}`,
        shownX: bytes(e.axes['working set (B)']),
        shownRange: e.interval ? `${digits(e.interval[0] * scale)} to ` +
                `${digits(e.interval[1] * scale)}` :
                                 'none'
      });
    };
    const rows = [
      ...sweep.map(
          e =>
              row(e,
                  memory === 'carve' ?
                      `L1, carve-out ${String(e.axes['carve-out (KiB)']).padStart(3)} KiB` :
                      e.axes.level === 'L2' ? 'L2 and DRAM' :
                                              e.axes.level)),
      ...facts.map(([f, e]) => row(e, f.subject, true))
    ].filter(r => r.x > 0 && r.y > 0);
    if (!rows.length) return main.append(nothing('latency sweep; the suite "atlas" measures it'));
    main.append(
        p('One load that depends on the one before, against the bytes that it walks over. ',
          'Scroll to zoom, drag to move; click a point for its entry, a name in the legend for ',
          'its line alone. A pale point is not ok.'));
    const marks = sizes(
        {global: ['l1.size', 'l2.size'], constant: ['const.l1.size', 'const.l1_5.size']}[memory] ??
        []);
    curve(main, rows, {
      xTitle: 'Working set',
      yTitle: `Latency (${unit})`,
      label: 'Latency against working set',
      yFormat: '~g',
      // Levels stand apart by themselves; two GPUs do not.
      by: memory !== 'carve' && new Set(rows.map(r => r.doc)).size > 1 ? 'document' : 'series',
      marks
    });
    dotted(main, marks);
    figuresBelow(main, [...sweep, ...facts.map(([, e]) => e)], ['level', 'working set (B)']);
  }
});

const sweeps = {
  footprint: ['memory_bandwidth', {sweep: 'footprint'}, 'working set (B)', 'Working set', true],
  SMs: ['memory_bandwidth', {sweep: 'SMs'}, 'SMs', 'SMs', false],
  flight:
      ['memory_bandwidth', {sweep: 'in flight'}, 'bytes in flight (B)', 'Bytes in flight', true],
  copy: ['copy_bandwidth', {sweep: 'size'}, 'size', 'Size of the copy', true],
  host: ['links', {link: 'host'}, 'size', 'Size of the transfer', true],
  NCCL: ['links', {link: 'NCCL'}, 'size', 'Size of the collective', true]
};
views.push({
  id: 'bandwidth',
  title: 'Bandwidth',
  draw(main) {
    main.append(h2('Bandwidth'));
    main.append(controls(choice(
        'Against', 'by',
        [
          ['footprint', 'working set'], ['SMs', 'SMs at work'], ['flight', 'bytes in flight'],
          ['copy', 'size of a copy'], ['host', 'size, host link'], ['NCCL', 'size, NCCL']
        ],
        'footprint')));
    const [probe, where, axis, title, inBytes] =
        sweeps[state.get('by', 'footprint')] ?? sweeps.footprint;
    let found = allEntries(probe, where).filter(e => e.axes[axis] > 0 && e.metric[1] === 'B/s');
    if (!found.length) return main.append(nothing('such a sweep'));
    const names = [...new Set(found.flatMap(e => Object.keys(e.axes)))].filter(
        n => n !== axis && new Set(found.map(e => e.axes[n])).size > 1 &&
            !(n.includes('(B)') && n !== 'width (B)') && !(axis !== 'SMs' && n === 'SMs'));
    const filters =
        names.filter(n => n !== 'SM order')
            .map(n => [n, [...new Set(found.map(e => e.axes[n]))].filter(v => v != null)])
            .filter(([, v]) => v.length > 1 && v.length < 12);
    // One line too many hides them all: the widest access first.
    const usual = (n, values) => n === 'width (B)' && values.includes(16) ? '16' : 'all';
    main.append(controls(filters.map(
        ([n, values]) => choice(
            n, `f.${n}`, [['all', 'all'], ...values.map(v => [`${v}`, `${v}`])],
            usual(n, values)))));
    for (const [n, values] of filters) {
      const wanted = state.get(`f.${n}`, usual(n, values));
      if (wanted !== 'all') found = found.filter(e => `${e.axes[n]}` === wanted);
    }
    if (!found.length) return main.append(p('No entry has all of these.'));
    const open = names.filter(n => new Set(found.map(e => e.axes[n])).size > 1);
    const rows = found.map(
        e => point(e, {
          x: e.axes[axis],
          y: e.value,
          series:
              open.map(
                      n => e.axes[n] == null ?
                          null :
                          typeof e.axes[n] === 'number' ?
                          `${n.replace(' (B)', '')} ${e.axes[n]}${n.includes('(B)') ? ' B' : ''}` :
                          e.axes[n])
                  .filter(Boolean)
                  .join(', ') ||
              probe,
          shown: figure(e.value, 'B/s'),
          shownX: inBytes ? bytes(e.axes[axis]) : `${e.axes[axis]}`,
          shownRange: range(e.interval, 'B/s') || 'none'
        }));
    const marks = axis === 'working set (B)' ? sizes(['l2.size']) : [];
    curve(main, rows, {
      xTitle: title,
      yTitle: 'Bandwidth (B/s)',
      xBytes: inBytes,
      yFormat: '~s',
      label: `Bandwidth against ${title}`,
      marks
    });
    dotted(main, marks);
    figuresBelow(main, found, [axis, ...open]);
  }
});
