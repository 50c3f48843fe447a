// Draws what the URL says, and again when it changes.
const offered = views.filter(v => v.id === 'explain' ? data.explained.length : docs.length);
function navigation(current) {
  const nav = document.getElementById('views');
  nav.replaceChildren(...offered.filter(v => v.title)
                          .map(
                              v =>
                                  el('a', {
                                    href: state.link({view: v.id}),
                                    'aria-current': v.id === current ? 'page' : null
                                  },
                                     v.title)));
}
function documentChoice() {
  const box = document.getElementById('documents'), chosen = shownDocs();
  box.hidden = !docs.length;
  box.replaceChildren(
      el('legend', {}, 'Documents'),
      ...docs.map(
          (doc, i) =>
              el('label', {}, el('input', {
                   type: 'checkbox',
                   value: i,
                   checked: chosen.includes(i),
                   onchange: e => {
                     const next = docs.map((d, k) => k)
                                      .filter(k => k === i ? e.target.checked : chosen.includes(k));
                     state.set('docs', next.length === docs.length ? '' : next.join(',') || 'none');
                     box.querySelector(`[value="${i}"]`)?.focus();
                   }
                 }),
                 ' ', doc.label)));
}
function show() {
  const view = offered.find(v => v.id === state.get('view', 'overview')) ?? offered[0];
  const main = document.getElementById('main'), focused = document.activeElement?.dataset?.key;
  drawn.forEach(each => each.finalize());
  drawn = [];
  document.documentElement.dataset.theme = theme();
  const button = document.getElementById('theme');
  button.textContent = theme() === 'dark' ? 'Light' : 'Dark';
  button.setAttribute('aria-label', `${button.textContent} theme`);
  document.title = `${view.title ?? 'Entry'} – Fathom`;
  navigation(view.id);
  documentChoice();
  main.replaceChildren();
  if (view.id !== 'explain' && !shownDocs().length)
    return main.append(p('Choose a document above.'));
  if (docs.some(d => d.source === 'replay'))
    main.append(
        p(el('b', {}, 'REPLAY: a document repeats a recording; nothing in it was measured here.')));
  view.draw(main);
  if (focused) main.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}
document.getElementById('theme').addEventListener(
    'click', () => state.set('theme', theme() === 'dark' ? 'light' : 'dark'));
document.getElementById('skip').addEventListener('click', event => {
  event.preventDefault();
  document.getElementById('main').focus();
});
addEventListener('hashchange', () => {
  show();
  scrollTo(0, 0);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
let wide = innerWidth < 700;
addEventListener('resize', () => {
  if ((innerWidth < 700) !== wide) {
    wide = innerWidth < 700;
    show();
  }
});
show();
