"""What people come for, each whole, with the programs that they use beside halo-raw."""

import json
import os
import signal
import subprocess

import pytest
from program import OK


@pytest.mark.verdict
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_timeout_of_coreutils_ends_a_stream_in_order(halo, ring, tmp_path, number):
    """It signals its child, and then its whole group: one request, which arrives twice."""
    data, session = tmp_path / "pulse.csv", tmp_path / "session.btsnoop"
    process = subprocess.Popen(
        ["timeout", "--signal", str(int(number)), "600", halo.path, "stream", "--ppg", "--output", data, "--record",
         session, "--adapter", ring.adapter], env=halo.environment, stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True)
    ring.wait_until(lambda: data.exists() and data.stat().st_size > 4000, "stream in a file")
    # As at the end of its time: it has one way to signal.
    os.kill(process.pid, number)
    errors = process.communicate(timeout=20)[1]
    assert "second signal" not in errors and "samples" in errors, errors
    # The command was asked to end, and did; timeout says that the time was over, or what its child says.
    assert process.returncode in (OK, 124), errors
    ring.check_farewell()
    assert "a102" in ring.commands()
    description = json.loads((tmp_path / "pulse.csv.json").read_text())
    lines = data.read_text().splitlines()
    assert description["Printed"] == len(lines) - 1
    recorded = halo.run("decode", session, "--samples", "--ppg").succeeded().out.splitlines()
    assert recorded[:len(lines)] == lines
