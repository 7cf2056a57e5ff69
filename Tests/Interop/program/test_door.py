"""Programs against the modules as they were built: in Swift 6, in Swift 5 mode, on the main actor by default, and with the rule
that only what is imported is seen. A package that depends on this one is in test_dependents.py.

What does not compile for a class of the main actor was written about in manolofdez/AsyncBluetooth 60 and
dpearson2699/swift-ios-skills 8."""

import json
import re
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
    # Tests, as a package that depends on this one has them.
    ROOT / "Examples/HeartRate/Tests/HeartRateMonitorTests.swift",
    *(ROOT / f"Tests/HaloRawTests/Door/{name}Tests.swift" for name in ("Program", "SharedMedium")),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_compiles_without_a_warning(program, mode, tmp_path):
    modules = built("halo-raw").parent / "Modules"
    result = subprocess.run(
        ["swiftc", *MODES[mode], "-warnings-as-errors", "-parse-as-library", "-module-name", "Program", "-c", program,
         "-I", modules, "-o", tmp_path / "program.o"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


# Targets that others have: of PureSwift/Bluetooth, GATT and BluetoothLinux, of stephencelis/SQLite.swift, vapor/sqlite-nio and
# swift-server-community/mqtt-nio, and names that any program may give its own.
NAMES = [
    "JSON", "Files", "Capture", "MQTT", "SQLite", "CSQLite", "GATT", "Bluetooth", "BluetoothGAP", "BluetoothGATT",
    "BluetoothHCI", "BluetoothLinux", "DarwinGATT", "SQLiteSwift", "SQLiteNIO", "MQTTNIO", "BluetoothCore", "SecurityManager",
    "Core", "Storage", "Recording", "Dissection", "Commands", "CommandLine", "Reports", "Radio", "Connection", "Ring",
    "TestSupport", "Thermometer", "HeartRateMonitor", "bird", "explore", "pulse", "beats", "thermometer",
    "inventory", "logger", "terminal", "upload", "proxy",
]


@pytest.mark.verdict
def test_a_package_with_targets_of_usual_names_can_depend_on_this_one(tmp_path):
    """SwiftPM refuses two targets of one name in all packages of a program."""
    package = tmp_path / "Package.swift"
    package.write_text(f"""// swift-tools-version: 6.0
import PackageDescription
let names = {json.dumps(NAMES)}
let package = Package(
  name: "stranger", dependencies: [.package(name: "halo-raw", path: "{ROOT}")],
  targets: names.map {{ .target(name: $0, path: "Sources/\\($0)") }} + [
    .executableTarget(
      name: "stranger",
      dependencies: names.map {{ .target(name: $0) }} + ["HaloRaw", "CoreBluetooth", "AccessorySetupKit"].map {{
        .product(name: $0, package: "halo-raw")
      }})
  ])
""")
    for name in [*NAMES, "stranger"]:
        (tmp_path / "Sources" / name).mkdir(parents=True)
        (tmp_path / "Sources" / name / "main.swift").write_text("")
    shown = subprocess.run(
        ["swift", "package", "show-dependencies"], cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0 and "error" not in shown.stderr, shown.stdout + shown.stderr


@pytest.mark.verdict
def test_the_manifest_that_is_shown_is_one(tmp_path):
    page = (ROOT / "docs/library.md").read_text()
    [manifest] = re.findall(r"^```swift\n(// swift-tools-version.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert '.package(path: "/usr/share/halo-raw")' in manifest
    (tmp_path / "Package.swift").write_text(
        manifest.replace('.package(path: "/usr/', f'.package(name: "halo-raw", path: "{ROOT}") // "/usr/'))
    (tmp_path / "Sources/beats").mkdir(parents=True)
    (tmp_path / "Sources/beats/main.swift").write_text("import HaloRaw\n")
    shown = subprocess.run(
        ["swift", "package", "show-dependencies"], cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0 and ROOT.name in shown.stdout, shown.stdout + shown.stderr


@pytest.mark.verdict
def test_what_programs_can_name_is_listed():
    """docs/api.txt is reviewed with each change: a public declaration is a promise."""
    if not (built().parent / "Modules/HaloPackets.swiftmodule").exists():
        pytest.skip("this build has the programs alone")
    result = subprocess.run(
        [ROOT / "scripts/api", "--check", built().parent], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    print(result.stdout)
