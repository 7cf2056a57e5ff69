"""`decode --html`: the report in a browser, used as its reader does."""

import csv
import random
import re
import struct

import browser as browsers
import pytest
from program import BAD_DATA, NO_FILE, ROOT, USAGE

CAPTURES = ROOT / "captures"
STREAM = CAPTURES / "virtual-stream.btsnoop"
SHOWN = "view.shown.length"


class ReportBrowser(browsers.Browser):
    """A browser in which the names of `report`, the page's one global, can be used directly."""

    def open(self, *arguments):
        super().open(*arguments)
        self.run("void Object.assign(globalThis, report)")


browser = browsers.fixture(kind=ReportBrowser)


@pytest.fixture
def page(halo, browser, tmp_path):
    """Opens the page of a capture; afterwards, it must have loaded nothing and complained of nothing."""
    opened = []

    def open_page(capture, fragment="", *options):
        path = tmp_path / f"page{len(opened)}.html"
        if not path.exists():
            halo.run("decode", capture, "--html", path, *options).succeeded()
        browser.open(path, fragment)
        opened.append(path)
        return browser

    yield open_page
    assert opened
    assert [url.split("#")[0] for url in browser.requests] == [f"file://{opened[-1]}"]
    assert browser.messages == []


def btsnoop(path, records, datalink=1002, copies=1, span=0):
    """Writes records of (flags, microseconds, bytes), all of them so many times over."""
    with open(path, "wb") as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, datalink))
        for copy in range(copies):
            for flags, time, data in records:
                stamp = 0x00DCDDB30F2F8000 + time + copy * span
                file.write(struct.pack(">IIIIQ", len(data), len(data), flags, 0, stamp) + data)
    return path


def advertised(name, address=bytes(range(6))):
    """An event with an advertising report."""
    data = bytes([len(name) + 1, 9]) + name
    report = bytes([2, 1, 0, 0]) + address + bytes([len(data)]) + data + b"\xc5"
    return bytes([0x3E, len(report)]) + report


def records_of(path):
    data, place = path.read_bytes(), 16
    while place < len(data):
        length, _, flags, _, time = struct.unpack_from(">IIIIQ", data, place)
        yield flags, time - 0x00DCDDB30F2F8000, data[place + 24 : place + 24 + length]
        place += 24 + length


def hot(browser):
    """The bytes that are highlighted, and the fields."""
    return "".join(browser.texts(".byte.hot")), browser.texts("tr.hot td:first-child")


# --- what it shows


def told_by(browser):
    """What the page knows, as `decode -v` prints it."""
    told = browser.run("""
      packets.map((packet) => ({
        number: packet.number, time: packet.time, arrow: ARROWS[packet.direction], summary: summaryOf(packet),
        bytes: packet.bytes, adapter: packet.adapter, link: packet.keys.link, peer: packet.peer, name: packet.peerName,
        layers: packet.layers.map((layer) => [layer.name, layer.summary, layer.fields.map((field, index) =>
          [field.depth, field.name, bytesOf(packet, layer).slice(2 * field.first, 2 * field.end),
           valueOf(packet, layer, index), field.reference])]),
      }))""")
    lines = []
    for packet in told:
        top = next((name for name, _, _ in reversed(packet["layers"]) if name != "gatt"), "note")
        arrow = {"→": "->", "←": "<-", "·": "--"}[packet["arrow"]]
        place = [] if packet["adapter"] is None else [f"hci{packet['adapter']}"]
        if packet["link"]:
            place += [f"0x{packet['link'][0][0]:04x}"] + [text for text in (packet["peer"], packet["name"]) if text]
        suffix = f"  [{' '.join(place)}]" if place and top != "note" else ""
        lines.append(
            f"{packet['number']:7}  {packet['time'] / 1e6:14.6f}  {arrow}  {top:10}{packet['summary']}{suffix}")
        if top == "note":
            pairs = re.findall("..", packet["bytes"])
            lines += ["    " + " ".join(pairs[start : start + 16]) for start in range(0, len(pairs), 16)]
        for name, summary, fields in packet["layers"]:
            lines.append(f"  {name}  {summary}")
            for depth, label, digits, value, reference in fields:
                pairs = re.findall("..", digits)
                shown = " ".join(pairs[:7]) + " .." if len(pairs) > 8 else " ".join(pairs)
                if value.endswith("bytes, not shown)"):
                    assert not digits.strip("0")
                    shown = ".."
                columns = "    " + "  " * depth + label
                left = f"{columns:34} {shown}"
                lines.append(f"{f'{left:60} {value}':100}  {reference}")
        lines.append("")
    return lines


@pytest.mark.parametrize(
    "capture", sorted(CAPTURES.rglob("*.btsnoop")),
    ids=lambda path: str(path.relative_to(CAPTURES).with_suffix("")))
def test_page_has_what_decode_prints(halo, page, capture):
    """Every packet, layer, field, byte and reference of `decode -v`: packing has lost nothing."""
    browser = page(capture)
    assert told_by(browser) == halo.run("decode", capture, "-v").succeeded().out.splitlines()


@pytest.mark.verdict
def test_rows(page):
    browser = page(STREAM, "q=ppg")
    first = browser.texts(".row")[0]
    assert "Ring" in first and "ppg" in first.lower()
    assert browser.run("document.title").startswith("virtual-stream.btsnoop")
    assert browser.run("document.getElementById('remark').hidden")


@pytest.mark.verdict
def test_a_packet_unfolds_layer_by_layer(page):
    browser = page(STREAM)
    number = browser.run("packets.find((packet) => packet.lane === 'ring').number")
    browser.run(f"location.hash = 'packet={number}'")
    browser.wait_for("document.querySelectorAll('details').length === 5")
    assert browser.run("Array.from(document.querySelectorAll('details'), (e) => e.dataset.layer)") == [
        "hci", "l2cap", "att", "gatt", "ring"]
    opened = "Array.from(document.querySelectorAll('details[open]'), (e) => e.dataset.layer)"
    assert browser.run(opened) == ["gatt", "ring"]
    browser.click("details[data-layer=hci] summary")
    browser.wait_for(f"({opened}).join() === 'hci,gatt,ring'")
    # The next packet stands open in the same way, and the address tells it.
    browser.run("list.move(1)")
    assert browser.run(opened)[0] == "hci"
    browser.wait_for("/open=[a-z,]*hci/.test(location.hash)")
    assert not browser.run("view.open.has('l2cap')")


def test_field_and_bytes_point_at_each_other(page):
    browser = page(STREAM, "q=notification&open=hci,l2cap,att,gatt,ring")
    browser.run("select(view.shown.find((packet) => packet.lane === 'ring'))")
    rows = browser.texts("details tr td:first-child")
    handle = rows.index("handle")
    browser.point("details tr", handle)
    digits, fields = hot(browser)
    # Behind H4, ACL and L2CAP headers and the opcode.
    whole = browser.run("view.selected.bytes")
    assert (digits, fields) == (whole[20:24], ["handle"])
    # The other way: the byte of the opcode.
    browser.point(".byte", 9)
    assert hot(browser) == ("1b", ["opcode"])
    browser.point("h1")
    assert hot(browser) == ("", [])


def test_byte_of_a_folded_layer_points_at_the_layer(page):
    browser = page(STREAM, "packet=2&open=")
    assert browser.texts("details[open]") == []
    browser.point(".byte", 1)
    assert browser.run("document.querySelector('summary.hot') !== null")
    browser.click(".byte", 1)
    browser.wait_for("document.activeElement.matches('details[open] tr.hot')")
    assert hot(browser) == ("030c", ["opcode"])


def test_frame_in_fragments_has_bytes_of_its_own(page, tmp_path):
    value = bytes(range(40))
    frame = struct.pack("<HH", 3 + len(value), 4) + b"\x1b\x12\x00" + value
    pieces = [frame[:20], frame[20:]]
    records = [
        (1, index * 1000, struct.pack("<BHH", 2, 0x40 | (0x1000 if index else 0x2000), len(piece)) + piece)
        for index, piece in enumerate(pieces)]
    browser = page(btsnoop(tmp_path / "pieces.btsnoop", records), "packet=2&open=att")
    assert browser.run("view.selected.frame") == frame.hex()
    assert len(browser.texts(".bytes")) == 2
    browser.point("details[data-layer=att] tr", 2)
    assert hot(browser) == (value.hex(), ["value"])


def test_long_frame_is_shown_bit_by_bit(page, tmp_path):
    entries = b"".join(struct.pack("<HH", number + 1, 0x2803) for number in range(1000))
    frame = struct.pack("<HH", 2 + len(entries), 4) + b"\x05\x01" + entries
    pieces = [frame[start : start + 250] for start in range(0, len(frame), 250)]
    records = [
        (1, index, struct.pack("<BHH", 2, 0x40 | (0x1000 if index else 0x2000), len(piece)) + piece)
        for index, piece in enumerate(pieces)]
    browser = page(btsnoop(tmp_path / "long.btsnoop", records), f"packet={len(pieces)}")
    fields = "document.querySelectorAll('details[data-layer=att] tr').length"
    assert browser.run(fields) == 1000
    assert len(browser.texts(".byte")) == 1024 + len(pieces[-1]) + 5
    browser.click("details .more")
    assert browser.run(fields) == 2 + 3 * 1000
    browser.click("#dump .more")
    assert len(browser.texts(".byte")) == len(frame) + len(pieces[-1]) + 5


# --- how one finds something


@pytest.mark.verdict
def test_search_and_filters(page):
    browser = page(STREAM)
    everything = browser.run(SHOWN)
    browser.press("/", "/")
    browser.type("notification 0x")
    browser.wait_for(f"{SHOWN} < {everything}")
    assert browser.run(
        "packets.every((p) => view.shown.includes(p) === /notification[^]*0x|0x[^]*notification/i.test("
        "p.layers.map((l) => l.summary + l.fields.map((f, i) => f.name + l.values[i])).join()))")
    found = browser.run(SHOWN)
    assert browser.texts("#count") == [f"{found} of {everything} packets"]
    browser.press("Escape")
    browser.press("Escape")
    browser.wait_for(f"{SHOWN} === {everything}")
    browser.click("#layers [data-name=att]")
    browser.click("#directions [data-name=sent]")
    expected = browser.run(
        "packets.filter((p) => p.direction === 1 && p.layers.some((l) => l.name === 'att')).map((p) => p.number)")
    assert 0 < len(expected) < everything
    assert browser.run("view.shown.map((packet) => packet.number)") == expected
    assert browser.run("document.querySelector('#layers [data-name=att]').ariaPressed") == "true"
    browser.wait_for("location.hash === '#layer=att&direction=sent&packet=1'")
    browser.click("#reset")
    assert browser.run(SHOWN) == everything


def test_nothing_found(page):
    browser = page(STREAM, "q=nothing-is-called-so")
    assert browser.run(SHOWN) == 0
    assert browser.texts(".row") == []
    browser.press("ArrowDown")
    browser.press("Enter")


def test_time_line_selects_a_range(page):
    browser = page(STREAM)
    box = browser.run("(({x, y, width, height}) => [x, y, width, height])(timeline.canvas.getBoundingClientRect())")
    gutter = browser.run("timeline.gutter")
    left, right = (box[0] + gutter + (box[2] - gutter) * part for part in (0.25, 0.5))
    browser.mouse("mousePressed", left, box[1] + 10)
    browser.mouse("mouseMoved", right, box[1] + 10)
    browser.mouse("mouseReleased", right, box[1] + 10)
    end = browser.run("whole.to")
    span = browser.wait_for("view.range")
    assert span["from"] == pytest.approx(end / 4, abs=end / 500)
    assert span["to"] == pytest.approx(end / 2, abs=end / 500)
    inside = browser.run("view.shown.every((p) => p.time >= view.range.from && p.time <= view.range.to)")
    assert inside and 0 < browser.run(SHOWN) < browser.run("packets.length")
    # By keyboard: closer, and back to the whole.
    browser.run("timeline.canvas.focus()")
    browser.press("+", "+")
    assert browser.run("view.range.to - view.range.from") == pytest.approx((span["to"] - span["from"]) / 2, abs=2)
    browser.press("Home")
    assert browser.run("view.range") is None


def test_time_line_has_a_mark_where_packets_are(page):
    browser = page(STREAM)
    drawn = browser.run("""
      (() => {
        const {canvas} = timeline;
        const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const colors = new Set();
        for (let at = 0; at < image.data.length; at += 4) {
          if (image.data[at + 3] === 255) colors.add(Array.from(image.data.slice(at, at + 3)).join());
        }
        return [...colors];
      })()""")
    # --ring and --att, by day.
    assert {"168,52,143", "36,115,62"} <= set(drawn)


def test_keyboard_alone(page):
    browser = page(STREAM)
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        browser.press(key)
    # The first packet is selected from the start.
    assert browser.run("view.selected.number") == 3
    assert browser.run("document.getElementById('list').getAttribute('aria-activedescendant')") == "row-3"
    browser.press("ArrowUp")
    browser.press("Enter")
    assert browser.run("document.activeElement.localName") == "tr"
    browser.press("ArrowDown")
    assert hot(browser) == ("030c", ["opcode"])
    browser.press("Escape")
    assert browser.run("document.activeElement.id") == "list"
    browser.press("End")
    last = browser.run("packets.at(-1).number")
    assert browser.run("view.selected.number") == last
    assert any(row.startswith(str(last)) for row in browser.texts(".row"))


def test_everything_has_a_name(page):
    """As a screen reader is told: no control without a name."""
    browser = page(STREAM, "packet=1")
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    kinds = {"button", "searchbox", "textbox", "grid", "table", "img", "image", "canvas", "region", "group"}
    named = {}
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in kinds and not node.get("ignored"):
            named.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    assert {"button", "searchbox", "textbox", "grid"} <= named.keys()
    for role in kinds - {"group"}:
        assert all(named.get(role, [])), (role, named)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_day_and_night(page, scheme):
    browser = page(STREAM)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    colors = browser.run(
        "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))")
    browser.call("Emulation.setEmulatedMedia", features=[])
    text, ground = (sum(map(int, re.findall(r"\d+", color)[:3])) for color in colors)
    assert (text < 150 and ground > 600) if scheme == "light" else (text > 600 and ground < 150)


def test_first_packet_is_shown_at_once(page):
    browser = page(STREAM)
    assert browser.texts("#detail h2") == [browser.run("summaryOf(packets[0])")]
    assert browser.run("view.selected.number") == 1
    # With a filter in the address, it is the first of those that are shown.
    browser = page(STREAM, "layer=ring")
    assert browser.run("view.selected === view.shown[0] && view.selected.lane === 'ring'")


def cells(browser, number):
    """The texts of a row, by column."""
    browser.run(f"select(packets.find((packet) => packet.number === {number}))")
    return browser.run(f"""Object.fromEntries(Array.from(document.getElementById('row-{number}').children,
        (cell) => [cell.className, cell.textContent]))""")


def test_columns(halo, page):
    browser = page(STREAM)
    assert browser.texts("#headings [role=columnheader]") == [
        "No.", "Time", "Delta", "↔", "Link", "Peer", "Layer", "Summary"]
    notification = browser.run("packets.find((packet) => packet.lane === 'ring' && packet.direction === 2)")
    number = notification["number"]
    row = cells(browser, number)
    assert (row["number"], row["link"], row["peer"], row["layer"]) == (str(number), "0x0040", "R02_BEEF", "Ring")
    before = browser.run(f"packets.find((packet) => packet.number === {number - 1}).time")
    assert row["delta"] == f"{(notification['time'] - before) / 1e6:.6f}"
    assert browser.run(f"document.querySelector('#row-{number} .peer').title") == "30:35:38:41:BE:EF"
    assert "link 0x0040 · peer R02_BEEF (30:35:38:41:BE:EF)" in browser.texts("#detail p")
    # The difference is to the row above: of a handle's packets, to the one before.
    browser.run("view.filter = 'handle=0x0012'; filter()")
    shown = browser.run("view.shown.map((packet) => [packet.number, packet.time])")
    (_, earlier), (second, time) = shown[:2]
    assert cells(browser, second)["delta"] == f"{(time - earlier) / 1e6:.6f}"
    # A capture of advertisements has no links: the summary has their room.
    browser = page(CAPTURES / "virtual-scan.btsnoop")
    assert browser.run("document.querySelector('#headings .link').offsetWidth") == 0
    assert browser.run("document.querySelector('#headings .peer').offsetWidth") == 0


def test_links_of_several_adapters(page, tmp_path):
    """The same connection handle on two adapters: the row says which."""
    data = struct.pack("<HHHH", 0x2040, 7, 3, 4) + b"\x0a\x03\x00"
    # Linux monitor: the adapter in the upper half, ACL data sent in the lower.
    records = [(adapter << 16 | 4, 1000 * adapter, data) for adapter in (0, 1)]
    browser = page(btsnoop(tmp_path / "two.btsnoop", records, datalink=2001))
    assert browser.texts(".row .link") == ["hci0 0x0040", "hci1 0x0040"]
    assert browser.run("(({scrollWidth: text, clientWidth: room}) => text <= room)(document.querySelector('.row .link'))")


def test_summary_that_is_cut_has_its_full_text_at_hand(page):
    browser = page(STREAM)
    cut = browser.run("""Array.from(document.querySelectorAll('.row .summary')).filter((cell) =>
        cell.scrollWidth > cell.clientWidth).map((cell) => [cell.title, cell.textContent])""")
    assert cut and all(title == text for title, text in cut)
    browser.run("select(packets.toSorted((a, b) => summaryOf(b).length - summaryOf(a).length)[0])")
    assert browser.texts("#detail h2") == [browser.run("summaryOf(view.selected)")]


FILTERS = [
    "handle=0x0012", "handle=0x0010..0x0013", "link=64", "opcode=0x1b|0x52", "opcode=0x1b,time=1.5..2.5", "event=0x0e",
    "event=0x3e subevent=1|10", "packet=..20", "packet=100..", "time=1..", "address=30:35:38:41:BE:EF",
    "opcode=0x0c03|0x2042", "handle=0x0003|0x0012 opcode=..0x0b", "handle=0xffff", "peer=R02", "peer=30:35:38"]


@pytest.mark.parametrize("name", ["virtual-stream", "bumble-inspect", "virtual-parameters", "virtual-retry"])
def test_field_filters_are_those_of_decode(halo, page, name):
    browser = page(CAPTURES / f"{name}.btsnoop")
    somewhere = 0
    for text in FILTERS:
        lines = halo.run("decode", CAPTURES / f"{name}.btsnoop", "--filter", text).succeeded().out.splitlines()
        expected = [int(line.split()[0]) for line in lines]
        browser.run(f"view.filter = {text!r}; filter()")
        found = browser.run("view.shown.map((packet) => packet.number)")
        assert found == expected, text
        somewhere += bool(expected)
    assert somewhere >= 8


def test_filter_field(page):
    browser = page(STREAM)
    everything = browser.run(SHOWN)
    browser.click("#filter")
    browser.type("handle=0x0012,opcode=27")
    browser.wait_for(f"{SHOWN} < {everything}")
    assert browser.run("view.shown.every(({keys}) => keys.handle[0][0] === 18 && keys.opcode[0][0] === 27)")
    found = browser.run(SHOWN)
    browser.wait_for("new URLSearchParams(location.hash.slice(1)).get('filter') === 'handle=0x0012,opcode=27'")
    # A mistake is shown and changes nothing.
    browser.type(" handel=1")
    browser.wait_for("document.getElementById('filter').ariaInvalid === 'true'")
    assert "handel" in browser.texts("#mistake")[0] and "handle" in browser.texts("#mistake")[0]
    assert browser.run(SHOWN) == found
    browser.click("#reset")
    assert browser.texts("#mistake") == [""]
    assert browser.run(SHOWN) == everything and browser.run("document.getElementById('filter').value") == ""


def test_hits_are_marked(page):
    browser = page(STREAM, "q=ppg")
    marks = browser.run("Array.from(document.querySelectorAll('.row'), (row) => row.querySelectorAll('mark').length)")
    assert marks and min(marks) >= 1
    assert {text.lower() for text in browser.texts("mark:not(.hits)")} == {"ppg"}
    # In the fields, and on a layer that is folded: how many there are.
    browser = page(STREAM, "q=%220x0012%22&open=")
    assert browser.texts("details[data-layer=att] summary .hits") == ["2 hits"]
    assert "0x0012" in browser.texts("details[data-layer=att] td mark")
    # In the bytes.
    browser = page(STREAM, 'q=%221b 12 00%22')
    assert browser.texts(".byte.hit") == ["1b", "12", "00"]
    browser.click("#reset")
    assert browser.texts("mark, .byte.hit") == []


def test_next_and_previous_of_a_handle(halo, page):
    browser = page(STREAM)
    lines = halo.run("decode", STREAM, "--filter", "handle=0x0012").succeeded().out.splitlines()
    everything = [int(line.split()[0]) for line in lines]
    # Without the responses of discoveries, which are about several handles.
    numbers = [int(line.split()[0]) for line in lines if line.split()[3] == "ring"]
    browser.run(f"select(packets.find((packet) => packet.number === {numbers[0]}))")
    # The previous one is the response that has discovered it.
    assert not browser.run("document.querySelector('.steps button').disabled")
    next_button = "#detail [aria-label='Next packet of this handle']"
    browser.click(next_button)
    assert browser.run("view.selected.number") == numbers[1]
    # The focus stays on the button, to press it again.
    assert browser.run(f"document.activeElement.matches({next_button!r})")
    browser.press("n", "n")
    browser.press("n", "n")
    assert browser.run("view.selected.number") == numbers[3]
    browser.press("p", "p")
    assert browser.run("view.selected.number") == numbers[2]
    # From a field, the focus stays in the pane: the arrow keys do not scroll another part.
    browser.run("document.querySelector('#detail summary').focus()")
    browser.press("n", "n")
    assert browser.run("view.selected.number") == numbers[3] and browser.run("document.activeElement.id") == "detail"
    browser.press("p", "p")
    # Only among those that are shown.
    browser.run(f"view.filter = 'packet={numbers[2]}|{numbers[7]}'; filter()")
    browser.press("n", "n")
    assert browser.run("view.selected.number") == numbers[7]
    browser.press("n", "n")
    assert browser.run("view.selected.number") == numbers[7]
    # All of them; letters in a field are text.
    browser.run("document.querySelector('#reset').click()")
    browser.click(".steps button:last-child")
    assert browser.run("view.shown.map((packet) => packet.number)") == everything
    browser.click("#query")
    browser.press("p", "p")
    assert browser.run("view.selected.number") == numbers[7]


def acl(data, direction, channel=4):
    """A fragment with a whole PDU on link 0x0040: of ATT, if the channel is not another."""
    frame = struct.pack("<HH", len(data), channel) + data
    return direction, b"\x02" + struct.pack("<HH", 0x2040, len(frame)) + frame


def test_problems_are_marked(page, tmp_path):
    status = bytes.fromhex("040e0401030c0c")  # Command Complete of Reset: Command Disallowed
    ended = bytes.fromhex("040504004000 13".replace(" ", ""))
    records = [
        (2, bytes.fromhex("01030c00")), (3, status),
        acl(b"\x0a\x03\x00", 0), acl(b"\x01\x0a\x03\x00\x05", 1),  # read, and refused: Insufficient Authentication
        acl(b"\x10\x01\x00\xff\xff\x00\x28", 0), acl(b"\x01\x10\x01\x00\x0a", 1),  # the end of a discovery
        acl(b"\x0a\x07\x00", 0), (3, ended), acl(b"\x12\x09", 0),  # never answered; too short
        # Pairing Failed; Connection Parameter Update Response: rejected, accepted.
        acl(b"\x05\x05", 1, 6), acl(b"\x13\x01\x02\x00\x01\x00", 0, 5), acl(b"\x13\x02\x02\x00\x00\x00", 0, 5),
        acl(b"\x0a\x05\x00", 0)]  # without an answer at the end
    numbered = [(flags, 1000 * place, data) for place, (flags, data) in enumerate(records)]
    browser = page(btsnoop(tmp_path / "problems.btsnoop", numbered))
    marks = browser.run("packets.map((packet) => packet.mark)")
    assert marks == [
        None, "error", None, "error", None, None, "unanswered", None, "damaged", "refused", "refused", None,
        "unanswered"]
    rows = browser.run("Array.from(document.querySelectorAll('.row'), (row) =>"
                       " [row.querySelector('.badge')?.textContent ?? '', getComputedStyle(row).backgroundColor])")
    assert [badge for badge, _ in rows] == [
        "", "error", "", "error", "", "", "no answer", "", "damaged",
        "refused", "refused", "", "no answer"]
    # The color is not all that marks them, and they have one.
    assert len({rows[2][1], rows[3][1], rows[6][1]}) == 3 and rows[1][1] == rows[3][1] == rows[8][1]
    assert browser.texts("#problems") == ["7 problems"]
    browser.click("#problems")
    assert browser.run("view.shown.map((packet) => packet.number)") == [2, 4, 7, 9, 10, 11, 13]
    browser.wait_for("location.hash.includes('problems')")


def test_refusals_of_a_ring_are_marked(page):
    browser = page(CAPTURES / "virtual-charging.btsnoop")
    refused = browser.run("packets.filter((packet) => packet.mark === 'refused').map(summaryOf)")
    assert refused and all("refused" in summary for summary in refused)


def test_statistics_are_those_of_the_summary(halo, page):
    for capture, options in [(STREAM, []), (CAPTURES / "bumble-inspect.btsnoop", ["--filter", "packet=..120"])]:
        browser = page(capture, "", *options)
        browser.click("#show-statistics")
        assert browser.run("document.getElementById('statistics').matches(':modal')")
        summary = halo.run("decode", capture, "--summary", *options).succeeded().out
        shown = browser.run("Array.from(document.querySelectorAll('#statistics :is(h3, li)'), (e) => e.textContent)")
        assert shown == [line.strip() for line in summary.splitlines() if line]
        browser.click("#hide-statistics")
        assert not browser.run("document.getElementById('statistics').open")


# --- charts


CHARTS = "Object.fromEntries(charts.all.map(({name, series}) => [name, series]))"


def test_charts_have_the_samples_that_decode_prints(halo, page):
    """They are read from the bytes of the packets, with the forms that the page was given."""
    browser = page(STREAM)
    charts = browser.run(CHARTS)
    rows = list(csv.DictReader(halo.run("decode", STREAM, "--samples").succeeded().out.splitlines()))
    for name, kind in [("PPG", "ppg"), ("SpO2", "spo2")]:
        assert charts[name][0]["values"] == [int(row["raw"]) for row in rows if row["kind"] == kind]
    axes = {series["name"]: series["values"] for series in charts["Acceleration"]}
    printed = [[row[f"{axis}_g"] for axis in "xyz"] for row in rows if row["kind"] == "accel"]
    assert len(printed) > 10
    assert list(zip(*(axes[axis] for axis in "xyz"))) == [
        tuple(pytest.approx(float(value), abs=5.1e-5) for value in values) for values in printed]


def test_charts_of_the_counted_stream(halo, page):
    """Little-endian pairs, and counts of acceleration with a sign."""
    capture = CAPTURES / "virtual-counted.btsnoop"
    rows = list(csv.DictReader(halo.run("decode", capture, "--samples").succeeded().out.splitlines()))
    charts = page(capture).run(CHARTS)
    assert charts["Green light"][0]["values"] == [int(row["raw"]) for row in rows if row["kind"] == "ppg"]
    axes = {series["name"]: series["values"] for series in charts["Acceleration beside green light"]}
    for axis in "xyz":
        assert axes[axis] == [int(row[f"raw_{axis}"]) for row in rows if row["kind"] == "accel"] and len(axes[axis]) > 50
    assert "PPG" not in charts


@pytest.mark.parametrize("family", ["rf03", "ry", "rt", "rt11cr"])
def test_charts_of_every_family_have_its_acceleration(halo, page, family):
    capture = CAPTURES / family / "stream.btsnoop"
    printed = halo.run("decode", capture, "--samples", "--accel").succeeded().out.splitlines()
    columns = printed[0].split(",")
    lines = [dict(zip(columns, line.split(","))) for line in printed[1:]]
    browser = page(capture)
    axes = {series["name"]: series["values"] for series in browser.run(CHARTS)["Acceleration"]}
    # Where the encoding is unknown, there is no value in g.
    is_known = lines[0]["x_g"] != ""
    assert is_known == (family != "ry")
    assert browser.run("charts.all.find(({name}) => name === 'Acceleration').unit") == ("g" if is_known else "")
    for axis in "xyz":
        assert len(axes[axis]) == len(lines) >= 3
        for line, value in zip(lines, axes[axis]):
            assert not is_known or float(line[f"{axis}_g"]) == pytest.approx(value, abs=5.1e-5)


def connected_to(number):
    """An event with a link, its handle and interval by the number."""
    return bytes([4, 0x3E, 19, 1, 0, 0x40 + number, 0, 0, 0, number, 2, 3, 4, 5, 0xC6, 24 + 8 * number]) + bytes.fromhex(
        "00 0000 4800 00")


def test_the_page_begins_with_the_device_that_was_used(page, tmp_path):
    write, value = bytes.fromhex("0242000c00080004005212005501020304"), bytes.fromhex("0242200700030004001b1400")
    records = [(3, 0, connected_to(1)), (3, 10, connected_to(2)), (0, 20, write), (0, 30, write), (1, 40, value)]
    browser = page(btsnoop(tmp_path / "used.btsnoop", records))
    about = browser.texts("#about")[0]
    assert about.startswith("C6:05:04:03:02:02: 2 writes, 1 notification · 5 packets"), about
    browser.click("#show-statistics")
    assert browser.texts("#statistics h3")[1] == "C6:05:04:03:02:02"
    lines = browser.texts("#statistics li")
    assert "2 write commands: 55 01 02 03 04" in lines and "answered by 1 notification of 0x0014: empty" in lines
    assert browser.texts("#statistics h3")[2] == "Bystanders: 1 link without ATT"
    browser.click("#hide-statistics")


@pytest.mark.parametrize("width", [1400, 390])
def test_legends_of_five_links_do_not_overlap(page, tmp_path, width):
    """The legend of one chart was written over the next."""
    records = [(3, 1000 * number, connected_to(number)) for number in range(5)]
    browser = page(btsnoop(tmp_path / "five.btsnoop", records))
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    if browser.run("document.getElementById('charts').hidden"):
        browser.click("#show-charts")
    boxes = browser.run(
        "Array.from(document.querySelectorAll('#charts figure'), (figure) => [figure.getBoundingClientRect().bottom,"
        " figure.querySelector('figcaption').getBoundingClientRect().bottom])")
    assert len(browser.texts("#charts .values span")) >= 5
    assert all(legend <= figure for figure, legend in boxes), boxes
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_charts_of_strength_interval_and_rate(halo, page):
    browser = page(STREAM)
    charts = browser.run(CHARTS)
    summary = halo.run("decode", STREAM, "--summary").succeeded().out
    intervals = [float(text) for text in re.findall(r"s: interval ([\d.]+) ms", summary)]
    assert charts["Interval"][0]["values"][: len(intervals)] == intervals and len(intervals) == 2
    assert len(charts["RSSI"]) == 1 and set(charts["RSSI"][0]["values"]) == {-56}
    notifications = int(re.search(r"ring command notify: (\d+),", summary)[1])
    assert len(charts["Rate"][0]["times"]) == notifications


# The colors of series, by day, as their lines have them: smooth, thus not quite.
INK = """Array.from(document.querySelectorAll('#charts canvas'), (canvas) => {
    // Of a copy: the browser complains if what it draws on is read.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
    const colors = {ring: [168, 52, 143], signaling: [47, 102, 179], att: [36, 115, 62], hci: [86, 101, 127]};
    const columns = Object.fromEntries(Object.keys(colors).map((name) => [name, new Set()]));
    for (let at = 0; at < data.length; at += 4) {
      for (const [name, color] of Object.entries(colors)) {
        const distance = color.reduce((sum, value, index) => sum + Math.abs(value - data[at + index]), 0);
        if (data[at + 3] > 100 && distance < 24) columns[name].add(at / 4 % canvas.width);
      }
    }
    const sizes = Object.entries(columns).map(([name, set]) => [name, set.size]);
    return [canvas.ariaLabel.split(':')[0], Object.fromEntries(sizes)];
  })"""


def test_charts_are_drawn_and_zoom_with_the_timeline(page):
    browser = page(STREAM)
    drawn = dict(browser.run(INK))
    assert list(drawn) == [
        "SpO2", "PPG", "Acceleration, g", "Rate of notifications, /s", "Interval, ms", "RSSI, dBm"]
    # Columns of pixels that have the color of the first series; of three; of the dots.
    assert all(colors["ring"] > 10 for name, colors in drawn.items() if name != "RSSI, dBm"), drawn
    assert min(drawn["Acceleration, g"][name] for name in ("ring", "signaling", "att")) > 10, drawn
    assert drawn["RSSI, dBm"]["hci"] > 4, drawn
    times = browser.run(f"({CHARTS}).PPG[0].times")
    middle = (times[0] + times[-1]) / 2
    # A line that took a part of the width takes more of it, and is gone where it has no values.
    browser.run(f"view.range = {{from: {middle - 400_000}, to: {middle + 400_000}}}; filter()")
    assert dict(browser.run(INK))["PPG"]["ring"] > 1.2 * drawn["PPG"]["ring"]
    browser.run("view.range = {from: 0, to: 500000}; filter()")
    assert dict(browser.run(INK))["PPG"]["ring"] == 0
    # A drag across a chart selects a range, as on the timeline.
    browser.click("#reset")
    left, top, width = browser.run("(({x, y, width}) => [x, y, width])(charts.all[1].canvas.getBoundingClientRect())")
    gutter = browser.run("timeline.gutter")
    ends = [left + gutter + (width - gutter) * part for part in (0.25, 0.5)]
    browser.mouse("mousePressed", ends[0], top + 20)
    browser.mouse("mouseMoved", ends[1], top + 20)
    assert browser.run("document.getElementById('dragged').offsetWidth") == pytest.approx(ends[1] - ends[0], abs=2)
    browser.mouse("mouseReleased", ends[1], top + 20)
    span = browser.wait_for("view.range")
    assert span["from"] == pytest.approx(browser.run("whole.to") / 4, rel=0.02)


def test_charts_show_the_values_of_the_selected_packet(page):
    browser = page(STREAM)
    browser.run("select(packets.findLast((packet) => summaryOf(packet).includes('PPG')))")
    raw = re.search(r"raw (\d+)", browser.run("summaryOf(view.selected)"))[1]
    assert browser.texts("#charts figure:nth-child(2) .values") == [f"{int(raw):,}"]
    assert not browser.run("document.getElementById('cursor').hidden")
    # Each says what it draws, in which unit, and which color is what, whether a value is known or not.
    captions = browser.run(
        "[...document.querySelectorAll('#charts figcaption')].map((one) => one.firstChild.textContent)")
    assert captions == ["SpO2", "PPG", "Acceleration, g", "Rate, /s", "Interval, ms", "RSSI, dBm"]
    browser.run("charts.read(null)")
    legends = browser.run("[...document.querySelectorAll('#charts .values')].map((one) => "
                          "[...one.childNodes].map((part) => part.textContent))")
    assert sorted(legends[2]) == ["x", "y", "z"] and legends[5] == ["1 device"]
    assert legends[3] and all(re.fullmatch("0x[0-9a-f]{4}", handle) for handle in legends[3])
    browser.click("#show-charts")
    assert browser.run("document.getElementById('charts').offsetHeight") == 0
    browser.wait_for("location.hash.includes('charts=closed')")


def test_sections_are_links(page):
    browser = page(STREAM)
    links = browser.run("[...document.querySelectorAll('.fields td:last-child')].map((cell) => "
                        "[cell.textContent, cell.querySelector('a')?.href ?? null])")
    assert links
    for text, address in links:
        assert (address or "").startswith("https://www.bluetooth.com/") == text.startswith("Vol "), text
    # The keyboard stays with the fields: a link is opened by its row.
    assert browser.run("[...document.querySelectorAll('.fields a')].every((link) => link.tabIndex === -1)")
    assert browser.run("[...document.querySelectorAll('.fields a')].every((link) => link.rel.includes('noreferrer'))")


# --- a narrow window


@pytest.fixture
def narrow(browser):
    browser.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    yield
    browser.call("Emulation.clearDeviceMetricsOverride")


def visible(browser):
    """Which of the two pages can be seen."""
    return browser.run("['list', 'detail'].filter((id) => document.getElementById(id).offsetHeight > 0)")


def test_narrow_window_has_two_pages(narrow, page):
    browser = page(STREAM)
    assert visible(browser) == ["list"]
    assert browser.run("document.getElementById('charts').hidden")
    assert browser.run("document.documentElement.scrollWidth") == 390
    # Most of the window is the list, and each row can be hit with a finger.
    assert browser.run("list.box.clientHeight") > 844 / 2
    assert browser.run("[list.row, document.querySelector('.row').offsetHeight]") == [46, 46]
    browser.click(".row", 4)
    assert visible(browser) == ["detail"]
    assert browser.run("view.selected.number") == 5
    assert browser.run("document.activeElement.id") == "back"
    assert browser.run("document.documentElement.scrollWidth") == 390
    assert browser.run("document.getElementById('detail').scrollWidth") == 390
    browser.click("[aria-label='Next packet']")
    assert browser.run("view.selected.number") == 6 and visible(browser) == ["detail"]
    browser.click("#back")
    browser.wait_for("document.getElementById('list').offsetHeight > 0")
    # What was selected last is selected, and in view.
    assert visible(browser) == ["list"] and browser.run("view.selected.number") == 6
    assert browser.run("document.activeElement.id") == "list"
    assert browser.run("document.querySelector('.row[aria-selected=true]') !== null")


@pytest.mark.parametrize("way", ["history.back()", "Escape"])
def test_other_ways_back_to_the_list(narrow, page, way):
    browser = page(STREAM)
    browser.run("list.box.focus()")
    browser.press("ArrowDown")
    browser.press("Enter")
    assert visible(browser) == ["detail"]
    browser.press(way) if way == "Escape" else browser.run(way)
    browser.wait_for("document.getElementById('list').offsetHeight > 0")
    assert visible(browser) == ["list"] and browser.run("view.selected.number") == 2


def test_narrow_window_has_all_filters(narrow, page):
    browser = page(STREAM)
    assert browser.run("document.getElementById('filter').offsetHeight") == 0
    browser.click("#show-choices")
    assert browser.run("document.getElementById('show-choices').ariaExpanded") == "true"
    assert browser.run("document.documentElement.scrollWidth") == 390
    browser.click("#layers [data-name=ring]")
    assert browser.run("view.shown.every((packet) => packet.lane === 'ring')")


def test_window_that_becomes_narrow(page):
    browser = page(STREAM, "packet=3")
    assert visible(browser) == ["list", "detail"]
    assert browser.run("[list.row, document.querySelector('.row').offsetHeight]") == [26, 26]
    browser.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    browser.wait_for("list.row === 46 && document.querySelector('.row').offsetHeight === 46")
    assert visible(browser) == ["list"]
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.wait_for("list.row === 26")


# --- what it must withstand


EVIL = "</script><script>document.title='taken'</script><!--<img src=https://example.com/x onerror=taken()>"


@pytest.mark.verdict
def test_names_from_the_radio_are_only_text(page, tmp_path):
    """A note, an advertised name and the name of the file, all of which want to be more than text."""
    note = EVIL.encode() + b"\xff\x00"
    name = b"</script><b id=taken>"
    path = tmp_path / "<img src=x onerror=taken()>.btsnoop"
    # Linux monitor: the adapter in the upper half, the kind in the lower.
    btsnoop(path, [(0xFFFF000C, 0, note), (3, 1000, advertised(name))], datalink=2001)
    browser = page(path, "q=%3C%2Fscript%3E&packet=1")
    assert browser.run(SHOWN) == 2
    assert browser.run("document.title") == f"{path.name} – halo-raw"
    assert browser.texts("h1") == [path.name]
    assert any(EVIL in row for row in browser.texts(".row"))
    # Also among the devices of the statistics.
    browser.click("#show-statistics")
    assert any(name.decode() in line for line in browser.texts("#statistics li"))
    browser.click("#hide-statistics")
    assert browser.run("document.querySelectorAll('img, b').length") == 0
    assert browser.run("document.scripts.length") == 2
    assert name.decode() in browser.texts("h2")[0] or EVIL in browser.texts("h2")[0]


@pytest.mark.verdict
def test_policy_lets_nothing_in(halo, browser, tmp_path):
    """Even if something were to get into the page, it would not run and could not load."""
    path = tmp_path / "page.html"
    halo.run("decode", STREAM, "--html", path).succeeded()
    browser.open(path)
    before = len(browser.requests)
    outcome = browser.run("""
      (async () => {
        const results = [];
        try { document.body.innerHTML = '<b>'; results.push('markup'); } catch { results.push('refused'); }
        try { await fetch('https://example.com/'); results.push('loaded'); } catch { results.push('refused'); }
        try { (0, eval)('1'); results.push('run'); } catch { results.push('refused'); }
        return results;
      })()""")
    assert outcome == ["refused"] * 3
    assert all(url.startswith("file:") for url in browser.requests[:before])


def test_fifty_thousand_packets(halo, browser, tmp_path):
    records = list(records_of(STREAM))
    span = records[-1][1] - records[0][1] + 1000
    many = btsnoop(tmp_path / "many.btsnoop", records, copies=50_000 // len(records) + 1, span=span)
    path = tmp_path / "many.html"
    halo.run("decode", many, "--html", path, timeout=30).succeeded()
    assert path.stat().st_size < 30_000_000
    loading = browser.processor_time(lambda: browser.open(path))
    count = browser.run("packets.length")
    assert count >= 50_000
    assert loading < 5
    # However far one goes, only what can be seen is there.
    browser.press("End")
    assert browser.run("view.selected.number") == count
    assert len(browser.texts(".row")) < 80
    assert browser.run("document.querySelectorAll('*').length") < 2000
    searching = browser.processor_time(lambda: browser.run("view.query = 'ppg notification', void filter()"))
    assert searching < 3
    assert 0 < browser.run(SHOWN) < count
    assert browser.messages == []


def test_more_packets_than_a_page_has_room_for(halo, browser, tmp_path):
    reset = (2, 0, bytes.fromhex("01030c00"))
    many = btsnoop(tmp_path / "many.btsnoop", [reset], copies=100_001, span=10)
    path = tmp_path / "many.html"
    result = halo.run("decode", many, "--html", path, timeout=30).succeeded()
    assert "first 100000 packets" in result.err
    browser.open(path)
    assert browser.run("packets.length") == 100_000
    assert "first 100000 packets" in browser.texts("#remark")[0]
    # With a filter there is room for the last one.
    result = halo.run("decode", many, "--html", path, "--filter", "packet=100001", timeout=30).succeeded()
    assert result.err == ""
    browser.open(path)
    assert browser.run("packets.map((packet) => packet.number)") == [100_001]


def test_damaged_capture(halo, browser, tmp_path):
    whole = STREAM.read_bytes()
    cut = tmp_path / "cut.btsnoop"
    cut.write_bytes(whole[:2000])
    path = tmp_path / "cut.html"
    halo.run("decode", cut, "--html", path).failed(BAD_DATA, saying="middle of a record")
    browser.open(path)
    assert browser.run("packets.length") > 10
    assert "middle of a record" in browser.texts("#remark")[0]


def test_capture_without_packets_and_without_times(page, tmp_path):
    browser = page(btsnoop(tmp_path / "none.btsnoop", []))
    assert browser.texts("#count") == ["0 packets"]
    # PacketLogger and btsnoop always have times; they may all be the same.
    browser = page(btsnoop(tmp_path / "same.btsnoop", [(2, 0, bytes.fromhex("01030c00"))] * 3))
    assert len(browser.texts(".row")) == 3


def test_times_that_go_backward(page, tmp_path):
    times = [0, -5_000_000, 3, 10**14]
    records = [(2, time, bytes.fromhex("01030c00")) for time in times]
    browser = page(btsnoop(tmp_path / "back.btsnoop", records))
    assert browser.run("packets.map((packet) => packet.time)") == times
    assert browser.run("[whole.from, whole.to]") == [-5_000_000, 10**14]


def test_more_names_than_the_page_counts(halo, page, tmp_path):
    """Each with an address, they are more texts than the table of the page takes; it goes on without."""
    records = [
        (3, number, b"\x04" + advertised(b"ring %05d" % number, struct.pack(">IH", 77 * number, number)))
        for number in [*range(9000), *range(8500, 9000), *range(500)]]
    capture = btsnoop(tmp_path / "names.btsnoop", records)
    browser = page(capture)
    assert told_by(browser) == halo.run("decode", capture, "-v").succeeded().out.splitlines()


def test_random_bytes_have_a_page(halo, page, tmp_path):
    chance = random.Random(5)
    records = [
        (chance.randrange(4), place * 100, bytes([chance.choice([1, 2, 4])]) + chance.randbytes(chance.randrange(300)))
        for place in range(3000)]
    capture = btsnoop(tmp_path / "random.btsnoop", records)
    browser = page(capture)
    # The link of a damaged packet is not known to the dissector; the page knows the number in its header.
    told, printed = ([re.sub(r"  \[0x[0-9a-f]{4}\]$", "", line) for line in lines] for lines in (
        told_by(browser), halo.run("decode", capture, "-v").succeeded().out.splitlines()))
    assert told == printed
    # Each of them can be looked at.
    assert browser.run("packets.slice(0, 100).forEach(select) ?? view.selected.number") == 100


# --- the command line


def test_page_over_its_own_capture_is_refused(halo, tmp_path):
    copy = tmp_path / "session.btsnoop"
    copy.write_bytes(STREAM.read_bytes())
    halo.run("decode", copy, "--html", copy).failed(USAGE, saying="are the same file")
    assert copy.read_bytes() == STREAM.read_bytes()


def test_mistakes(halo, tmp_path):
    halo.run("decode", STREAM, "--html", tmp_path / "no" / "page.html").failed(NO_FILE, saying="cannot create")
    for other in (["-v"], ["--follow"], ["--format", "jsonl"]):
        halo.run("decode", STREAM, "--html", tmp_path / "page.html", *other).failed(USAGE, saying="--html")
