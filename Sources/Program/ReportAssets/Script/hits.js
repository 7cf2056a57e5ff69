/** Where a search has found its terms. */

/**
 * The parts of a text that contain a term, as pairs of first and end; they neither overlap nor touch.
 *
 * - terms: in lower case
 */
export function hitsIn(text, terms) {
  const lower = text.toLowerCase();
  // A letter that becomes two in lower case would shift what follows it.
  if (lower.length !== text.length) return [];
  const found = [];
  for (const term of terms) {
    for (let first = lower.indexOf(term); first >= 0; first = lower.indexOf(term, first + term.length)) {
      found.push([first, first + term.length]);
    }
  }
  const merged = [];
  for (const [first, end] of found.toSorted((one, other) => one[0] - other[0])) {
    const last = merged.at(-1);
    if (last && first <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([first, end]);
  }
  return merged;
}

/** The indexes of the bytes that a term names: `1b 12`, in hex digits. */
export function hitBytes(digits, terms) {
  const indexes = new Set();
  for (const term of terms) {
    if (!/^[0-9a-f]{2}( ?[0-9a-f]{2})*$/u.test(term)) continue;
    const wanted = term.replaceAll(' ', '');
    for (let place = digits.indexOf(wanted); place >= 0; place = digits.indexOf(wanted, place + 1)) {
      if (place % 2 === 1) continue;
      for (let index = 0; index < wanted.length / 2; index += 1) indexes.add(place / 2 + index);
    }
  }
  return indexes;
}

/** A text as children of an element: strings, and a `mark` for each hit. */
export function marked(text, terms) {
  const children = [];
  let place = 0;
  for (const [first, end] of terms.length > 0 ? hitsIn(text, terms) : []) {
    const mark = document.createElement('mark');
    mark.textContent = text.slice(first, end);
    children.push(text.slice(place, first), mark);
    place = end;
  }
  return [...children, text.slice(place)];
}
