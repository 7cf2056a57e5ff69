/** What the script reads from the style sheet: a color or a size has one place. */

const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

/** A color of the style sheet, of day or night. */
export const color = (name) => read(name).trim();

/** A size of the style sheet in pixels, or a plain number. */
export const size = (name) => Number(read(name).replace('px', ''));
