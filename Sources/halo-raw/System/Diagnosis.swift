import HCI

extension SystemState {
  /// What a person should know, in the order in which it is best put right.
  var findings: [Finding] {
    privilegeFindings + radioFindings + adapterFindings + neighbourFindings + ringFindings
  }

  // MARK: Privileges

  private var privilegeFindings: [Finding] {
    let topic = "privileges"
    let missing = Capabilities.useful.subtracting(capabilities)
    if missing.isEmpty {
      return [
        .good(topic, "\(Capabilities.useful) are there, \(isRoot ? "as root" : "from the program's file")")
      ]
    }
    let remedy: String
    if let file = fileCapabilities, file.isSuperset(of: missing) {
      remedy =
        "\(executable) grants them, but they do not arrive: is it on a file system mounted nosuid, or run "
        + "under no_new_privs? Install it elsewhere: make install"
    } else if let privilegedGroup, missing.contains(.netRaw) {
      remedy = "\(Capability.joinCommand(privilegedGroup)), then log in again; or start it with sudo"
    } else if isInstalled {
      remedy = "make install NET_ADMIN=1, or start it with sudo"
    } else {
      remedy = "\(Capability.setcapCommand(executable))  (again after each build), or start it with sudo"
    }
    let what = "\(missing) \(missing == .useful ? "are" : "is") missing"
    if missing.contains(.netRaw) {
      return [.problem(topic, "\(what): the kernel refuses to scan", remedy, code: .noPermission)]
    }
    return [
      .note(
        topic, "\(what): adapters can't be switched on or taken, nor connection parameters chosen", remedy)
    ]
  }

  // MARK: Radio

  private var radioFindings: [Finding] {
    radioSwitches.flatMap { radio -> [Finding] in
      var findings: [Finding] = []
      if radio.isHardBlocked {
        findings.append(
          .problem(
            "rfkill", "\(radio.name.printable) is off by a switch of the machine",
            "use the key or switch for wireless, or the firmware's settings"))
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
    if let adapterTrouble {
      return [.problem(topic, "\(adapterTrouble.operation): not possible", "\(adapterTrouble.reason)")]
    }
    guard !adapters.isEmpty else {
      let remedy =
        isRaspberryPi
        ? "is dtoverlay=disable-bt in /boot/firmware/config.txt? Else see: systemctl status hciuart"
        : "plug one in; until then, --adapter virtual needs none"
      return [.problem(topic, "this machine has no Bluetooth adapter", remedy)]
    }
    let findings = adapters.map(finding(of:))
    guard findings.contains(where: { $0.weight == .good }) else { return findings }
    // One adapter is enough: what is wrong with the others is only worth a note.
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
    if let settings = adapter.management?.supportedSettings, !settings.contains(.lowEnergy) {
      return .problem(name, "it is an old one, without Bluetooth LE", "use another adapter")
    }
    guard adapter.isUp else {
      let up = "halo-raw adapters up \(name)"
      return .problem(
        name, "down",
        "\(capabilities.contains(.netAdmin) ? up : "sudo \(up)"); or take it as it is, with --adapter user:\(name)"
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
          "it runs; halo-raw works beside it, but waits while it scans, and can't have a ring that it holds",
          "if connecting is slow: sudo systemctl stop bluetooth; or --adapter user:hciN --take"))
    }
    if isRaspberryPi, !wifi.isEmpty {
      findings.append(
        .note(
          "wi-fi", "\(wifi.joined(separator: ", ")) is in use and shares its antenna with Bluetooth",
          "for an even stream, use a 5 GHz network or a cable, and not --aggressive"))
    }
    return findings
  }

  // MARK: The ring

  private var ringFindings: [Finding] {
    guard let ring else { return [] }
    let label = ring.label.printable
    switch (ring.isAdvertising, ring.isKnown) {
    case (true, _): return [.good("ring", "\(label) is advertising")]
    case (false, true):
      return [
        .problem(
          "ring", "\(label) was seen before and is not advertising now: a phone may hold it",
          "close the ring's app there or switch the phone's Bluetooth off; put the ring on its charger for a moment",
          code: .notFound)
      ]
    case (false, false):
      return [
        .problem(
          "ring", "\(label) is not advertising",
          "is it near and charged? halo-raw scan --rings shows who is there",
          code: .notFound)
      ]
    case (nil, _): return [.note("ring", "whether \(label) is advertising can't be told yet")]
    }
  }
}
