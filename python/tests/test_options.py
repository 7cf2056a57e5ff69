"""Names, paths and kinds are no options of the program, whatever they begin with (CWE-88)."""

import asyncio

import pytest
from conftest import CLOCK, ROOT

import halo_raw

pytestmark = pytest.mark.verdict


def collect(**options):
    async def run():
        return [record async for record in halo_raw.stream(arguments=["--count", "1"], **options)]
    return asyncio.run(run())


def test_a_ring_and_an_adapter_are_no_options(tmp_path):
    record = tmp_path / "injected.btsnoop"
    for options in ({"ring": f"--record={record}"}, {"ring": "--all"}, {"ring": "-v"}):
        with pytest.raises(halo_raw.ProgramError):
            collect(adapter=f"{CLOCK}", **options)
    with pytest.raises(halo_raw.ProgramError):
        collect(adapter=f"--record={record}")
    with pytest.raises(ValueError, match="no kind record="):
        collect(adapter=CLOCK, kinds=[f"record={record}"])
    assert not record.exists() and len(collect(adapter=CLOCK, ring="R02_BEEF")) == 1


def test_a_path_is_no_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    capture = (ROOT / "captures/virtual-stream.btsnoop").read_bytes()
    for name in ("--write=injected", "-v", "--"):
        (tmp_path / name).write_bytes(capture)
        assert len(halo_raw.read_capture(name)) > 10 and len(halo_raw.read_capture(name, samples=True)) > 10
    assert not (tmp_path / "injected").exists()


def test_a_capture_in_any_locale(monkeypatch):
    """The program prints UTF-8, whatever the locale is."""
    path = ROOT / "captures/virtual-stream.btsnoop"
    expected = halo_raw.read_capture(path)
    monkeypatch.setenv("LC_ALL", "C")
    assert halo_raw.read_capture(path).equals(expected)


def test_a_line_separator_in_a_name_splits_no_line(tmp_path):
    """A program that prints what a device with such a name makes `decode` print."""
    stand_in = tmp_path / "halo-raw"
    lines = '{"frame":1,"time":0.5,"name":"a\u2028b\u0085c"}\n{"frame":2,"time":1}'
    stand_in.write_text(f"#!/bin/sh\ncat << 'END'\n{lines}\nEND\n", encoding="utf-8")
    stand_in.chmod(0o755)
    packets = halo_raw.read_capture("x", program=stand_in)
    assert packets["frame"].tolist() == [1, 2] and packets["name"][0] == "a\u2028b\u0085c"
