const counted = (number, name) => `${number.toLocaleString('en')} ${name}${number === 1 ? '' : 's'}`;

function select(packet) {
  view.selected = packet;
  list.reveal(packet);
  list.draw();
  detail.draw();
  timeline.draw();
  writeFragment();
}

/** Shows what the filters let through. */
function filter() {
  applyFilters();
  showControls();
  list.measure();
  list.box.scrollTop = 0;
  if (view.selected) list.reveal(view.selected);
  list.draw();
  timeline.draw();
  writeFragment();
}

function makeSwitches(box, names, labels, chosen) {
  for (const name of names) {
    const dot = make('span', {class: 'dot', 'aria-hidden': 'true'});
    dot.style.background = `var(--${name})`;
    const button = make('button', {type: 'button', 'data-name': name, 'aria-pressed': 'false'},
      ...(LABELS[name] ? [dot] : []), labels[name]);
    button.addEventListener('click', () => {
      if (!chosen().delete(name)) chosen().add(name);
      filter();
    });
    box.append(button);
  }
}

function showControls() {
  for (const [id, chosen] of [['layers', view.layers], ['directions', view.directions]]) {
    for (const button of element(id).querySelectorAll('button')) {
      button.setAttribute('aria-pressed', chosen.has(button.dataset.name));
    }
  }
  if (element('query').value !== view.query) element('query').value = view.query;
  if (whole) {
    const {from, to} = view.range ?? whole;
    element('from').value = seconds(from);
    element('to').value = seconds(to);
  }
  element('reset').disabled = view.shown === packets;
  element('count').textContent = view.shown === packets
    ? counted(packets.length, 'packet')
    : `${view.shown.length.toLocaleString('en')} of ${counted(packets.length, 'packet')}`;
}

function showHead() {
  const title = capture.name.split('/').pop() || capture.name;
  document.title = `${title} – halo-raw`;
  element('name').textContent = title;
  const words = [counted(packets.length, 'packet')];
  if (whole) words.push(`${seconds(whole.to - whole.from, 3)} s`);
  const date = dateAt(0);
  if (date) words.push(`from ${date.slice(0, 19)} UTC`);
  element('about').textContent = words.join(' · ');
  element('remark').textContent = capture.remark;
  element('remark').hidden = capture.remark === '';
  timeline.canvas.setAttribute('aria-label', whole
    ? `Time line of ${counted(packets.length, 'packet')} in ${seconds(whole.to - whole.from, 3)} seconds. `
      + 'Drag or use plus and minus to zoom, arrows to move, Home to see all.' : 'No packet has a time.');
  element('strip').hidden = element('range').hidden = !whole;
}

function reset() {
  view.query = '';
  view.layers = new Set();
  view.directions = new Set();
  view.range = null;
  filter();
}

function listen() {
  let timer = 0;
  element('query').addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => { view.query = element('query').value; filter(); }, 120);
  });
  element('query').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === 'ArrowDown') {
      event.preventDefault();
      if (!view.shown.includes(view.selected)) list.move(0);
      list.box.focus();
    }
  });
  element('controls').addEventListener('submit', (event) => event.preventDefault());
  for (const id of ['from', 'to']) {
    element(id).addEventListener('change', () => {
      const [from, to] = ['from', 'to'].map((name) => microseconds(element(name).value));
      if (from !== null && to !== null && from <= to) timeline.show(from, to);
      else showControls();
    });
  }
  element('reset').addEventListener('click', reset);
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      element('query').select();
    } else if (event.key === 'Escape') {
      if (isTyping) list.box.focus();
      else reset();
    }
  });
  addEventListener('hashchange', () => { readFragment(); showAll(); });
}

function showAll() {
  filter();
  detail.draw();
}

const lanes = new Set(packets.flatMap((packet) => packet.layers.map((layer) => layer.name)));
makeSwitches(element('layers'), LAYERS.filter((name) => lanes.has(name)), LABELS, () => view.layers);
makeSwitches(element('directions'), ['sent', 'received'], {sent: '→ Sent', received: '← Received'},
  () => view.directions);
showHead();
timeline.listen();
list.listen();
detail.listen();
listen();
readFragment();
showAll();
list.box.focus();
