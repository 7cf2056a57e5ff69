import Glibc
import HCI
import HaloSystem

/// The number of an advertisement of an adapter, which no other program of this package uses meanwhile. The kernel would give
/// the advertisement the data of both, one after the other, and report it to neither.
final class AdvertisingNumber {
  let index: AdapterIndex
  let value: UInt8
  private let socket: Int32?

  /// - Parameters:
  ///   - value: at least 1
  ///   - index: of the adapter
  /// - Returns: nil if another program has it
  convenience init?(_ value: UInt8, of index: AdapterIndex) {
    guard let socket = LocalSocket.listen(at: "@halo-raw-\(index)-advertisement-\(value)") else {
      return nil
    }
    self.init(value, of: index, holding: socket)
  }

  /// - Parameter socket: marks the number as taken for other programs; closed with this object
  init(_ value: UInt8, of index: AdapterIndex, holding socket: Int32?) {
    self.value = value
    self.index = index
    self.socket = socket
  }

  deinit {
    if let socket { close(socket) }
  }
}
