"""Packages that depend on this one build, also a target that only asks for a module: `#if canImport(CoreBluetooth)`.

SwiftPM keeps the modules of all targets in one folder, so that any target finds ours once it is there, and imports it;
but where our C modules are, it tells only a target that depends on us. An import of a C module in any library of ours,
of any access level, makes that a build that fails from the second time on: "missing required module 'CHaloLinux'".

The line is that of PureSwift/Bluetooth. Others have met this with other modules: swiftlang/swift-package-manager 8175
(any module is found), bazelbuild/rules_swift 1738 (canImport is true, and the C module missing), apple/swift-system 83
(CSystem), swiftlang/swift-package-manager 4850 (clibc), swiftlang/swift-corelibs-foundation 5109 (an internal import
needs the module, too), trinhngocthuyen/cocoapods-spm 171 (RxCocoaRuntime).
"""

import json
import re
import subprocess

import pytest
from built import whole_modules
from program import ROOT


# The libraries are built here once, and again when they change: in a minute or five the first time.
SCRATCH = ROOT / ".build/dependents"

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription
let products = {products}
let package = Package(
  name: "dependent", dependencies: [.package(path: "{root}")],
  targets: products.map {{ .target(name: "Asks\\($0)") }} + [
    .executableTarget(
      name: "dependent",
      dependencies: products.map {{ .target(name: "Asks\\($0)") }}
        + products.map {{ .product(name: $0, package: "{identity}") }})
  ])
"""
ASKS = """#if canImport({module})
import {module}
public let has{module} = true
#else
public let has{module} = false
#endif
"""
# As PureSwift/Bluetooth has it: the target uses what it has found.
USES = """#if canImport(CoreBluetooth)
import CoreBluetooth
public struct ID { public init(_ id: CBUUID) { text = id.uuidString }; public let text: String }
public let battery = ID(CBUUID(string: "180F")).text
#else
public let battery = "without"
#endif
"""


def swift(*arguments, folder) -> str:
    done = subprocess.run(["swift", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def libraries() -> list[str]:
    package = json.loads(swift("package", "--scratch-path", SCRATCH, "dump-package", folder=ROOT))
    return [each["name"] for each in package["products"] if "library" in each["type"]]


@pytest.mark.dependents
def test_targets_that_only_ask_for_a_module_build_before_and_after_it_is_there(tmp_path):
    modules = libraries()
    assert {"CoreBluetooth", "AccessorySetupKit", "HaloRaw", "HaloPackets"} == set(modules)
    (tmp_path / "Package.swift").write_text(
        MANIFEST.format(products=json.dumps(modules), root=ROOT, identity=ROOT.name.lower()))
    for module in modules:
        folder = tmp_path / f"Sources/Asks{module}"
        folder.mkdir(parents=True)
        (folder / "asks.swift").write_text(ASKS.format(module=module))
    (tmp_path / "Sources/AsksCoreBluetooth/uses.swift").write_text(USES)
    (tmp_path / "Sources/dependent").mkdir()
    (tmp_path / "Sources/dependent/main.swift").write_text(
        "".join(f"import Asks{module}\n" for module in modules)
        + "import CoreBluetooth\nprint(battery, CBUUID(string: \"180F\").uuidString)\n"
        + "".join(f'print("{module}", has{module})\n' for module in modules))
    build = ("build", "--build-tests", "--scratch-path", SCRATCH, "-Xswiftc", "-gnone", *whole_modules())

    swift(*build, folder=tmp_path)
    for source in tmp_path.glob("Sources/Asks*/*.swift"):
        source.touch()
    swift(*build, folder=tmp_path)

    printed = subprocess.run([SCRATCH / "debug/dependent"], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["180F 180F"] + [f"{module} true" for module in modules]
    compiled = {path.stem for path in (SCRATCH / "debug/Modules").glob("*.swiftmodule")}
    assert {"HaloRaw", "HaloDissection"} <= compiled
    # The program, with its commands, brokers and reports, is not theirs.
    assert not compiled & {"HaloCommands", "HaloCommandLine", "HaloMQTT", "HaloViews", "HaloRingStore"}


@pytest.mark.parametrize("target", ["arm64-apple-macosx15", "x86_64-unknown-windows-msvc", "aarch64-unknown-linux-android"])
def test_on_another_system_one_error_says_what_to_write(target):
    path = ROOT / "Sources/BluetoothCore/Platform.swift"
    result = subprocess.run(
        ["swiftc", "-frontend", "-typecheck", "-parse-stdlib", "-target", target, path], capture_output=True, text=True)
    assert result.returncode != 0 and len(re.findall(r"^\S+: error: ", result.stderr, re.MULTILINE)) == 1
    assert "condition: .when(platforms: [.linux])" in result.stderr
    # What is in C has nothing there that could fail.
    for header in ROOT.glob("Sources/**/C[BH]*.h"):
        done = subprocess.run(
            ["clang", "-fsyntax-only", "-undef", "-nostdinc", "-x", "c", header], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
