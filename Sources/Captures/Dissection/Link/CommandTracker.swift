import BluetoothCore
import HCI
import HaloCapture

/// Finds the command of an event: the one that it answers, or the one whose result it brings. Bounded: the oldest
/// command is forgotten.
struct CommandTracker {
  static let capacity = 32

  struct Sent {
    var opcode: HCIOpcode
    var moment: Moment
    var handle: ConnectionHandle?
  }

  /// The commands without an event.
  private var sent: [Sent] = []
  /// The commands that were accepted with Command Status: their result follows as another event.
  private var pending: [Sent] = []

  mutating func send(_ hci: HCILayer, _ moment: Moment) {
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
      let opcodes = Self.results[UInt16(event.rawValue) << 8 | UInt16(hci.subevent?.rawValue ?? 0)]
    else { return nil }
    func isResult(of command: Sent) -> Bool {
      opcodes.contains(command.opcode.rawValue)
        && (command.handle == nil || hci.connection == nil || command.handle == hci.connection)
    }
    if let index = pending.firstIndex(where: isResult) { return pending.remove(at: index) }
    // The capture may lack Command Status.
    if let index = sent.firstIndex(where: isResult) { return sent.remove(at: index) }
    return nil
  }

  /// The commands that end with an event, by its code and subevent (Core Specification Vol 4, Part E, 7.1 to 7.8).
  private static let results: [UInt16: [UInt16]] = [
    0x0100: [0x0401], 0x0300: [0x0405, 0x0409, 0x040A], 0x0500: [0x0406], 0x0600: [0x0411], 0x0700: [0x0419],
    0x0800: [0x0413, 0x2019], 0x5900: [0x0413, 0x2019], 0x3000: [0x0C53, 0x2019], 0x0900: [0x0415],
    0x0A00: [0x0417], 0x0B00: [0x041B], 0x0C00: [0x041D], 0x0D00: [0x0807], 0x1200: [0x080B],
    0x1400: [0x0801, 0x0803, 0x0804], 0x1C00: [0x041F], 0x1D00: [0x040F], 0x2100: [0x0810], 0x2300: [0x041C],
    0x2C00: [0x0428, 0x0429, 0x042A, 0x043D, 0x043E], 0x2D00: [0x0428, 0x043D], 0x3900: [0x0C5F],
    0x5300: [0x043F],
    // LE Meta.
    0x3E01: [0x200D, 0x2043, 0x2085], 0x3E0A: [0x200D, 0x2043, 0x2085], 0x3E29: [0x200D, 0x2043, 0x2085],
    0x3E03: [0x2013, 0x2020], 0x3E04: [0x2016], 0x3E08: [0x2025], 0x3E09: [0x2026, 0x205E], 0x3E0C: [0x2032],
    0x3E0E: [0x2044], 0x3E24: [0x2044], 0x3E19: [0x2064, 0x2066], 0x3E2A: [0x2064, 0x2066],
    0x3E1B: [0x2068, 0x2069],
    0x3E1C: [0x206A], 0x3E1D: [0x206B], 0x3E1F: [0x206D], 0x3E21: [0x2077], 0x3E23: [0x207E],
  ]
}
