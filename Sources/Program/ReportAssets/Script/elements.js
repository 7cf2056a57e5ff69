/** The elements of the page. */

export const element = (id) => document.getElementById(id);

/** Makes an element from its name, attributes and children: elements, or strings, which stay text. */
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
