// One warp on shared memory. The costs are the model's (models/shared_memory.h), asked beforehand.
views.push({
  id: 'warp',
  title: 'Warp',
  draw(main) {
    main.append(h2('One warp on shared memory'));
    const text = (label, key, low, high, fallback) => {
      const field = el('input', {
        type: 'number',
        min: low,
        max: high,
        value: state.get(key, fallback),
        'data-key': key,
        onchange: () => state.set(key, field.value)
      });
      return el('label', {}, label, field);
    };
    main.append(controls(
        choice('Operation', 'op', [['load', 'load'], ['store', 'store']], 'load'),
        choice('Bytes a lane', 'width', [['4', '4'], ['8', '8'], ['16', '16']], '4'),
        text('Stride (words)', 'stride', 0, 64, '32'), text('Padding (words)', 'pad', 0, 4, '0')));
    const op = state.get('op', 'load'), width = Number(state.get('width', '4'));
    const words = Number(state.get('stride', '32')) + Number(state.get('pad', '0'));
    const cost = data.warps[`${op} ${width} ${words}`];
    if (!cost)
      return main.append(
          p(`No such access: the distance of two lanes, stride and padding ` +
            `together, must be a whole number of 0 to 68 words and a multiple of ${width / 4}.`));
    main.append(
        p(el('b', {id: 'wavefronts'}, `${cost[0]} wavefront${cost[0] === 1 ? '' : 's'}`),
          `, ${cost[1]} of them conflicts; the data pipe is busy for ${cost[2]} clocks.`));
    const rows = [];
    for (let lane = 0; lane < 32; ++lane)
      for (let w = 0; w < width / 4; ++w)
        rows.push({lane, word: lane * words + w, bank: (lane * words + w) % 32});
    // Groups go one after the other. In a group each bank delivers one word a wavefront; which word
    // goes first no counter tells, and here it is that of the lowest lane.
    let wavefront = 1;
    for (let first = 0; first < 32; first += cost[3]) {
      const words = new Map();  // of each bank
      for (const r of rows.filter(r => r.lane >= first && r.lane < first + cost[3])) {
        const ofBank = words.get(r.bank) ?? [];
        if (!ofBank.includes(r.word)) ofBank.push(r.word);
        words.set(r.bank, ofBank);
        r.wavefront = wavefront + ofBank.indexOf(r.word);
      }
      wavefront += Math.max(...[...words.values()].map(ofBank => ofBank.length));
    }
    // Later wavefronts have lighter colours, which need dark digits.
    const lightFrom = cost[0] > 1 ? cost[0] * 0.55 : theme() === 'dark' ? 0 : 1;
    chart(
        main, {
          data: {values: rows},
          encoding: {
            x: {
              field: 'bank',
              type: 'ordinal',
              scale: {domain: [...Array(32).keys()]},
              axis: {title: 'Bank', labelAngle: 0, grid: true, zindex: 0}
            },
            y: {
              field: 'lane',
              type: 'ordinal',
              scale: {domain: [...Array(32).keys()]},
              axis: {title: 'Lane'}
            },
            tooltip: [
              {field: 'lane', title: 'Lane'}, {field: 'bank', title: 'Bank'},
              {field: 'word', title: 'Word'}, {field: 'wavefront', title: 'Wavefront'}
            ]
          },
          layer: [
            {
              mark: {type: 'rect'},
              encoding: {
                color: {
                  field: 'wavefront',
                  type: 'ordinal',
                  scale: cost[0] > 1 ? {scheme: 'viridis'} : {range: [colours[theme()][0]]},
                  legend: null
                }
              }
            },
            // Two digits are wider than a bank on a narrow screen.
            ...(innerWidth < 700 && cost[0] > 9 ? [] : [{
              mark: {type: 'text', fontSize: innerWidth < 700 ? 8 : 11, fontWeight: 'bold'},
              encoding: {
                text: {field: 'wavefront'},
                color: {
                  condition: {test: `datum.wavefront > ${lightFrom}`, value: '#000'},
                  value: '#fff'
                }
              }
            }])
          ]
        },
        'The wavefront in which each lane gets its word from a bank', 460, true);
    main.append(p(soft(
        'Numbers and colours are wavefronts. Each lane reads or writes at its number times the ' +
        'sum of stride and padding. ' +
        (cost[3] < 32 ? `Groups of ${cost[3]} lanes are served one after the other. ` :
                        'All lanes are served together. ') +
        'A group takes as many wavefronts as its busiest bank has distinct words.')));
  }
});

// Where each SM is: its distance to the lines of the L2 tells the partition that it sits at.
function partitions(entries) {
  const centred = e => {
    const mean = e.profile.values.reduce((a, b) => a + b, 0) / e.profile.values.length;
    return e.profile.values.map(v => v - mean);
  };
  const first = centred(entries[0]);
  return entries.map(e => centred(e).reduce((sum, v, k) => sum + v * first[k], 0) >= 0 ? 'A' : 'B');
}
views.push({
  id: 'topology',
  title: 'Topology',
  draw(main) {
    main.append(h2('SMs and partitions of the L2'));
    const found =
        shownDocs()
            .map(
                i => docs[i].entries.filter(
                    e => e.profile && e.axes.lines === 'first' &&
                        e.axes.instruction === 'ld.global.cg' && typeof e.axes.SM === 'number'))
            .filter(l => l.length);
    if (!found.length)
      return main.append(nothing('latencies by SM; the suite "atlas" measures them'));
    for (const entries of found) {
      const side = partitions(entries), across = 12;
      const rows = entries.map((e, k) => point(e, {
                                 sm: e.axes.SM,
                                 leads: {view: 'topology', sm: e.axes.SM},
                                 side: side[k],
                                 row: Math.floor(e.axes.SM / across),
                                 column: e.axes.SM % across,
                                 shown: figure(e.value, 'cycles'),
                                 near: e.extras?.nearest_line,
                                 far: e.extras?.farthest_line
                               }));
      main.append(
          el('h3', {}, docs[entries[0].doc].label),
          p(soft('Click an SM to see its distances; numbers are the hardware\'s.')));
      chart(
          main, {
            data: {values: rows},
            encoding: {
              x: {field: 'column', type: 'ordinal', axis: null},
              y: {field: 'row', type: 'ordinal', axis: null}
            },
            layer: [
              {
                mark: {type: 'rect', stroke: '#888', strokeWidth: 1, cursor: 'pointer'},
                encoding: {
                  color: {field: 'side', legend: {title: 'Partition'}},
                  tooltip: [
                    {field: 'sm', title: 'SM'}, {field: 'side', title: 'Partition'},
                    {field: 'shown', title: 'Mean latency'},
                    {field: 'near', title: 'Nearest line (cycles)'},
                    {field: 'far', title: 'Farthest line (cycles)'}
                  ]
                }
              },
              {
                mark: {
                  type: 'text',
                  fontSize: 11,
                  fill: theme() === 'dark' ? '#0d1117' : '#fff',
                  cursor: 'pointer'
                },
                encoding: {text: {field: 'sm'}}
              }
            ]
          },
          'SMs by partition of the L2', 340);
      const sm = Number(state.get('sm', '0')),
            e = entries.find(x => x.axes.SM === sm) ?? entries[0];
      const pick = el('input', {
        type: 'number',
        min: 0,
        max: entries.length - 1,
        value: e.axes.SM,
        'data-key': 'sm',
        onchange: () => state.set('sm', pick.value)
      });
      main.append(controls(el('label', {}, 'Distances of SM', pick), entryLink(e, 'its entry')));
      chart(
          main, {
            data: {values: e.profile.values.map((v, k) => ({line: k, v}))},
            mark: {type: 'point', filled: true, size: 14},
            encoding: {
              x: {field: 'line', type: 'quantitative', axis: {title: 'L2 line'}},
              y: {
                field: 'v',
                type: 'quantitative',
                scale: {zero: false},
                axis: {title: `Latency (${e.profile.unit})`}
              },
              tooltip: [{field: 'line', title: 'L2 line'}, {field: 'v', title: 'Latency'}]
            }
          },
          `Latency of SM ${e.axes.SM} to each line`, 260);
    }
  }
});

// The same entry in several documents, by date.
views.push({
  id: 'history',
  title: 'History',
  draw(main) {
    main.append(h2('History'));
    const count = new Map();
    for (const i of shownDocs())
      for (const [name, e] of docs[i].byName)
        if (e.value != null) count.set(name, (count.get(name) ?? 0) + 1);
    if (!count.size) return main.append(nothing('entries'));
    const repeated = [...count].filter(([, n]) => n > 1).map(([name]) => name);
    const shared = repeated.length ? repeated : [...count.keys()];
    if (!repeated.length)
      main.append(p(
          'No entry is in two of these documents, so each has one date. Give later results of a ' +
              'suite too, and its figures line up: ',
          el('code', {}, 'fathom report --html A.json B.json ...')));
    const list =
        el('datalist', {id: 'shared'}, shared.slice(0, 3000).map(value => el('option', {value})));
    const first = shownDocs()
                      .flatMap(i => headlines.map(([, ids]) => headline(i, ids)?.entry?.name))
                      .find(entry => shared.includes(entry));
    const changed = data.comparisons.flatMap(c => c.figures).find(f => shared.includes(f.name));
    const name = shared.includes(state.get('entry')) ? state.get('entry') :
                                                       changed?.name ?? first ?? shared[0];
    const field = el('input', {
      type: 'text',
      list: 'shared',
      value: name,
      size: 60,
      'data-key': 'entry',
      onchange: () => state.set('entry', field.value)
    });
    main.append(controls(el('label', {}, 'Entry', field), list, soft(`one of ${shared.length}`)));
    const entries = shownDocs().map(i => docs[i].byName.get(name)).filter(e => e?.value != null);
    const unit = entries[0].metric[1];
    const rows = entries.map(e => point(e, {
                               date: docs[e.doc].date,
                               y: e.value,
                               gpu: docs[e.doc].machine.Name,
                               shown: figure(e.value, unit),
                               shownRange: range(e.interval, unit)
                             }));
    const gpu = {field: 'gpu', type: 'nominal', sort: docs.map(doc => doc.machine.Name)};
    const x = {
      field: 'date',
      type: 'temporal',
      scale: {type: 'utc', padding: 20},
      axis: {title: 'Date (UTC)', format: '%b %d %H:%M', tickCount: innerWidth < 700 ? 2 : 6}
    };
    chart(
        main, {
          data: {values: rows},
          layer: [
            ...(rows.some(r => r.low != null) ? [{
              mark: {type: 'rule'},
              encoding: {
                x,
                y: {field: 'low', type: 'quantitative', scale: {zero: false}},
                y2: {field: 'high'},
                color: gpu
              }
            }] :
                                                []),
            {
              mark: {type: 'point', filled: true, size: 80, cursor: 'pointer'},
              encoding: {
                x,
                y: {
                  field: 'y',
                  type: 'quantitative',
                  scale: {zero: false},
                  axis: {title: `${entries[0].metric[0]} (${unit})`, format: '~s'}
                },
                color: {...gpu, legend: {title: null}},
                opacity: {condition: {test: 'datum.status !== \'ok\'', value: 0.45}, value: 1},
                tooltip: [
                  {field: 'document', title: 'Document'}, {field: 'shown', title: 'Figure'},
                  {field: 'shownRange', title: 'Interval'}, {field: 'status', title: 'Verdict'}
                ]
              }
            }
          ]
        },
        `${name} by date`, 320);
    figuresBelow(main, entries, []);
  }
});
