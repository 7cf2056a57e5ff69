import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import HaloRaw
import RingLink

/// A copy of the stored data by another command, which has the ring: a ring has one link.
@BluetoothActor
struct RunningCopy {
  private let result: JSONValue

  /// How long the other command may take to report its state, and to copy, in milliseconds.
  private nonisolated static let statusDeadline: Int32 = 3000
  private nonisolated static let copyDeadline: Int32 = 5 * 60_000

  /// Asks the command that has the ring, and waits until it is done.
  ///
  /// - Returns: nil if none has it
  /// - Throws: if one has it that copies nothing, or that ends before it is done
  init?(_ invocation: Invocation) async throws(Failure) {
    let selector = try invocation.ring() ?? .anyRing
    let adapter = try invocation.adapter
    guard adapter.isReal, let (command, facts) = await Self.owner(of: selector, on: adapter) else {
      return nil
    }
    let title =
      "halo-raw \(facts.found("command", as: String.self)?.printable ?? "") (process \(command.process))"
    Console.error("asking \(title), which has the ring")
    let answer = await offTheLoop(privileges: .ofTheLoop) {
      RunningCommand.answers(of: [command], to: .copy, within: Self.copyDeadline)[0]
    }
    guard let answer else { throw Failure(.interrupted, "interrupted") }
    guard let answer else {
      // Without a name, another ring may be meant.
      guard selector != .anyRing else { return nil }
      throw Failure(
        .connectionLost,
        "the ring is in use by \(title), which copies nothing: end it, or start it with --sync-every 1h")
    }
    guard let json = try? JSONValue(parsing: answer.bytes), case .array(let all) = json,
      let result = all.first(where: { Self.isMeant(selector, $0, name: nil) }) ?? all.first
    else { throw Failure(.connectionLost, "\(title) has ended before it has copied the data") }
    self.result = result
    guard let wanted = invocation[StoreFile.option], invocation.isGiven(StoreFile.option),
      let used = result.found("store", as: String.self),
      FileIdentity(path: wanted) == nil || FileIdentity(path: wanted) != FileIdentity(path: used)
    else { return }
    throw .usage("\(title) has copied the data into \(used.printable); leave out --store")
  }

  private static func isMeant(_ selector: RingSelector, _ device: JSONValue, name: String?) -> Bool {
    let address = device.found("address", as: String.self) ?? device.found("ring", as: String.self)
    guard let address = address.flatMap({ BluetoothAddress($0) }) else { return false }
    return selector == .anyRing || selector.isMeant(name: name, address: address)
  }

  /// The command of this user that has a ring, with its state.
  private static func owner(
    of selector: RingSelector, on adapter: AdapterSpecification
  ) async -> (RunningCommand, JSONValue)? {
    let found = await RunningCommand.allWithStatus(within: statusDeadline)
    for (command, answer) in found ?? [] {
      guard let answer, let facts = try? JSONValue(parsing: answer.bytes),
        // A ring that is simulated or replayed has the name of a real one.
        facts.found("real", as: Bool.self) == true, isSame(adapter, facts.found("adapter", as: String.self)),
        case .array(let devices)? = facts.found("devices")
      else { continue }
      if devices.contains(where: { isMeant(selector, $0, name: $0.found("name", as: String.self)) }) {
        return (command, facts)
      }
    }
    return nil
  }

  /// Whether an adapter is that of another command; one that is not named may be any of this machine.
  private static func isSame(_ adapter: AdapterSpecification, _ other: String?) -> Bool {
    guard let other else { return false }
    if case .kernel(nil) = adapter { return other.hasPrefix("kernel") || other.hasPrefix("user") }
    return "\(adapter)" == other
      || other == "\(AdapterSpecification.kernel(nil))" && "\(adapter)".hasPrefix("kernel")
  }

  /// The results of the copy, as far as they are well formed.
  var outcomes: [RingSync.Outcome] {
    guard case .array(let kinds)? = result.found("kinds") else { return [] }
    return kinds.compactMap { RingSync.Outcome($0) }
  }

  /// The address of the ring.
  var ring: String? { result.found("ring", as: String.self) }

  /// - Throws: why not all was copied
  func finish() throws(Failure) {
    if let store = result.found("store", as: String.self) { Console.error("stored in \(store.printable)") }
    if let problem = result.found("problem", as: String.self) {
      throw Failure(.protocolError, problem.printable)
    }
  }
}
