import HaloCommandLine
import HaloLinuxBluetooth
import HaloSecurityManager

extension SystemState {
  /// The findings, in the order in which to fix them.
  var findings: [Finding] {
    privilegeFindings + radioFindings + adapterFindings + neighbourFindings + libraryFindings
      + bondFindings + ringFindings
  }

  // MARK: Privileges

  private var privilegeFindings: [Finding] {
    let topic = "privileges"
    let missing = Capabilities.useful.subtracting(capabilities)
    if missing.isEmpty {
      return [
        .good(topic, "\(Capabilities.useful) granted, \(isRoot ? "as root" : "by the program's file")")
      ]
    }
    let remedy: String
    if let file = fileCapabilities, file.isSuperset(of: missing) {
      remedy =
        "\(executable) grants them without effect: its file system is mounted nosuid, or it runs under "
        + "no_new_privs; install it elsewhere"
    } else if let privilegedGroup, missing.contains(.netRaw) {
      remedy = "\(Capability.joinCommand(privilegedGroup)), then log in again; or use sudo"
    } else {
      let when = isInstalled ? "" : "  (again after each build)"
      remedy = "\(Capability.setcapCommand(executable))\(when), or use sudo"
    }
    let what = "\(missing) \(missing == .useful ? "are" : "is") missing"
    if missing.contains(.netRaw) {
      return [.problem(topic, "\(what): the kernel refuses to scan", remedy, code: .noPermission)]
    }
    return [
      .note(
        topic, "\(what): cannot switch or take adapters, or choose connection parameters", remedy)
    ]
  }

  // MARK: Radio

  private var radioFindings: [Finding] {
    radioSwitches.flatMap { radio -> [Finding] in
      var findings: [Finding] = []
      if radio.isHardBlocked {
        findings.append(
          .problem(
            "rfkill", "\(radio.name.printable) is blocked by a hardware switch",
            "use the machine's key or switch for wireless, or its firmware settings"))
      }
      if radio.isSoftBlocked {
        findings.append(
          .problem("rfkill", "\(radio.name.printable) is blocked", "sudo rfkill unblock bluetooth"))
      }
      return findings
    }
  }

  // MARK: Adapters

  private var isRaspberryPi: Bool { model?.hasPrefix("Raspberry Pi") ?? false }

  private var adapterFindings: [Finding] {
    let topic = "adapter"
    if let adapterError {
      return [.problem(topic, adapterError.operation ?? "", adapterError.reasonWithRemedy)]
    }
    guard !adapters.isEmpty else {
      let remedy =
        isRaspberryPi
        ? "remove dtoverlay=disable-bt from /boot/firmware/config.txt; if it is not there, see: systemctl status hciuart"
        : "plug one in, or use --adapter virtual"
      return [.problem(topic, "this machine has no Bluetooth adapter", remedy)]
    }
    let findings = adapters.map(finding(of:))
    guard findings.contains(where: { $0.weight == .good }) else { return findings }
    // One adapter is enough: problems of the others are notes.
    return findings.map { $0.weight == .problem ? .note($0.topic, $0.text, $0.remedy) : $0 }
  }

  private func finding(of adapter: ControllerState) -> Finding {
    let name = adapter.name
    if adapter.isTaken {
      let others = otherPrograms.filter { $0 != "bluetoothd" && $0 != "btmon" }
      let who = others.isEmpty ? "another program" : others.map(\.printable).joined(separator: " or ")
      return .problem(
        name, "taken by \(who), through the user channel", "end that program, or use another adapter")
    }
    switch adapter.condition {
    case .settingUp: return .problem(name, "the kernel is setting it up", "try again in some seconds")
    case .setUpFailed:
      let driver =
        drivers[adapter.index].map {
          ", or load its driver again: sudo modprobe -r \($0); sudo modprobe \($0)"
        } ?? ""
      return .problem(
        name, "failed: the controller did not answer when the kernel set it up",
        "unplug it and plug it in again; if it is built in, switch the machine off and on\(driver)")
    case .unconfigured:
      return .problem(
        name, "has no address, and the kernel waits for one",
        "sudo btmgmt --index \(adapter.index.rawValue) public-addr ADDRESS")
    case .up, .down: break
    }
    if let settings = adapter.management?.supportedSettings, !settings.contains(.lowEnergy) {
      return .problem(name, "does not support Bluetooth LE", "use another adapter")
    }
    guard adapter.isUp else {
      let up = "halo-raw adapters up \(name)"
      return .problem(
        name, "down",
        "\(capabilities.contains(.netAdmin) ? up : "sudo \(up)"); or use --adapter user:\(name)"
      )
    }
    let version = adapter.management.map { ", Bluetooth \($0.version)" } ?? ""
    return .good(name, "up, \(adapter.address)\(version)")
  }

  // MARK: Neighbours

  private var neighbourFindings: [Finding] {
    var findings: [Finding] = []
    if runsBluetoothd {
      findings.append(
        .note(
          "bluetoothd",
          "running; halo-raw works beside it, but waits while it scans, and cannot use a ring connected to it",
          "if connecting is slow: sudo systemctl stop bluetooth, or use --adapter user:hciN --take"))
    }
    if adapters.contains(where: { $0.condition == .up && !$0.isTaken }) { findings.append(pairingFinding) }
    if isRaspberryPi, !wifi.isEmpty {
      findings.append(
        .note(
          "wi-fi", "\(wifi.joined(separator: ", ")) is in use; it shares its antenna with Bluetooth",
          "for an even stream, use a 5 GHz network or a cable, without --aggressive"))
    }
    return findings
  }

  // MARK: Libraries

  private var libraryFindings: [Finding] {
    if hasCryptography { return [] }
    return [
      .note(
        "libcrypto", "not installed: no device can be paired with, and serve has no Database Hash",
        "sudo apt install libssl3; from Debian 13 and Ubuntu 24.04 on: sudo apt install libssl3t64")
    ]
  }

  /// The kernel asks all programs, and pairs as the first one says that answers.
  private var pairingFinding: Finding {
    if runsBluetoothd {
      return .good("pairing", "bluetoothd pairs; halo-raw uses its bonds (bluetoothctl pair ADDRESS)")
    }
    guard capabilities.contains(.netAdmin) else {
      return .note(
        "pairing", "halo-raw pairs, as bluetoothd does not run, but only with CAP_NET_ADMIN",
        "see privileges above, or use --adapter user:hciN")
    }
    return .good("pairing", "halo-raw pairs, and keeps the bonds, as bluetoothd does not run")
  }

  private var bondFindings: [Finding] {
    guard let bondsError else { return [] }
    let remedy =
      bondsError.isDamage
      ? "move the file away, and pair again with: halo-raw pair DEVICE"
      : "give the file back to its user, or its user the right to read it"
    return [
      .problem("bonds", "\(bondsError)", remedy, code: bondsError.isDamage ? .badData : .cannotOpenFile)
    ]
  }

  // MARK: The ring

  private var ringFindings: [Finding] {
    guard let ring else { return [] }
    let label = ring.label.printable
    if ring.isInUse {
      return [
        .problem(
          "ring", "another program of this machine is connected to \(label)",
          "end that program, or disconnect the ring there: bluetoothctl disconnect", code: .notFound)
      ]
    }
    switch (ring.isAdvertising, ring.isKnown) {
    case (true, _): return [.good("ring", "\(label) is advertising")]
    case (false, true):
      return [
        .problem(
          "ring", "\(label) is known but not advertising: a phone may be connected to it",
          "close the ring's app or switch the phone's Bluetooth off; put the ring on its charger briefly",
          code: .notFound)
      ]
    case (false, false):
      return [
        .problem(
          "ring", "\(label) is not advertising",
          "move it closer and charge it; to list rings: halo-raw scan --rings",
          code: .notFound)
      ]
    case (nil, _): return [.note("ring", "cannot check whether \(label) is advertising: no adapter can scan")]
    }
  }
}

/// One result of `doctor`.
struct Finding: Hashable, Sendable {
  enum Weight: String, Sendable {
    /// No problem.
    case good = "ok"
    /// Not a problem, but useful to know.
    case note
    /// Streaming cannot work.
    case problem
  }

  /// The subject, such as `adapter`.
  var topic: String
  var weight: Weight
  /// The finding.
  var text: String
  /// The fix.
  var remedy: String?
  /// The exit code for this problem.
  var code = ExitCode.success

  static func good(_ topic: String, _ text: String) -> Finding {
    Finding(topic: topic, weight: .good, text: text)
  }

  static func note(_ topic: String, _ text: String, _ remedy: String? = nil) -> Finding {
    Finding(topic: topic, weight: .note, text: text, remedy: remedy)
  }

  static func problem(
    _ topic: String, _ text: String, _ remedy: String, code: ExitCode = .noAdapter
  ) -> Finding {
    Finding(topic: topic, weight: .problem, text: text, remedy: remedy, code: code)
  }
}

extension [Finding] {
  /// The exit code: 0 if streaming can work, else that of the first problem in this order: adapter, privilege, bonds,
  /// ring.
  var code: ExitCode {
    let codes = Set(filter { $0.weight == .problem }.map(\.code))
    return [.noAdapter, .noPermission, .badData, .cannotOpenFile, .notFound].first { codes.contains($0) }
      ?? .success
  }
}
