// What `fathom compare` says of two documents of one suite.
views.push({
  id: 'compare',
  title: 'Compare',
  draw(main) {
    main.append(h2('What differs'));
    const pairs = data.comparisons.filter(c => [c.a, c.b].every(i => shownDocs().includes(i)));
    if (!pairs.length)
      return main.append(
          p('No two of these documents are of one suite. Beside a result of another card, driver ' +
                'or date, this view has each figure that differs by more than noise: ',
            el('code', {}, 'fathom report --html A.json B.json')),
          el('h3', {}, 'Each document by itself'),
          table(
              ['', 'Date', 'Fathom', 'Driver', 'Entries', 'File'],
              shownDocs()
                  .map(i => docs[i])
                  .map(
                      doc =>
                          [doc.label, doc.date, doc.version, doc.machine.Driver,
                           `${doc.entries.length}`, doc.file]),
              'Documents'));
    const named = c => `${docs[c.a].label} (A) and ${docs[c.b].label} (B)`;
    main.append(
        controls(choice('Documents', 'pair', pairs.map((c, k) => [`${k}`, named(c)]), '0')));
    const c = pairs[Number(state.get('pair', '0'))] ?? pairs[0];
    main.append(p(
        `${c.differ} of ${c.all} figures differ by more than noise. Here are the headlines, and ` +
        `of each probe what differs most: B / A, with its interval where both runs have one.`));
    const entryOf = (f, i) => docs[i].byName.get(f.name) ??
        docs[i].byName.get(docs[i].facts.find(x => x.id === f.name)?.evidence?.[0]);
    const shown = c.figures.filter(f => f.ratio != null);
    const rows = shown.map(f => ({
                             title: f.title,
                             ratio: f.ratio,
                             low: f.interval?.[0],
                             high: f.interval?.[1],
                             finding: f.finding,
                             shown: digits(f.ratio),
                             a: figure(f.a, f.unit),
                             b: figure(f.b, f.unit),
                             noisy: f.noisy ? 'noisy' : 'no',
                             doc: c.b,
                             entry: entryOf(f, c.b)?.name
                           }));
    const y = {
      field: 'title',
      type: 'nominal',
      sort: rows.map(r => r.title),
      axis: {title: null, labelOverlap: false, labelLimit: innerWidth < 700 ? 180 : 480}
    };
    const x = {
      field: 'ratio',
      type: 'quantitative',
      scale: {type: 'log', nice: false, padding: 8},
      axis: {title: 'B / A', format: '~g'}
    };
    const color = {
      field: 'finding',
      scale: {domain: ['A better', 'B better', 'no difference', 'undecided']},
      legend: {title: null}
    };
    const opacity = {condition: {test: 'datum.noisy === \'noisy\'', value: 0.45}, value: 1};
    if (rows.length)
      chart(
          main, {
            data: {values: rows},
            layer: [
              {
                data: {values: [{ratio: 1}]},
                mark: {type: 'rule', color: colours[theme()][7]},
                encoding: {x}
              },
              ...(rows.some(r => r.low != null) ? [{
                transform: [{filter: 'isValid(datum.low)'}],
                mark: {type: 'rule'},
                encoding: {y, x: {...x, field: 'low'}, x2: {field: 'high'}, color, opacity}
              }] :
                                                  []),
              {
                mark: {type: 'point', filled: true, size: 70, cursor: 'pointer'},
                encoding: {
                  y,
                  x,
                  color,
                  opacity,
                  tooltip: [
                    {field: 'title', title: 'Figure'}, {field: 'a', title: 'A'},
                    {field: 'b', title: 'B'}, {field: 'shown', title: 'B / A'},
                    {field: 'finding', title: 'Finding'}, {field: 'noisy', title: 'Noisy'}
                  ]
                }
              }
            ]
          },
          'B over A of each figure', Math.max(120, rows.length * 18), true);
    const linked = (f, i, v) => {
      const e = entryOf(f, i), text = figure(v, f.unit);
      return e ? withMark(e, text) : text;
    };
    main.append(
        table(
            ['Figure', 'A', 'B', 'B / A', 'Interval', ''],
            c.figures.map(
                f =>
                    [f.title, linked(f, c.a, f.a), linked(f, c.b, f.b),
                     f.ratio == null ? '' : digits(f.ratio), range(f.interval, ''), f.finding]),
            'Figures'),
        el('h3', {}, 'The machines'),
        table(['', 'A', 'B'], c.machine, 'What differs between the machines'));
  }
});
