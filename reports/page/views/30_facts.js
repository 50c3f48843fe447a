// Facts and headline entries as one table: a row a quantity, a column a document.
function download(name, text) {
  const link =
      el('a', {href: URL.createObjectURL(new Blob([text], {type: 'text/csv'})), download: name});
  link.click();
  URL.revokeObjectURL(link.href);
}
// A cell that a spreadsheet would take for a formula gets an apostrophe.
const csvCell = v =>
    `"${String(v ?? '').replace(/^([=+@\t]|-(?![\d.]))/, '\'$1').replaceAll('"', '""')}"`;

views.push({
  id: 'facts',
  title: 'Facts',
  draw(main) {
    main.append(h2('Facts'));
    const chosen = shownDocs().filter(i => docs[i].facts.length), rows = new Map();
    for (const i of chosen)
      for (const f of docs[i].facts) {
        const row = rows.get(f.id) ?? {
          id: f.id,
          subject: f.subject,
          quantity: f.quantity,
          unit: f.unit,
          method: f.method,
          probe: f.probe,
          published: f.published,
          by: {}
        };
        row.by[i] = f;
        rows.set(f.id, row);
      }
    if (!rows.size) return main.append(nothing('facts; the suite "atlas" concludes them'));
    const isNoisy = f => (f.evidence ?? []).some(n => docs[f.doc].byName.get(n)?.status);
    for (const i of chosen)
      docs[i].facts.forEach(f => {
        f.doc = i;
      });
    const search = el('input', {
      type: 'search',
      value: state.get('q'),
      'data-key': 'q',
      oninput: () => {
        state.set('q', search.value, true);
        fill();
      }
    });
    const quiet = el('input', {
      type: 'checkbox',
      checked: state.get('quiet') === '1',
      onchange: () => {
        state.set('quiet', quiet.checked ? '1' : '', true);
        fill();
      }
    });
    const count = el('span', {class: 'soft', role: 'status'});
    const copy =
        el('button', {
          type: 'button',
          onclick: async () => {
            const text = csv();
            try {
              await navigator.clipboard.writeText(text);
              count.textContent = 'Copied.';
            } catch {
              download('facts.csv', text);
              count.textContent = 'Saved as facts.csv.';
            }
          }
        },
           'Copy as CSV');
    main.append(controls(
        el('label', {}, 'Search', search), el('label', {}, quiet, 'Hide noisy'), copy, count));
    const body = el('tbody'),
          heads = ['Part', 'Quantity', ...chosen.map(i => docs[i].label), 'Published', 'Method'];
    const sortBy = () => Number(state.get('sort', '-1')), down = () => state.get('down') === '1';
    const sorters = heads.map(
        (name, n) =>
            el('th', {scope: 'col'},
               el('button', {
                 type: 'button',
                 onclick: () => {
                   state.set('down', sortBy() === n && !down() ? '1' : '', true);
                   state.set('sort', n, true);
                   fill();
                 }
               },
                  name)));
    const key = (row, n) => n === 0 ? row.subject :
        n === 1                     ? row.quantity :
        n < 2 + chosen.length       ? row.by[chosen[n - 2]]?.value :
        n === 2 + chosen.length     ? row.published?.[0] :
                                      row.method;
    function found() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const out = [...rows.values()].filter(row => {
        const text = `${row.id} ${row.subject} ${row.quantity} ${row.method ?? ''} ${row.probe}`
                         .toLowerCase();
        return words.every(w => text.includes(w)) &&
            !(quiet.checked && Object.values(row.by).some(isNoisy));
      });
      const n = sortBy(), sign = down() ? -1 : 1;
      if (n >= 0)
        out.sort((a, b) => {
          const x = key(a, n), y = key(b, n);
          if (x == null || y == null) return (x == null) - (y == null);
          return sign * (typeof x === 'number' ? x - y : String(x).localeCompare(String(y)));
        });
      return out;
    }
    function csv() {
      const head = [
        'id', 'part', 'quantity', 'unit',
        ...chosen.flatMap(i => [docs[i].label, 'low', 'high', 'noisy'])
      ];
      return [
        head,
        ...found().map(
            r => [r.id, r.subject, r.quantity, r.unit, ...chosen.flatMap(i => {
              const f = r.by[i];
              return f ? [f.value, f.interval?.[0], f.interval?.[1], isNoisy(f) ? 'noisy' : ''] :
                         ['', '', '', ''];
            })])
      ].map(r => r.map(csvCell).join(','))
                 .join('\n') +
          '\n';
    }
    const figureCell = f => {
      if (!f) return soft('–');
      if (f.value == null) return soft(f.reason);
      const entry = docs[f.doc].byName.get(f.evidence?.[0]), text = figure(f.value, f.unit);
      const node =
          el('span', {title: range(f.interval, f.unit)}, entry ? entryLink(entry, text) : text);
      const [low, high] = f.interval ?? [], wide = Math.max(high - f.value, f.value - low);
      if (f.interval && f.value)
        node.append(soft(` ± ${(100 * wide / Math.abs(f.value)).toFixed(1)} %`));
      if (f.bound) {
        const share = f.better === 'higher' ? f.value / f.bound[0] : f.bound[0] / f.value;
        node.append(
            el('span', {class: 'soft', title: f.bound[1]},
               `, ${(100 * share).toFixed(1)} % of its bound`));
      }
      if (isNoisy(f)) node.append(' ', el('span', {class: 'noisy'}, 'noisy'));
      return node;
    };
    function fill() {
      const list = found();
      count.textContent = `${list.length} of ${rows.size} facts`;
      sorters.forEach(
          (th, n) => n === sortBy() ?
              th.setAttribute('aria-sort', down() ? 'descending' : 'ascending') :
              th.removeAttribute('aria-sort'));
      body.replaceChildren(...list.map(
          r => el('tr', {}, [
            r.subject, r.quantity, ...chosen.map(i => figureCell(r.by[i])),
            r.published ? `${figure(r.published[0], r.unit)} (${r.published[1]})` : '', r.method
          ].map((content, n) => cell(heads[n], content)))));
    }
    main.append(
        el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Facts'},
           el('table', {class: 'wide'}, el('thead', {}, el('tr', {}, sorters)), body)));
    fill();
  }
});

views.push({
  id: 'claims',
  title: 'Claims',
  draw(main) {
    main.append(h2('Claims'));
    const list = shownDocs().flatMap(i => docs[i].claims.map(c => ({...c, doc: i})));
    if (!list.length) return main.append(nothing('claims'));
    main.append(controls(choice(
        'Verdict', 'verdict',
        [
          ['', 'all'],
          ...[...new Set(list.map(c => c.verdict))].map(v => [v, v.replaceAll('_', ' ')])
        ],
        '')));
    main.append(p(data.same_speed));
    const wanted = state.get('verdict'), kind = {confirmed: 'good', refuted: 'bad'};
    const gpus = [...new Set(list.map(c => docs[c.doc].machine.Name))], byId = new Map();
    list.forEach(c => byId.set(c.id, (byId.get(c.id) ?? []).concat(c)));
    const here = (c, many) =>
        [many ? soft(`${docs[c.doc].label}: `) : null,
         el('span', {class: kind[c.verdict] ?? 'soft'}, c.verdict.replaceAll('_', ' ')),
         c.figure ? `: ${c.figure}` : '', ...(c.evidence ?? []).slice(0, 3).flatMap((n, k) => {
           const e = docs[c.doc].byName.get(n);
           return e ? [k ? ', ' : ' · entries ', withMark(e, `${k + 1}`)] : [];
         })];
    main.append(table(
        ['Claim', 'Statement', 'Stated', ...gpus],
        [...byId.values()]
            .filter(same => !wanted || same.some(c => c.verdict === wanted))
            .map(
                same =>
                    [same[0].id, same[0].statement,
                     [
                       same[0].claimed,
                       el('div', {class: 'soft'},
                          [same[0].author, same[0].gpu && `on ${same[0].gpu}`].filter(Boolean).join(
                              ', '))
                     ],
                     ...gpus.map(gpu => {
                       const of = same.filter(c => docs[c.doc].machine.Name === gpu);
                       return of.flatMap(c => [...here(c, of.length > 1), ' ']);
                     })]),
        'Claims'));
  }
});
