"""The scripts of the HTML report and of the live page: linted, joined in order, and the report's pure modules run in Chromium.
Those of the live page alone: test_live_page.py."""

import json
import re
import subprocess
import sys
from pathlib import Path

import browser as browsers
import live_peer
import pytest
from program import ROOT

ASSETS = ROOT / "Sources/Program/ReportAssets"
MODULES = {path.name: path.read_text() for path in sorted((ASSETS / "Script").glob("*.js"))}
IMPORT = re.compile(r"^import \{([\w, ]+)\} from '\./([\w-]+\.js)';$", re.M)
EXPORT = re.compile(r"^export (?:const|let|function|class) (\w+)", re.M)
LIVE_TESTS = ROOT / "Tests/Interop/program/test_live_page.py"


def imports(source):
    """The names that a module imports, by module."""
    return {module: names.split(", ") for names, module in IMPORT.findall(source)}


# --- the linter


def lint(folder):
    return subprocess.run(
        [Path(sys.executable).parent / "oxlint", "--config", ASSETS / ".oxlintrc.json", "--deny-warnings", folder],
        capture_output=True, text=True, timeout=30)


def test_script_passes_the_linter():
    result = lint(ASSETS / "Script")
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"on {len(MODULES)} files" in result.stdout


@pytest.mark.parametrize("rule, line", [
    ("no-undef", "export const a = unknownName;"),
    ("no-unused-vars", "const unused = 1;"),
    ("no-unused-vars", "import {seconds} from './format.js';"),
    ("import(named)", "import {missing} from './format.js';\nexport const a = missing;"),
    ("no-cycle", "import {view} from './view.js';\nexport const a = view;"),
    ("eqeqeq", "export const a = (b) => b == 1;"),
    ("no-shadow", "export const a = (readPackets) => readPackets;"),
    ("no-eval", "export const a = (b) => eval(b);"),
    ("no-const-assign", "export const a = () => { source = 1; };"),
])
def test_linter_finds(tmp_path, rule, line):
    """A defect in one module fails the linter, and for the reason that is meant."""
    for name, source in MODULES.items():
        (tmp_path / name).write_text(source)
    bad = MODULES["session.js"].replace("\n\n/**\n * Of the capture", f"\n{line}\n\n/**\n * Of the capture", 1)
    (tmp_path / "session.js").write_text(bad)
    result = lint(tmp_path)
    assert result.returncode != 0
    assert rule in result.stdout, result.stdout


# --- modules


def test_every_export_is_used():
    """By another module, or by a test."""
    tested = {word for file in (Path(__file__), LIVE_TESTS) for word in re.findall(r"\w+", file.read_text())}
    used = {(module, name) for source in MODULES.values() for module, names in imports(source).items() for name in names}
    exports = {(module, name) for module, source in MODULES.items() for name in EXPORT.findall(source)}
    assert used <= exports
    assert {(module, name) for module, name in exports - used if name not in tested} == set()


def test_imports_and_exports_have_the_form_that_is_joined():
    """What PageAssets.swift removes is a whole line that starts with `import`, and the word `export`."""
    for name, source in MODULES.items():
        assert len(re.findall(r"\bimport\b", source)) == len(IMPORT.findall(source)), name
        assert len(re.findall(r"\bexport\b", source)) == len(EXPORT.findall(source)), name
        assert source.endswith("\n"), name


def test_modules_share_one_scope():
    """In the page, a name at the top of one module must not be at the top of another."""
    names = [name for source in MODULES.values() for name in
             re.findall(r"^(?:export )?(?:async )?(?:const|let|function|class) (\w+)", source, re.M)]
    assert {name for name in names if names.count(name) > 1} == set()


def places_in(script, names):
    """Where modules are in a script, which has each of them once, whole, after those that it imports, and nothing else."""
    places = {}
    for name in names:
        joined = re.sub(r"^export ", "", re.sub(r"^import .*\n", "", MODULES[name], flags=re.M), flags=re.M)
        assert script.count(joined) == 1, name
        places[name] = script.index(joined)
        script = script.replace(joined, "\0" * len(joined))
    assert set(script) == {"\0"}
    for name in names:
        assert all(places[other] < places[name] for other in imports(MODULES[name])), name
    return places


def imported_from(name):
    """A module, and all that it needs."""
    return {name}.union(*(imported_from(other) for other in imports(MODULES[name])))


def test_page_joins_the_modules(halo, tmp_path):
    page = tmp_path / "page.html"
    halo.run("decode", ROOT / "captures/virtual-stream.btsnoop", "--html", page).succeeded()
    script = page.read_text().split('<script type="module"')[1].split(">\n", 1)[1].split("</script>")[0]
    places_in(script, imported_from("main.js"))


def test_live_page_joins_the_modules():
    places_in(live_peer.script(), imported_from("live-main.js"))


def test_every_module_is_in_a_page():
    assert imported_from("main.js") | imported_from("live-main.js") == MODULES.keys()
    assert not any(name.startswith("live-") for name in imported_from("main.js"))


def test_page_has_one_global_name(halo, browser, tmp_path):
    path = tmp_path / "page.html"
    halo.run("decode", ROOT / "captures/virtual-stream.btsnoop", "--html", path).succeeded()
    (tmp_path / "empty.html").write_text("<!doctype html>")
    names = "Object.getOwnPropertyNames(globalThis)"
    browser.open(tmp_path / "empty.html")
    before = browser.run(names)
    browser.open(path)
    assert set(browser.run(names)) - set(before) == {"report"}


# --- functions


# The modules import each other from files.
browser = browsers.fixture("--allow-file-access-from-files")


@pytest.fixture(scope="module")
def run(browser, tmp_path_factory):
    """Evaluates an expression in which the exports of a module can be used."""
    empty = tmp_path_factory.mktemp("empty") / "empty.html"
    empty.write_text("<!doctype html>")

    def run(module, expression, **values):
        if browser.run("location.pathname") != str(empty):
            browser.open(empty)
        names = ", ".join(EXPORT.findall(MODULES[module]))
        url = (ASSETS / "Script" / module).as_uri()
        return browser.run(
            f"import('{url}').then(({{{names}}}) => {{ const values = {json.dumps(values)}; return {expression}; }})")

    return run


@pytest.mark.parametrize("text, expected", [
    ("1.5", 1_500_000), (" 2 ", 2_000_000), ("-0.000001", -1), ("1e-7", 0), ("", None), ("  ", None),
    ("1,5", None), ("Infinity", None), ("1 s", None)])
def test_microseconds(run, text, expected):
    assert run("format.js", "microseconds(values.text)", text=text) == expected


def test_seconds_and_counts(run):
    assert run("format.js", "[seconds(1500000), seconds(-1), seconds(1999, 3)]") == ["1.500000", "-0.000001", "0.002"]
    assert run("format.js", "[0, 1, 1234].map((n) => counted(n, 'packet'))") == ["0 packets", "1 packet", "1,234 packets"]
    assert run("format.js", "['', '0a', '0a1b2c'].map(spaced)") == ["", "0a", "0a 1b 2c"]


@pytest.mark.parametrize("start, time, expected", [
    (1_700_000_000_000_000, 1_234_000, "2023-11-14 22:13:21.234"), (0, 0, "1970-01-01 00:00:00.000"),
    (None, 0, None), (8.64e21, 0, None)])
def test_utc_date(run, start, time, expected):
    assert run("format.js", "utcDate(values.start, values.time)", start=start, time=time) == expected


@pytest.mark.parametrize("query, expected", [
    ("ATT  Notification", ["att", "notification"]), ('"Read by type" 0x', ["read by type", "0x"]),
    ('"not closed', ["not closed"]), ('""', ['""']), ("", []), (" \t", [])])
def test_terms_of_a_query(run, query, expected):
    assert run("filters.js", "termsOf(values.query)", query=query) == expected


LINES = "\n".join([
    '[1,0,1,null,"01030c00",0,0,";;3075;;",null,null,[["hci",["opcode","Vol 4",0,1,3],["flag","",1,3,4]],'
    '"Reset","0x0c03","="]]',
    '[2,1500000,2,0,"0400112233","aabbccdd","cut short","18,20-25;64;27;;","30:35:38:41:BE:EF R02 BEEF","refused",'
    '[["att",[1,"Vol 3",0,0,1]],"Notification","="],[["gatt"],"of x"]]',
    '[3,null,0,null,"ff",0,"no layer",";;;;",null,null]', ""])
KEYS = ["handle", "link", "opcode", "event", "subevent", "address", "peer"]
LIMITS = {"capacity": 8, "shortest": 4, "longest": 80, "keys": KEYS}


def read(expression):
    return f"(() => {{ const packets = readPackets(values.lines, values.limits); return {expression}; }})()"


def test_packets_are_read(run):
    packets = run("packets.js", read("packets"), lines=LINES, limits=LIMITS)
    assert [packet["lane"] for packet in packets] == ["hci", "att", "note"]
    assert packets[0]["layers"][0]["fields"] == [
        {"name": "opcode", "reference": "Vol 4", "depth": 0, "first": 1, "end": 3},
        {"name": "flag", "reference": "", "depth": 1, "first": 3, "end": 4}]
    assert packets[1]["keys"] | {"address": [], "peer": []} == {
        "handle": [[18, 18], [20, 25]], "link": [[64, 64]], "opcode": [[27, 27]], "event": [], "subevent": [],
        "address": [], "peer": []}
    assert [(packet["peer"], packet["peerName"]) for packet in packets] == [
        (None, None), ("30:35:38:41:BE:EF", "R02 BEEF"), (None, None)]
    assert [packet["mark"] for packet in packets] == [None, "refused", None]
    # A number stands for a text that came before.
    assert packets[1]["layers"][0]["fields"][0]["name"] == "opcode"


def test_packets_summaries_and_values(run):
    def value(expression):
        return run("packets.js", read(expression), lines=LINES, limits=LIMITS)

    assert value("packets.map(summaryOf)") == ["Reset", "Notification · of x; cut short", "no layer"]
    # The bytes of a field that is not in the HCI layer are those of the frame.
    assert value("[valueOf(packets[0], packets[0].layers[0], 1), valueOf(packets[1], packets[1].layers[0], 0)]") == [
        "00", "aa"]
    assert value("timeSpan(packets)") == {"from": 0, "to": 1_500_000}
    assert value("timeSpan([packets[2]])") is None
    assert value("searchable(packets[0])") == "1\nreset\nhci\nreset\nopcode 0x0c03\nflag 00\n01 03 0c 00"


@pytest.mark.parametrize("capacity, expected", [(3, "name"), (2, None)])
def test_tables_of_texts_are_bounded(run, capacity, expected):
    """Beyond the capacity a text gets no number, as in PagePacket.swift."""
    lines = "\n".join([
        '[1,0,1,null,"",0,0,";;;;",null,null,[["hci",["short",""]],"","name"]]',
        '[2,0,1,null,"",0,0,0,null,null,[["hci"],"",2]]'])
    values = run("packets.js", read("packets[1].layers[0].values"), lines=lines, limits=LIMITS | {"capacity": capacity})
    # A number that was not assigned has no text: undefined, null in JSON.
    assert values == [expected]


FILTERS = "{...noFilters(), %s}"


@pytest.mark.parametrize("filters, expected", [
    ("", [1, 2, 3]), ("query: 'RESET'", [1]), ("query: 'opcode 0x0c03'", [1]), ("query: '\"opcode 0x0c03\"'", [1]),
    ("query: 'opcode aa'", [2]), ("query: 'nothing'", []), ("layers: new Set(['gatt', 'ring'])", [2]),
    ("directions: new Set(['sent', 'unknown'])", [1, 3]), ("range: {from: 0, to: 1499999}", [1]),
    ("range: {from: 1500000, to: 1500000}", [2]),
    ("problems: true", [2]), ("filter: 'handle=24'", [2]), ("filter: 'handle=24', query: 'reset'", []),
    ("filter: 'nonsense'", [1, 2, 3]), ("query: 'reset', directions: new Set(['received'])", [])])
def test_filters(run, filters, expected):
    packets = run("packets.js", read("packets"), lines=LINES, limits=LIMITS)
    script = f"filtered(values.packets, {FILTERS % filters}, values.keys).map((packet) => packet.number)"
    assert run("filters.js", script, packets=packets, keys=KEYS) == expected


def test_no_filter_gives_the_same_packets(run):
    assert run("filters.js", "((all) => filtered(all, noFilters(), []) === all)([{}])")


PARSED = "((v) => ({...v, layers: [...v.layers], directions: [...v.directions], open: v.open && [...v.open]}))"
NOTHING = {
    "query": "", "filter": "", "layers": [], "directions": [], "problems": False, "range": None, "packet": None,
    "open": None, "charts": None}


@pytest.mark.parametrize("fragment, expected", [
    ("", {}), ("q=a%20b", {"query": "a b"}), ("layer=att,ring,unknown&open=", {"layers": ["att", "ring"], "open": []}),
    ("direction=sent", {"directions": ["sent"]}), ("from=1.5", {"range": {"from": 1_500_000, "to": 9_000_000}}),
    ("from=x&to=", {}), ("packet=7", {"packet": 7}), ("packet=x", {"packet": None}), ("other=1", {}),
    ("filter=link%3D64", {"filter": "link=64"}),
    ("problems=&charts=closed", {"problems": True, "charts": False}), ("charts=x", {})])
def test_fragment_is_read(run, fragment, expected):
    whole = {"from": 0, "to": 9_000_000}
    parsed = run("filters.js", f"{PARSED}(parseFragment(values.fragment, values.whole))", fragment=fragment, whole=whole)
    # NaN is null in JSON.
    assert parsed == NOTHING | expected


@pytest.mark.parametrize("fragment", [
    "", "q=a+b&filter=handle%3D0x12,link%3D64&layer=att,ring&direction=sent&problems=&from=1.500000&to=2.000000&packet=7"
    "&open=hci&charts=open", "open=", "q=%26%23%22"])
def test_fragment_survives_reading_and_writing(run, fragment):
    whole = {"from": 0, "to": 9_000_000}
    assert run("filters.js", "formatFragment(parseFragment(values.fragment, values.whole))", fragment=fragment,
               whole=whole) == fragment


@pytest.mark.parametrize("span, most, times, decimals", [
    ((0, 10_000_000), 5, [0, 2e6, 4e6, 6e6, 8e6, 10e6], 0), ((0, 1000), 4, [0, 500, 1000], 4),
    ((-1, 1), 2, [-1, 0, 1], 6), ((1_300_000, 2_600_000), 3, [1_500_000, 2_000_000, 2_500_000], 1)])
def test_ticks(run, span, most, times, decimals):
    ticks = run("scale.js", "ticksOf(values.span, values.most)", span=dict(zip(("from", "to"), span)), most=most)
    assert (ticks["times"], ticks["decimals"]) == (times, decimals)


def test_columns(run):
    packets = [{"time": time, "lane": "att", "direction": direction}
               for time, direction in [(0, 1), (0, 2), (49, 1), (50, 0), (100, 2), (101, 1), (None, 1)]]
    columns = run("scale.js", """((columns) => [columns.get('att').map((side) => [...side]), greatest(columns)])(
        countColumns(values.packets, ['att'], {from: 0, to: 100}, 2))""", packets=packets)
    assert columns == [[[2, 0], [1, 2]], 2]


def test_bars(run):
    heights = run("scale.js", "[0, 1, 10, 1000].map((count) => barHeight(count, 1000, 10))")
    assert heights[0] == 0 and heights[1] > 2 and heights == sorted(heights) and heights[3] == 10
    assert run("scale.js", "[widened({from: 5, to: 5}), widened({from: 1, to: 2})]") == [
        {"from": -495, "to": 505}, {"from": 1, "to": 2}]


# --- filters by fields


def numbers(run, text, packets):
    script = """(({terms, mistake}) => mistake || values.packets.filter((packet) => matches(packet, terms))
        .map((packet) => packet.number))(parseFilter(values.text, values.keys))"""
    return run("field-filter.js", script, text=text, packets=packets, keys=KEYS)


@pytest.mark.parametrize("text, expected", [
    ("", [1, 2, 3]), (" , ", [1, 2, 3]), ("handle=18", [2]), ("handle=0x0014", [2]), ("handle=1..18", [2]),
    ("handle=26..", []),
    ("handle=19", []), ("handle=25..30", [2]),
    ("handle=..18|99", [2]), ("opcode=27|0x0c03", [1, 2]), ("opcode=27,link=64", [2]), ("opcode=27 link=65", []),
    ("time=0", [1]), ("time=1.5", [2]), ("time=..1.4", [1]), ("packet=2..", [2, 3]), ("event=..", []),
    ("address=30:35:38:41:be:ef", [2]), ("address=30353841BEEF/random", [2]), ("address=000000000000", []),
    ("peer=r02", [2]), ("peer=beef", []), ("peer=x|30353841BEEF", [2]), ("peer=30:35:38:41:BE:EE", [])])
def test_field_filters(run, text, expected):
    packets = run("packets.js", read("packets"), lines=LINES, limits=LIMITS)
    assert numbers(run, text, packets) == expected


@pytest.mark.parametrize("text, word", [
    ("handel=1", "handel"), ("handle", "handle needs"), ("handle=", "handle needs"), ("handle=x", "handle needs"),
    ("handle=2..1", "handle needs"), ("handle=0x123456789", "handle needs"), ("handle=1|", "handle needs"),
    ("address=1", "address needs"), ("peer=|", "peer needs"), ("time=1.2.3", "time needs"), ("link=1 =2", "no filter"),
    ("handle=-1", "handle needs")])
def test_mistakes_in_field_filters(run, text, word):
    assert word in numbers(run, text, [])


def test_address_in_the_bytes_of_an_event_or_command(run):
    """Least significant byte first, at a whole byte, and only where the bytes may be an address."""
    def packet(data, name="hci"):
        return {"number": 1, "peer": None, "bytes": data, "layers": [{"name": name}]}

    for data, expected in [
            ("043e0605040302010b", [1]), ("043e0b0102030405", []), ("0100605040302010b0ff", []), ("0205040302010b", [])]:
        assert numbers(run, "address=0B:01:02:03:04:05", [packet(data)]) == expected, data
    assert numbers(run, "address=0B:01:02:03:04:05", [packet("0405040302010b", "note")]) == []


# --- what a search has found


@pytest.mark.parametrize("text, terms, expected", [
    ("Notification", ["not"], [[0, 3]]), ("a b a", ["a"], [[0, 1], [4, 5]]), ("abcd", ["ab", "bc", "d"], [[0, 4]]),
    ("none", ["x"], []), ("none", [], []), ("aaa", ["aa"], [[0, 2]]), ("\u0130x", ["x"], [])])
def test_hits(run, text, terms, expected):
    assert run("hits.js", "hitsIn(values.text, values.terms)", text=text, terms=terms) == expected


def test_marked_text_stays_text(run):
    nodes = run("hits.js", """(() => {
        const box = document.createElement('p');
        box.append(...marked('<b>Hit</b>', ['hit']));
        return [box.textContent, box.children.length, box.querySelector('mark').textContent];
      })()""")
    assert nodes == ["<b>Hit</b>", 1, "Hit"]


@pytest.mark.parametrize("terms, expected", [
    (["1b 12"], [0, 1]), (["12"], [1, 3]), (["b1"], []), (["1b", "00"], [0, 2]), (["handle"], []), (["1"], [])])
def test_hits_in_bytes(run, terms, expected):
    found = run("hits.js", "[...hitBytes('1b120012', values.terms)].toSorted((a, b) => a - b)", terms=terms)
    assert found == expected


# --- the packets of a handle


def test_neighbors_of_a_handle(run):
    """Those of the same device, even on another link; without an address, those of the same link."""
    def packet(number, handles, link, peer=None):
        keys = {"handle": [[handle, handle] for handle in handles], "link": [[link, link]]}
        return {"number": number, "adapter": 0, "peer": peer, "keys": keys}

    packets = [
        packet(1, [18], 64, "A"), packet(2, [], 64, "A"), packet(3, [18], 65, "B"), packet(4, [7, 18], 66, "A"),
        packet(5, [18], 70), packet(6, [18], 71), packet(7, [18], 70)]

    def neighbor(index, step):
        script = "neighborOf(values.packets[values.index], values.packets, values.step)?.number ?? null"
        return run("handles.js", script, packets=packets, index=index, step=step)

    # Of a packet with several handles, none is its own; but it is one of the packets of each.
    assert [neighbor(index, 1) for index in range(7)] == [4, None, None, None, 7, None, None]
    assert [neighbor(index, -1) for index in range(7)] == [None, None, None, None, None, None, 5]


# --- charts


ACCELERATION = {
    "name": "acceleration", "marks": [[0, 161], [1, 3]], "unit": "g", "perUnit": 512,
    "values": [["y", 2, [-2048, 1024, 512, 256, 128, 64, 32, 16, 0, 0, 0, 0, 8, 4, 2, 1]]]}


def ring_packet(number, time, digits, **changes):
    layer = {"name": "ring", "fields": [{"name": "command", "first": 1, "end": 2}], "values": ["raw"], "summary": ""}
    return {
        "number": number, "time": time, "bytes": "00" + digits, "frame": 0, "lane": "ring", "mark": None, "peer": "A",
        "keys": {"opcode": [[0x1b, 0x1b]], "handle": [[18, 18]], "event": [], "link": [[64, 64]]},
        "layers": [layer], "top": layer} | changes


def test_samples_are_read_from_the_bytes(run):
    packets = [
        ring_packet(1, 0, "a1032000"), ring_packet(2, 1000, "a103e00f"), ring_packet(3, 2000, "a1022000"),
        # A request, a damaged frame, and one after a pause.
        ring_packet(4, 3000, "a1032000", keys={"opcode": [[0x52, 0x52]], "handle": [[18, 18]]}),
        ring_packet(5, 4000, "a1032000", mark="damaged"), ring_packet(6, 9_000_000, "a1030001")]
    charts = run("series.js", "chartsOf(values.packets, values.forms, (packet) => packet.peer)", packets=packets,
                 forms=[ACCELERATION])
    assert charts[0] == {"name": "Acceleration", "of": "", "unit": "g", "kind": "line", "series": [
        {"name": "y", "times": [0, 1000, 9_000_000, 9_000_000], "values": [1.0, -497 / 512, None, 1 / 512]}]}
    # All values that were notified have a rate, also those that are no samples.
    assert [(chart["name"], chart["series"][0]["times"]) for chart in charts[1:]] == [
        ("Rate", [0, 1000, 2000, 4000, 9_000_000])]


def test_strengths_and_intervals(run):
    def event(number, code, fields, values, **changes):
        layer = {"name": "hci", "summary": "", "values": values,
                 "fields": [{"name": name, "first": 0, "end": 0} for name in fields]}
        return {"number": number, "time": number, "bytes": "", "frame": 0, "lane": "hci", "mark": None, "peer": None,
                "adapter": 0, "keys": {"event": [[code, code]], "link": [[64, 64]], "opcode": []},
                "layers": [layer], "top": layer} | changes

    report = ["address", "RSSI", "address", "RSSI"]
    packets = [
        event(1, 0x3E, report, ["A (random)", "-56 dBm", "B (random)", "not available"]),
        event(2, 0x3E, ["connection interval"], ["48.75 ms"]), event(3, 0x3E, ["connection interval"], ["7.5 ms"]),
        event(4, 0x3E, ["connection interval"], ["15 ms"], mark="error"), event(5, 0x05, [], []),
        event(6, 0x3E, ["connection interval"], ["30 ms"])]
    interval, strength = run("series.js", "chartsOf(values.packets, [], () => '')", packets=packets)
    assert strength["series"] == [{"name": "A", "times": [1], "values": [-56]}]
    assert interval["series"] == [{"name": "0x0040", "times": [2, 3, 5, 6], "values": [48.75, 7.5, None, 30]}]


def test_strengths_on_the_air(run):
    """By the sender: of an advertising PDU its first address, of a connection the side."""
    def packet(number, names, values, **changes):
        layer = {"name": "ll", "summary": "", "values": values,
                 "fields": [{"name": name, "first": 0, "end": 0} for name in names]}
        return {"number": number, "time": number, "bytes": "", "frame": 0, "lane": "ll", "mark": None, "peer": None,
                "adapter": None, "direction": 0, "keys": {"event": [], "link": [], "opcode": []}, "layers": [layer],
                "top": layer} | changes

    packets = [
        packet(1, ["RSSI", "AdvA"], ["-50 dBm", "A"]), packet(2, ["RSSI", "ScanA", "AdvA"], ["-60 dBm", "B", "A"]),
        packet(3, ["RSSI"], ["-70 dBm"], peer="A", direction=2), packet(4, ["RSSI"], ["-80 dBm"], peer="A", direction=1)]
    strength = run("series.js", "chartsOf(values.packets, [], () => '')", packets=packets)[-1]
    assert {one["name"]: one["values"] for one in strength["series"]} == {"A": [-50, -70], "B": [-60], "central": [-80]}


SERIES = {"times": [0, 10, 20, 30], "values": [1, 3, 2, 5]}


def test_what_a_chart_shows_of_a_range(run):
    # One point before and after it, so that the line reaches the edges.
    inside = run("plotting.js", "runsOf(values.series, {from: 15, to: 25})", series=SERIES)
    assert inside == [[[10, 3], [20, 2], [30, 5]]]
    gap = "{times: [0, 1, 1, 2], values: [1, 2, NaN, 3]}"
    assert run("plotting.js", f"runsOf({gap}, {{from: 0, to: 9}})") == [[[0, 1], [1, 2]], [[2, 3]]]
    steps = run("plotting.js", f"stepsOf({gap}, {{from: 0, to: 9}}, 9)")
    assert steps == [[[0, 1], [1, 1], [1, 2], [1, 2]], [[2, 3], [9, 3]]]
    assert run("plotting.js", "stepsOf(values.series, {from: 12, to: 14}, 40)", series=SERIES) == [[[10, 3], [20, 3]]]
    rates = run("plotting.js", "ratesOf({times: [0, 1, 600000, 999999]}, {from: 0, to: 1000000}, 12)")
    assert rates == [[[0, 4], [500_000, 4], [500_000, 4], [1_000_000, 4]]]
    # A handle has no rate before its first value, and none at all where it has no value yet; afterwards it may be 0.
    late = "ratesOf({times: [600000, 700000]}, {from: 0, to: 1000000}, 24)"
    assert run("plotting.js", late) == [[[500_000, 8], [750_000, 8], [750_000, 0], [1_000_000, 0]]]
    assert run("plotting.js", "ratesOf({times: [600000]}, {from: 0, to: 500000}, 24)") == []
    past = run("plotting.js", "ratesOf({times: [0]}, {from: 500000, to: 1000000}, 6)")
    assert past == [[[500_000, 0], [1_000_000, 0]]]
    values = run("plotting.js", "[20, 0, -1].map((time) => valueAt(values.series, time) ?? null)", series=SERIES)
    assert values == [2, 1, None]


@pytest.mark.parametrize("shown, kind, expected", [
    ([[[[0, 1], [1, 4]]]], "line", {"low": 1, "high": 4}), ([[[[0, 2]]]], "line", {"low": 1, "high": 3}),
    ([[[[0, 7.5]]]], "steps", {"low": 0, "high": 7.5}), ([[], []], "line", None)])
def test_limits_of_a_chart(run, shown, kind, expected):
    assert run("plotting.js", "limitsOf(values.shown, values.kind)", shown=shown, kind=kind) == expected


@pytest.mark.parametrize("reference, page", [
    ("Vol 4, Part E, 7.8.10", "/host-controller-interface/host-controller-interface-functional-specification.html"),
    ("Vol 3, Part G, 3.3.1.2", "/host/generic-attribute-profile--gatt-.html"),
    ("Vol 6, Part B, 2.4.2", "/low-energy-controller/link-layer-specification.html")])
def test_the_page_of_a_section(run, reference, page):
    address = run("specification.js", "sectionAddress(values.reference)", reference=reference)
    assert address == f"https://www.bluetooth.com/wp-content/uploads/Files/Specification/HTML/Core-62/out/en{page}"


@pytest.mark.parametrize("reference", [
    "no longer specified", "GATT Specification Supplement, 3.1", "Vol 9, Part E, 1", "Vol 4, Part E", ""])
def test_what_has_no_page_has_no_link(run, reference):
    assert run("specification.js", "sectionAddress(values.reference)", reference=reference) is None


def test_short_numbers(run):
    values = run("plotting.js", "[11506, 0.98765, -0.5, 123.456, 144].map(shortNumber)")
    assert values == ["11,506", "0.99", "-0.5", "123.5", "144"]

