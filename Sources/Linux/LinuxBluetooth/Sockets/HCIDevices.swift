import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// Reads and changes the state of adapters with the ioctls of HCI sockets.
package enum HCIDevices {
  /// An adapter.
  package struct Device: Hashable, Sendable {
    package var index: AdapterIndex
    package var address: BluetoothAddress
    package var isUp: Bool
    /// Whether the kernel is setting it up.
    package var isStarting: Bool
  }

  /// A link in the kernel's list.
  package struct Link: Hashable, Sendable {
    package var handle: ConnectionHandle
    /// The kernel does not report the address type.
    package var peer: BluetoothAddress
  }

  /// The maximum number of adapters, and of links of one adapter, to read.
  private static let most = 16

  /// All adapters, ordered by number.
  package static func list() throws(StackError) -> [Device] {
    let indexes = indexes(in: try ask(KernelFunction.devices, listRequest, "list the adapters"))
    var devices: [Device] = []
    // An adapter removed between the two calls is skipped.
    for index in indexes.sorted() { if let device = try? state(of: index) { devices.append(device) } }
    return devices
  }

  /// The state of one adapter.
  package static func state(of index: AdapterIndex) throws(StackError) -> Device {
    let answer = try ask(KernelFunction.device, stateRequest(of: index), "find \(index)")
    guard let device = device(index, in: answer) else {
      throw StackError("find \(index)", .malformedAnswer)
    }
    return device
  }

  /// struct hci_dev_info: the adapter, and room for the kernel's answer about it.
  static func stateRequest(of index: AdapterIndex) -> [UInt8] {
    var request = ByteWriter()
    request.write(index.rawValue)
    request.pad(to: KernelABI.deviceInformationSize)
    return request.bytes
  }

  /// An adapter in the kernel's answer, which has the form of the request: its number, a name of eight bytes, its address,
  /// and its flags.
  static func device(_ index: AdapterIndex, in answer: [UInt8]) -> Device? {
    answer.withReader { reader in
      guard (try? reader.skip(10)) != nil,
        let address = try? BluetoothAddress(parsing: &reader, kind: .public),
        let flags = try? reader.readUInt32()
      else { return nil }
      return Device(
        index: index, address: address, isUp: flags >> KernelABI.isUp & 1 == 1,
        isStarting: flags >> KernelABI.isStarting & 1 == 1)
    }
  }

  /// struct hci_dev_list_req: the count, then for each device its number, two bytes of padding, and its flags.
  static var listRequest: [UInt8] {
    var request = ByteWriter()
    request.write(UInt16(truncatingIfNeeded: most))
    request.pad(to: 4 + 8 * most)
    return request.bytes
  }

  /// The adapters in the kernel's answer, which has the form of the request.
  static func indexes(in answer: [UInt8]) -> [AdapterIndex] {
    answer.withReader { reader in
      var indexes: [AdapterIndex] = []
      guard let count = try? reader.readUInt16(), (try? reader.skip(2)) != nil else { return indexes }
      for _ in 0..<min(Int(count), most) {
        guard let index = try? reader.readUInt16(), (try? reader.skip(6)) != nil else { break }
        indexes.append(AdapterIndex(rawValue: index))
      }
      return indexes
    }
  }

  /// The links of an adapter.
  package static func links(of index: AdapterIndex) throws(StackError) -> [Link] {
    links(in: try ask(KernelFunction.links, linksRequest(of: index), "list the links of \(index)"))
  }

  /// struct hci_conn_list_req: the adapter, the count, then for each link a struct hci_conn_info of 16 bytes.
  static func linksRequest(of index: AdapterIndex) -> [UInt8] {
    var request = ByteWriter()
    request.write(index.rawValue)
    request.write(UInt16(truncatingIfNeeded: most))
    request.pad(to: 4 + 16 * most)
    return request.bytes
  }

  /// The links in the kernel's answer, which has the form of the request.
  static func links(in answer: [UInt8]) -> [Link] {
    answer.withReader { reader in
      var links: [Link] = []
      guard (try? reader.skip(2)) != nil, let count = try? reader.readUInt16() else { return links }
      for _ in 0..<min(Int(count), most) {
        guard let handle = try? ConnectionHandle(parsing: &reader),
          let peer = try? BluetoothAddress(parsing: &reader, kind: .public), (try? reader.skip(8)) != nil
        else { break }
        links.append(Link(handle: handle, peer: peer))
      }
      return links
    }
  }

  /// Whether a program has opened the user channel of an adapter.
  ///
  /// The kernel does not report this directly. But on a socket bound to such an adapter, and only then, requests for
  /// the adapter's links fail with EBUSY. (A missing entry in the management interface's list is not sufficient: an
  /// adapter brought up while the kernel was setting it up stays unlisted.)
  package static func isTaken(_ index: AdapterIndex) -> Bool {
    let descriptor = SystemCall.socket(AF_BLUETOOTH, SOCK_RAW, KernelABI.protocolHCI)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let isBound = KernelAddress.hci(index, channel: RawChannel.number).withPointer {
      SystemCall.bind(descriptor, $0, $1) == 0
    }
    // struct hci_conn_info_req: no address and a link type, followed by space for the answer.
    var question = [UInt8](repeating: 0, count: 32)
    let isRefused = question.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return false }
      return SystemCall.control(descriptor) { KernelFunction.link(descriptor, base) } != 0
        && errno == EBUSY
    }
    return isBound && isRefused
  }

  /// Whether a switch or rfkill blocks the radio of an adapter. Reading this requires no privilege.
  package static func isRadioBlocked(_ index: AdapterIndex) -> Bool {
    isRadioBlocked(in: "/sys/class/bluetooth/\(index)")
  }

  /// - Parameter folder: of the adapter, with a folder `rfkill0` for each of its switches
  static func isRadioBlocked(in folder: String) -> Bool {
    FolderNames.read(folder).contains { name in
      name.hasPrefix("rfkill") && (isOne("\(folder)/\(name)/soft") || isOne("\(folder)/\(name)/hard"))
    }
  }

  /// Whether the contents of a kernel file start with the digit 1.
  private static func isOne(_ path: String) -> Bool {
    let descriptor = SystemCall.open(path, O_RDONLY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var byte: UInt8 = 0
    return SystemCall.read(descriptor, &byte, 1) == 1 && byte == UInt8(ascii: "1")
  }

  /// Brings an adapter up; no change if it is up. Requires CAP_NET_ADMIN.
  package static func bringUp(_ index: AdapterIndex) throws(StackError) {
    do throws(StackError) {
      try withSocket("bring \(index) up") { KernelFunction.bringUp($0, index.rawValue) }
    } catch {
      if error.cause == .system(EALREADY) { return }
      throw error
    }
  }

  /// Brings an adapter down, which ends its links. Requires CAP_NET_ADMIN.
  package static func bringDown(_ index: AdapterIndex) throws(StackError) {
    try withSocket("bring \(index) down") { KernelFunction.bringDown($0, index.rawValue) }
  }

  private static func ask(
    _ question: (Int32, UnsafeMutableRawPointer) -> Int32, _ request: [UInt8], _ operation: String
  ) throws(StackError) -> [UInt8] {
    var bytes = request
    try withSocket(operation) { descriptor in
      bytes.withUnsafeMutableBytes { buffer in
        guard let base = buffer.baseAddress else { return Int32(-1) }
        return question(descriptor, base)
      }
    }
    return bytes
  }

  private static func withSocket(_ operation: String, _ call: (Int32) -> Int32) throws(StackError) {
    do throws(SystemError) {
      let descriptor = try retryingInterrupts("socket") {
        SystemCall.socket(AF_BLUETOOTH, SOCK_RAW, KernelABI.protocolHCI)
      }
      defer { close(descriptor) }
      try retryingInterrupts("ioctl") { SystemCall.control(descriptor) { call(descriptor) } }
    } catch {
      // The ioctls that change state require another capability than commands.
      let isDenied = error.errno == EPERM || error.errno == EACCES
      throw StackError(operation, isDenied ? .missing(.netAdmin) : StackError(opening: error))
    }
  }
}
