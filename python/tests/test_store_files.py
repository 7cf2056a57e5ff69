"""A store wherever it is: in a folder that is not writable, with a write-ahead log that has the last changes.

SQLite wants to create files beside such a database to read it: sifiveinc/wake 501,
fr-ser/grafana-sqlite-datasource 168.
With `immutable=1` alone, it would leave out what is in the log: vshulcz/deja-vu 2702.
"""

import os
import shutil
import sqlite3
import struct
import subprocess
import sys

import pytest

import halo_raw

pytestmark = pytest.mark.verdict

PRINT = "import halo_raw, sys; print(halo_raw.read_store('stress', sys.argv[1])['stress'].sum())"


def stress_of(path) -> subprocess.CompletedProcess:
    """Read as a user whom permissions bind, which the administrator is only without his capabilities."""
    bound = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
    if bound and (not shutil.which("setpriv") or subprocess.run([*bound, "true"], capture_output=True).returncode):
        pytest.skip("needs setpriv, or a user who is not the administrator")
    return subprocess.run([*bound, sys.executable, "-c", PRINT, path], capture_output=True, text=True)


@pytest.fixture
def closed(store, tmp_path):
    """A folder in which nothing can be created, with a store."""
    folder = tmp_path / "closed"
    folder.mkdir()
    shutil.copy(store, folder / "rings.sqlite")
    folder.chmod(0o555)
    yield folder / "rings.sqlite"
    folder.chmod(0o755)


def test_a_store_in_a_folder_that_is_not_writable(closed, store):
    expected = halo_raw.read_store("stress", store)["stress"].sum()
    result = stress_of(closed)
    assert result.stdout == f"{expected}\n", result.stderr
    assert [path.name for path in closed.parent.iterdir()] == ["rings.sqlite"]


def test_what_is_in_the_log_alone_is_read(closed, store, tmp_path):
    shutil.copy(store, tmp_path / "rings.sqlite")
    with sqlite3.connect(tmp_path / "rings.sqlite") as database:
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute("UPDATE stress SET stress = 1")
        database.commit()
        # As a copy that was made while a program had it open.
        closed.parent.chmod(0o755)
        for ending in ("", "-wal"):
            shutil.copy(tmp_path / f"rings.sqlite{ending}", f"{closed}{ending}")
        closed.parent.chmod(0o555)
    database.close()
    assert os.path.getsize(f"{closed}-wal") > 0
    result = stress_of(closed)
    assert result.stdout == f"{len(halo_raw.read_store('stress', store))}\n", result.stderr
    assert {path.name for path in closed.parent.iterdir()} == {"rings.sqlite", "rings.sqlite-wal"}


def test_a_store_with_a_journal_is_refused(store, tmp_path):
    """Whoever hands a store on can put a rollback journal beside it: it replaces pages of the file, and SQLite deletes the file
    that it names, as its super-journal. Or a program was interrupted: without the journal, half of what it wrote would be read."""
    file, victim = tmp_path / "rings.sqlite", tmp_path / "victim"
    shutil.copy(store, file)
    victim.write_text("precious")
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(victim)
    header = (magic + struct.pack(">5I", 1, 0, 1, 512, 4096)).ljust(512, b"\0")
    end = struct.pack(">I", 2**30 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    (tmp_path / "rings.sqlite-journal").write_bytes(header + struct.pack(">I", 1) + bytes(4096 + 4) + end)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OSError, match="move the journal away"):
        halo_raw.read_store("stress", file)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_store_that_may_not_be_read_is_not_called_another_file(closed):
    closed.chmod(0)
    result = stress_of(closed)
    assert "PermissionError" in result.stderr and "not a store" not in result.stderr


def test_what_firmware_makes_up_is_marked(store):
    for kind in ("stress", "hrv"):
        assert halo_raw.read_store(kind, store)["estimate"].tolist() == [True] * len(halo_raw.read_store(kind, store))
    assert "estimate" not in halo_raw.read_store("heart-rate", store)
