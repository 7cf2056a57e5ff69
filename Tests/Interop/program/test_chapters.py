"""The chapters of docs/ use words that the glossary explains, and answer what beginners ask.

The questions, and who asked them:
- notifications that are missing though the link stays: capacitor-community/bluetooth-le 424,
  dotintent/react-native-ble-plx 802, don/cordova-plugin-ble-central 515;
- no notifications after a reconnection: h2zero/esp-nimble-cpp 318, WebBluetoothCG/web-bluetooth 220,
  Rightpoint/RZBluetooth 42; bonded peers: embassy-rs/trouble 341, sandeepmistry/arduino-BLEPeripheral 279;
- an MTU of 517 for values of 512 bytes: chipweinberger/flutter_blue_plus 893 and 1068,
  nordicsemi/Kotlin-BLE-Library 170, bluekitchen/btstack 227;
- connection parameters that a central refuses, or takes another value for: bluez/bluez 847, espressif/esp-idf 2529;
- a value that needs pairing: hbldh/bleak 504, Mic92/hue-ble-ctl 1; what a sniffer cannot read: virtualabs/btlejack 75
  and 84, nccgroup/Sniffle 73, mikeryan/crackle 31, 38 and 53;
- the log of a phone: eigger/hass-omron's guide, jwoglom/PumpX2.
"""

import re
import subprocess

import docs_blocks
import pytest
from program import ROOT

pytestmark = pytest.mark.verdict

DOCS = ROOT / "docs"
CHAPTERS = {path.name: path.read_text() for path in sorted(DOCS.glob("[01][0-9]-*.md"))}
GLOSSARY = (DOCS / "glossary.md").read_text()
# A term of the glossary and what it says of it.
ENTRIES = {
    term: text for term, text in re.findall(r"^### (.+)\n\n((?:(?!^#).*\n?)+)", GLOSSARY, re.MULTILINE)}
# Two capitals at least, and no small letter but that of a plural: L2CAP, PDUs.
ABBREVIATION = re.compile(r"(?<![\w:-])(?=(?:[A-Z0-9]*[A-Z]){2})[A-Z][A-Z0-9]*(?=s?(?![\w]))")
CODE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)|^ {4}.*$", re.MULTILINE)
# Parts of addresses and bytes are in hexadecimal digits.
HEXADECIMAL = re.compile(r"[0-9A-F]{2}|[0-9A-F]{4}|[0-9A-F]{8}|[0-9A-F]{12}")
FILTER = re.compile(r"`([^`\n]+)`\s+selects\s+(\d+)\s+packets?\s+of\s+`(captures/[^`\n]+)`")
# What the SIG calls its test cases that the page on hostile peers names (GAP.TS and GATT.TS, tables of contents).
TEST_CASES = {
    "GAP/CONN/CPUP/BV-04-C": "Connection Parameter Update, valid parameters, Central Responder",
    "GAP/CONN/CPUP/BV-05-C": "Connection Parameter Update, invalid parameters, Central Responder",
    "GATT/CL/GAC/BV-01-C": "Exchange MTU",
    "GATT/CL/GAR/BI-03-C": "Read Characteristic Value, Insufficient Authorization",
    "GATT/CL/GAR/BI-04-C": "Read Characteristic Value, Insufficient Authentication",
    "GATT/CL/GAR/BI-05-C": "Read Characteristic Value, Insufficient Encryption Key Size",
    "GATT/CL/GAW/BI-32-C": "Cancel Reliable Write Characteristic",
    "GATT/CL/GAI/BV-01-C": "Characteristic Value Indication",
    "GATT/CL/GAS/BV-01-C": "Service Changed Indication",
}


def flat(text: str) -> str:
    """A text with each line break as a space."""
    return " ".join(text.split())


def anchor(term: str) -> str:
    """The fragment of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", term.lower()).replace(" ", "-")


ANCHORS = {anchor(term): term for term in ENTRIES}


def abbreviations(text: str) -> set[str]:
    prose = CODE.sub(" ", docs_blocks.FENCED.sub("", text))
    shown = "\n".join(docs_blocks.BLOCK.findall(text))
    shown = {each for each in ABBREVIATION.findall(shown) if not HEXADECIMAL.fullmatch(each)}
    return set(ABBREVIATION.findall(prose)) | shown


def test_an_abbreviation_is_found():
    text = "The MTU, two PDUs, L2CAP and BR/EDR; `ATT` is code, [a link](SMP.md), Sample and R02_BEEF are none.\n"
    shown = "```console\n$ halo-raw inspect\n30:35:BE:EF LE 1M, GATT CAFE\n```\n"
    assert abbreviations(text + shown) == {"MTU", "PDU", "L2CAP", "BR", "EDR", "LE", "GATT"}


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_glossary_has_every_abbreviation(name):
    terms = {word for term in ENTRIES for word in re.findall(r"\w+", term)}
    found = abbreviations(CHAPTERS[name])
    assert found and found <= terms, sorted(found - terms)


def test_the_glossary_is_in_order_and_names_a_source_and_a_page_for_each_term():
    terms = list(ENTRIES)
    assert len(terms) > 60
    assert terms == sorted(terms, key=str.casefold)
    for term, text in ENTRIES.items():
        assert re.search(r"^Vol \d, Part [A-H], \d|^CSS, Part|^Not in the specification;", text, re.MULTILINE), term
        pages = re.findall(r"\]\(([01]\d-[\w-]+\.md)\)", text)
        assert pages, term
        # The chapter has the term.
        for page in pages:
            assert term.casefold() in flat(CHAPTERS[page]).casefold(), (term, page)


@pytest.mark.parametrize("name", [*CHAPTERS, "hostile-peers.md", "replay.md"])
def test_its_links_to_the_glossary_lead_to_a_term(name):
    links = re.findall(r"\]\(glossary\.md#([^)]*)\)", (DOCS / name).read_text())
    assert not [link for link in links if link not in ANCHORS]
    assert name not in CHAPTERS or links


@pytest.mark.long
@pytest.mark.parametrize("name", CHAPTERS)
def test_the_display_filter_selects_what_the_page_says(name):
    filters = FILTER.findall(CHAPTERS[name])
    assert "## In Wireshark" in CHAPTERS[name] and filters
    for display, count, capture in filters:
        result = subprocess.run(
            ["tshark", "-r", ROOT / capture, "-Y", display, "-T", "fields", "-e", "frame.number"],
            capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, result.stderr
        assert len(result.stdout.split()) == int(count), display


def test_the_edition_is_stated_once():
    edition = re.compile(r"Core Specification (\d\.\d)")
    stated = {
        path.name: edition.findall(flat(path.read_text()))
        for path in [*DOCS.glob("[01][0-9]-*.md"), DOCS / "README.md", DOCS / "glossary.md", DOCS / "hostile-peers.md"]}
    assert {name: found for name, found in stated.items() if found} == {"README.md": ["6.2"]}


def test_the_test_cases_of_the_sig_are_about_what_the_page_says():
    """Ranges are written out, so that each name is found."""
    page = (DOCS / "hostile-peers.md").read_text()
    assert set(re.findall(r"G\w+/\w+/\w+/(?:\w+/)?B[VI]-\d+-C", page)) <= set(TEST_CASES)
    assert " to BV-" not in page and " to BI-" not in page


@pytest.mark.parametrize("name, answer", [
    # Only the link layer delivers all; a host that has no room drops a notification (Vol 3, Part F, 3.3.2).
    ("04-att.md", r"unreliable \(3\.3\.2\)"),
    ("05-gatt.md", r"0 again at each connection, unless the two devices are bonded"),
    ("05-gatt.md", r"bit field"),
    ("05-gatt.md", r"Nordic UART Service"),
    ("04-att.md", r"512 bytes of a value and the 5 bytes before it in a Prepare Write Request"),
    ("03-connections-and-l2cap.md", r"It may refuse, and phones do"),
    ("03-connections-and-l2cap.md", r"\*More Data\*"),
    ("02-advertising-and-scanning.md", r"default of LE Set Resolvable Private Address Timeout"),
    ("08-the-kernel.md", r"bound to 0xFFFF"),
    ("08-the-kernel.md", r"Close Index"),
    ("11-security.md", r"Anybody near a ring can read it"),
    ("11-security.md", r"Without a key, the error is Insufficient Authentication"),
    ("11-security.md", r"cannot compute it \(2\.3\.5\.6\.1\)"),
    ("11-security.md", r"heard the \*pairing\* has the key as well"),
    ("11-security.md", r"A recording of HCI has the keys in it"),
    ("11-security.md", r"the kernel's \(\[chapter 8\]"),
    ("replay.md", r"Bluetooth HCI snoop log"),
    ("replay.md", r"FS/data/misc/bluetooth/logs"),
    ("replay.md", r"sysdiagnose"),
])
def test_the_page_answers_the_question(name, answer):
    assert re.search(answer, flat((DOCS / name).read_text()))
