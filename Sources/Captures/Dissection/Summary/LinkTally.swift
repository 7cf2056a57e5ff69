import HCI
import HaloBluetoothCore
import HaloCapture

/// The links of a capture over HCI, in the order in which they began.
struct LinkTally: Sendable {
  private(set) var connections: [ConnectionSummary] = []
  /// The number of links that there was no room for.
  private(set) var overflow = 0
  /// The index in ``connections`` of each open link.
  private var open: [UInt32: Int] = [:]

  /// The index of the open link with a handle; it begins now if it is not known, as far as there is room.
  mutating func index(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> Int? {
    open[key(handle, info)] ?? begin(handle, info)
  }

  /// A link's peer may be named after the link has begun.
  mutating func name(_ handle: ConnectionHandle, _ name: String, _ info: CaptureRecordInfo) {
    guard let index = open[key(handle, info)], connections[index].name != name else { return }
    connections[index].name = name
  }

  private func key(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> UInt32 {
    UInt32(info.adapter ?? 0) << 16 | UInt32(handle.rawValue)
  }

  /// - Returns: nil if there are too many
  mutating func begin(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> Int? {
    guard connections.count < CaptureSummary.capacity else {
      overflow += 1
      return nil
    }
    connections.append(
      ConnectionSummary(adapter: info.adapter ?? 0, handle: handle, start: info.microseconds))
    open[key(handle, info)] = connections.count - 1
    return connections.count - 1
  }

  mutating func change(_ index: Int?, _ body: (inout ConnectionSummary) -> Void) {
    if let index, connections.indices.contains(index) { body(&connections[index]) }
  }

  mutating func close(_ handle: ConnectionHandle, _ info: CaptureRecordInfo, reason: HCIErrorCode?) {
    change(open.removeValue(forKey: key(handle, info))) {
      $0.end = info.microseconds
      $0.reason = reason
    }
  }

  /// The adapter was reset.
  mutating func closeAll(_ info: CaptureRecordInfo) {
    for index in open.values where connections[index].adapter == info.adapter ?? 0 {
      close(connections[index].handle, info, reason: nil)
    }
  }

  mutating func note(_ words: String, _ handle: ConnectionHandle, _ info: CaptureRecordInfo) {
    change(index(handle, info)) { $0.add(words, at: info.microseconds) }
  }
}
