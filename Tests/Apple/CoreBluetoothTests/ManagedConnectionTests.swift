@testable import CoreBluetooth
import TestSupport
import Testing

/// The connection to one peripheral as a value: every call and every event in every state.
@Suite struct ManagedConnectionTests {
  /// The states, each by what leads to it.
  private static let states: [(name: String, steps: [Step])] = [
    ("none", []),
    ("restored", [.restore]),
    ("establishing", [.connect]),
    ("established", [.connect, .established]),
    ("reconnects", [.connectAgain, .established]),
    ("ending", [.connect, .established, .cancel]),
    ("ending, next", [.connect, .established, .cancel, .connect]),
    ("off", [.connect, .off]),
    ("off, next", [.connect, .off, .connect]),
  ]

  /// What the program, the adapter and the loop do. An event of the loop is one of the newest attempt.
  private enum Step: String, CaseIterable {
    case connect, connectAgain, cancel, restore, on, off
    case established, failed, givenUp, ended, left, lost
  }

  private struct Failure: Error {}

  /// A connection, and the attempt that the loop has.
  private struct Walk {
    var connection = ManagedConnection()
    var attempt: PeripheralLink?

    /// What a step leads to, for example `begin, disconnected; connecting`.
    mutating func take(_ step: Step) -> String {
      let driver = attempt ?? PeripheralLink()
      let (command, report): (ManagedConnection.Command?, ManagedConnection.Report?) =
        switch step {
        case .connect: connection.connect(.init())
        case .connectAgain: connection.connect(.init(reconnects: true))
        case .cancel: connection.cancel()
        case .restore: restore()
        case .on: (connection.powerOn(), nil)
        case .off: (connection.powerOff(), nil)
        case .established: (nil, connection.established(driver))
        case .failed: connection.ended(driver, .failed(Failure(), byAdapter: false))
        case .givenUp: connection.ended(driver, .givenUp)
        case .ended: connection.ended(driver, .ended(nil))
        case .left: connection.ended(driver, .endedByPeripheral(Failure()))
        case .lost: connection.ended(driver, .endedByAdapter(Failure()))
        }
      var words: [String] = []
      switch command {
      case .begin(let driver, _):
        attempt = driver
        words.append("begin")
      case .end(let driver): words.append(driver === attempt ? "end" : "end of another one")
      case nil: break
      }
      switch report {
      case .connected: words.append("connected")
      case .failed: words.append("failed")
      case .disconnected(let isReconnecting, let error):
        words.append(isReconnecting ? "reconnecting" : error == nil ? "disconnected" : "lost")
      case nil: break
      }
      return words.joined(separator: ", ") + "; \(connection.state)"
    }

    private mutating func restore() -> (ManagedConnection.Command?, ManagedConnection.Report?) {
      connection.restore(.init())
      return (nil, nil)
    }
  }

  /// The rows are the states, the columns the steps. An empty cell: nothing happens.
  private static let table: [String: [Step: String]] = [
    "none": [
      .connect: "begin; connecting", .connectAgain: "begin; connecting", .restore: "; connecting",
    ],
    "restored": [.cancel: "disconnected; disconnected", .on: "begin; connecting"],
    "establishing": [
      .cancel: "end; disconnecting", .off: "end; disconnected",
      .established: "connected; connected", .failed: "failed; disconnected",
      .givenUp: "; disconnected", .ended: "; disconnected", .left: "; disconnected", .lost: "; disconnected",
    ],
    "established": [
      .connect: "connected; connected", .connectAgain: "connected; connected", .cancel: "end; disconnecting",
      .failed: "lost; disconnected", .givenUp: "disconnected; disconnected",
      .ended: "disconnected; disconnected", .left: "lost; disconnected", .lost: "lost; disconnected",
    ],
    "reconnects": [
      .connect: "connected; connected", .connectAgain: "connected; connected", .cancel: "end; disconnecting",
      .failed: "lost; disconnected", .givenUp: "disconnected; disconnected",
      .ended: "disconnected; disconnected", .left: "begin, reconnecting; connecting",
      .lost: "lost; disconnected",
    ],
    "ending": [
      .connect: "; connecting", .connectAgain: "; connecting",
      .failed: "disconnected; disconnected", .givenUp: "disconnected; disconnected",
      .ended: "disconnected; disconnected", .left: "lost; disconnected", .lost: "lost; disconnected",
    ],
    "ending, next": [
      .cancel: "; disconnecting", .off: "; disconnecting",
      .failed: "begin, disconnected; connecting", .givenUp: "begin, disconnected; connecting",
      .ended: "begin, disconnected; connecting", .left: "begin, lost; connecting",
      .lost: "begin, lost; connecting",
    ],
    "off": [.connect: "; connecting", .connectAgain: "; connecting"],
    "off, next": [
      .cancel: "; disconnecting", .off: "; disconnected", .failed: "begin; connecting",
      .givenUp: "begin; connecting", .ended: "begin; connecting", .left: "begin; connecting",
      .lost: "begin; connecting",
    ],
  ]

  @Test func everyStepInEveryStateHasItsEffect() {
    for (name, steps) in Self.states {
      for step in Step.allCases {
        var walk = Walk()
        for step in steps { _ = walk.take(step) }
        let before = walk.connection.state
        let effect = walk.take(step)
        #expect(effect == Self.table[name]?[step] ?? "; \(before)", "\(step) in the state \(name)")
      }
    }
  }

  /// An event of an attempt that is over has no effect in any state.
  @Test func anEventOfAnotherAttemptHasNoEffect() {
    for (name, steps) in Self.states {
      for step in [Step.established, .failed, .givenUp, .ended, .left, .lost] {
        var walk = Walk()
        for step in steps { _ = walk.take(step) }
        walk.attempt = PeripheralLink()
        let before = walk.connection.state
        #expect(walk.take(step) == "; \(before)", "\(step) in the state \(name)")
      }
    }
  }

  /// A loop that answers each `begin` with one end, late, while the program calls at random.
  @Test(arguments: 0..<200) func noCallIsLostAndNoneComesTwice(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var connection = ManagedConnection()
    var attempts: [(driver: PeripheralLink, isLinked: Bool, isEnding: Bool)] = []
    var isLinked = false
    /// Whether a call of the program waits for one of its delegate.
    var waits = false
    var wantsLink = false

    func handle(_ result: (ManagedConnection.Command?, ManagedConnection.Report?)) {
      switch result.0 {
      case .begin(let driver, _):
        #expect(attempts.isEmpty, "two attempts at a time")
        attempts.append((driver, false, false))
      case .end(let driver):
        if let index = attempts.firstIndex(where: { $0.driver === driver }) {
          attempts[index].isEnding = true
        }
      case nil: break
      }
      switch result.1 {
      case .connected:
        isLinked = true
        waits = false
      case .failed:
        #expect(!isLinked, "didFailToConnect of a link")
        (waits, wantsLink) = (false, false)
      case .disconnected(let isReconnecting, _):
        isLinked = false
        if connection.state != .connecting { (waits, wantsLink) = (false, false) }
        #expect(!isReconnecting)
      case nil: break
      }
    }

    /// The loop goes on.
    func goOn() {
      guard let attempt = attempts.first else { return }
      if !attempt.isLinked, !attempt.isEnding, Bool.random(using: &random) {
        attempts[0].isLinked = true
        handle((nil, connection.established(attempt.driver)))
      } else if attempt.isEnding || Int.random(in: 0..<8, using: &random) == 0 {
        attempts.removeFirst()
        handle(
          connection.ended(
            attempt.driver,
            attempt.isLinked
              ? attempt.isEnding ? .ended(nil) : .endedByPeripheral(Failure())
              : attempt.isEnding ? .givenUp : .failed(Failure(), byAdapter: false)))
      }
    }

    for _ in 0..<500 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        (waits, wantsLink) = (true, true)
        handle(connection.connect(.init()))
      case 2, 3:
        if connection.state != .disconnected { waits = true }
        wantsLink = false
        handle(connection.cancel())
      case 4:
        // The state says it, and no other call.
        if let command = connection.powerOff() { handle((command, nil)) }
        if !isLinked, connection.state == .disconnected { (waits, wantsLink) = (false, false) }
        if connection.state == .disconnecting { wantsLink = false }
      default: goOn()
      }
      #expect((connection.state == .connected) == (isLinked && attempts.first?.isEnding == false))
    }
    // What the program wanted last is what is true at the end.
    for _ in 0..<1000 where waits || !attempts.isEmpty && !isLinked { goOn() }
    #expect(!waits, "a call was not answered")
    #expect(!isLinked || wantsLink)
    #expect(isLinked == (connection.state == .connected))
  }
}
