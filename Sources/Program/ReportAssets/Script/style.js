/** What the script reads from the style sheet: a color or a size has one place. */

const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

/** The colors that were read, for pictures that are drawn many times a second. */
const colors = new Map();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => colors.clear());

/** A color of the style sheet, of day or night. */
export function color(name) {
  if (!colors.has(name)) colors.set(name, read(name).trim());
  return colors.get(name);
}

/** A size of the style sheet in pixels, or a plain number. */
export const size = (name) => Number(read(name).replace('px', ''));
