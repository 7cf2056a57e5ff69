import HaloRaw

/// What the user interrupts: the test does so after the line "begun", and when the peer has seen what is asked for. It
/// ends soon, and the next errand is as good as any.
let interruptedErrands: [String: Errand] = [
  "cancelled scan": { try await $0.scan() },
  "cancelled connection": { try await $0.connectToNobody() },
  "cancelled request": { try await $0.readInVain() },
  "cancelled attempt": { try await $0.attempt() },
  "cancelled values": { try await $0.takeEndlessValues() },
  "cancelled reconnection": { try await $0.waitForReconnection() },
]

extension User {
  fileprivate func scan() async throws {
    var isHeard = false
    await interrupted { [self] in
      try await door.scan { _ in
        if !isHeard { say("begun") }
        isHeard = true
        return true
      }
    }
    try await readBattery(of: .address(other))
  }

  /// Nobody has this address.
  fileprivate func connectToNobody() async throws {
    await interrupted { [self] in
      say("begun")
      _ = try await door.connect(.address("D2:5C:0A:1E:60:7F"))
    }
    try await readBattery(of: .address(lamp))
  }

  /// A read, or the discovery before it, which the device does not answer.
  fileprivate func readInVain() async throws {
    let device = try await door.connect()
    await interrupted { [self] in
      say("begun")
      _ = try await device.read(.battery)
    }
    await device.disconnect()
    try await readBattery(of: .address(other))
  }

  /// The device advertises, and takes no link.
  fileprivate func attempt() async throws {
    await interrupted { [self] in
      say("begun")
      _ = try await door.connect(.name("Lamp"))
    }
    try await readBattery(of: .address(other))
  }

  /// The subscription, which has brought a value, ends before the link does.
  fileprivate func takeEndlessValues() async throws {
    let device = try await door.connect()
    await interruptedSubscription(device)
    await device.disconnect()
    try await readBattery(of: .address(other))
  }

  /// The device has left, and does not come again.
  fileprivate func waitForReconnection() async throws {
    let device = try await door.connect(isKept: true)
    await interruptedSubscription(device)
    await device.disconnect()
    try await readBattery(of: .address(other))
  }

  private func interruptedSubscription(_ device: any Device) async {
    var isBegun = false
    await interrupted { [self] in
      try await device.subscribe(to: .count) { _ in
        if !isBegun { say("begun") }
        isBegun = true
        return true
      }
    }
  }
}
