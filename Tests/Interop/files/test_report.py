"""The page of a session: what Chromium shows of it, and its numbers beside those of pandas."""

import json
import os
import random
import re
import signal
import time

import browser as browsers
import pandas as pd
import pytest
from program import BAD_DATA, NO_FILE, ROOT, wait_until


browser = browsers.fixture()


def session(halo, tmp_path, *options, name="session.csv", adapter="virtual:fast"):
    file = tmp_path / name
    halo.run("stream", "--duration", "20s", "--output", file, *options, adapter=adapter)
    return file


def shown(browser, page):
    """What the page has, and nothing that the browser complains about."""
    browser.open(page)
    facts = browser.run("""({
        title: document.title, text: document.body.innerText,
        rows: [...document.querySelectorAll('#numbers tr')].map(row => [...row.children].map(cell => cell.textContent)),
        plots: [...document.querySelectorAll('svg.plot')].map(plot => {
            const area = plot.getBoundingClientRect();
            const inside = [...plot.querySelectorAll('path, text')].every(part => {
                const box = part.getBoundingClientRect();
                return box.left >= area.left && box.right <= area.right && box.top >= area.top - 1
                    && box.bottom <= area.bottom + 1;
            });
            return {name: plot.getAttribute('aria-label'), inside, gaps: plot.querySelectorAll('.gap').length,
                length: [...plot.querySelectorAll('path')].map(path => path.getTotalLength())};
        }),
        marks: [...document.querySelectorAll('#marks tr')].slice(1).map(row => [...row.children].map(c => c.textContent)),
        wide: document.documentElement.scrollWidth > innerWidth,
    })""")
    assert not browser.messages and all(url.startswith(("file:", "data:")) for url in browser.requests)
    return facts


@pytest.mark.verdict
@pytest.mark.parametrize("name", ["session.csv", "session.jsonl"])
def test_a_session_with_gaps(halo, tmp_path, browser, name):
    file = session(halo, tmp_path, name=name, adapter="virtual:fast,drop-after=200")
    halo.run("report", file).succeeded()
    facts = shown(browser, tmp_path / f"{name}.html")
    frame = pd.read_csv(file) if name.endswith("csv") else pd.read_json(file, lines=True)
    assert {row[0] for row in facts["rows"][1:]} == {"Green light", "Acceleration", "Red and infrared light"}
    for row in facts["rows"][1:]:
        kind = {"Green light": "ppg", "Acceleration": "accel"}.get(row[0], "spo2")
        assert int(row[1]) == (frame["kind"] == kind).sum() and 20 < float(row[2]) < 30
    gaps = frame[frame["kind"] == "gap"]
    assert len(gaps) >= 1 and len(facts["marks"]) == len(gaps)
    assert [mark[3] for mark in facts["marks"]] == list(gaps["note" if name.endswith("csv") else "reason"])
    signals = [plot for plot in facts["plots"] if "Heart rate" not in plot["name"]]
    assert len(signals) == 6 and not facts["wide"]
    for plot in facts["plots"]:
        assert plot["inside"] and plot["gaps"] == len(gaps), plot["name"]
    # A curve has a length, dots have none: those of intervals, which alternate, would be a band.
    for plot in signals:
        assert (min(plot["length"]) > 400) == ("since" not in plot["name"]), plot["name"]
    assert "R02_BEEF, 30:35:38:41:BE:EF" in facts["text"] and "stream --duration 20s" in facts["text"]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_report_shows_marks_in_its_curves(halo, tmp_path, browser, name):
    file, ring = tmp_path / name, "R02_REPORT"
    process = halo.start("stream", "--output", file, adapter=f"virtual:name={ring},events=0.3")
    mark = lambda text: not halo.run("mark", text, "--ring", ring).code
    wait_until(lambda: mark("<b>coffee & cake</b>"), "stream that takes a mark")
    wait_until(lambda: "button tap" in file.read_text(), "tap of the button")
    assert mark("the end of a long walk through the old town")
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
    halo.run("report", file).succeeded()
    facts = shown(browser, tmp_path / f"{name}.html")
    table = [(kind, note) for _, _, kind, note in facts["marks"]]
    marks = [note for kind, note in table if kind == "mark"]
    assert marks == ["<b>coffee & cake</b>", "the end of a long walk through the old town"]
    assert ("event", "button tap") in table
    drawn = browser.run("""[...document.querySelectorAll('svg.plot')].map(plot => ({
        lines: plot.querySelectorAll('line.moment').length,
        texts: [...plot.querySelectorAll('text.moment')].map(text => text.lastChild.textContent)}))""")
    assert drawn and all(plot["lines"] == len(table) for plot in drawn), (drawn, table)
    assert drawn[0]["texts"][0] == "<b>coffee & cake</b>" and drawn[0]["texts"][-1] == "the end of a long walk t…"
    assert all(plot["inside"] for plot in facts["plots"])


@pytest.mark.verdict
@pytest.mark.parametrize("name", ["session.csv", "session.jsonl"])
def test_lost_packets(halo, tmp_path, browser, name):
    adapter = "virtual:fast,counted,lose=50"
    file = session(halo, tmp_path, "--source", "counted", "--spo2", "--accel", name=name, adapter=adapter)
    halo.run("report", file).succeeded()
    facts = shown(browser, tmp_path / f"{name}.html")
    frame = pd.read_csv(file) if name.endswith("csv") else pd.read_json(file, lines=True)
    lost, packets = (frame["kind"] == "lost").sum(), int(frame["packet"].max() - frame["packet"].min()) + 1
    assert 9 <= lost <= 10 and 499 <= packets <= 501
    assert f"{lost} of {packets} lost ({lost / packets:.2%}".replace("%", " %)") in facts["text"]
    assert [row[0] for row in facts["rows"][1:]] == ["Red and infrared light", "Infrared light", "Acceleration"]
    assert [mark[2:] for mark in facts["marks"]] == [["lost", "lost: 1"]] * lost
    browser.open(tmp_path / f"{name}.html")
    assert browser.run("[...document.querySelectorAll('svg.plot')].map(plot => plot.querySelectorAll('.lost').length)") == [lost] + [lost, 0] * 3
    assert all(plot["inside"] for plot in facts["plots"])


def test_what_the_ring_measures_is_a_curve(halo, tmp_path, browser):
    """What measure writes, and what stream measures in its pauses."""
    file = tmp_path / "hr.csv"
    halo.run("measure", "heart-rate", "--every", "5m", "--measure", "spo2", "--measure-every", "30m", "--duration", "4h",
             "--output", file, adapter="virtual:fast").succeeded()
    halo.run("report", file).succeeded()
    facts = shown(browser, tmp_path / "hr.csv.html")
    names = [plot["name"].split(" over time")[0] for plot in facts["plots"]]
    assert names == ["Heart rate, as the ring measures it", "SpO2"]
    frame = pd.read_csv(file)
    values = frame[(frame["kind"] == "heart-rate") & (frame["state"] == "value")]
    browser.open(tmp_path / "hr.csv.html")
    assert browser.run("document.querySelector('path.dots').getAttribute('d')").count("M") == len(values) > 40
    # What was asked for is counted, and is no interruption.
    assert not facts["marks"] and (frame["state"] == "pause").sum() == 8
    assert "8, for what was asked for in between" in facts["text"]

    stream = tmp_path / "stream.jsonl"
    halo.run("stream", "--ppg", "--measure", "heart-rate,spo2", "--measure-every", "2m", "--duration", "8m", "--output", stream,
             adapter="virtual:fast").succeeded()
    halo.run("report", stream).succeeded()
    facts = shown(browser, tmp_path / "stream.jsonl.html")
    names = [plot["name"].split(" over time")[0] for plot in facts["plots"] if "since" not in plot["name"]]
    assert names == ["Heart rate, as the ring measures it", "Heart rate, from the wave of the green light", "SpO2", "Green light"]
    assert not facts["marks"] and "for what was asked for in between" in facts["text"]


def test_several_rings_and_several_files(halo, tmp_path, browser):
    for _ in range(2):
        halo.run("stream", "R02_BEEF", "R02_BEF0", "--ppg", "--count", "20", "--output", f"{tmp_path}/pulse/", "--rotate", "1GB",
                 adapter="virtual:rings=2,rate=200").succeeded()
    halo.run("report", f"{tmp_path}/pulse/").succeeded()
    facts = shown(browser, tmp_path / "pulse.html")
    assert len(facts["plots"]) == 4 and {row[1] for row in facts["rows"][1:]} == {"40"}
    assert all("30:35:38:41:BE" in row[0] for row in facts["rows"][1:])


HEAD = "t,time,ring,seq,kind,raw,note\n"


def rows(start, seconds, rate=10, begin=0):
    """The lines of a run that begins at a time of day, in seconds."""
    for number in range(seconds * rate):
        t = begin + number / rate
        now = start + t
        clock = f"2026-11-23T{int(now) // 3600:02}:{int(now) // 60 % 60:02}:{now % 60:09.6f}+00:00"
        yield f"{t:.6f},{clock},C0:11:22:33:44:55,{number},ppg,{1000 + number % 50},\n"


@pytest.mark.parametrize("in_one_file", [False, True])
def test_runs_are_apart(halo, tmp_path, browser, in_one_file):
    """A service that was started again after an hour, and once more. Plots that bridge such a gap: PerformanceMonitor 1944 of
    erikdarlingdata, perfsonar/project 1034, cockroachdb/cockroach 17552, asascience-open/IOOS-EDS 216, plotly/plotly.js 5261."""
    folder = tmp_path / "pulse"
    folder.mkdir()
    runs = [[HEAD, *rows(0, 60)], [HEAD, *rows(3660, 30)], [*rows(3690, 30, begin=30)], [HEAD, *rows(7200, 1, rate=5)]]
    if in_one_file:
        (folder / "stream-20261123T000000Z.csv").write_text("".join(line for run in runs for line in run))
    else:
        runs[2].insert(0, HEAD)
        for number, run in enumerate(runs):
            (folder / f"stream-20261123T00000{number}Z.csv").write_text("".join(run))
    halo.run("report", folder).succeeded()
    facts = shown(browser, tmp_path / "pulse.html")
    assert facts["rows"][1][1] == "1205" and 9.9 < float(facts["rows"][1][2]) <= 10
    assert [mark[0] for mark in facts["marks"]] == ["1 h 1 min", "2 h"]
    assert [mark[2] for mark in facts["marks"]] == ["run", "run"]
    assert facts["marks"][0][3] == "another run begins after 1 h"
    assert facts["plots"][0]["gaps"] == 2 and facts["plots"][0]["inside"]
    browser.open(tmp_path / "pulse.html")
    path = browser.run("document.querySelector('path').getAttribute('d')")
    # No line spans the hour between two runs.
    for part in path.split("M")[1:]:
        across = [float(x) for x in re.findall(r"(?:^|L)([\d.]+) ", part)]
        assert max(across) - min(across) < 20


def test_the_file_that_is_being_written_is_a_part(halo, tmp_path, browser):
    process = halo.start("stream", "--ppg", "--output", f"{tmp_path}/pulse/", adapter="virtual:fast,rate=200")
    folder = tmp_path / "pulse"
    deadline = time.monotonic() + 60
    while not any(len(file.read_bytes()) > 5000 for file in folder.glob("*.csv.part")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    halo.run("report", folder).succeeded()
    process.send_signal(signal.SIGINT)
    halo.wait(process)
    assert int(shown(browser, tmp_path / "pulse.html")["rows"][1][1]) > 20


def test_numbers_of_a_file_are_only_numbers(halo, tmp_path):
    """Charts in Swift that trap at values that no sensor has: ChartsOrg/Charts 62, 1511, 1920, 2168, 3352."""
    numbers = ["1e19", "1e308", "-1e308", "inf", "-inf", "nan", "1e9", "-1e9", "1e15", "9e18", "0"]
    for t in numbers:
        for value in numbers:
            file = tmp_path / "x.csv"
            lines = [f"{time},2026-11-23T00:00:00+00:00,R,0,{kind},{raw},lost: {raw}\n"
                     for time, raw in [("0", "1"), (t, value), ("1", "2"), (t, "3"), ("0", value)] for kind in ("ppg", "lost")]
            file.write_text(HEAD + "".join(lines))
            halo.run("report", file).succeeded()
            assert "NaN" not in (tmp_path / "x.csv.html").read_text()
    for years in ("0001", "9999"):
        file.write_text(HEAD + f"0,{years}-01-01T00:00:00Z,R,0,ppg,1,\n" + "".join(rows(0, 1)) * 20)
        halo.run("report", file).succeeded()


def test_a_folder_may_hold_anything(halo, tmp_path):
    folder = tmp_path / "pulse"
    folder.mkdir()
    (folder / "stream-1.csv").write_text(HEAD + "".join(rows(0, 2)))
    os.mkfifo(folder / "stream-2.csv")
    (folder / "stream-3.csv").mkdir()
    halo.run("report", folder).succeeded()
    assert (tmp_path / "pulse.html").exists()


def test_the_page_fits_a_phone(halo, tmp_path, browser):
    halo.run("report", session(halo, tmp_path, "--ppg", "--accel", adapter="virtual:fast,drop-after=200")).succeeded()
    browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=3, mobile=True)
    try:
        facts = shown(browser, tmp_path / "session.csv.html")
        labels = browser.run("""[...document.querySelectorAll('svg.plot')].map(plot =>
            [...plot.querySelectorAll('text')].map(text => text.getBoundingClientRect()).filter(box => box.width)
                .map(box => [box.left, box.right, box.top, box.height]))""")
        cut = browser.run("[...document.querySelectorAll('.wide')].filter(part => part.scrollWidth > part.clientWidth).length")
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")
    assert not facts["wide"] and cut == 0 and all(plot["inside"] for plot in facts["plots"])
    for plot in labels:
        assert min(height for *_, height in plot) >= 11
        times = sorted(box for box in plot if box[2] == max(box[2] for box in plot))
        assert len(times) >= 2 and all(left[1] < right[0] for left, right in zip(times, times[1:]))
        assert len(plot) - len(times) >= 2


def test_a_long_session_is_a_small_page(halo, tmp_path, browser):
    """A day of samples, with a minute of silence in the middle; one value is a spike."""
    file = tmp_path / "day.csv"
    with open(file, "w") as out:
        out.write("t,time,ring,seq,kind,raw,note\n")
        for number in range(86400):
            if number == 43200:
                out.write(f"{number}.0,,C0:11:22:33:44:55,0,gap,,\"lost, and found\"\n")
            if 43200 <= number < 43260:
                continue
            value = 60000 if number == 1000 else 1000 + number % 100
            time = f"2026-11-23T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000000+01:00"
            out.write(f"{number}.000000,{time},C0:11:22:33:44:55,{number},ppg,{value},\n")
    halo.run("report", file).succeeded()
    page = tmp_path / "day.csv.html"
    assert page.stat().st_size < 100_000 and page.stat().st_mode & 0o777 == 0o600
    facts = shown(browser, page)
    assert facts["marks"] == [["12 h", "C0:11:22:33:44:55", "gap", "lost, and found"]]
    assert facts["rows"][1][1:6] == ["86340", "1.00", "0.00", "1000.0", "1"]
    assert "60000" in facts["text"] and "23 h 59 min 59 s" in facts["text"] and "12:00" in facts["text"]


def test_text_of_the_file_is_no_markup(halo, tmp_path, browser):
    file = tmp_path / "<b>x.jsonl"
    script = "<script>document.title='bad'</script><img src=x onerror=alert(1)>\u202e"
    record = {"t": 0, "time": script, "ring": script, "seq": 0, "kind": "ppg", "raw": 3}
    file.write_text(json.dumps(record) + "\n" + json.dumps(record | {"kind": script, "reason": script}) + "\n")
    (tmp_path / "<b>x.jsonl.json").write_text(json.dumps({"Ring": {"Name": script}, "GeneratedBy": {"Command": script}}))
    halo.run("report", file).succeeded()
    facts = shown(browser, tmp_path / "<b>x.jsonl.html")
    assert facts["title"].startswith("<b>x") and facts["text"].count("<script>") >= 4
    assert browser.run("document.querySelectorAll('script, img, b').length") == 0


def test_what_is_no_session_is_refused(halo, tmp_path):
    random.seed(7)
    for name, content, code, reason in [
        ("noise.csv", random.randbytes(100_000), BAD_DATA, "no records"), ("empty.csv", b"", BAD_DATA, "no records"),
        ("long.csv", b"x" * 3_000_000, BAD_DATA, "not text"),
        ("other.csv", b"a,b\n1,2\n", BAD_DATA, "no records"),
    ]:
        file = tmp_path / name
        file.write_bytes(content)
        result = halo.run("report", file)
        assert result.code == code and reason in result.err and not (tmp_path / f"{name}.html").exists()
    halo.run("report", tmp_path / "none.csv").failed(NO_FILE, saying="none.csv")
    (tmp_path / "folder").mkdir()
    halo.run("report", tmp_path / "folder").failed(NO_FILE, saying="no csv or jsonl")


def test_damaged_lines_are_counted(halo, tmp_path, browser):
    file = session(halo, tmp_path, "--ppg")
    lines = file.read_text().splitlines(keepends=True)
    lines[5], lines[9] = "nonsense\n", '"' * 1000 + "\n"
    file.write_text("".join(lines) + "1.0,half a li")
    result = halo.run("report", file).succeeded()
    assert "2 lines" in result.err
    assert "2 lines" in shown(browser, tmp_path / "session.csv.html")["text"]


def test_the_page_can_go_to_standard_output(halo, tmp_path):
    file = session(halo, tmp_path, "--ppg")
    page = halo.run("report", file, "--output", "-").succeeded().out
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    os.mkfifo(tmp_path / "page")
    process = halo.start("report", file, "--output", tmp_path / "page")
    assert (tmp_path / "page").read_text() == page and halo.wait(process).code == 0
    os.mkfifo(tmp_path / "fifo")
    process = halo.start("report", tmp_path / "fifo")
    with open(tmp_path / "fifo", "w"):
        process.send_signal(signal.SIGINT)
        assert halo.wait(process).code == 130


def test_the_style_sheet_has_only_what_the_page_has():
    sheet = (ROOT / "Sources/Program/ReportAssets/Style/session.css").read_text()
    page = "".join(path.read_text() for path in (ROOT / "Sources/Program/Views/Reports/Session").glob("*.swift"))
    for kind, name in re.findall(r"([.#])([a-z]\w*)(?=[^;}]*\{)", sheet):
        attribute = "id" if kind == "#" else "class"
        made = r"curve c\(" if re.fullmatch(r"c\d", name) else name
        assert f'{attribute}="{made}' in page or f'{attribute}=\\"{made}' in page, name
