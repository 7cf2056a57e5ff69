"""docs/python.md: its code runs, and draws the picture that it shows. `python test_page.py` draws it anew."""

import contextlib
import io
import os
import re
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "python/src"))

import halo_raw  # noqa: E402

pytestmark = pytest.mark.verdict

PICTURE = ROOT / "docs/pictures/pulse.svg"
PAGE = (ROOT / "docs/python.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def drawn(program, folder):
    """The picture, and the names that the first block leaves."""
    import matplotlib

    matplotlib.use("svg")
    # The same bytes each time: no date, no random names, text as text.
    matplotlib.rcParams.update({"svg.hashsalt": "halo-raw", "svg.fonttype": "none"})
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    adapter = "virtual:fast,clock=2026-11-21T13:45:00"
    output = folder / "session.csv"
    program("stream", "--duration", "10s", "--interval", "7.5..15", "--output", output, "--adapter", adapter)
    names: dict[str, object] = {}
    with contextlib.chdir(folder):
        exec(BLOCKS[0], names)
    return (folder / "pulse.svg").read_text(), names


def test_the_picture_is_the_one_that_the_code_draws(program, tmp_path):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        picture, names = drawn(program, tmp_path)
    assert re.match(r"25\d samples, 25\.\d a second", output.getvalue())
    assert picture == PICTURE.read_text(), "python/tests/test_page.py draws it anew"


def stand_ins():
    """HeartPy and NeuroKit2, as far as the page uses them: what they are given is what they accept."""
    def accepts(values, hertz):
        assert values.dtype == float and np.isfinite(values).all() and len(values) > 100
        assert hertz == pytest.approx(25, rel=0.05)

    def process(values, *, sample_rate):
        accepts(values, sample_rate)
        return {}, {"bpm": 70.0}

    def filter_signal(values, cutoff, *, sample_rate, order, filtertype):
        accepts(values, sample_rate)
        assert cutoff[1] < sample_rate / 2 and filtertype == "bandpass"
        return values

    def ppg_process(values, *, sampling_rate):
        accepts(values, sampling_rate)
        return pd.DataFrame({"PPG_Rate": [70.0]}), {}

    return {
        "heartpy": types.SimpleNamespace(process=process, filter_signal=filter_signal),
        "neurokit2": types.SimpleNamespace(ppg_process=ppg_process)}


def test_the_page_works_in_order_from_an_empty_home(program, tmp_path, monkeypatch):
    """With a virtual ring, and nothing that another block has not made."""
    import matplotlib

    matplotlib.use("svg")
    (tmp_path / "lsl.cfg").write_text("[multicast]\nResolveScope = machine\n[log]\nlevel = -3\n")
    monkeypatch.setenv("HALO_ADAPTER", "virtual:fast")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "")
    monkeypatch.setenv("LSLAPICFG", str(tmp_path / "lsl.cfg"))
    for name, module in stand_ins().items():
        monkeypatch.setitem(sys.modules, name, module)
    parts = re.findall(r"^```python\n.*?^```|^    halo-raw [^\n]*$", PAGE, re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(io.StringIO()):
        for part in parts:
            if part.startswith("```"):
                exec(part.removeprefix("```python\n").removesuffix("```"), names)
            else:
                counted = ["--adapter", "virtual:fast,counted,lose=100"] if "counted" in part else []
                program(*part.split()[1:], *counted)
    assert len(parts) == len(BLOCKS) + 5
    assert names["wide"][["ppg_raw", "accel_x_g"]].notna().all(axis="columns").sum() > 200
    assert names["week"]["run"].nunique() == 2 and len(names["hour"]) == len(names["week"])
    assert (tmp_path / "session.edf").stat().st_size > 1000 and (tmp_path / "session.parquet").exists()
    # The place of the data that the page names.
    assert "`~/.local/share/halo-raw/rings.sqlite`" in PAGE and "`virtual-rings.sqlite`" in PAGE
    program("sync")
    assert (tmp_path / ".local/share/halo-raw/virtual-rings.sqlite").exists()
    with pytest.raises(FileNotFoundError, match="virtual rings is in .*virtual-rings.sqlite"):
        halo_raw.read_store("heart-rate")


def test_lost_packets_are_counted(program, tmp_path):
    adapter = "virtual:fast,counted,lose=100"
    options = ("--ppg", "--duration", "20s", "--output", tmp_path / "counted.csv")
    program("stream", *options, "--adapter", adapter)
    output = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(output):
        exec("import halo_raw\n" + next(block for block in BLOCKS if "lost_packets" in block), {})
    assert re.match(r"5 lost, 1\.0\d%|4 lost, 0\.\d\d%", output.getvalue()), output.getvalue()


def test_two_rings_are_two_columns(store, tmp_path):
    (tmp_path / "rings.sqlite").write_bytes(Path(store).read_bytes())
    names: dict[str, object] = {}
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(io.StringIO()):
        exec("import halo_raw\n" + next(block for block in BLOCKS if "read_store" in block), names)
    assert len(names["by_ring"].columns) == 2


if __name__ == "__main__":
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        halo = os.environ.get("HALO_RAW") or ROOT / ".build/release/halo-raw"
        text, _ = drawn(lambda *words: subprocess.run([halo, *map(str, words)], check=True), Path(folder))
    PICTURE.write_text(text)
