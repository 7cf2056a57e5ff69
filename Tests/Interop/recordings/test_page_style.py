"""The style sheets of the HTML report and of the live page: valid, without leftovers, legible by day and by night."""

import re

import browser as browsers
import live_peer
import pytest
import tinycss2
from program import ROOT

ASSETS = ROOT / "Sources/Program/ReportAssets"


class Page:
    """A page: its style sheets, in the order in which it has them, and all that can make elements, classes and ids, or can use
    a custom property."""

    def __init__(self, sheets, users):
        self.names = [path.stem for path in live_peer.parts(sheets, "css")]
        self.sheet = "".join((ASSETS / f"Style/{name}.css").read_text() for name in self.names)
        self.users = "\n".join(path.read_text() for path in users)
        self.rules = list(rules(tinycss2.parse_stylesheet(self.sheet, skip_comments=True, skip_whitespace=True)))


NOT_COLORS = {"--row", "--gutter", "--sixteen-bytes", "--pages"}
LAYERS = {"ll", "hci", "l2cap", "signaling", "smp", "sdp", "rfcomm", "avdtp", "avctp", "att", "gatt", "ring", "note"}


def rules(nodes, media=""):
    """(media query, selector, declarations) of each rule, also of those in `@media`."""
    for node in nodes:
        assert node.type != "error", f"line {node.source_line}: {node.message}"
        if node.type == "at-rule":
            assert node.lower_at_keyword == "media", f"line {node.source_line}: @{node.at_keyword}"
            inner = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
            yield from rules(inner, tinycss2.serialize(node.prelude).strip())
        else:
            content = tinycss2.parse_declaration_list(node.content, skip_comments=True, skip_whitespace=True)
            yield media, tinycss2.serialize(node.prelude).strip(), content


REPORT = Page("sheets", [ASSETS / "body.html", *live_peer.parts("modules", "js")])
LIVE = Page("liveSheets", [ASSETS / "live.html", *live_peer.parts("liveModules", "js")])
each_page = pytest.mark.parametrize("page", [REPORT, LIVE], ids=["report", "live"])


def colors(media):
    """The custom properties of `:root`, by name."""
    return {
        item.name: tinycss2.serialize(item.value).strip()
        for query, selector, content in REPORT.rules if (query, selector) == (media, ":root")
        for item in content if item.name.startswith("--")}


DAY, NIGHT = colors(""), colors("(prefers-color-scheme: dark)")


browser = browsers.fixture()


@each_page
def test_declarations_are_well_formed_and_not_repeated(page):
    for media, selector, content in page.rules:
        names = []
        for item in content:
            assert item.type == "declaration", f"{selector}: line {item.source_line}: {item.message}"
            names.append(item.name)
        assert len(names) == len(set(names)), f"{selector}: {names}"


@each_page
def test_selectors_are_not_repeated(page):
    selectors = [(media, selector) for media, selector, _ in page.rules]
    assert len(selectors) == len(set(selectors))


@each_page
def test_the_browser_knows_every_declaration_and_selector(browser, page):
    declarations = sorted({
        (item.name, tinycss2.serialize(item.value).strip())
        for _, _, content in page.rules for item in content if not item.name.startswith("--")})
    supports = "(([name, value]) => CSS.supports(name, value))"
    assert browser.run(f"{supports}(['colour', 'red'])") is False
    assert browser.run(f"{[list(pair) for pair in declarations]}.filter((pair) => !{supports}(pair))") == []
    selectors = sorted({selector for _, selector, _ in page.rules})
    assert browser.run(f"{selectors}.filter((text) => !text.split(',').every("
                       "(part) => CSS.supports(`selector(${part})`)))") == []


def properties_in(page):
    """The custom properties that a page uses; the script reads the colors of layers and others by name, and sizes."""
    used = set(re.findall(r"var\((--[\w-]+)\)", page.sheet + page.users))
    return used | {f"--{name}" for name in set(re.findall(r"\b(?:color|size)\('([\w-]+)'\)", page.users))}


def test_custom_properties_are_defined_and_used():
    # The columns of the list are properties of their own element.
    used = properties_in(REPORT) | {f"--{name}" for name in LAYERS}
    assert used - {"--columns", "--link"} == DAY.keys()
    assert properties_in(LIVE) <= DAY.keys()


@each_page
def test_every_class_and_id_exists(page):
    for _, selector, _ in page.rules:
        for kind, name in re.findall(r"([.#])([a-zA-Z][\w-]*)", selector):
            name = re.sub(r"^(depth)\d$", r"\1", name)
            pattern = rf"\bid(=|: ){{1}}['\"]{name}['\"]" if kind == "#" else rf"['\"` ]{name}\b"
            assert re.search(pattern, page.users), f"{selector}: nothing is called {name}"


def test_every_sheet_is_in_a_page():
    # Two are of other pages: see test_report.py and test_days.py.
    assert {path.stem for path in (ASSETS / "Style").glob("*.css")} == {*REPORT.names, *LIVE.names, "session", "days"}


def test_night_has_every_color():
    assert NIGHT.keys() == DAY.keys() - NOT_COLORS


def luminance(color):
    """Relative luminance as WCAG 2.2 defines it."""
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear))


@pytest.mark.parametrize("scheme", [DAY, NIGHT], ids=["day", "night"])
@pytest.mark.parametrize("text, ground, least", [
    ("text", "ground", 7), ("text", "panel", 7), ("text", "selected", 7), ("text", "hover", 7), ("text", "hot", 4.5),
    ("accent", "ground", 4.5), ("accent", "selected", 4.5), ("accent", "panel", 4.5),
    ("warning", "ground", 4.5), ("warning", "warning-ground", 4.5), ("error", "error-ground", 4.5),
    ("error", "ground", 4.5), ("text", "error-ground", 7), ("text", "warning-ground", 7), ("text", "hit", 7),
    *[(name, ground, 4.5) for name in ["quiet", *sorted(LAYERS)]
      for ground in ("panel", "ground", "hover", "selected", "error-ground", "warning-ground")]])
def test_text_has_contrast(scheme, text, ground, least):
    """WCAG 2.2: 4.5 to 1 for text, 7 to 1 for the text that is read most."""
    bright, dark = sorted((luminance(scheme[f"--{name}"]) for name in (text, ground)), reverse=True)
    assert (bright + 0.05) / (dark + 0.05) >= least
