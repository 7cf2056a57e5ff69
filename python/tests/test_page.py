"""docs/python.md: its code runs, and draws the picture that it shows. `python test_page.py` draws it anew."""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.verdict

ROOT = Path(__file__).parent.parent.parent
PICTURE = ROOT / "docs/pictures/pulse.svg"
BLOCKS = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.DOTALL | re.MULTILINE)


def drawn(program, folder):
    """The picture, and the names that the first block leaves."""
    import matplotlib

    matplotlib.use("svg")
    # The same bytes each time: no date, no random names, text as text.
    matplotlib.rcParams.update({"svg.hashsalt": "halo-raw", "svg.fonttype": "none"})
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    adapter = "virtual:fast,clock=2026-11-21T13:45:00"
    program("stream", "--duration", "10s", "--interval", "7.5..15", "--output", folder / "session.csv", "--adapter", adapter)
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
    # The other blocks work on what the first has read.
    with contextlib.chdir(tmp_path):
        exec(BLOCKS[1], names)
        exec(next(block for block in BLOCKS if "to_edf" in block), names)
    assert names["wide"]["ppg"].notna().sum() > 200
    assert (tmp_path / "session.edf").stat().st_size > 1000 and (tmp_path / "session.parquet").exists()


def test_lost_packets_are_counted(program, tmp_path):
    adapter = "virtual:fast,counted,lose=100"
    options = ("--ppg", "--duration", "20s", "--output", tmp_path / "counted.csv")
    program("stream", *options, "--adapter", adapter)
    output = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(output):
        exec("import halo_raw\n" + next(block for block in BLOCKS if "lost_packets" in block), {})
    assert re.match(r"5 lost, 1\.0\d%|4 lost, 0\.\d\d%", output.getvalue()), output.getvalue()


def test_two_rings_are_two_columns(store, tmp_path, monkeypatch):
    folder = tmp_path / "halo-raw"
    folder.mkdir()
    (folder / "rings.sqlite").write_bytes(Path(store).read_bytes())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec("import halo_raw\n" + next(block for block in BLOCKS if "read_store" in block), names)
    assert len(names["by_ring"].columns) == 2


if __name__ == "__main__":
    import subprocess

    sys.path.insert(0, str(ROOT / "python/src"))
    with tempfile.TemporaryDirectory() as folder:
        text, _ = drawn(
            lambda *words: subprocess.run([ROOT / ".build/release/halo-raw", *map(str, words)], check=True), Path(folder))
    PICTURE.write_text(text)
