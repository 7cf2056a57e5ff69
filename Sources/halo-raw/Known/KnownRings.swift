import BluetoothCore
import Dissection
import FoundationEssentials
import GATTClient
import RingLink

/// The rings that were used before: a JSON file in the user's state directory. It only saves time, so that trouble
/// with it is never an error: what can't be read is taken as empty, what can't be written is forgotten.
struct KnownRings {
  private(set) var rings: [KnownRing]
  private let path: String?

  static var standardPath: String? { UserFolders.state.map { $0 + "/rings.json" } }

  /// - Parameter path: nil remembers nothing
  init(path: String?) {
    self.path = path
    let data = path.flatMap { try? Data(contentsOf: URL(filePath: $0)) }
    rings = data.flatMap { try? JSONDecoder().decode([KnownRing].self, from: $0) } ?? []
  }

  /// The one ring that is meant; nil if there is none or more than one.
  func only(_ selector: RingSelector) -> KnownRing? {
    let meant = rings.filter { $0.isMeant(by: selector) }
    return meant.count == 1 ? meant[0] : nil
  }

  /// Where the attributes of all of them are, to name handles by.
  var devices: [Dissector.KnownDevice] {
    rings.compactMap { ring in
      guard let address = ring.bluetoothAddress, let layout = ring.layout else { return nil }
      return Dissector.KnownDevice(
        address: address, characteristics: [layout.commandWrite, layout.commandNotify],
        descriptors: [
          Descriptor(uuid: GATTUUID.clientCharacteristicConfiguration, handle: layout.configuration)
        ])
    }
  }

  /// Remembers a ring, in place of what was remembered of it.
  mutating func remember(_ ring: KnownRing) {
    var ring = ring
    let old = rings.first { $0.address == ring.address && $0.type == ring.type }
    ring.name = ring.name ?? old?.name
    ring.clock = ring.clock ?? old?.clock
    guard ring != old else { return }
    rings.removeAll { $0.address == ring.address && $0.type == ring.type }
    rings.append(ring)
    save()
  }

  /// Forgets the rings that are meant.
  ///
  /// - Returns: the forgotten ones
  mutating func forget(_ selector: RingSelector) -> [KnownRing] {
    let meant = rings.filter { $0.isMeant(by: selector) }
    rings.removeAll { $0.isMeant(by: selector) }
    save()
    return meant
  }

  /// Forgets where a ring's attributes are, but not what its clock was set to.
  mutating func forgetLayout(of address: BluetoothAddress) {
    let ring = rings.first { $0.bluetoothAddress == address }
    rings.removeAll { $0.bluetoothAddress == address }
    if let ring, let clock = ring.clock {
      var rest = KnownRing(name: ring.name, address: address, layout: nil)
      rest.clock = clock
      rings.append(rest)
    }
    save()
  }

  /// Remembers what the clock of a ring was set to.
  mutating func remember(_ clock: ClockRecord, of address: BluetoothAddress) {
    var ring =
      rings.first { $0.bluetoothAddress == address } ?? KnownRing(name: nil, address: address, layout: nil)
    ring.clock = clock
    remember(ring)
  }

  private func save() {
    guard let path else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let file = URL(filePath: path)
    try? FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try? encoder.encode(rings).write(to: file, options: .atomic)
  }
}
