import ATT
import HaloGATT
import HaloBluetoothCore
import HaloSystem
import RingLink

/// An attribute table in JSON lines, as `halo-raw inspect --format jsonl` prints it.
package enum AttributeTableFile {
  private static let limit = 4 << 20

  private struct Row: JSONDecodable {
    let handle: UInt16
    let kind: String
    let uuid: String
    let end: UInt16?
    let valueHandle: UInt16?
    let properties: [String]?
    let value: String?

    init(_ json: JSONValue) throws(JSONError) {
      handle = try json.member("handle")
      kind = try json.member("kind")
      uuid = try json.member("uuid")
      end = try json.optionalMember("end")
      valueHandle = try json.optionalMember("value_handle")
      properties = try json.optionalMember("properties")
      value = try json.optionalMember("value")
    }
  }

  /// Reads a file. The permissions of the attributes are not in it: all with a value may be read and written, and the rest
  /// written.
  ///
  /// - Throws: ``AttributeTableError`` with the line that can't be read
  package static func read(_ path: String) throws(AttributeTableError) -> [ServerAttribute] {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try InputFile.read(path, limit: limit)
    } catch {
      throw AttributeTableError("\(error)", isUnreadable: true)
    }
    return try parse(bytes, path: path.printable)
  }

  /// Reads the contents of a file.
  ///
  /// - Parameters:
  ///   - bytes: JSON lines
  ///   - path: the name of the file, for errors
  /// - Throws: ``AttributeTableError`` with the line that can't be read
  package static func parse(
    _ bytes: [UInt8], path: String = "the table"
  ) throws(AttributeTableError) -> [ServerAttribute] {
    var all: [ServerAttribute] = []
    var includes: [Row] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    where !line.isEmpty {
      guard let row = try? Row(JSONValue(parsing: line)), let found = attributes(row) else {
        throw AttributeTableError(
          "\(path), line \(index + 1): not a line of inspect --format jsonl")
      }
      do throws(StackError) {
        for attribute in found { try AttributeDatabase.checkLength(of: attribute.value) }
      } catch {
        throw AttributeTableError("\(path), line \(index + 1): \(error)")
      }
      all += found
      if row.kind == "include" { includes.append(row) }
    }
    for row in includes { if let include = include(row, of: all) { all.append(include) } }
    guard !all.isEmpty else {
      throw AttributeTableError("\(path) has no attributes; write it with inspect --format jsonl")
    }
    return AttributeDatabase.inOrder(all)
  }

  private static func attributes(_ row: Row) -> [ServerAttribute]? {
    guard row.handle > 0, let uuid = BluetoothUUID(row.uuid) else { return nil }
    let handle = AttributeHandle(row.handle)
    var value: [UInt8]?
    if let text = row.value {
      guard let bytes = Hex.bytes(text) else { return nil }
      value = bytes
    }
    switch row.kind {
    case "service", "secondary service":
      guard let end = row.end, end >= row.handle else { return nil }
      let service = ServiceDeclaration(uuid, isPrimary: row.kind == "service")
      return [
        ServerAttribute(
          handle: handle, type: service.type, value: service.bytes, groupEnd: AttributeHandle(end))
      ]
    case "include":
      // Its value has the start of the service, which is in the line of that service.
      return []
    case "fault":
      // The rest of that service could not be read.
      return []
    case "characteristic":
      guard let valueHandle = row.valueHandle, valueHandle > row.handle,
        let properties = CharacteristicProperties(names: row.properties ?? [])
      else { return nil }
      let declaration = CharacteristicDeclaration(uuid, properties, at: AttributeHandle(valueHandle))
      return [
        ServerAttribute(
          handle: handle, type: GATTUUID.characteristic, value: declaration.bytes),
        ServerAttribute(
          handle: AttributeHandle(valueHandle), type: uuid, access: access(to: value), value: value ?? [],
          capacity: ATTBearer.maximumValueLength),
      ]
    case "descriptor":
      return [
        ServerAttribute(
          handle: handle, type: uuid, access: access(to: value), value: value ?? [],
          capacity: ATTBearer.maximumValueLength)
      ]
    default: return nil
    }
  }

  /// A value that was refused is not read.
  private static func access(to value: [UInt8]?) -> ServerAttribute.Access {
    value == nil ? .write : [.read, .write]
  }

  private static func include(_ row: Row, of all: [ServerAttribute]) -> ServerAttribute? {
    guard let uuid = BluetoothUUID(row.uuid),
      let service = all.first(where: { $0.groupEnd?.rawValue == row.end && $0.value == uuid.wireBytes }),
      let end = service.groupEnd
    else { return nil }
    let declaration = IncludeDeclaration(HandleRange(service.handle, end), uuid)
    return ServerAttribute(
      handle: AttributeHandle(row.handle), type: GATTUUID.include, value: declaration.bytes)
  }
}

/// Why a file is not an attribute table.
package struct AttributeTableError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  /// Whether the file can't be read; if not, its contents are wrong.
  package let isUnreadable: Bool

  init(_ description: String, isUnreadable: Bool = false) {
    self.description = description
    self.isUnreadable = isUnreadable
  }
}

extension KnownRing {
  /// The attributes of the ring that its stored handles show; nil if none are stored.
  package var attributes: [ServerAttribute]? {
    guard let layout else { return nil }
    return RingHandles.attributes(
      write: layout.commandWrite, notify: layout.commandNotify, firmwareRevision: layout.firmwareRevision)
  }
}
