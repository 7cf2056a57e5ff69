import Glibc

/// Blocks threads until the test lets them pass.
final class Gate: Sendable {
  let descriptors: (read: Int32, write: Int32)

  init() {
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    descriptors = (ends[0], ends[1])
  }

  /// Blocks until ``open()``.
  func pass() -> Int {
    var byte: UInt8 = 0
    return read(descriptors.read, &byte, 1)
  }

  func open() { _ = write(descriptors.write, [1] as [UInt8], 1) }
}
