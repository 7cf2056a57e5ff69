import HaloBluetoothCore

/// Messages to one viewer, which are sent as fast as he takes them. Those that are worth nothing later are left out while too
/// many wait: a slow viewer takes bounded memory, and holds nothing up.
@BluetoothActor
package final class EventStream {
  /// What becomes of a message while many wait.
  package enum Urgency {
    /// It is left out, and counts as this much.
    case passing(worth: Int)
    /// It waits.
    case lasting
    /// It waits, and does not count: it is what a viewer gets at the beginning, however many rings there are.
    case opening
  }

  private var queue: [UInt8] = []
  /// How many bytes of the queue are sent.
  private var sent = 0
  /// How many of those that wait do not count.
  private var opening = 0
  private var isEnding = false
  /// How much was left out of passing messages since ``takeOmitted()``.
  private var omitted = 0
  /// Wakes the connection when there is something to send.
  var wake: () -> Void = {}
  /// The viewer is gone, or the server has ended.
  package var onEnd: () -> Void = {}

  /// In bytes: beyond this, passing messages are left out, and beyond the other one, a viewer is given up who takes nothing.
  private static let enough = 1 << 15
  private static let most = 1 << 18

  package init() {}

  /// How many bytes wait.
  package var pending: Int { queue.count - sent }

  private var counted: Int { pending - opening }

  /// Sends a message, which ends with an empty line.
  package func send(_ message: [UInt8], _ urgency: Urgency = .lasting) {
    guard !isEnding else { return }
    switch urgency {
    case .opening: opening += message.count
    case .passing(let worth) where counted > Self.enough: return omitted += worth
    case .passing, .lasting: guard counted + message.count <= Self.most else { return end() }
    }
    queue += message
    wake()
  }

  /// How much was left out since the last call, if the viewer takes messages again; 0 if nothing was.
  package func takeOmitted() -> Int {
    guard counted <= Self.enough else { return 0 }
    defer { omitted = 0 }
    return omitted
  }

  /// Ends the answer after the messages that wait.
  package func end() {
    guard !isEnding else { return }
    isEnding = true
    wake()
  }

  /// What is read next.
  enum Piece: Equatable {
    case bytes(Int)
    case nothing
    case end
  }

  /// Copies the next bytes.
  func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Piece {
    let count = min(pending, buffer.count)
    guard count > 0 else { return isEnding ? .end : .nothing }
    for index in 0..<count { buffer[index] = queue[sent + index] }
    sent += count
    opening = max(0, opening - count)
    if sent == queue.count {
      queue.removeAll(keepingCapacity: true)
      sent = 0
    } else if sent > Self.enough {
      queue.removeFirst(sent)
      sent = 0
    }
    return .bytes(count)
  }

  /// The connection is gone.
  func close() {
    isEnding = true
    wake = {}
    let onEnd = onEnd
    self.onEnd = {}
    onEnd()
  }
}
