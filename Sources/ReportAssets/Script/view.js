const view = {
  query: '', layers: new Set(), directions: new Set(), range: null, selected: null,
  /** Layers that stand open; null: the highest one, and GATT. */
  open: null,
  /** The packets that are shown. */
  shown: packets,
};

function matches(packet, terms) {
  if (view.layers.size > 0 && !packet.layers.some((layer) => view.layers.has(layer.name))) return false;
  if (view.directions.size > 0 && !view.directions.has(DIRECTIONS[packet.direction])) return false;
  if (view.range) {
    if (packet.time === null || packet.time < view.range.from || packet.time > view.range.to) return false;
  }
  return terms.every((term) => searchable(packet).includes(term));
}

/** Words have to be there each; what stands in quotes, as it stands. */
function termsOf(query) {
  return Array.from(query.toLowerCase().matchAll(/"([^"]+)"?|\S+/g), ([word, quoted]) => quoted ?? word);
}

function applyFilters() {
  const terms = termsOf(view.query);
  const isAll = terms.length + view.layers.size + view.directions.size === 0 && !view.range;
  view.shown = isAll ? packets : packets.filter((packet) => matches(packet, terms));
}

/** `1.5` as microseconds; null for anything that is no number. */
function microseconds(text) {
  const number = text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(number) ? Math.round(number * 1e6) : null;
}

function readFragment() {
  const words = new URLSearchParams(location.hash.slice(1));
  const list = (key, known) => new Set((words.get(key) ?? '').split(',').filter((word) => known.includes(word)));
  view.query = words.get('q') ?? '';
  view.layers = list('layer', LAYERS);
  view.directions = list('direction', DIRECTIONS);
  const from = microseconds(words.get('from') ?? '');
  const to = microseconds(words.get('to') ?? '');
  view.range = whole && (from !== null || to !== null) ? {from: from ?? whole.from, to: to ?? whole.to} : null;
  view.selected = byNumber.get(Number(words.get('packet'))) ?? null;
  view.open = words.has('open') ? list('open', LAYERS) : null;
}

function fragment() {
  const words = new URLSearchParams();
  if (view.query) words.set('q', view.query);
  if (view.layers.size > 0) words.set('layer', [...view.layers].join());
  if (view.directions.size > 0) words.set('direction', [...view.directions].join());
  if (view.range) {
    words.set('from', seconds(view.range.from));
    words.set('to', seconds(view.range.to));
  }
  if (view.selected) words.set('packet', view.selected.number);
  if (view.open) words.set('open', [...view.open].join());
  return words.toString().replaceAll('%2C', ',');
}

let fragmentTimer = 0;

/** Browsers count how often an address changes: it follows when the view has come to rest. */
function writeFragment() {
  clearTimeout(fragmentTimer);
  fragmentTimer = setTimeout(() => history.replaceState(null, '', `#${fragment()}`), 300);
}
