import HCI
import HaloBluetoothCore
import TestLoop
import Testing
import HaloSimulation

/// What errands offer to others, who meet it one after the other.
@BluetoothActor
@Suite(.onTheLoop) struct ServingErrandTests {
  nonisolated static let names = ["serve", "serve three", "serve many", "both roles", "a served peripheral"]

  private let run = ErrandRun()
  private var journal: Journal { run.journal }

  /// Does an errand with clients, and interrupts it when they have done enough.
  private func lines(
    of errand: String, on controller: Controller, with kinds: [Client.Kind],
    until isReady: @escaping () -> Bool
  ) async throws -> [String] {
    let clients = kinds.enumerated().map { Client(run.medium, journal, $0, $1) }
    let meeting = spawn {
      for client in clients { try await client.meet(controller.options.address) }
    }
    let lines = try await run.lines(of: errand, on: controller.options, interruptedWhen: isReady)
    try await meeting.value
    withExtendedLifetime(clients) {}
    return lines
  }

  private var hasGone: Bool { journal.events.contains { $0.text.hasPrefix("disconnected") } }

  private func events(of client: String, _ start: String) -> [Journal.Event] {
    journal.events.filter { $0.device == client && $0.text.hasPrefix(start) }
  }

  @Test(arguments: Controller.allCases)
  func aValueIsReadAndWritten(on controller: Controller) async throws {
    let lines = try await lines(of: "serve", on: controller, with: [.reader]) { hasGone }
    #expect(lines == ["written " + hex(Client.written), "error cancelled"])
    #expect(events(of: "reader 0", "read").map(\.text) == ["read " + hex(Lamp.long)])
  }

  @Test(arguments: Controller.allCases)
  func directedAdvertisingConnectsCentral(on controller: Controller) async throws {
    let lines = try await lines(of: "a served peripheral", on: controller, with: [.called]) { hasGone }
    #expect(lines == ["battery 32", "written " + hex(Client.written), "error cancelled"])
    #expect(events(of: "called 0", "read").map(\.text) == ["read " + hex(Lamp.long)])
    #expect(events(of: "called 0", "disconnected").map(\.text) == ["disconnected by the server"])
  }

  /// The client reads on, and ends the link itself.
  @Test(arguments: Controller.allCases)
  func theCentralRoleUsesTheLinkThatAClientHasMade(on controller: Controller) async throws {
    let lines = try await lines(of: "both roles", on: controller, with: [.phone]) { hasGone }
    #expect(lines == ["battery 32", "error cancelled"])
    let texts = journal.events.map(\.text)
    let asked = try #require(texts.firstIndex(of: "asked"))
    #expect(texts[asked...].count { $0.hasPrefix("read") } == 5)
    #expect(journal.count("asked") == 1 && events(of: "phone 0", "connected").count == 1)
    #expect(events(of: "phone 0", "disconnected").map(\.text) == ["disconnected 16"])
  }

  /// Others wait for a client that confirms nothing for a second, once.
  @Test(arguments: [("serve three", 100), ("serve many", 5000)], Controller.allCases)
  func valuesComeToAllThatTakeThem(_ errand: (name: String, count: Int), on controller: Controller)
    async throws
  {
    let (name, count) = errand
    let kinds: [Client.Kind] = name == "serve three" ? [.listener, .silent, .listener] : [.listener]
    let values = (0..<count).map { "value " + hex([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
    let listeners = kinds.enumerated().filter { $0.element == .listener }.map { "listener \($0.offset)" }
    let lines = try await lines(of: name, on: controller, with: kinds) {
      journal.count(values[count - 1]) == listeners.count
    }
    #expect(lines == ["sent", "error cancelled"])
    for listener in listeners {
      let taken = events(of: listener, "value")
      #expect(taken.map(\.text) == values)
      #expect(zip(taken, taken.dropFirst()).allSatisfy { $1.time - $0.time < .seconds(2) })
    }
  }
}
