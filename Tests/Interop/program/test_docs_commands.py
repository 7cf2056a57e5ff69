"""The commands in the pages run, in their order, from an empty home with the virtual ring; or here is why not.

An example that fails where its reader has nothing yet is no example (hbldh/bleak 1795, intercreate/smpclient 79).
docs/python.md is run by python/tests/test_page.py, the console blocks by test_docs.py, and README's section for the
Raspberry Pi on an emulated one by `scripts/test pi`.
"""

import ctypes.util
import lzma
import os
import re
import subprocess
import tarfile
import zipfile

import docs_blocks
import pytest
from program import NOT_FOUND, OK, ROOT

pytestmark = pytest.mark.verdict

PAGES = {str(path.relative_to(ROOT)): path.read_text() for path in [*docs_blocks.PAGES, ROOT / "README.md"]}
COMMANDS = {name: docs_blocks.indented(text)[0] for name, text in PAGES.items()}

# Why a command is not run: the first one that is found in it counts.
REASONS = [
    (r"^sudo |\| sudo |systemctl", "it changes the machine, as root"),
    (r"^(make|scripts/|swift |Tests/|Benchmarks/|pip |export PATH)", "it builds the project, or measures it"),
    (r"^(curl|tar|\./swiftly|scp|ssh)", "it needs the network, or another machine"),
    (r"--mqtt|^mosquitto_sub", "it needs a broker; files/test_mqtt.py has one"),
    (r"^halo-raw queues --", "it needs a queue with messages; files/test_brokers.py has one"),
    (r"^halo-raw mark", "it would mark what other tests stream; files/test_mark.py has streams of its own"),
    (r"^halo-raw (pair|bonds forget) Lock", "it needs a device that pairs; link/test_pairing.py has one"),
    (r"--plot\b", "it needs a terminal; test_terminal.py has one"),
    (r"^halo-raw (doctor|adapters)$", "it looks at the adapters of the machine; Tests/Kernel has one"),
    (r"replay phone.btsnoop --table", "it needs a phone's capture of the device; recordings/test_replay.py has one"),
]
# Blocks that are no commands: files, records, code, messages.
OTHER = re.compile(r"[\[{]|[A-Z]+=|frame,|let |dependencies: |list_del |user ")
# Where nothing runs, there is nothing to show; here, other tests may run.
CODES = {"status": {OK, NOT_FOUND}}
# Without one of these, a stream has no end.
ENDS = re.compile(r"--(count|duration)\b")


def reason(command: str) -> str | None:
    return next((why for pattern, why in REASONS if re.search(pattern, command)), None)


def adapted(command: str) -> str:
    """With an end, and with the virtual ring in place of a real one, in virtual time: hours take milliseconds."""
    if command.startswith("halo-raw stream") and not ENDS.search(command):
        command += " --count 100"
    command = re.sub(r"--adapter (virtual(?!:)|hci0)", "--adapter virtual:fast", command)
    return re.sub(r"--adapter virtual:(?!.*\bfast\b)", "--adapter virtual:fast,", command)


def captures(folder):
    """What other machines have made, under the names that the pages give it."""
    stream = ROOT / "captures/virtual-stream.btsnoop"
    for name in ("phone.log", "phone.pklg", "a.log.last", "a.log"):
        (folder / name).write_bytes(stream.read_bytes())
    (folder / "capture.btsnoop.xz").write_bytes(lzma.compress(stream.read_bytes()))
    with zipfile.ZipFile(folder / "bugreport.zip", "w") as archive:
        archive.write(stream, "FS/data/misc/bluetooth/logs/btsnoop_hci.log")
    with tarfile.open(folder / "sysdiagnose_2026.tar.gz", "w:gz") as archive:
        archive.add(stream, "sysdiagnose_2026/logs/Bluetooth/bluetoothd-hci-latest.pklg")


@pytest.mark.parametrize("name", [
    name for name, commands in COMMANDS.items() if name != "docs/python.md" and not all(map(reason, commands))])
def test_the_commands_run_in_order_from_an_empty_home(halo, name, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/halo-raw").symlink_to(halo.path)
    captures(tmp_path)
    environment = {key: value for key, value in halo.environment.items() if not key.startswith("XDG_")} | {
        "HOME": str(tmp_path), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HALO_ADAPTER": "virtual:fast",
        "XDG_RUNTIME_DIR": str(tmp_path)}
    for command in filter(lambda command: not reason(command), COMMANDS[name]):
        if "--web" in command and ctypes.util.find_library("microhttpd") is None:
            pytest.skip("no libmicrohttpd: run scripts/setup test")
        process = subprocess.Popen(
            ["bash", "-c", f"exec {adapted(command)}"], cwd=tmp_path, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        halo.processes.append(process)
        result = halo.wait(process)
        assert result.code in CODES.get(command.split()[1], {OK}), (command, result)


def test_every_reason_is_needed():
    commands = [command for listed in COMMANDS.values() for command in listed]
    assert len([command for command in commands if not reason(command)]) > 50
    assert {why for _, why in REASONS} == {reason(command) for command in commands} - {None}


def test_every_other_block_is_known():
    others = [line for text in PAGES.values() for line in docs_blocks.indented(text)[1]]
    assert not [line for line in others if not OTHER.match(line)]
