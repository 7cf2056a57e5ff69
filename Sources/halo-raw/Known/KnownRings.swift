import BluetoothCore
import Dissection
import Files
import FoundationEssentials
import GATTClient
import RingLink

/// The rings that were used before: a JSON file in the user's state directory. It saves time, and keeps what clocks were
/// set to. Trouble with it ends no command: what can't be read counts as empty, what can't be written is not remembered,
/// and where that can be put right, a line says so.
struct KnownRings {
  /// More are not kept: the ones that were used last.
  static let limit = 256
  static var standardPath: String? { UserFolders.state.map { $0 + "/rings.json" } }

  private(set) var rings: [KnownRing] = []
  private let file: StateFile?
  private let report: (String) -> Void
  /// A newer version of this program has written the file.
  private var isReadOnly = false

  /// - Parameters:
  ///   - path: nil remembers nothing
  ///   - report: what to do with a line for the user
  init(path: String?, report: @escaping (String) -> Void = { Console.error("halo-raw: \($0)") }) {
    file = path.map { StateFile(path: $0) }
    self.report = report
    guard let file else { return }
    do throws(FileError) {
      guard let bytes = try file.read() else { return }
      take(Self.parse(bytes))
    } catch {
      switch error.reason {
      case .tooLarge: setAside()
      default: report("what is known of rings is not used: \(error)")
      }
    }
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

  // MARK: Changes

  /// Remembers a ring, in place of what was remembered of it.
  mutating func remember(_ ring: KnownRing) {
    func merged(with rings: [KnownRing]) -> (old: KnownRing?, new: KnownRing) {
      let old = rings.first { $0.address == ring.address && $0.type == ring.type }
      var new = ring
      new.name = ring.name ?? old?.name
      new.clock = ring.clock ?? old?.clock
      return (old, new)
    }
    let (old, new) = merged(with: rings)
    guard old != new else { return }
    change { rings in
      let new = merged(with: rings).new
      rings.removeAll { $0.address == ring.address && $0.type == ring.type }
      rings.append(new)
    }
  }

  /// Forgets the rings that are meant.
  ///
  /// - Returns: the forgotten ones
  mutating func forget(_ selector: RingSelector) -> [KnownRing] {
    var meant: [KnownRing] = []
    change { rings in
      meant = rings.filter { $0.isMeant(by: selector) }
      rings.removeAll { $0.isMeant(by: selector) }
    }
    return meant
  }

  /// Forgets where a ring's attributes are, but not what its clock was set to.
  mutating func forgetLayout(of address: BluetoothAddress) {
    guard rings.contains(where: { $0.bluetoothAddress == address }) else { return }
    change { rings in
      let ring = rings.first { $0.bluetoothAddress == address }
      rings.removeAll { $0.bluetoothAddress == address }
      if let ring, let clock = ring.clock {
        var rest = KnownRing(name: ring.name, address: address, layout: nil)
        rest.clock = clock
        rings.append(rest)
      }
    }
  }

  /// Remembers what the clock of a ring was set to.
  mutating func remember(_ clock: ClockRecord, of address: BluetoothAddress) {
    var ring =
      rings.first { $0.bluetoothAddress == address } ?? KnownRing(name: nil, address: address, layout: nil)
    ring.clock = clock
    remember(ring)
  }

  /// Changes what is known, and the file, in which another process may have changed something else.
  private mutating func change(_ body: (inout [KnownRing]) -> Void) {
    guard let file, !isReadOnly else { return body(&rings) }
    var changed = rings
    do throws(FileError) {
      try file.update { found throws(FileError) in
        switch found {
        case .success(nil): changed = []
        case .success(let bytes?):
          switch Self.parse(bytes) {
          case .rings(let rings): changed = rings
          case .damaged: _ = try file.setAside()
          case .newer: return nil
          }
        case .failure(let error):
          guard case .tooLarge = error.reason else { throw error }
          _ = try file.setAside()
        }
        let before = changed
        body(&changed)
        return changed == before ? nil : Self.bytes(of: &changed, within: file.limit)
      }
    } catch {
      body(&changed)
      if let line = Self.line(for: error) { report(line) }
    }
    rings = changed
  }

  /// What to say of a change that is not kept; nil where there is no place to keep one.
  private static func line(for error: FileError) -> String? {
    switch error.reason {
    case .system: nil
    default: "what is new of the ring is not remembered: \(error)"
    }
  }

  // MARK: The file

  private enum Contents {
    case rings([KnownRing])
    case damaged
    /// A newer version's: an object with a version, where version 1 has a list.
    case newer
  }

  private struct Version: Decodable {
    var version: Int
  }

  private static func parse(_ bytes: [UInt8]) -> Contents {
    let data = Data(bytes)
    if let rings = try? JSONDecoder().decode([KnownRing].self, from: data) {
      return rings.count <= limit && rings.allSatisfy(\.isPlausible) ? .rings(rings) : .damaged
    }
    return (try? JSONDecoder().decode(Version.self, from: data)) == nil ? .damaged : .newer
  }

  /// The file's contents; the rings that were used the longest time ago are left out where there are too many.
  private static func bytes(of rings: inout [KnownRing], within limit: Int) -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    rings.removeFirst(max(0, rings.count - Self.limit))
    while let data = try? encoder.encode(rings) {
      if data.count <= limit { return Array(data) }
      rings.removeFirst(max(1, rings.count / 8))
    }
    return nil
  }

  private mutating func take(_ contents: Contents) {
    switch contents {
    case .rings(let rings): self.rings = rings
    case .damaged: setAside()
    case .newer:
      isReadOnly = true
      report("\(file?.path.printable ?? "") is of a newer version of this program; it is left as it is")
    }
  }

  /// Keeps a damaged file under another name, unless another process was faster.
  private func setAside() {
    guard let file else { return }
    do throws(FileError) {
      try file.update { found throws(FileError) in
        switch found {
        case .success(let bytes?):
          guard case .damaged = Self.parse(bytes) else { return nil }
        case .success(nil): return nil
        case .failure(let error):
          guard case .tooLarge = error.reason else { throw error }
        }
        report("what is known of rings is damaged; it is kept as \(try file.setAside().printable)")
        return nil
      }
    } catch {
      report("what is known of rings is damaged and not used: \(error)")
    }
  }
}
