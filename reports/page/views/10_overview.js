// The first tiles: what this card does, and whether that is normal for its model.
const headlines = [
  ['DRAM', ['dram.bandwidth']], ['L2', ['l2.bandwidth']], ['FP32', ['fp32']],
  ['Tensor cores, fp16', ['fp16']], ['PCIe', ['host.bandwidth']],
  ['Another GPU', ['peer.bandwidth']], ['Power at rest', ['idle.power']],
  ['DRAM latency', ['dram.latency']]
];

function best(i, type) {
  const rungs = entriesOf(i, 'gemm', {part: 'ladder', type});
  return rungs.reduce((a, b) => !a || b.value > a.value ? b : a, null);
}
// A headline figure of a document: {value, unit, interval, entry}, or null.
function headline(i, [id]) {
  const fact = docs[i].facts.find(f => f.id === id && f.value != null);
  if (fact) {
    // A fact is as noisy as any entry behind it.
    const behind = (fact.evidence ?? []).map(n => docs[i].byName.get(n)).filter(Boolean);
    const {status, reasons} = behind.find(e => e.status === 'noisy') ?? behind[0] ?? {};
    const entry = behind[0] && {...behind[0], status, reasons};
    return {value: fact.value, unit: fact.unit, interval: fact.interval, entry};
  }
  const entry = best(i, id);
  return entry && {value: entry.value, unit: entry.metric[1], interval: entry.interval, entry};
}

// Leads to its entry.
function cardFigure(doc, f) {
  const entry = doc.byName.get(f.entry), text = figure(f.value, f.unit);
  return entry ? withMark(entry, text) : text;
}
// What the card check says of a tile's figure, where it judges that one.
function judged(doc, entry) {
  const f = doc.card?.figures.find(f => f.entry === entry?.name);
  return f &&
      el('div', {class: f.low ? 'bad' : 'good'},
         f.low ? `low by ${(f.gap * 100).toFixed(1)} %` : 'normal');
}
// Whether a card is normal for its model, and each figure that says so. Documents with one answer
// have one sentence.
function drawCard(main, doc, alike) {
  const {state, sentence, figures} = doc.card;
  main.append(p(
      'Is this card normal? ', el('b', state === 'low' ? {class: 'bad'} : {}, state),
      `${sentence.slice(state.length)} (${alike.map(d => d.label).join('; ')}).`));
  if (!figures.length) return;
  main.append(table(
      ['Figure', 'This card', 'Usual', 'Normal down to', 'Worse by', 'Cards', ''],
      figures.map(
          f =>
              [f.name, cardFigure(doc, f), figure(f.usual, f.unit), figure(f.limit, f.unit),
               `${(f.gap * 100).toFixed(2)} %`, f.cards,
               f.low ? `low: ${f.causes.join('; ') || 'no cause in its telemetry'}` : 'normal']),
      `Card check of ${doc.label}`));
}

views.push({
  id: 'overview',
  title: 'Overview',
  draw(main) {
    main.append(h2('Overview'));
    const chosen = shownDocs();
    const cards = chosen.map(i => docs[i]).filter(doc => doc.card);
    cards.forEach((doc, k) => {
      const alike = cards.filter(
          d => d === doc || (!d.card.figures.length && d.card.sentence === doc.card.sentence));
      if (doc.card.figures.length || cards.indexOf(alike[0]) === k) drawCard(main, doc, alike);
    });
    const tiles = el('div', {class: 'tiles'});
    for (const [name, ids] of headlines) {
      const found = chosen.map(i => [i, headline(i, ids)]).filter(([, f]) => f);
      if (!found.length) continue;
      tiles.append(
          el('div', {class: 'tile'}, name,
             found.map(
                 ([i, f]) =>
                     el('div', {},
                        el('b', {},
                           f.entry ? withMark(f.entry, figure(f.value, f.unit)) :
                                     figure(f.value, f.unit)),
                        judged(docs[i], f.entry), soft(docs[i].label)))));
    }
    main.append(tiles);
    for (const i of chosen) {
      const doc = docs[i], bad = doc.entries.filter(noisy).length;
      main.append(el('h3', {}, doc.label));
      if (!doc.entries.length)
        main.append(p('This document has no entries: nothing was measured.'));
      else
        main.append(
            p(`${doc.entries.length} entries, ${bad} of them not ok (most are noisy), ` +
              `${doc.facts.length} facts, ${doc.claims.length} claims. Measured ${
                  doc.date} by Fathom ${doc.version}, ${doc.file}.`));
      for (const warning of doc.warnings) main.append(p(el('span', {class: 'bad'}, warning)));
      if (!doc.probes.length) continue;
      main.append(table(
          ['Probe', 'Question', 'Answer'],
          doc.probes.map(
              probe =>
                  [probe.status === 'complete' ? probe.name : `${probe.name} (${probe.status})`,
                   probe.question, probe.answer]),
          `Probes of ${doc.label}`));
    }
    const keys = [...new Set(chosen.flatMap(i => Object.keys(docs[i].machine)))];
    main.append(
        el('h3', {}, 'Machines'),
        table(
            ['', ...chosen.map(i => docs[i].label)],
            keys.map(k => [k, ...chosen.map(i => docs[i].machine[k] ?? '–')]), 'Machines'));
  }
});

// A counter that must equal its model is not rounded.
const exact = (value, unit) => Number.isInteger(value) && unit !== 'B' ?
    `${value.toLocaleString('en')} ${unit}` :
    figure(value, unit);
function measuredBy(e) {
  if (!e.mode || e.mode === 'not timed') return 'not timed';
  return `${e.samples} samples of ${e.launches ?? 1} launch${e.launches ? 'es' : ''}, ${e.mode}, by ${
             e.timer ?? 'an unknown timer'}` +
      (e.rest ? `, rested ${digits(e.rest)} times as long before each` : '') +
      (e.stop ? `; ended by: ${e.stop}` : '');
}
// Everything that is known of one entry; each figure of the page leads here.
views.push({
  id: 'entry',
  title: null,
  draw(main) {
    const i = Number(state.get('doc', '0')), e = docs[i]?.byName.get(state.get('name'));
    main.append(h2('Entry'));
    if (!e) return main.append(p('No document of this page has such an entry.'));
    const unit = e.metric[1], rows = [
      ['Document', docs[i].label], ['Probe', e.probe], [e.metric[0], `${figure(e.value, unit)}`],
      ['Better', e.metric[2]],
      [
        'Interval',
        e.interval ? `${range(e.interval, unit)} at ` +
                `${digits(e.interval[2] * 100)} %` :
                     'none'
      ],
      ['Verdict', `${e.status ?? 'ok'} ${(e.reasons ?? []).join(' ')}`],
      ...(e.unchecked ? [['Not checked', e.unchecked.join(' ')]] : []),
      ['Bound', e.bound ? `${figure(e.bound[0], unit)}: ${e.bound[1]}` : 'none'],
      [
        'Expected',
        e.expected ?
            `${figure(e.expected[0], unit)} ± ${digits(e.expected[1] * 100)} %: ` + e.expected[2] :
            'none'
      ],
      ['Measured by', measuredBy(e)], ['SM clock', figure(e.clock, 'Hz')],
      ['Power', e.power == null ? '–' : `${digits(e.power)} W`],
      ['Throttled by', (e.throttle ?? []).join(', ') || 'nothing'],
      ...Object.entries(e.axes).map(([k, v]) => [k, axisText(k, v)]),
      ...Object.entries(e.notes ?? {}),
      ...(e.opponents ?? [])
          .map(
              o =>
                  [`against ${o.name}`,
                   `${figure(o.value, unit)}, ratio ${digits(o.ratio ?? NaN)} ` +
                       `(${range(o.interval, '')})`]),
      ...Object.entries(e.extras ?? {}).map(([k, v]) => [k, digits(v)])
    ];
    main.append(p(el('code', {}, e.name)), table(['What', 'Value'], rows, 'The entry'));
    if (e.counters)
      main.append(
          el('h3', {}, 'Counters'),
          table(
              ['Counter', 'Value', 'Model', 'Metric'],
              e.counters.map(
                  ([n, v, x]) =>
                      [docs[i].counters[n][0],
                       typeof v === 'number' ? exact(v, docs[i].counters[n][2]) : `none: ${v}`,
                       x == null ? '' : exact(x, docs[i].counters[n][2]), docs[i].counters[n][1]]),
              'Counters'));
  }
});
