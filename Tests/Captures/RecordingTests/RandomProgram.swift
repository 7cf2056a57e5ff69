import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport

@testable import HaloRecording

/// A program made up of what the recorded client did, in part or in another order, and of other requests.
struct RandomProgram {
  enum Step {
    /// The value of a Client Characteristic Configuration, and the handle of the characteristic's value.
    case configure(AttributeHandle, owner: AttributeHandle, on: Bool)
    /// A recorded write, by its index among the exchanges.
    case ask(Int, any ATTPDU)
    /// A request that was not recorded.
    case other(any ATTPDU)
    case pause(Duration)
    case disconnect
  }

  var steps: [Step] = []

  /// Whether it has only subscriptions.
  var listens: Bool { asks.isEmpty && !steps.contains { if case .other = $0 { true } else { false } } }
  /// The recorded writes that it makes, in its order.
  var asks: [Int] { steps.compactMap { if case .ask(let index, _) = $0 { index } else { nil } } }
  var hasPauses: Bool { longestPause > .zero }
  var longestPause: Duration {
    steps.reduce(.zero) { if case .pause(let duration) = $1 { max($0, duration) } else { $0 } }
  }
  var isCutOff: Bool { steps.contains { if case .disconnect = $0 { true } else { false } } }
  /// Whether it ends a subscription.
  var unsubscribes: Bool {
    steps.contains { if case .configure(_, _, on: false) = $0 { true } else { false } }
  }

  /// - Parameter listens: whether it only subscribes, at first
  @BluetoothActor
  init(_ peripheral: ReplayedPeripheral, _ generator: inout SeededGenerator, listens: Bool) {
    let attributes = peripheral.attributes
    let dialogue = peripheral.dialogues[0]
    let notifying = Set(dialogue.pushes.compactMap(\.handle))
    let configurations = attributes.attributes.map(\.handle).compactMap { handle in
      attributes.owner(ofConfiguration: handle).map { (handle, owner: $0) }
    }.filter { notifying.contains($0.owner) }
    steps = configurations.map { .configure($0.0, owner: $0.owner, on: true) }
    guard !listens else { return }
    var writes: [Step] = []
    for (index, exchange) in dialogue.exchanges.enumerated() {
      guard case .write(let handle) = exchange.subject, attributes.owner(ofConfiguration: handle) == nil,
        exchange.errorCode == nil
      else { continue }
      let isCommand = exchange.opcode == .writeCommand
      writes.append(
        .ask(
          index,
          isCommand
            ? ATTWriteCommand(handle, value: exchange.value) : ATTWriteRequest(handle, value: exchange.value))
      )
    }
    // Half of the programs ask for all, in the recorded order.
    if Bool.random(using: &generator) {
      if Bool.random(using: &generator) { writes.shuffle(using: &generator) }
      writes.removeAll { _ in Bool.random(using: &generator) }
    }
    steps += writes
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      addStep(configurations.randomElement(using: &generator), &generator)
    }
  }

  private mutating func addStep(
    _ configuration: (AttributeHandle, owner: AttributeHandle)?, _ generator: inout SeededGenerator
  ) {
    let place = Int.random(in: 0...steps.count, using: &generator)
    switch Int.random(in: 0..<8, using: &generator) {
    // A program that is quiet for two seconds before it asks for something is taken for one that only listens.
    case 0: steps.insert(.pause(.milliseconds(Int.random(in: 1...1900, using: &generator))), at: place)
    case 1: steps.insert(.pause(.milliseconds(Int.random(in: 1...6000, using: &generator))), at: place)
    case 2: steps.insert(.other(ATTReadRequest(0xFFF0)), at: place)
    case 3: steps.insert(.other(ATTWriteCommand(0xFFF0, value: [1])), at: place)
    case 4 where place == steps.count: steps.append(.disconnect)
    case 5, 6:
      guard let configuration else { return }
      steps.append(.configure(configuration.0, owner: configuration.owner, on: false))
      if Bool.random(using: &generator) { steps.append(.pause(.seconds(1))) }
      steps.append(.configure(configuration.0, owner: configuration.owner, on: true))
    default:
      guard let configuration else { return }
      steps.append(.configure(configuration.0, owner: configuration.owner, on: true))
    }
  }

  /// Runs it until its link ends, or the recording.
  @BluetoothActor
  func run(on peripheral: ReplayedPeripheral) async throws -> ProgramRun {
    let adapter = ReplayAdapter(peripheral, time: testTime)
    _ = try await adapter.start()
    var connected: ProgramRun?
    _ = adapter.connect(ConnectionRequest(peer: peripheral.address)) { result in
      connected = (try? result.get()).map { ProgramRun($0, adapter, peripheral.dialogues[0]) }
    }
    await settle()
    guard let run = connected else { throw StackError.cancelled }
    for step in steps where !run.hasEnded { await run.perform(step) }
    await run.end()
    await adapter.close()
    return run
  }
}
