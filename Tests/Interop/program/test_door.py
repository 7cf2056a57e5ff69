"""Programs against the modules as they were built: in Swift 6, in Swift 5 mode, on the main actor by default, and with the rule
that only what is imported is seen. A package that depends on this one is in test_dependents.py.

What does not compile for a class of the main actor was written about in manolofdez/AsyncBluetooth 60 and
dpearson2699/swift-ios-skills 8."""

import subprocess

import pytest
from built import built
from program import ROOT

MODES = {
    "swift-6": ["-swift-version", "6"],
    "swift-5": ["-swift-version", "5"],
    "main-actor": ["-swift-version", "6", "-default-isolation", "MainActor"],
    "imports": ["-swift-version", "6", "-enable-upcoming-feature", "MemberImportVisibility"],
}
PROGRAMS = [
    *sorted((ROOT / "Tests/Programs").glob("*.swift")),
    ROOT / "Examples/Beats/Beats.swift",
    ROOT / "Examples/FirstSteps/FirstSteps.swift",
    ROOT / "Examples/Pulse/Pulse.swift",
    ROOT / "Examples/HeartRate/HeartRateMonitor/HeartRateMonitor.swift",
]


@pytest.mark.verdict
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_compiles_without_a_warning(program, mode, tmp_path):
    modules = built("halo-raw").parent / "Modules"
    result = subprocess.run(
        ["swiftc", *MODES[mode], "-warnings-as-errors", "-parse-as-library", "-module-name", "Program", "-c", program,
         "-I", modules, "-o", tmp_path / "program.o"], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
