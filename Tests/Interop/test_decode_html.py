"""`decode --html`: the report in a browser, used as its reader does."""

import random
import re
import struct

import browser as browsers
import pytest
from conftest import BAD_DATA, NO_FILE, ROOT, USAGE

CAPTURES = ROOT / "captures"
STREAM = CAPTURES / "virtual-stream.btsnoop"
SHOWN = "view.shown.length"


class ReportBrowser(browsers.Browser):
    """A browser in which the names of `report`, the page's one global, can be used directly."""

    def open(self, *arguments):
        seconds = super().open(*arguments)
        self.run("void Object.assign(globalThis, report)")
        return seconds


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browsers.require()
    browser = ReportBrowser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


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
        bytes: packet.bytes,
        layers: packet.layers.map((layer) => [layer.name, layer.summary, layer.fields.map((field, index) =>
          [field.depth, field.name, bytesOf(packet, layer).slice(2 * field.first, 2 * field.end),
           valueOf(packet, layer, index), field.reference])]),
      }))""")
    lines = []
    for packet in told:
        top = next((name for name, _, _ in reversed(packet["layers"]) if name != "gatt"), "note")
        arrow = {"→": "->", "←": "<-", "·": "--"}[packet["arrow"]]
        lines.append(f"{packet['number']:7}  {packet['time'] / 1e6:14.6f}  {arrow}  {top:10}{packet['summary']}")
        if top == "note":
            pairs = re.findall("..", packet["bytes"])
            lines += ["    " + " ".join(pairs[start : start + 16]) for start in range(0, len(pairs), 16)]
        for name, summary, fields in packet["layers"]:
            lines.append(f"  {name}  {summary}")
            for depth, label, digits, value, reference in fields:
                pairs = re.findall("..", digits)
                shown = " ".join(pairs[:7]) + " .." if len(pairs) > 8 else " ".join(pairs)
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


def test_rows(page):
    browser = page(STREAM, "q=ppg")
    first = browser.texts(".row")[0]
    assert "Ring" in first and "ppg" in first.lower()
    assert browser.run("document.title").startswith("virtual-stream.btsnoop")
    assert browser.run("document.getElementById('remark').hidden")


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
    browser = page(STREAM, "packet=1&open=")
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
    assert hot(browser) == ("0e", ["event code"])
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


# --- what it must withstand


EVIL = "</script><script>document.title='taken'</script><!--<img src=https://example.com/x onerror=taken()>"


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
    assert browser.run("document.querySelectorAll('img, b').length") == 0
    assert browser.run("document.scripts.length") == 2
    assert name.decode() in browser.texts("h2")[0] or EVIL in browser.texts("h2")[0]


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
    loading = browser.open(path)
    count = browser.run("packets.length")
    assert count >= 50_000
    assert loading < 5
    # However far one goes, only what can be seen is there.
    browser.press("End")
    assert browser.run("view.selected.number") == count
    assert len(browser.texts(".row")) < 80
    assert browser.run("document.querySelectorAll('*').length") < 2000
    searching = browser.run("(() => { const start = performance.now(); view.query = 'ppg notification'; filter();"
                            " return performance.now() - start; })()")
    assert searching < 3000
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
    assert told_by(browser) == halo.run("decode", capture, "-v").succeeded().out.splitlines()
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
