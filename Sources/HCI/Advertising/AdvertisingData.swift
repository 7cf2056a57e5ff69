import HaloBluetoothCore

/// The data of an advertisement or a scan response: a list of AD structures (Core Specification Vol 3, Part C, 11).
public struct AdvertisingData: Hashable, Sendable {
  package var structures: [ADStructure]
  /// A structure of length zero ends the data early; these are the bytes from there on, without meaning.
  package var padding: [UInt8]

  package init(_ structures: [ADStructure] = []) {
    self.structures = structures
    padding = []
  }

  /// Decodes any bytes; never fails. Malformed structures are kept as bytes, and decoding continues after them.
  package init(_ bytes: RawSpan) {
    structures = []
    padding = []
    var offset = 0
    while let length = bytes.byte(at: offset).map(Int.init) {
      guard length > 0 else {
        padding = Array(bytes.extracting(offset..<bytes.byteCount))
        return
      }
      let end = offset + 1 + length
      guard let type = bytes.byte(at: offset + 1).map(ADType.init) else {
        structures.append(.malformed(nil, [UInt8(truncatingIfNeeded: length)]))
        return
      }
      if end <= bytes.byteCount {
        structures.append(ADStructure(type, bytes.extracting(offset + 2..<end)))
      } else {
        structures.append(.malformed(type, Array(bytes.extracting(offset + 2..<bytes.byteCount))))
      }
      offset = end
    }
  }

  public init(_ bytes: [UInt8]) {
    self.init(bytes.span.bytes)
  }

  package func write(into writer: inout ByteWriter) {
    for structure in structures { structure.write(into: &writer) }
    writer.write(padding)
  }

  /// The encoded bytes.
  public var bytes: [UInt8] {
    var writer = ByteWriter()
    write(into: &writer)
    return writer.bytes
  }

  /// Whether some of it could not be decoded.
  public var isDamaged: Bool {
    structures.contains { if case .malformed = $0 { true } else { false } }
  }

  /// Finds the name in advertising data without decoding the rest; the complete one is preferred to a shortened one, and one
  /// without characters is none.
  ///
  /// - Returns: the place of its bytes; nil if there is none
  package static func nameRange(in bytes: RawSpan) -> (range: Range<Int>, isComplete: Bool)? {
    var offset = 0
    var shortened: Range<Int>?
    while let length = bytes.byte(at: offset).map(Int.init), length > 0, offset + length < bytes.byteCount {
      let value = offset + 2..<offset + 1 + length
      let type = bytes.byte(at: offset + 1).map(ADType.init)
      if type == .completeLocalName, hasCharacters(bytes, value) { return (value, true) }
      if type == .shortenedLocalName, shortened == nil, hasCharacters(bytes, value) { shortened = value }
      offset += 1 + length
    }
    return shortened.map { ($0, false) }
  }

  /// Whether a name is more than zeros: firmware sends empty names, and buffers that it has not filled.
  private static func hasCharacters(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    for index in range where bytes.byte(at: index) != 0 { return true }
    return false
  }
}

/// Frequently used values. If several structures have a value, the first one is used, unless the name says otherwise.
extension AdvertisingData {
  private func first<Value>(_ value: (ADStructure) -> Value?) -> Value? {
    for structure in structures {
      if let value = value(structure) { return value }
    }
    return nil
  }

  package var flags: ADFlags? {
    first {
      switch $0 {
      case .flags(let flags): flags
      case .unknown(.flags, let bytes): ADFlags(rawValue: bytes.first ?? 0)
      default: nil
      }
    }
  }

  /// The name, safe to print; the complete one is preferred to a shortened one.
  public var localName: String? { completeLocalName ?? shortenedLocalName }

  public var completeLocalName: String? { name(isComplete: true) }

  public var shortenedLocalName: String? { name(isComplete: false) }

  /// The first name that has characters.
  private func name(isComplete: Bool) -> String? {
    first {
      guard case .localName(let bytes, isComplete) = $0 else { return nil }
      let name = String(text: bytes)?.printable ?? String(printable: bytes)
      return name.isEmpty ? nil : name
    }
  }

  /// The entries of all lists.
  public var serviceUUIDs: [BluetoothUUID] {
    var all: [BluetoothUUID] = []
    for case .serviceUUIDs(let uuids, _, _) in structures { all += uuids }
    return all
  }

  /// The entries of all lists.
  package var solicitedServiceUUIDs: [BluetoothUUID] {
    var all: [BluetoothUUID] = []
    for case .solicitedServiceUUIDs(let uuids, _) in structures { all += uuids }
    return all
  }

  /// Data of a service (Core Specification Supplement, Part A, 1.11).
  public struct ServiceData: Hashable, Sendable {
    public var service: BluetoothUUID
    public var data: [UInt8]

    public init(service: BluetoothUUID, data: [UInt8]) {
      self.service = service
      self.data = data
    }
  }

  /// In the order of the structures. A service may occur several times.
  public var serviceData: [ServiceData] {
    var all: [ServiceData] = []
    for case .serviceData(let service, _, let data) in structures {
      all.append(ServiceData(service: service, data: data))
    }
    return all
  }

  /// Data whose form a company defines (1.4).
  public struct ManufacturerData: Hashable, Sendable {
    public var company: CompanyIdentifier
    public var data: [UInt8]

    public init(company: CompanyIdentifier, data: [UInt8]) {
      self.company = company
      self.data = data
    }
  }

  /// In the order of the structures. A company may occur several times.
  public var manufacturerData: [ManufacturerData] {
    var all: [ManufacturerData] = []
    for case .manufacturerData(let company, let data) in structures {
      all.append(ManufacturerData(company: company, data: data))
    }
    return all
  }

  /// In dBm.
  public var txPower: Int8? {
    first { if case .txPower(let power) = $0 { power } else { nil } }
  }

  package var appearance: Appearance? {
    first { if case .appearance(let appearance) = $0 { appearance } else { nil } }
  }
}
