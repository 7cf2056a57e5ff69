"""Files that records go to as they happen: what becomes of an earlier one, of two writers, and of a file that logrotate moves,
copies or empties meanwhile."""

import os
import signal
import time

import pandas as pd
import pytest
from program import NO_FILE

# What writes records that can't be made again, and whether the file has a header of bytes.
WAYS = pytest.mark.parametrize("option, name", [("--output", "s.csv"), ("--output", "s.jsonl"), ("--record", "s.btsnoop")])


def until(met, process=None):
    deadline = time.monotonic() + 60
    while not met():
        assert time.monotonic() < deadline and (process is None or process.poll() is None)
        time.sleep(0.01)


@WAYS
def test_an_earlier_file_is_not_overwritten(halo, tmp_path, option, name):
    """The same command line, given once more."""
    file = tmp_path / name
    words = ("stream", "--ppg", "--count", "5", option, file)
    halo.run(*words, adapter="virtual:fast").succeeded()
    first, described = file.read_bytes(), (tmp_path / f"{name}.json")
    description = described.read_bytes() if option == "--output" else b""
    result = halo.run(*words, adapter="virtual:fast").failed(NO_FILE, saying="it has data already; use another name, or --replace")
    assert name in result.err and file.read_bytes() == first
    assert option != "--output" or described.read_bytes() == description
    halo.run(*words[:3], "6", *words[4:], "--replace", adapter="virtual:fast").succeeded()
    assert file.read_bytes() != first and len(file.read_bytes()) > len(first)
    # A file that mktemp has made has no data.
    file.write_bytes(b"")
    halo.run(*words, adapter="virtual:fast").succeeded()


@WAYS
def test_a_file_has_one_writer(halo, tmp_path, option, name):
    file = tmp_path / name
    first = halo.start("stream", "--ppg", "--replace", option, file, adapter="virtual:fast")
    until(lambda: file.exists() and file.stat().st_size > 200, first)
    for words in [(), ("--replace",)]:
        halo.run("stream", "--ppg", "--count", "5", option, file, *words, adapter="virtual:fast").failed(
            NO_FILE, saying="another program is writing it")
    first.send_signal(signal.SIGINT)
    halo.wait(first)
    if name.endswith("csv"):
        frame = pd.read_csv(file)
        assert list(frame["seq"]) == list(range(len(frame)))


def rows(*files):
    return pd.concat([pd.read_csv(file) for file in files])


@pytest.mark.parametrize("folder", [False, True])
def test_hang_up_opens_the_file_anew(halo, tmp_path, folder):
    """A service whose file logrotate has renamed (logrotate(8), `create` with `postrotate kill -HUP`): each file begins with its
    columns, and no row is lost. In a folder, the next file begins."""
    file = tmp_path / ("data/" if folder else "s.csv")
    process = halo.start(
        "stream", "--ppg", "--output", file if not folder else f"{file}/", adapter="virtual:fast", start_new_session=True)

    def files():
        return sorted((tmp_path / "data").glob("*.csv*")) if folder else sorted(tmp_path.glob("s.csv*"))

    def parts():
        return [path for path in files() if not path.name.endswith(".json")]

    for number in range(1, 4):
        until(lambda: len(parts()) == number and all(path.stat().st_size > 300 for path in parts()), process)
        if not folder:
            file.rename(tmp_path / f"s.csv.{number}")
        process.send_signal(signal.SIGHUP)
    until(lambda: len(parts()) == 4 and all(path.stat().st_size > 300 for path in parts()), process)
    # Without a move, the same file goes on.
    if not folder:
        inode = file.stat().st_ino
        process.send_signal(signal.SIGHUP)
        length = file.stat().st_size
        until(lambda: file.stat().st_size > length + 300, process)
        assert file.stat().st_ino == inode
    process.send_signal(signal.SIGINT)
    halo.wait(process).succeeded()
    frame = rows(*parts())
    assert sorted(frame["seq"]) == list(range(len(frame)))


@pytest.mark.parametrize("name", ["s.csv", "s.jsonl"])
def test_a_file_that_is_emptied(halo, tmp_path, name):
    """logrotate's `copytruncate`: a program that remembers its place leaves zeros before it (logrotate/logrotate 286 and 363,
    apache/airflow 25363, ossrs/srs 1554, stellar/stellar-core 2867)."""
    file = tmp_path / name
    process = halo.start("stream", "--ppg", "--output", file, adapter="virtual:fast")
    until(lambda: file.exists() and file.stat().st_size > 1000, process)
    os.truncate(file, 0)
    until(lambda: file.stat().st_size > 1000, process)
    process.send_signal(signal.SIGINT)
    halo.wait(process)
    assert b"\0" not in file.read_bytes()
    frame = pd.read_csv(file) if name == "s.csv" else pd.read_json(file, lines=True)
    assert len(frame) > 5 and list(frame["kind"].unique()) == ["ppg"]


@pytest.mark.parametrize("option, name", [("--output", "x.csv"), ("--output", "x.jsonl"), ("--record", "x.btsnoop")])
def test_a_file_name_is_no_folder(halo, tmp_path, option, name):
    for words in [("--rotate", "1h"), ("--keep", "1d")]:
        result = halo.run("stream", "--count", "5", option, tmp_path / name, *words, adapter="virtual:fast")
        result.failed(NO_FILE, saying="the name of a file")
        assert not (tmp_path / name).exists()
    halo.run("stream", "--count", "5", option, f"{tmp_path / name}/", "--rotate", "1h", adapter="virtual:fast").succeeded()
    assert (tmp_path / name).is_dir()


def test_a_size_is_a_limit(halo, tmp_path):
    halo.run("stream", "--count", "500", "--output", f"{tmp_path}/d", "--rotate", "4kB", adapter="virtual:fast").succeeded()
    sizes = [file.stat().st_size for file in (tmp_path / "d").glob("*.csv")]
    assert len(sizes) > 5 and max(sizes) <= 4000 and sum(size > 3500 for size in sizes) >= len(sizes) - 1
