import HaloBluetoothCore

/// One element of advertising data: length, type, payload (Core Specification Vol 3, Part C, 11; Core
/// Specification Supplement, Part A).
package enum ADStructure: Hashable, Sendable {
  case flags(ADFlags)
  /// The bytes as received: print them with ``AdvertisingData/localName``.
  case localName([UInt8], isComplete: Bool)
  case serviceUUIDs([BluetoothUUID], width: UUIDWidth, isComplete: Bool)
  /// Services that the device requests from the other side.
  case solicitedServiceUUIDs([BluetoothUUID], width: UUIDWidth)
  case serviceData(BluetoothUUID, width: UUIDWidth, [UInt8])
  case manufacturerData(CompanyIdentifier, [UInt8])
  /// In dBm.
  case txPower(Int8)
  case appearance(Appearance)
  /// 0xFFFF means no specific value.
  case connectionIntervalRange(min: ConnectionInterval, max: ConnectionInterval)
  case deviceAddress(BluetoothAddress)
  /// 0 and 1: peripheral or central only; 2 and 3: both, with peripheral or central preferred.
  case role(UInt8)
  /// A scheme as one code point, then the rest, in UTF-8.
  case uri([UInt8])
  /// A type without a case of its own.
  case unknown(ADType, [UInt8])
  /// A payload that is invalid for its type, or a structure that exceeds the data. Without a type: a length with
  /// nothing after it.
  case malformed(ADType?, [UInt8])

  /// Decodes a payload. Never fails: invalid payloads become ``malformed(_:_:)``.
  ///
  /// - Parameters:
  ///   - type: the type
  ///   - payload: the bytes behind it
  package init(_ type: ADType, _ payload: RawSpan) {
    var reader = ByteReader(payload)
    let read = try? Self.read(type, &reader)
    self = if let read, reader.isAtEnd { read } else { .malformed(type, Array(payload)) }
  }

  private static func read(_ type: ADType, _ reader: inout ByteReader) throws(DecodeError) -> ADStructure {
    switch type {
    case .flags where reader.remaining == 1: .flags(try ADFlags(parsing: &reader))
    case .shortenedLocalName: .localName(reader.readRemainingBytes(), isComplete: false)
    case .completeLocalName: .localName(reader.readRemainingBytes(), isComplete: true)
    case .incompleteServiceUUIDs16:
      .serviceUUIDs(try uuids(&reader, .two), width: .two, isComplete: false)
    case .completeServiceUUIDs16:
      .serviceUUIDs(try uuids(&reader, .two), width: .two, isComplete: true)
    case .incompleteServiceUUIDs32:
      .serviceUUIDs(try uuids(&reader, .four), width: .four, isComplete: false)
    case .completeServiceUUIDs32:
      .serviceUUIDs(try uuids(&reader, .four), width: .four, isComplete: true)
    case .incompleteServiceUUIDs128:
      .serviceUUIDs(try uuids(&reader, .sixteen), width: .sixteen, isComplete: false)
    case .completeServiceUUIDs128:
      .serviceUUIDs(try uuids(&reader, .sixteen), width: .sixteen, isComplete: true)
    case .solicitedServiceUUIDs16: .solicitedServiceUUIDs(try uuids(&reader, .two), width: .two)
    case .solicitedServiceUUIDs32: .solicitedServiceUUIDs(try uuids(&reader, .four), width: .four)
    case .solicitedServiceUUIDs128: .solicitedServiceUUIDs(try uuids(&reader, .sixteen), width: .sixteen)
    case .serviceData16: try serviceData(&reader, .two)
    case .serviceData32: try serviceData(&reader, .four)
    case .serviceData128: try serviceData(&reader, .sixteen)
    case .manufacturerData:
      .manufacturerData(try CompanyIdentifier(parsing: &reader), reader.readRemainingBytes())
    case .txPower: .txPower(try reader.readInt8())
    case .appearance: .appearance(try Appearance(parsing: &reader))
    case .connectionIntervalRange:
      .connectionIntervalRange(
        min: try ConnectionInterval(parsing: &reader), max: try ConnectionInterval(parsing: &reader))
    case .deviceAddress: try deviceAddress(&reader)
    case .role: .role(try reader.readUInt8())
    case .uri: .uri(reader.readRemainingBytes())
    // Flags may have any number of bytes, also none (Core Specification Supplement, Part A, 1.3).
    default: .unknown(type, reader.readRemainingBytes())
    }
  }

  private static func uuids(
    _ reader: inout ByteReader, _ width: UUIDWidth
  ) throws(DecodeError) -> [BluetoothUUID] {
    var uuids: [BluetoothUUID] = []
    while !reader.isAtEnd { uuids.append(try BluetoothUUID(parsing: &reader, length: width.rawValue)) }
    return uuids
  }

  private static func serviceData(
    _ reader: inout ByteReader, _ width: UUIDWidth
  ) throws(DecodeError) -> ADStructure {
    let uuid = try BluetoothUUID(parsing: &reader, length: width.rawValue)
    return .serviceData(uuid, width: width, reader.readRemainingBytes())
  }

  /// Six bytes of address, then one whose lowest bit is 1 for a random address; the others are reserved (Core Specification
  /// Supplement, Part A, 1.16).
  private static func deviceAddress(_ reader: inout ByteReader) throws(DecodeError) -> ADStructure {
    let address = try BluetoothAddress(parsing: &reader, kind: .public)
    let kind = try reader.readUInt8() & 1
    return .deviceAddress(BluetoothAddress(address.value, .init(rawValue: kind)))
  }

  /// The AD type; nil for ``malformed(_:_:)`` without a type.
  package var type: ADType? {
    switch self {
    case .flags: .flags
    case .localName(_, let isComplete): isComplete ? .completeLocalName : .shortenedLocalName
    case .serviceUUIDs(_, .two, let isComplete):
      isComplete ? .completeServiceUUIDs16 : .incompleteServiceUUIDs16
    case .serviceUUIDs(_, .four, let isComplete):
      isComplete ? .completeServiceUUIDs32 : .incompleteServiceUUIDs32
    case .serviceUUIDs(_, .sixteen, let isComplete):
      isComplete ? .completeServiceUUIDs128 : .incompleteServiceUUIDs128
    case .solicitedServiceUUIDs(_, .two): .solicitedServiceUUIDs16
    case .solicitedServiceUUIDs(_, .four): .solicitedServiceUUIDs32
    case .solicitedServiceUUIDs(_, .sixteen): .solicitedServiceUUIDs128
    case .serviceData(_, .two, _): .serviceData16
    case .serviceData(_, .four, _): .serviceData32
    case .serviceData(_, .sixteen, _): .serviceData128
    case .manufacturerData: .manufacturerData
    case .txPower: .txPower
    case .appearance: .appearance
    case .connectionIntervalRange: .connectionIntervalRange
    case .deviceAddress: .deviceAddress
    case .role: .role
    case .uri: .uri
    case .unknown(let type, _): type
    case .malformed(let type, _): type
    }
  }

  /// Writes length, type and payload. A payload of more than 254 bytes does not fit, and is omitted with its header.
  package func write(into writer: inout ByteWriter) {
    guard let type else { return }
    var payload = ByteWriter()
    writePayload(into: &payload)
    guard payload.count < 255 else { return }
    writer.write(UInt8(truncatingIfNeeded: payload.count + 1))
    type.write(into: &writer)
    writer.write(payload.span)
  }

  private func writePayload(into writer: inout ByteWriter) {
    switch self {
    case .flags(let flags): flags.write(into: &writer)
    case .serviceUUIDs(let uuids, let width, _), .solicitedServiceUUIDs(let uuids, let width):
      for uuid in uuids { width.write(uuid, into: &writer) }
    case .serviceData(let uuid, let width, let bytes):
      width.write(uuid, into: &writer)
      writer.write(bytes)
    case .manufacturerData(let company, let bytes):
      company.write(into: &writer)
      writer.write(bytes)
    case .txPower(let power): writer.write(power)
    case .appearance(let appearance): appearance.write(into: &writer)
    case .connectionIntervalRange(let min, let max):
      min.write(into: &writer)
      max.write(into: &writer)
    case .deviceAddress(let address):
      address.write(into: &writer)
      writer.write(UInt8(address.kind.rawValue & 1))
    case .role(let role): writer.write(role)
    case .localName(let bytes, _), .uri(let bytes), .unknown(_, let bytes), .malformed(_, let bytes):
      writer.write(bytes)
    }
  }
}
