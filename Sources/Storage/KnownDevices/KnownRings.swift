import BluetoothCore
import HaloFiles
import HaloJSON
import RingLink

/// The rings that were used before, in a JSON file: their handles, which save a scan and a
/// discovery, and the settings of their clocks. An error of the file ends no command: an unreadable file counts as empty,
/// a failed write is skipped, and a message says so if the user can fix it.
public struct KnownRings {
  /// The number of rings that are kept: the ones that were used last.
  public static let limit = 256

  public private(set) var rings: [KnownRing] = []
  private let file: StateFile?
  private let report: (String) -> Void
  /// Whether a newer version of this program wrote the file.
  private var isReadOnly = false

  /// - Parameters:
  ///   - path: nil stores nothing
  ///   - report: takes messages for the user
  public init(path: String?, report: @escaping (String) -> Void) {
    file = path.map { StateFile(path: $0) }
    self.report = report
    guard let file else { return }
    do throws(FileError) {
      guard let bytes = try file.read() else { return }
      take(Self.parse(bytes))
    } catch {
      switch error.reason {
      case .tooLarge: setAside()
      default: report("cannot read the known rings: \(error); continuing without them")
      }
    }
  }

  /// The one selected ring; nil if there is none or more than one.
  public func only(_ selector: RingSelector) -> KnownRing? {
    let meant = rings.filter { $0.isMeant(by: selector) }
    return meant.count == 1 ? meant[0] : nil
  }

  // MARK: Changes

  /// Stores a ring, in place of its previous entry.
  public mutating func remember(_ ring: KnownRing) {
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

  /// Removes the selected rings.
  ///
  /// - Returns: the removed rings
  public mutating func forget(_ selector: RingSelector) -> [KnownRing] {
    var meant: [KnownRing] = []
    change { rings in
      meant = rings.filter { $0.isMeant(by: selector) }
      rings.removeAll { $0.isMeant(by: selector) }
    }
    return meant
  }

  /// Removes the handles of a ring, but not the setting of its clock.
  public mutating func forgetLayout(of address: BluetoothAddress) {
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

  /// Stores the setting of a ring's clock.
  public mutating func remember(_ clock: ClockRecord, of address: BluetoothAddress) {
    var ring =
      rings.first { $0.bluetoothAddress == address } ?? KnownRing(name: nil, address: address, layout: nil)
    ring.clock = clock
    remember(ring)
  }

  /// Changes the rings and the file, which another process may have changed in between.
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

  /// The message about a change that is not stored; nil if the machine has no place to store it.
  private static func line(for error: FileError) -> String? {
    switch error.reason {
    case .system: nil
    default: "cannot store what is new about the ring: \(error)"
    }
  }

  // MARK: The file

  private enum Contents {
    case rings([KnownRing])
    case damaged
    /// From a newer version: an object with a version, where version 1 has a list.
    case newer
  }

  private static func parse(_ bytes: [UInt8]) -> Contents {
    guard let json = try? JSONValue(parsing: bytes) else { return .damaged }
    if let rings = try? [KnownRing](json) {
      return rings.count <= limit && rings.allSatisfy(\.isPlausible) ? .rings(rings) : .damaged
    }
    return (try? json.member("version", as: Int.self)) == nil ? .damaged : .newer
  }

  /// The contents of the file. If there are too many rings, the least recently used are left out.
  private static func bytes(of rings: inout [KnownRing], within limit: Int) -> [UInt8] {
    rings.removeFirst(max(0, rings.count - Self.limit))
    while true {
      let bytes = Array(JSONValue.array(rings.map(\.json)).text.utf8)
      guard bytes.count > limit, !rings.isEmpty else { return bytes }
      rings.removeFirst(max(1, rings.count / 8))
    }
  }

  private mutating func take(_ contents: Contents) {
    switch contents {
    case .rings(let rings): self.rings = rings
    case .damaged: setAside()
    case .newer:
      isReadOnly = true
      report(
        "\(file?.path.printable ?? "") was written by a newer version of this program; it is not changed")
    }
  }

  /// Renames a damaged file, unless another process already did.
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
        report("the file of known rings is damaged; it was renamed to \(try file.setAside().printable)")
        return nil
      }
    } catch {
      report("the file of known rings is damaged and cannot be renamed: \(error)")
    }
  }
}
