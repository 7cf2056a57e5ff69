import HaloRaw

/// What a person wants of devices, written once for all doors. Each line of the output is a result; the test compares them.
let centralErrands: [String: Errand] = [
  "find by name": { try await $0.readBattery(of: .name("Lamp")) },
  "find by service": { try await $0.readBattery(of: .service("A000")) },
  "find by address": { try await $0.readBattery(of: .address(lamp)) },
  "read": { try await $0.read(.battery, times: 2) },
  "long read": { try await $0.read(.long) },
  "long write": { try await $0.writeLong() },
  "commands": { try await $0.writeCommands() },
  "values": { try await $0.takeValues() },
  "many subscriptions": { try await $0.subscribeOften() },
  "two devices": { try await $0.useTwoDevices() },
  "links that end": { try await $0.keepLinksThatEnd() },
  "services change": { try await $0.readWhileServicesChange() },
  "many links": { try await $0.makeManyLinks() },
  "a limit": { try await $0.readWithinLimit() },
]

let lamp = "D2:5C:0A:1E:60:01"
let other = "D2:5C:0A:1E:60:02"
/// What a test waits for comes at once: only a fault makes one wait as long.
let limit = Duration.seconds(10)

extension Door {
  func connect(_ wanted: Wanted = .address(lamp), isKept: Bool = false) async throws -> any Device {
    try await connect(to: wanted, within: limit, isKept: isKept)
  }
}

extension User {
  func readBattery(of wanted: Wanted) async throws {
    let device = try await door.connect(wanted)
    say("battery", try await device.read(.battery))
    await device.disconnect()
  }

  fileprivate func read(_ value: RemoteValue, times: Int = 1) async throws {
    let device = try await door.connect()
    for _ in 0..<times { say(value.rawValue, try await device.read(value)) }
    await device.disconnect()
  }

  fileprivate func writeLong() async throws {
    let device = try await door.connect()
    try await device.write((0..<300).map { UInt8(truncatingIfNeeded: 7 * $0) }, to: .long)
    say("written")
    await device.disconnect()
  }

  /// Commands are not confirmed: the request behind them shows that they have left before it.
  fileprivate func writeCommands() async throws {
    let device = try await door.connect()
    for number in 0..<500 { try await device.writeWithoutResponse(twoBytes(number), to: .commands) }
    say("battery", try await device.read(.battery))
    await device.disconnect()
  }

  fileprivate func takeValues() async throws {
    let device = try await door.connect()
    for value in try await door.within(limit, { [self] in try await lengths(4, of: device) }) {
      say("A003", value)
    }
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
  fileprivate func subscribeOften() async throws {
    let device = try await door.connect()
    for _ in 0..<200 { _ = try await door.within(limit) { [self] in try await lengths(1, of: device) } }
    say("200 subscriptions")
    await device.disconnect()
  }

  fileprivate func useTwoDevices() async throws {
    async let first = counts(try await door.connect(.address(lamp)))
    async let second = counts(try await door.connect(.address(other)))
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
  fileprivate func keepLinksThatEnd() async throws {
    let device = try await door.connect(isKept: true)
    var (links, longest) = ([UInt8](), Duration.zero)
    var last: Duration?
    try await device.subscribe(to: .count) { bytes in
      if bytes[0] != links.last { links.append(bytes[0]) }
      let now = door.time
      longest = max(longest, last.map { now - $0 } ?? .zero)
      last = now
      return links.count < 4
    }
    say("links", links)
    say("longest gap", longest < .seconds(1.5) ? "short" : "\(longest)")
    await device.disconnect()
  }

  /// Reads until the value is that of the services which the device has at last, as many times as its first argument says.
  fileprivate func readWhileServicesChange() async throws {
    let device = try await door.connect()
    try await readUntil(UInt8(argument) ?? 1, from: device)
    await device.disconnect()
  }

  func readUntil(_ last: UInt8, from device: any Device) async throws {
    try await door.within(limit) { [self] in
      var value: [UInt8] = []
      while value != [last] {
        let read = try await device.read(.generation)
        if read != value { say("A101", read) }
        value = read
      }
    }
  }

  fileprivate func makeManyLinks() async throws {
    for _ in 0..<30 {
      let device = try await door.connect()
      _ = try await device.read(.battery)
      await device.disconnect()
    }
    say("30 links")
  }

  /// A device that does not answer: the result, or an error within the seconds that the user has for the read. Who gets an
  /// error tries again, once.
  fileprivate func readWithinLimit() async throws {
    let seconds = Int(argument) ?? 2
    for _ in 1...2 {
      do {
        let device = try await door.connect(to: .address(lamp), within: .seconds(15), isKept: false)
        do {
          say("battery", try await door.within(.seconds(seconds)) { try await device.read(.battery) })
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
    try await readBattery(of: .address(other))
  }
}
