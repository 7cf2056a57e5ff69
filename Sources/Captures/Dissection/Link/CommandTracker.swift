import HCI
import HaloBluetoothCore
import HaloCapture

/// Finds the command of an event: the one that it answers, or the one whose result it brings. Bounded: the oldest
/// command is forgotten.
struct CommandTracker {
  static let capacity = 32

  struct Sent {
    var opcode: HCIOpcode
    var moment: PacketTime
    var handle: ConnectionHandle?
  }

  /// The commands without an event.
  private var sent: [Sent] = []
  /// The commands that were accepted with Command Status: their result follows as another event.
  private var pending: [Sent] = []

  mutating func send(_ hci: HCILayer, _ moment: PacketTime) {
    guard let opcode = hci.opcode else { return }
    if sent.count >= Self.capacity { sent.removeFirst() }
    sent.append(Sent(opcode: opcode, moment: moment, handle: hci.connection))
  }

  /// - Returns: the command that an event belongs to
  mutating func receive(_ hci: HCILayer) -> Sent? {
    if let opcode = hci.opcode {
      guard let index = sent.firstIndex(where: { $0.opcode == opcode }) else { return nil }
      let command = sent.remove(at: index)
      if hci.event == .commandStatus, hci.status == .success {
        if pending.count >= Self.capacity { pending.removeFirst() }
        pending.append(command)
      }
      return command
    }
    guard let event = hci.event, !(pending.isEmpty && sent.isEmpty),
      let opcodes = Self.results[hci.subevent.map { .leEvent($0) } ?? .event(event)]
    else { return nil }
    func isResult(of command: Sent) -> Bool {
      opcodes.contains(command.opcode)
        && (command.handle == nil || hci.connection == nil || command.handle == hci.connection)
    }
    if let index = pending.firstIndex(where: isResult) { return pending.remove(at: index) }
    // The capture may lack Command Status.
    if let index = sent.firstIndex(where: isResult) { return sent.remove(at: index) }
    return nil
  }

  /// The commands that end with an event.
  private static let results: [HCICommandInfo.Result: Set<HCIOpcode>] = {
    var results: [HCICommandInfo.Result: Set<HCIOpcode>] = [:]
    for info in HCICommandCatalog.standard.infos {
      for result in info.results { results[result, default: []].insert(info.opcode) }
    }
    return results
  }()
}
