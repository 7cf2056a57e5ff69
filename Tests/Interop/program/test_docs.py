"""The pages in docs/ show what the program prints, and name files and types that are there."""

import re
import subprocess
import textwrap

import docs_blocks
import pytest
from docs_blocks import BLOCK, PAGES
from program import ROOT

pytestmark = pytest.mark.verdict

TEXTS = {path.name: path.read_text() for path in PAGES}
CHAPTERS = [name for name in TEXTS if name[0].isdigit()]
FILE = re.compile(r"`((?:Sources|Tests|captures|docs|scripts|Examples)/[^`\s]*)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
# A name, and behind it the file that has it: `ATTBearer` (`Sources/ATT/ATTBearer.swift`), or in a table's next column.
NAME_IN_FILE = re.compile(r"`(\w+)`(?: \(| in | \| )`(Sources/[^`\s]*\.swift)`")
DECLARATION = r"\b(?:class|struct|enum|actor|protocol|func|extension|typealias|let|var|case)\s+{}\b"
PYTHON_TEST = re.compile(r"`(test_\w+)`")
BYTES = re.compile(r"`([0-9a-f]{2}(?: [0-9a-f]{2})+)`")


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if BLOCK.search(text)])
def test_the_blocks_are_what_the_program_prints(halo, name):
    assert TEXTS[name] == docs_blocks.rewritten(TEXTS[name], halo.path), "scripts/docs rewrites it"


def test_every_chapter_shows_something():
    assert CHAPTERS and all(BLOCK.search(TEXTS[name]) for name in CHAPTERS)


@pytest.mark.parametrize("name", TEXTS)
def test_the_files_it_names_are_there(name):
    text = TEXTS[name]
    missing = [path for path in FILE.findall(text) if not (ROOT / path).exists()]
    missing += [path for path in LINK.findall(text) if not (ROOT / "docs" / path).exists()]
    assert not missing


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_types_are_in_the_files_it_names(name):
    pairs = NAME_IN_FILE.findall(TEXTS[name])
    assert pairs
    assert not [
        (word, path) for word, path in pairs
        if not re.search(DECLARATION.format(word), (ROOT / path).read_text())]


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_bytes_it_speaks_of_are_shown(name):
    shown = "\n".join(BLOCK.findall(TEXTS[name]))
    assert not [
        each for each in BYTES.findall(BLOCK.sub("", TEXTS[name]))
        if each not in shown and each.replace(" ", "") not in shown]


def test_the_programs_that_are_shown_are_those_that_are_built():
    """A part that is shown alone is in a test, with what it needs around it; a manifest is in test_door.py."""
    folders = [ROOT / each for each in ("Examples", "Tests/HaloRawTests", "Tests/HaloPacketsTests", "Tests/Programs", "Sources/HCI/Commands")]
    built = [path.read_text() for folder in folders for path in folder.rglob("*.swift")]
    articles = sorted(ROOT.glob("Sources/*/*.docc/*.md"))
    assert articles
    pages = TEXTS["library.md"] + TEXTS["replay.md"] + "".join(path.read_text() for path in articles)
    shown = re.findall(r"^```swift\n(.*?)^```", pages, re.DOTALL | re.MULTILINE)
    assert len(shown) >= 9
    for block in [each for each in shown if "import PackageDescription" not in each]:
        forms = [textwrap.indent(block, " " * depth) for depth in (0, 2, 4)]
        assert any(form in text for form in forms for text in built), block


def test_the_table_of_contents_has_every_page():
    assert set(TEXTS) - {"README.md"} <= set(LINK.findall(TEXTS["README.md"]))


@pytest.mark.parametrize("name", TEXTS)
def test_the_swift_tests_it_names_are_there(name):
    missing = [
        f"{suite}.{test}" for suite, test in re.findall(r"`(\w+Tests)\.(\w+)`", TEXTS[name])
        if not any(f"func {test}(" in path.read_text() for path in ROOT.glob(f"Tests/*/**/{suite}.swift"))]
    assert not missing


def test_the_python_tests_they_name_are_there():
    files = [path.read_text() for path in (ROOT / "Tests").rglob("test_*.py")]
    declared = set(re.findall(r"^def (test_\w+)", "\n".join(files), re.MULTILINE))
    for name, text in TEXTS.items():
        assert set(PYTHON_TEST.findall(text)) <= declared, name


def test_the_page_on_hostile_peers_names_every_test_of_its_suites():
    page = TEXTS["hostile-peers.md"]
    tests = [
        f"{path.stem}.{test}" for path in ROOT.glob("Tests/HostilePeerTests/*Tests.swift")
        for test in re.findall(r"@Test(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s+func (\w+)\(", path.read_text())]
    assert len(tests) > 90
    assert not [test for test in tests if f"`{test}`" not in page]


def test_there_is_one_version(halo):
    (version,) = re.findall(r"^halo-raw (\S+)$", halo.run("--version").succeeded().out, re.MULTILINE)
    assert re.search(r"^## (\S+) - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version
    assert f'\nversion = "{version}"\n' in (ROOT / "python/pyproject.toml").read_text()
    for name in ("README.md", "docs/performance.md", "docs/raspberry-pi.md", "scripts/package-check"):
        assert set(re.findall(r"halo-raw_([^_]+)_a\w+64\.deb", (ROOT / name).read_text())) == {version}, name


def test_the_changelog_and_the_tags_agree():
    """What is not released has no tag, and says so."""
    text = (ROOT / "CHANGELOG.md").read_text()
    (version,) = re.findall(r"^## (\S+)", text, re.MULTILINE)[:1]
    tags = subprocess.run(["git", "tag", "--list", f"v{version}"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    said = f"Not released yet: there is no tag v{version}." in text
    assert said or tags, "CHANGELOG.md says that it is released"
    assert not (said and tags), "CHANGELOG.md says that it is not released"
    assert not said or "There is no release yet" in (ROOT / "README.md").read_text()
