import HaloRaw

/// What two users of one device in one process want: they share its link.
let sharedDeviceErrands: [String: Errand] = [
  "two users": { try await $0.useOneDeviceTwice() },
  "two users of a value": { try await $0.takeOneValueTwice() },
  "two users of a change": { try await $0.followOneChangeTwice() },
  "a user that is released": { try await $0.releaseOneUser() },
]

extension User {
  /// Two programs in one process that use one device share its link, which ends with the last of them.
  fileprivate func useOneDeviceTwice() async throws {
    let otherDoor = try await door.another()
    let first = try await door.connect()
    let second = try await otherDoor.connect()
    say("first", try await first.read(.battery))
    await first.disconnect()
    say("second", try await second.read(.battery))
    await second.disconnect()
    await otherDoor.close()
  }

  /// One of them leaves, and the values of the other go on.
  fileprivate func takeOneValueTwice() async throws {
    let otherDoor = try await door.another()
    let first = try await door.connect()
    let second = try await otherDoor.connect()
    var shorter: Task<Int, any Error>?
    let longer = try await number(20, of: second) {
      guard shorter == nil else { return }
      shorter = started { [self] in
        let count = try await number(5, of: first)
        await first.disconnect()
        return count
      }
    }
    say("first", try await shorter?.value ?? 0, "second", longer)
    await second.disconnect()
    await otherDoor.close()
  }

  /// So many values in a row.
  private func number(
    _ count: Int, of device: any Device, _ onValue: @BluetoothActor () -> Void = {}
  ) async throws -> Int {
    var (taken, last) = (0, -1)
    try await device.subscribe(to: .count) { bytes in
      let number = Int(bytes[1]) << 8 | Int(bytes[2])
      guard last < 0 || number == last + 1 else { return false }
      (taken, last) = (taken + 1, number)
      onValue()
      return taken < count
    }
    return taken
  }

  /// Both follow, also one that has discovered the services before.
  fileprivate func followOneChangeTwice() async throws {
    let otherDoor = try await door.another()
    let first = try await door.connect()
    let second = try await otherDoor.connect()
    // The device changes when this was read.
    try await readUntil(1, from: first)
    try await readUntil(1, from: second)
    try await readUntil(1, from: first)
    await first.disconnect()
    await second.disconnect()
    await otherDoor.close()
  }

  /// A user that ends without a word leaves no link behind: who comes next gets one of its own.
  fileprivate func releaseOneUser() async throws {
    try await useAndForget(try await door.another())
    try await readBattery(of: .address(lamp))
  }

  private func useAndForget(_ door: any Door) async throws {
    let device = try await door.connect()
    say("battery", try await device.read(.battery))
  }
}
