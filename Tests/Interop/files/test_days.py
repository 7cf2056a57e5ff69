"""The page of a ring's days (`report --days`): its numbers beside those of pandas from the same store, and what Chromium shows
of it on a phone, on a desk, by night and on paper. What owners ask of other clients: a night with its stages (tahnok/colmi_r02_client
36, 50), and all of it on one page that can be printed."""

import base64
import datetime
import re
import sqlite3

import browser as browsers
import pandas as pd
import pytest
from program import BAD_DATA, NOT_FOUND, NO_FILE, ROOT, USAGE

LAST = "2026-11-21"
browser = browsers.fixture()


@pytest.fixture(scope="module")
def month(halo, tmp_path_factory):
    """Three weeks of a ring that was read at the end of each, but for the last hours of the last day."""
    store = tmp_path_factory.mktemp("month") / "rings.sqlite"
    for day in ("07", "14", "21"):
        halo.run("sync", "--store", store, adapter=f"virtual:fast,clock=2026-11-{day}T20:30:00,seed={day}").succeeded()
    return store


@pytest.fixture(scope="module")
def page(halo, month):
    path = month.parent / "month.html"
    halo.run("report", "--days", "21", "--to", LAST, "--store", month, "--output", path).succeeded()
    return path


def frame(store, table, column="time"):
    rows = pd.read_sql(f"SELECT * FROM {table}", sqlite3.connect(store), parse_dates=[column])
    return rows.set_index(rows[column].dt.date)


def shown(browser, page):
    browser.open(page)
    facts = browser.run("""({
        title: document.title, text: document.body.innerText,
        tiles: Object.fromEntries([...document.querySelectorAll('.tiles > div')].map(tile =>
            [tile.children[0].textContent, tile.children[1].textContent])),
        plots: Object.fromEntries([...document.querySelectorAll('svg.plot')].map(plot => [plot.getAttribute('aria-label'),
            [...plot.querySelectorAll('g > title')].map(title => title.textContent)])),
        stages: [...document.querySelectorAll('#night rect > title')].map(title => title.textContent),
        weeks: [...document.querySelectorAll('#weeks tr:not(.heads)')].map(row => [...row.children].map(cell => cell.textContent)),
        sport: [...document.querySelectorAll('#sport tr:not(.heads)')].map(row => [...row.children].map(cell => cell.textContent)),
        scripts: document.querySelectorAll('script, img, link[rel=stylesheet]').length,
        wide: document.documentElement.scrollWidth > innerWidth,
    })""")
    assert not browser.messages and all(url.startswith(("file:", "data:")) for url in browser.requests)
    return facts


def minutes(text):
    return sum(int(number) * {"h": 60, "min": 1}[unit] for number, unit in re.findall(r"(\d+) (h|min)", text))


def resting(times, rates):
    """The lowest mean of 30 minutes, in another way: of each window that ends with a value."""
    series = pd.Series(list(rates), index=pd.DatetimeIndex(times))
    window = series.rolling("30min", closed="right")
    spans = pd.Series((series.index - series.index[0]).total_seconds(), index=series.index).rolling("30min", closed="right")
    return window.mean()[(window.count() >= 3) & (spans.max() - spans.min() >= 1200)].min()


@pytest.mark.verdict
def test_the_night_has_the_numbers_of_the_store(halo, month, page, browser):
    facts = shown(browser, page)
    store = sqlite3.connect(month)
    night, start, end = store.execute(
        f'SELECT id, start, "end" FROM sleep WHERE nap = 0 AND "end" LIKE \'{LAST}%\'').fetchone()
    stages = store.execute("SELECT stage, duration_min FROM sleep_stages WHERE sleep = ? ORDER BY position", (night,)).fetchall()
    sums = {kind: sum(length for stage, length in stages if stage == kind) for kind in (2, 3, 4, 5)}
    assert f"This night, {start[11:16]} to {end[11:16]}" in facts["text"]
    tiles = facts["tiles"]
    for name, kind in (("Light", 2), ("Deep", 3), ("REM", 4), ("Awake", 5)):
        assert minutes(tiles[name]) == sums[kind]
    assert minutes(tiles["Asleep"]) == sums[2] + sums[3] + sums[4]
    assert len(facts["stages"]) == len(stages)
    first = datetime.datetime.fromisoformat(start)
    names = {2: "Light", 3: "Deep", 4: "REM", 5: "Awake"}
    for (stage, length), text in zip(stages, facts["stages"]):
        last = first + datetime.timedelta(minutes=length)
        assert text == f"{names[stage]}, {first:%H:%M} to {last:%H:%M}, {length} min"
        first = last
    skin = frame(month, "temperature")
    inside = skin[(skin["time"] >= start.replace("T", " ")) & (skin["time"] < end.replace("T", " "))]
    assert float(tiles["Skin temperature"].split()[0]) == pytest.approx(inside["temperature_celsius"].mean(), abs=0.051)
    rates = frame(month, "heart_rate").loc[datetime.date.fromisoformat(LAST)]
    wanted = resting(rates["time"], rates["heart_rate_bpm"])
    assert float(tiles["Resting heart rate"].split()[0]) == pytest.approx(wanted, abs=0.051)
    assert tiles["HRV"].endswith("estimate")


@pytest.mark.verdict
def test_the_days_and_weeks_are_those_of_pandas(halo, month, page, browser):
    facts = shown(browser, page)
    steps = frame(month, "steps").groupby(level=0)["steps"].sum()
    plots = facts["plots"]
    columns = dict(text.split(": ", 1) for text in next(v for k, v in plots.items() if k.startswith("Steps") and "hour" not in k))
    assert len(columns) == len(steps)
    for day, count in steps.items():
        assert columns[f"{day.day} Nov"].split(" steps")[0].replace("\xa0", "") == str(count)
    spo2 = frame(month, "spo2").groupby(level=0).agg({"minimum_percent": "min", "maximum_percent": "max"})
    columns = dict(text.split(": ", 1) for text in next(v for k, v in plots.items() if k.startswith("SpO2")))
    for day, row in spo2.iterrows():
        assert columns[f"{day.day} Nov"].startswith(f"{row.iloc[0]:.1f} to {row.iloc[1]:.1f} %")
    weeks = {row[0]: row for row in facts["weeks"]}
    assert list(weeks) == ["16 Nov to 21 Nov", "9 Nov to 15 Nov", "2 Nov to 8 Nov", "1 Nov"]
    days = [datetime.date(2026, 11, number) for number in range(9, 16)]
    mean = steps[[day for day in days if day in steps.index]].mean()
    assert int(weeks["9 Nov to 15 Nov"][6].replace("\xa0", "")) == pytest.approx(mean, abs=0.51)
    rates = frame(month, "heart_rate")
    each = [resting(rates.loc[day]["time"], rates.loc[day]["heart_rate_bpm"]) for day in days if day in rates.index]
    assert float(weeks["9 Nov to 15 Nov"][5]) == pytest.approx(sum(each) / len(each), abs=0.051)
    sports = frame(month, "sport").sort_index(ascending=False)
    assert len(facts["sport"]) == len(sports) > 3
    assert f"{sports['heart_rate_bpm'].iloc[0]} bpm" in facts["sport"][0][4]
    # The hours of the last day, of which the evening is missing: it is no zero.
    hours = next(v for k, v in plots.items() if k.startswith("Heart rate by hour"))
    by_hour = rates.loc[datetime.date.fromisoformat(LAST)].groupby(lambda _: 0)["time"].apply(lambda t: sorted(set(t.dt.hour))).iloc[0]
    assert [int(text[:2]) for text in hours] == by_hour and len(by_hour) < 24
    assert f"{24 - len(by_hour)} of 24 have no value" in next(k for k in plots if k.startswith("Heart rate by hour"))


@pytest.mark.parametrize("width,dark", [(390, False), (390, True), (1280, False), (1280, True)])
def test_the_page_fits(month, page, browser, width, dark):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=850, deviceScaleFactor=1, mobile=width < 500)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
    try:
        facts = shown(browser, page)
        labels = browser.run("""[...document.querySelectorAll('svg.plot')].map(plot =>
            [...plot.querySelectorAll('text')].map(text => text.getBoundingClientRect()).filter(box => box.width)
                .map(box => [box.left, box.right, box.top, box.height]))""")
        cut = browser.run("[...document.querySelectorAll('.wide')].filter(part => part.scrollWidth > part.clientWidth).length")
        ground = browser.run("getComputedStyle(document.body).backgroundColor")
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")
        browser.call("Emulation.setEmulatedMedia", features=[])
    assert not facts["wide"] and cut == 0 and facts["scripts"] == 0 and len(labels) >= 10
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == dark
    for plot in labels:
        lowest = max(box[2] for box in plot)
        times = sorted(box for box in plot if box[2] == lowest)
        assert len(times) >= 2 and all(left[1] < right[0] for left, right in zip(times, times[1:])), times
        assert 0 <= times[0][0] and times[-1][1] <= width


def test_it_prints_on_two_sheets(month, page, browser):
    """A4, in light colors where the screen is dark: the night, the hours and the days are on the first."""
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.open(page)
    document = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", document)) == 2
    boxes = set(re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", document))
    assert {(round(float(x)), round(float(y))) for x, y in boxes} == {(595, 842)}
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    ground, text = browser.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    assert (ground, text) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")


def test_what_is_missing_is_said(halo, month, tmp_path, browser):
    def report(*options, store=month):
        halo.run("report", *options, "--store", store, "--output", tmp_path / "x.html").succeeded()
        return shown(browser, tmp_path / "x.html")

    facts = report("--days", "30", "--to", "2026-11-25")
    assert "No night that ended on 25 November is stored. This is the last one." in facts["text"]
    assert "The newest value is of 21 November, 20:30" in facts["text"]
    facts = report("--days", "3", "--to", "2020-01-03")
    assert "No night of these days is stored." in facts["text"] and "The store has no data of these days" in facts["text"]
    assert not facts["plots"] and facts["text"].count("not stored") >= 7
    # A ring of an older family has no REM, and a store without temperatures shows none.
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(month.read_bytes())
    store = sqlite3.connect(copy)
    store.execute("UPDATE sleep_stages SET stage = 2 WHERE stage = 4")
    store.execute("DELETE FROM temperature")
    store.execute("DELETE FROM heart_rate WHERE substr(time, 15, 2) NOT IN ('00', '30')")
    store.commit()
    tiles = report("--days", "7", "--to", LAST, store=copy)["tiles"]
    assert {tiles[name] for name in ("REM", "Skin temperature", "Resting heart rate")} == {"not stored"}


def test_a_ring_that_keeps_utc_is_shown_in_the_zone_of_its_owner(halo, tmp_path, browser):
    """The store has the ring's clock and its offset: 23:45 in UTC is 8:45 of the next day in Tokyo."""
    store = tmp_path / "rings.sqlite"
    halo.run("sync", "--store", store, adapter="virtual:fast,clock=2026-11-21T20:30:00").succeeded()
    rows = sqlite3.connect(store)
    start, end = rows.execute("SELECT start, \"end\" FROM sleep WHERE nap = 0 AND \"end\" LIKE '2026-11-21%'").fetchone()
    rows.execute("UPDATE syncs SET policy = 'utc', utc_offset = 0")
    for table in ("sleep", "steps", "heart_rate"):
        rows.execute(f"UPDATE {table} SET utc_offset = 0")
    rows.commit()
    halo.environment["TZ"] = "JST-9"
    halo.run("report", "--days", "2", "--to", LAST, "--store", store, "--output", tmp_path / "x.html").succeeded()
    wanted = [(datetime.datetime.fromisoformat(time) + datetime.timedelta(hours=9)).strftime("%H:%M") for time in (start, end)]
    assert f"This night, {wanted[0]} to {wanted[1]}" in shown(browser, tmp_path / "x.html")["text"]


def test_a_store_may_hold_any_value(halo, month, tmp_path, browser):
    """Nothing traps, loops or grows: years 1 and 9999, counts of 32 bits, nights of centuries, a million stages and rates."""
    copy = tmp_path / "wild.sqlite"
    copy.write_bytes(month.read_bytes())
    store = sqlite3.connect(copy)
    day = f"{LAST}T01:00:00"
    for time in ("0001-01-01T00:00:00", "9999-12-31T23:59:59", day):
        store.execute("INSERT INTO steps VALUES (1, ?, 86400, 4294967295, 4294967295, 4294967.295, 1)", (time,))
        store.execute("INSERT INTO heart_rate VALUES (1, ?, -86400, 0, 65535, 1)", (time,))
        store.execute("INSERT INTO temperature VALUES (1, ?, 1, -655.35, 1)", (time,))
        store.execute("INSERT INTO hrv VALUES (1, ?, 1, 65535, 1)", (time,))
        store.execute("INSERT INTO spo2 VALUES (1, ?, 1, 65535, 0, 1)", (time,))
        store.execute("INSERT INTO sport VALUES (1, ?, 5, 'run', 4294967295, 4294967295, 4294967.295, 0, 4294967295, 0, NULL, 255, ?, X'', 1)",
                      (time, " ".join(["255", "30", "250"] * 100_000)))
    for number, (start, end) in enumerate([("0001-01-01T00:00:00", f"{LAST}T06:00:00"), (f"{LAST}T07:00:00", day), (day, day)]):
        store.execute("INSERT INTO sleep (id, ring, start, \"end\", nap, sync, utc_offset) VALUES (?, 1, ?, ?, 0, 1, 0)", (900 + number, start, end))
        store.executemany("INSERT INTO sleep_stages VALUES (?, ?, ?, 65535)", [(900 + number, place, place % 7) for place in range(100_000)])
    store.executemany("INSERT INTO sport VALUES (1, ?, ?, 'walk', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, '80 90', X'', 1)",
                      [(day, number) for number in range(10, 2010)])
    store.execute("UPDATE rings SET name = '<script>alert(1)</script>', firmware = '\u202e<b>'")
    store.commit()
    for days, last in (("366", LAST), ("1", LAST), ("366", "0001-01-01"), ("2", "0001-01-02")):
        halo.run("report", "--days", days, "--to", last, "--store", copy, "--output", tmp_path / "x.html").succeeded()
        text = (tmp_path / "x.html").read_text()
        assert len(text) < 1_500_000 and not re.search(r"\b(nan|inf)\b|NaN|<script|<b>", text), last
        assert shown(browser, tmp_path / "x.html")["scripts"] == 0
    assert "The newest 50 of 2001 sessions are listed" in halo.run(
        "report", "--days", "1", "--to", LAST, "--store", copy, "--output", "-").succeeded().out


def test_what_cannot_be_shown_is_refused(halo, month, tmp_path):
    halo.run("report").failed(USAGE, saying="--days N")
    halo.run("report", "--days", "0", "--store", month).failed(USAGE, saying="--days wants")
    halo.run("report", "--to", LAST, "x.csv").failed(USAGE, saying="--to needs --days")
    halo.run("report", "--days", "2", "--to", "9998-01-01", "--store", month).failed(USAGE, saying="has not begun")
    halo.run("report", "--days", "2", "--store", tmp_path / "none").failed(NO_FILE, saying="halo-raw sync")
    halo.run("report", "R02_CAFE", "--days", "2", "--store", month).failed(NOT_FOUND, saying="no such ring")
    (tmp_path / "x").write_text("text" * 9999)
    halo.run("report", "--days", "2", "--store", tmp_path / "x").failed(BAD_DATA, saying="not a store")


def test_the_page_is_written_as_other_files_are(halo, month, tmp_path):
    """It is readable by its owner alone, keeps the mode of one that is there, and has the day as its name."""
    import subprocess
    process = subprocess.run([halo.path, "report", "--days", "7", "--to", LAST, "--store", month], cwd=tmp_path, env=halo.environment,
                             capture_output=True, text=True, timeout=60)
    page = tmp_path / f"report-{LAST}.html"
    assert process.returncode == 0 and f"wrote report-{LAST}.html" in process.stderr and page.stat().st_mode & 0o777 == 0o600
    page.chmod(0o640)
    halo.run("report", "R02_BEEF", "--days", "7", "--to", LAST, "--store", month, "--output", page).succeeded()
    assert page.stat().st_mode & 0o777 == 0o640
    out = halo.run("report", "--days", "7", "--to", LAST, "--store", month, "--output", "-").succeeded().out
    assert out.startswith("<!doctype html>") and out.endswith("</html>\n")


def test_the_style_sheet_has_only_what_the_page_has():
    sheet = (ROOT / "Sources/Program/ReportAssets/Style/days.css").read_text()
    folder = ROOT / "Sources/Program/Views/Reports"
    page = "".join(path.read_text() for path in [*folder.glob("Days/*.swift"), *folder.glob("Session/*.swift")])
    for kind, name in re.findall(r"([.#])([a-z]\w*)(?=[^;}]*\{)", sheet):
        assert re.search(rf'\b{name}\b|c\\\(index', page), kind + name
