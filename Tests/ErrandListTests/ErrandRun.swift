import ErrandList
import GAP
import HaloBluetoothCore
import HaloRaw
import TestLoop
import Testing
import HaloSimulation

/// What the radio of an errand has.
enum Controller: CaseIterable {
  case bluetooth5
  /// The commands from before that, and room for one packet at a time, of the shortest there are.
  case small

  var options: ControllerOptions {
    var options = ControllerOptions()
    if self == .small { (options.bluetooth5, options.aclLength, options.aclPackets) = (false, 27, 1) }
    return options
  }
}

/// An air in which errands are done, by a radio of the library HaloRaw, and what is seen of them.
@BluetoothActor
struct ErrandRun {
  let medium = RadioMedium(timers: testTimers)
  let journal = Journal()
  private let timers = testTimers
  /// After which an errand is given up.
  private static let limit = Duration.seconds(600)

  /// Does an errand, and returns the lines that its user gets.
  ///
  /// - Parameters:
  ///   - options: the controller of its radio
  ///   - isReady: when the user interrupts it, after the line "begun"; nil if it ends by itself
  func lines(
    of name: String, _ argument: String = "", on options: ControllerOptions = ControllerOptions(),
    interruptedWhen isReady: (() -> Bool)? = nil
  ) async throws -> [String] {
    guard let errand = errands[name] else {
      Issue.record("no errand has this name")
      return []
    }
    let adapter = HCIAdapter(ToldTransport(SimulatedTransport(medium, options), journal))
    let door = HaloRawDoor(try await Radio.start(OpenedAdapter(adapter)), isOwner: true)
    var lines: [(text: String, time: Instant)] = []
    let user = User(door, argument: argument) { [timers] in lines.append(($0, timers.now)) }
    let doing = spawn {
      try await errand(user)
      await door.close()
    }
    var isEndless = false
    let limit = timers.schedule(after: Self.limit) {
      isEndless = true
      doing.cancel()
      user.interrupt()
    }
    defer {
      timers.cancel(limit)
      #expect(!isEndless, "it has not ended by itself")
    }
    guard let isReady else {
      try await doing.value
      return lines.map(\.text)
    }
    await until { !lines.isEmpty && isReady() }
    #expect(lines.first?.text == "begun")
    let begin = timers.now
    user.interrupt()
    try await doing.value
    // A link takes some time for its end.
    let end = try #require(lines.first { $0.text.hasPrefix("error") })
    #expect(end.time - begin < .seconds(5))
    return lines.dropFirst().map(\.text)
  }

  /// Waits for what comes within minutes, or not at all.
  func until(_ isSo: () -> Bool) async {
    let end = timers.now + Self.limit / 2
    while !isSo(), timers.now < end { await timers.sleep(for: .milliseconds(10)) }
  }
}
