/// What the user interrupts: the test sends SIGINT after the line "begun", and when the peer has seen what is asked for. It
/// ends soon, and the next errand is as good as any.
let interruptedErrands: [String: Errand] = [
  "cancelled scan": cancelledScan,
  "cancelled connection": cancelledConnection,
  "cancelled request": cancelledRequest,
  "cancelled attempt": cancelledAttempt,
  "cancelled values": cancelledValues,
  "cancelled reconnection": cancelledReconnection,
]

private func cancelledScan(_ door: any Door) async throws {
  var isHeard = false
  await interrupted {
    try await door.scan { _ in
      if !isHeard { say("begun") }
      isHeard = true
      return true
    }
  }
  try await readBattery(door, .address(other))
}

/// Nobody has this address.
private func cancelledConnection(_ door: any Door) async throws {
  await interrupted {
    say("begun")
    _ = try await connect(door, .address("D2:5C:0A:1E:60:7F"))
  }
  try await readBattery(door, .address(lamp))
}

/// A read, or the discovery before it, which the device does not answer.
private func cancelledRequest(_ door: any Door) async throws {
  let device = try await connect(door)
  await interrupted {
    say("begun")
    _ = try await device.read(.battery)
  }
  await device.disconnect()
  try await readBattery(door, .address(other))
}

/// The device advertises, and takes no link.
private func cancelledAttempt(_ door: any Door) async throws {
  await interrupted {
    say("begun")
    _ = try await connect(door, .name("Lamp"))
  }
  try await readBattery(door, .address(other))
}

/// The subscription, which has brought a value, ends before the link does.
private func cancelledValues(_ door: any Door) async throws {
  let device = try await connect(door)
  await interruptedSubscription(device)
  await device.disconnect()
  try await readBattery(door, .address(other))
}

/// The device has left, and does not come again.
private func cancelledReconnection(_ door: any Door) async throws {
  let device = try await connect(door, isKept: true)
  await interruptedSubscription(device)
  await device.disconnect()
  try await readBattery(door, .address(other))
}

private func interruptedSubscription(_ device: any Device) async {
  var isBegun = false
  await interrupted {
    try await device.subscribe(to: .count) { _ in
      if !isBegun { say("begun") }
      isBegun = true
      return true
    }
  }
}
