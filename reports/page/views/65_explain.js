// Why a kernel is slow: what `fathom explain` says, beside the lines of its source.
const units = ['sectors', 'wavefronts'];
const whole = (value, unit = '') =>
    typeof value === 'number' ? exact(value, unit).trim() : `${value}`;
const lessBy = (saved, of) => `−${(100 * saved / of).toFixed(1)} %`;
const savedBy = faults => faults.reduce((sum, fault) => sum + fault.saved, 0);
// What accesses cost together: for each unit [unit, cost, least, saved by fixes].
function costOf(accesses) {
  const rows = {};
  const add = (unit, ...figures) => {
    rows[unit] = [unit, ...figures.map((v, i) => v + (rows[unit]?.[i + 1] ?? 0))];
  };
  for (const a of accesses) {
    const unit = units.find(u => a[u] != null);
    const idle = savedBy(a.faults.filter(f => f.rule === 'partial warp'));
    if (a[unit]) add(unit, a[unit], a[`least_${unit}`], savedBy(a.faults) - idle);
    if (idle) add('accesses', a.accesses, a.accesses - idle, idle);
  }
  return Object.values(rows);
}
// What a line opens to.
function accessDetails(access) {
  const unit = units.find(u => access[u] != null), most = 5, {faults} = access;
  const out = faults.slice(0, most).map(({rule, what, fix, saved}) => {
    const of = rule === 'partial warp' ? 'accesses' : unit;
    const saving = `${rule === 'scatter' ? 'at most ' : ''}${whole(saved)} fewer of ` +
        `${whole(access[of], of)} (${lessBy(saved, access[of])})`;
    return el(
        'ul', {}, el('li', {}, el('b', {class: 'bad'}, rule), `: ${what}`),
        el('li', {}, 'fix: ', fix.split('`').map((t, i) => i % 2 ? el('code', {}, t) : t),
           saved ? `: ${saving}` : ''));
  });
  if (access.accesses)
    out.unshift(
        p(`${access.space} ${access.operation} of ${access.bytes_per_lane} B: ` +
          `${whole(access.accesses)} by ${(access.active_lanes / access.accesses).toFixed(1)} ` +
          `lanes; ${whole(access[unit], unit)}, at least ${whole(access[`least_${unit}`])}`));
  if (faults.length > most) out.push(p(`and ${faults.length - most} more kinds of such faults`));
  return out;
}
function sourceLine(place, text, accesses, open) {
  const cells = [el('span', {class: 'place'}, place), el('code', {}, text)];
  if (!accesses) return el('div', {class: 'line'}, cells);
  const costs = costOf(accesses).map(
      ([unit, cost, least, saved]) =>
          el('span', {class: saved || cost > least ? 'bad' : 'soft'},
             `${whole(cost, unit)}, least ${whole(least)}`,
             saved ? [' ', el('b', {}, lessBy(saved, cost))] : []));
  const details = accesses.flatMap(accessDetails), waits = accesses.find(a => a.reasons);
  if (waits) {
    const reasons = Object.entries(waits.reasons).sort((a, b) => b[1] - a[1]);
    costs.push(el('span', {}, `${(100 * waits.share).toFixed(1)} % of waiting`));
    details.push(
        p(`${whole(waits.samples, 'samples')} of a warp that waits: `,
          reasons.map(([name, n]) => `${name.replaceAll('_', ' ')} ${whole(n)}`).join(', ')));
  }
  return el(
      'details', {class: 'line', open},
      el('summary', {}, cells, el('span', {class: 'costs'}, costs)), details);
}
// A file's lines; those far from any access are made once they are asked for.
function sourceLines(text, byLine, worst) {
  const around = 6, lines = text.split('\n'), near = lines.map(() => false), rows = [];
  for (const at of byLine.keys()) near.fill(true, Math.max(0, at - 1 - around), at + around);
  const row = i => sourceLine(i + 1, lines[i], byLine.get(i + 1), byLine.get(i + 1) === worst);
  for (let i = 0, end; i < lines.length; i = end) {
    end = near.indexOf(!near[i], i);
    if (end < 0) end = lines.length;
    const part = [...lines.keys()].slice(i, end);
    const open = e => e.target.children.length > 1 || e.target.append(...part.map(row));
    if (near[i])
      rows.push(...part.map(row));
    else
      rows.push(el('details', {ontoggle: open}, el('summary', {}, `Lines ${i + 1} to ${end}`)));
  }
  // The file was another one when the program was built.
  const beyond = [...byLine.keys()].filter(at => at > lines.length);
  return [...rows, ...beyond.map(at => sourceLine(at, '', byLine.get(at)))];
}
function drawSource(main, answer, kernel) {
  const files = new Map();
  const waits = kernel.measured?.waits.filter(w => w.share >= 0.01) ?? [];
  for (const access of [...kernel.lines, ...waits.map(w => ({...w, faults: []}))]) {
    const file = access.line == null ? '' : access.file;
    if (!files.has(file)) files.set(file, new Map());
    const lines = files.get(file), at = access.line ?? access.offset;
    lines.set(at, [...lines.get(at) ?? [], access]);
  }
  const saved = accesses => savedBy(accesses.flatMap(a => a.faults));
  const all = [...files.values()].flatMap(lines => [...lines.values()]);
  const worst = all.reduce((a, b) => saved(b) > saved(a) ? b : a);
  const place = at => `+0x${at.toString(16).padStart(4, '0')}`;
  for (const [file, lines] of files) {
    const text = answer.sources.find(s => s.file === file)?.text;
    const sorted = [...lines].sort(([a], [b]) => a - b);
    main.append(
        el('h3', {}, file || 'Without line information'),
        text != null ? '' :
                       p(soft(
                           file ? 'Its text is not in the answer.' :
                                  'Compile with -lineinfo; here are offsets in the machine code.')),
        el('div', {class: 'source'},
           text != null ? sourceLines(text, lines, worst) :
                          sorted.map(
                              ([at, accesses]) => sourceLine(
                                  file ? at : place(at), '', accesses, accesses === worst))));
  }
}
function measuredTable({launches, seconds, counters, recorded, bandwidths}) {
  const rows = [[`time of ${whole(launches, 'launches')}`, figure(seconds, 's'), '']];
  for (const {level, bytes_per_second: rate, bound} of bandwidths.filter(b => b.bytes_per_second))
    rows.push([
      level, figure(rate, 'B/s'),
      bound > 0 ? `${figure(bound, 'B/s')} at most (${(100 * rate / bound).toFixed(1)} %)` : ''
    ]);
  for (const [role, value] of Object.entries(counters))
    if (role !== 'gpu_time' && (value || recorded[role]))
      rows.push([
        role.replaceAll('_', ' '), whole(value, role.endsWith('bytes') ? 'B' : ''),
        recorded[role] == null ? '' : `${whole(recorded[role])} recorded`
      ]);
  return table(['Measured', 'Value', 'To compare'], rows, 'Measured');
}
function kernelName({name, lines}) {
  const [unit, cost, , saved] = costOf(lines).sort((a, b) => b[3] - a[3])[0] ?? [];
  const short = name.length > 90 ? name.slice(0, 90) + '…' : name;
  return `${saved ? `${lessBy(saved, cost)} ${unit}` : 'nothing to save'}: ${short}`;
}
views.push({
  id: 'explain',
  title: 'Explain',
  draw(main) {
    const answers = data.explained, answer = answers[Number(state.get('why'))] ?? answers[0];
    const {kernels} = answer, kernel = kernels[Number(state.get('kernel'))] ?? kernels[0];
    const named = a => `${a.command} (${a.origin})`;
    main.append(
        h2('Why a kernel is slow'),
        p(`${answer.command} ran ${figure(answer.seconds, 's')} and ended with ${answer.end}.`),
        ...answer.notes.map(note => p(note)));
    if (answers.length > 1)
      main.append(
          controls(choice('Program', 'why', answers.map((a, i) => [`${i}`, named(a)]), '0')));
    if (!kernel) return main.append(p('No kernel was recorded.'));
    main.append(
        controls(choice('Kernel', 'kernel', kernels.map((k, i) => [`${i}`, kernelName(k)]), '0')),
        p(el('code', {}, kernel.name)),
        p(`${whole(kernel.recorded_launches)} of ${whole(kernel.launches, 'launches')}, ` +
          `${whole(kernel.recorded_blocks)} of their ${whole(kernel.blocks, 'blocks')} of ` +
          `${whole(kernel.threads_per_block, 'threads')}; ${whole(kernel.kept_accesses)} of ` +
          `${whole(kernel.accesses, 'accesses')} by warps.`));
    if (!kernel.lines.length)
      return main.append(p('It accessed no memory in the blocks recorded.'));
    const rows = costOf(kernel.lines)
                     .map(
                         ([unit, cost, least, saved]) =>
                             [unit, whole(cost), whole(least),
                              saved ? `${whole(saved)} (${lessBy(saved, cost)})` : 'nothing']);
    main.append(table(['Unit', 'Cost', 'Least', 'Saved by the fixes'], rows, 'The kernel'));
    if (kernel.measured?.launches) main.append(measuredTable(kernel.measured));
    drawSource(main, answer, kernel);
  }
});
