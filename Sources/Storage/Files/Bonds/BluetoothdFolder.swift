import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem

/// The folder in which bluetoothd keeps what it knows: in it a folder for each adapter, and in that one for each device.
package enum BluetoothdFolder {
  /// Only root can read it.
  package static let standardPath = "/var/lib/bluetooth"

  /// What is in it.
  package struct Contents: Sendable {
    package var bonds: [Bond] = []
    /// The number of devices of which it has no key for Bluetooth LE.
    package var others = 0
    /// Files that can't be read.
    package var unreadable: [FileError] = []
  }

  /// The number of adapters, and of the devices of each, that are looked at.
  private static let limit = 1024
  /// The maximum size of a file, in bytes.
  private static let sizeLimit = 1 << 16

  /// - Throws: if there is no such folder, or it can't be read
  package static func read(_ path: String) throws(FileError) -> Contents {
    var contents = Contents()
    for adapter in try names(in: path) {
      guard let own = address(ofAdapter: adapter) else { continue }
      do throws(FileError) {
        for device in try names(in: "\(path)/\(adapter)") {
          guard let peer = address(device) else { continue }
          try read("\(path)/\(adapter)/\(device)/info", peer, own, into: &contents)
        }
      } catch {
        contents.unreadable.append(error)
      }
    }
    return contents
  }

  private static func read(
    _ path: String, _ peer: BluetoothAddress, _ own: BluetoothAddress, into contents: inout Contents
  ) throws(FileError) {
    do throws(FileError) {
      let text = try InputFile.read(path, limit: sizeLimit, timeout: 0)
      if let bond = Bond(bluetoothd: text, peer: peer, own: own) {
        contents.bonds.append(bond)
      } else {
        contents.others += 1
      }
    } catch {
      // A device that was seen and not paired with may have other files only.
      if !error.isMissing { contents.unreadable.append(error) }
    }
  }

  private static func names(in path: String) throws(FileError) -> [String] {
    try FolderNames.readable(path, limit: limit).sorted()
  }

  /// An adapter that has no public address is named by its static one, behind a word.
  private static func address(ofAdapter name: String) -> BluetoothAddress? {
    let word = "static-"
    guard name.hasPrefix(word) else { return address(name).map { BluetoothAddress($0.value, .public) } }
    return address(name.dropFirst(word.count)).map { BluetoothAddress($0.value, .random) }
  }

  /// Only as bluetoothd writes it: other folders are its caches.
  private static func address(_ name: some StringProtocol) -> BluetoothAddress? {
    name.utf8.count == 17 && !name.contains("/") ? BluetoothAddress(name) : nil
  }
}
