"""The pictures of docs/: each is what the recordings show now, can be read on a light page and a dark one, and no text is cut
or leaves its box."""

import re
import xml.etree.ElementTree as ElementTree

import browser as chromium
import pictures
import pytest
import svg

browser = chromium.fixture()

# The texts that overlap another one or the edge of the picture.
CROWDED = """
(() => {
  const picture = document.documentElement.getBoundingClientRect(), found = [];
  const boxes = [...document.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  for (const [index, [text, box]] of boxes.entries()) {
    if (box.left < 0 || box.top < 0 || box.right > picture.width || box.bottom > picture.height) found.push(text);
    for (const [other, its] of boxes.slice(index + 1)) {
      const width = Math.min(box.right, its.right) - Math.max(box.left, its.left);
      const height = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
      if (width > 1 && height > 3) found.push(text + ' | ' + other);
    }
  }
  return found;
})()
"""
# The texts that begin in a box and end outside it.
OVERFLOWING = """
(() => {
  const boxes = [...document.querySelectorAll('rect:not(.paper)')].map(box => box.getBoundingClientRect());
  return [...document.querySelectorAll('text')].filter(text => {
    const its = text.getBoundingClientRect(), middle = (its.top + its.bottom) / 2;
    const around = boxes.filter(box =>
      box.left <= its.left && its.left < box.right && box.top < middle && middle < box.bottom);
    return around.length && Math.min(...around.map(box => box.right)) < its.right;
  }).map(text => text.textContent);
})()
"""


@pytest.mark.verdict
@pytest.mark.parametrize("name", pictures.DRAWN)
def test_it_is_what_the_recordings_show(name):
    assert (pictures.FOLDER / f"{name}.svg").read_text() == pictures.DRAWN[name]().svg(), "run scripts/pictures"


@pytest.mark.parametrize("name", pictures.DRAWN)
def test_no_text_is_cut_or_covered(name, browser):
    browser.open(pictures.FOLDER / f"{name}.svg")
    assert browser.run(CROWDED) == []
    assert browser.run(OVERFLOWING) == []


@pytest.mark.parametrize("name", pictures.DRAWN)
def test_it_has_a_title_and_a_page_that_shows_it(name):
    root = ElementTree.fromstring((pictures.FOLDER / f"{name}.svg").read_text())
    assert len(root.find("{http://www.w3.org/2000/svg}title").text) > 20
    pages = [page for page in (pictures.ROOT / "docs").glob("*.md") if f"](pictures/{name}.svg)" in page.read_text()]
    assert pages, "no page shows it"
    assert all(re.search(rf"!\[[^\]]{{20,}}\]\(pictures/{name}\.svg\)", page.read_text()) for page in pages)


def luminance(colour: str) -> float:
    """WCAG 2.1, relative luminance."""
    parts = [int(colour[index:index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_texts_can_be_read_on_both_pages():
    """A contrast of 4.5 at least, as WCAG 2.1 asks for in 1.4.3."""
    for page in (0, 1):
        paper = [svg.PAPER[page], *(pages[page][0] for pages in svg.COLOURS.values())]
        for ink in (svg.INK[page], svg.DIM[page]):
            for ground in paper:
                light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{ink} on {ground}"
