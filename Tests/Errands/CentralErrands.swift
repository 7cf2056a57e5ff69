/// What a person wants of devices, written once for all doors. Each line of the output is a result; the test compares them.
let centralErrands: [String: Errand] = [
  "find by name": { try await readBattery($0, .name("Lamp")) },
  "find by service": { try await readBattery($0, .service("A000")) },
  "find by address": { try await readBattery($0, .address(lamp)) },
  "read": { try await read($0, .battery, times: 2) },
  "long read": { try await read($0, .long) },
  "long write": longWrite,
  "commands": commands,
  "values": values,
  "many subscriptions": manySubscriptions,
  "two devices": twoDevices,
  "links that end": linksThatEnd,
  "services change": servicesChange,
  "many links": manyLinks,
  "two users": twoUsers,
  "two users of a value": twoUsersOfAValue,
  "two users of a change": twoUsersOfAChange,
  "a user that is released": releasedUser,
  "a limit": aLimit,
]

let lamp = "D2:5C:0A:1E:60:01"
let other = "D2:5C:0A:1E:60:02"
/// What a test waits for comes at once: only a fault makes one wait as long.
let limit = Duration.seconds(10)

func connect(
  _ door: any Door, _ wanted: Wanted = .address(lamp), isKept: Bool = false
) async throws -> any Device {
  try await door.connect(to: wanted, within: limit, isKept: isKept)
}

func readBattery(_ door: any Door, _ wanted: Wanted) async throws {
  let device = try await connect(door, wanted)
  say("battery", try await device.read(.battery))
  await device.disconnect()
}

private func read(_ door: any Door, _ value: RemoteValue, times: Int = 1) async throws {
  let device = try await connect(door)
  for _ in 0..<times { say(value.rawValue, try await device.read(value)) }
  await device.disconnect()
}

private func longWrite(_ door: any Door) async throws {
  let device = try await connect(door)
  try await device.write((0..<300).map { UInt8(truncatingIfNeeded: 7 * $0) }, to: .long)
  say("written")
  await device.disconnect()
}

/// Commands are not confirmed: the request behind them shows that they have left before it.
private func commands(_ door: any Door) async throws {
  let device = try await connect(door)
  for number in 0..<500 { try await device.writeWithoutResponse(twoBytes(number), to: .commands) }
  say("battery", try await device.read(.battery))
  await device.disconnect()
}

private func values(_ door: any Door) async throws {
  let device = try await connect(door)
  for value in try await within(limit, { try await lengths(4, of: device) }) { say("A003", value) }
  await device.disconnect()
}

/// The values that the device sends to each who subscribes.
private func lengths(_ count: Int, of device: any Device) async throws -> [[UInt8]] {
  var values: [[UInt8]] = []
  try await device.subscribe(to: .lengths) { bytes in
    values.append(bytes)
    return values.count < count
  }
  return values
}

/// A value comes right behind the answer to the subscription, again and again.
private func manySubscriptions(_ door: any Door) async throws {
  let device = try await connect(door)
  for _ in 0..<200 { _ = try await within(limit) { try await lengths(1, of: device) } }
  say("200 subscriptions")
  await device.disconnect()
}

private func twoDevices(_ door: any Door) async throws {
  async let first = counts(try await connect(door, .address(lamp)))
  async let second = counts(try await connect(door, .address(other)))
  say("lamp", try await first, "other", try await second)
}

/// How many values in a row have come, up to ten.
private func counts(_ device: any Device) async throws -> Int {
  var next = 0
  try await device.subscribe(to: .count) { bytes in
    guard bytes == [1] + twoBytes(next) else { return false }
    next += 1
    return next < 10
  }
  await device.disconnect()
  return next
}

/// The device ends each link after a second.
private func linksThatEnd(_ door: any Door) async throws {
  let device = try await connect(door, isKept: true)
  var (links, longest) = ([UInt8](), Duration.zero)
  var last: ContinuousClock.Instant?
  try await device.subscribe(to: .count) { bytes in
    if bytes[0] != links.last { links.append(bytes[0]) }
    let now = ContinuousClock.now
    longest = max(longest, last.map { now - $0 } ?? .zero)
    last = now
    return links.count < 4
  }
  say("links", links)
  say("longest gap", longest < .seconds(1.5) ? "short" : "\(longest)")
  await device.disconnect()
}

/// Reads until the value is that of the services which the device has at last, as many times as its first argument says.
private func servicesChange(_ door: any Door) async throws {
  let device = try await connect(door)
  try await readUntil(UInt8(argument) ?? 1, from: device)
  await device.disconnect()
}

private func readUntil(_ last: UInt8, from device: any Device) async throws {
  try await within(limit) {
    var value: [UInt8] = []
    while value != [last] {
      let read = try await device.read(.generation)
      if read != value { say("A101", read) }
      value = read
    }
  }
}

private func manyLinks(_ door: any Door) async throws {
  for _ in 0..<30 {
    let device = try await connect(door)
    _ = try await device.read(.battery)
    await device.disconnect()
  }
  say("30 links")
}

/// Two programs in one process that use one device share its link, which ends with the last of them.
private func twoUsers(_ door: any Door) async throws {
  let otherDoor = try await door.another()
  let first = try await connect(door)
  let second = try await connect(otherDoor)
  say("first", try await first.read(.battery))
  await first.disconnect()
  say("second", try await second.read(.battery))
  await second.disconnect()
  await otherDoor.close()
}

/// One of them leaves, and the values of the other go on.
private func twoUsersOfAValue(_ door: any Door) async throws {
  let otherDoor = try await door.another()
  let first = try await connect(door)
  let second = try await connect(otherDoor)
  var shorter: Task<Int, any Error>?
  let longer = try await number(20, of: second) {
    guard shorter == nil else { return }
    shorter = Task {
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
private func number(_ count: Int, of device: any Device, _ onValue: () -> Void = {}) async throws -> Int {
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
private func twoUsersOfAChange(_ door: any Door) async throws {
  let otherDoor = try await door.another()
  let first = try await connect(door)
  let second = try await connect(otherDoor)
  // The device changes when this was read.
  try await readUntil(1, from: first)
  try await readUntil(1, from: second)
  try await readUntil(1, from: first)
  await first.disconnect()
  await second.disconnect()
  await otherDoor.close()
}

/// A user that ends without a word leaves no link behind: who comes next gets one of its own.
private func releasedUser(_ door: any Door) async throws {
  try await useAndForget(try await door.another())
  try await readBattery(door, .address(lamp))
}

private func useAndForget(_ door: any Door) async throws {
  let device = try await connect(door)
  say("battery", try await device.read(.battery))
}

/// A device that does not answer: the result, or an error within the seconds that the user has for the read. Who gets an error
/// tries again, once.
private func aLimit(_ door: any Door) async throws {
  let seconds = Int(argument) ?? 2
  for _ in 1...2 {
    do {
      let device = try await door.connect(to: .address(lamp), within: .seconds(15), isKept: false)
      do {
        say("battery", try await within(.seconds(seconds)) { try await device.read(.battery) })
        await device.disconnect()
        break
      } catch {
        await device.disconnect()
        throw error
      }
    } catch let error as DoorError {
      say("error", error.word)
    }
  }
  try await readBattery(door, .address(other))
}
