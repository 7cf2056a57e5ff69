import ATT
import HaloBluetoothCore
import HaloGATT

/// What a PDU asks the lamp for, and whether it answers.
extension Lamp {
  private static let names: [UInt8: String] = [
    0x04: "discover", 0x06: "discover", 0x10: "discover", 0x0A: "read", 0x0C: "read on", 0x12: "write",
    0x16: "prepare", 0x52: "command",
  ]
  private static let invalidHandle: UInt8 = 0x01

  private func number(_ pdu: [UInt8], at place: Int) -> UInt16 {
    pdu.count < place + 2 ? 0 : UInt16(pdu[place]) | UInt16(pdu[place + 1]) << 8
  }

  private func handle(in pdu: [UInt8]) -> AttributeHandle { AttributeHandle(number(pdu, at: 1)) }

  private func type(at handle: AttributeHandle) -> String {
    past[handle] == nil ? types[handle] ?? "no attribute" : "FEFE"
  }

  /// The types of all attributes; those of configurations with that of their characteristic.
  func namedTypes() -> [AttributeHandle: String] {
    var (types, owner): ([AttributeHandle: String], String) = ([:], "nothing")
    for attribute in database.attributes {
      if attribute.type == GATTUUID.characteristic {
        owner = CharacteristicDeclaration(parsing: attribute.value).map { "\($0.uuid)" } ?? "nothing"
      }
      let isConfiguration = attribute.type == GATTUUID.clientCharacteristicConfiguration
      types[attribute.handle] = isConfiguration ? "2902 of \(owner)" : "\(attribute.type)"
    }
    return types
  }

  func text(of pdu: [UInt8]) -> String {
    switch pdu[0] {
    case 0x02: return "mtu"
    case 0x1E: return "confirm"
    case 0x08:
      let kind = number(pdu, at: 5)
      return kind == 0x2803 || kind == 0x2802
        ? "discover" : "read by type " + String(kind, radix: 16, uppercase: true)
    case 0x18: return "execute \(pdu[1])"
    default: break
    }
    let name = Self.names[pdu[0]] ?? "opcode \(pdu[0])"
    if name == "discover" { return name }
    let start = "\(name) \(type(at: handle(in: pdu)))"
    if pdu[0] == 0x0C || pdu[0] == 0x16 { return start + " from \(number(pdu, at: 3))" }
    return pdu.count > 3 ? start + " " + hex(pdu[3...]) : start
  }

  func reads(_ pdu: [UInt8], _ type: String) -> Bool {
    pdu[0] == 0x0A && self.type(at: handle(in: pdu)) == type
  }

  /// Whether it asks for the characteristics of A100.
  private func discoversChanging(_ pdu: [UInt8]) -> Bool {
    pdu[0] == 0x08 && number(pdu, at: 5) == 0x2803 && handles(of: 0xA100).contains(handle(in: pdu))
  }

  private func handles(of service: UInt16) -> HandleRange {
    let declarations = database.handles(of: GATTUUID.primaryService)
    let bytes = [UInt8(service & 0xFF), UInt8(service >> 8)]
    guard let start = declarations.first(where: { database.value(of: $0) == bytes }) else {
      return HandleRange(.last, .last)
    }
    let next = declarations.first { $0 > start }
    return HandleRange(start, next.map { AttributeHandle($0.rawValue - 1) } ?? .last)
  }

  func isUnanswered(_ pdu: [UInt8]) -> Bool {
    switch habit {
    case .silentMTU: return pdu[0] == 0x02
    case .silentWatch: return pdu[0] == 0x12 && type(at: handle(in: pdu)) == "2902 of 2A05"
    case .silentRead: return reads(pdu, "2A19")
    case .silentDiscovery:
      switch pdu[0] {
      case 0x06: return number(pdu, at: 7) != 0x1801
      case 0x10: return true
      case 0x08, 0x04: return !handles(of: 0x1801).contains(handle(in: pdu))
      default: return false
      }
    default: return false
    }
  }

  /// The answer to a request during which A100 gets other handles, from before that.
  func answerOfThePast(to pdu: [UInt8]) -> [UInt8]? {
    guard generation == 0 else { return nil }
    switch habit {
    case .changesDuringARead: return reads(pdu, "A101") ? [0x0B, generation] : nil
    case .changesBeforeARead: return reads(pdu, "A101") ? [0x01] + pdu.prefix(3) + [Self.invalidHandle] : nil
    case .changesWhileDiscovered:
      guard discoversChanging(pdu) else { return nil }
      let declaration = changing.value.rawValue - 1
      let (low, high) = (UInt8(declaration & 0xFF), UInt8(declaration >> 8))
      return [0x09, 7, low, high] + (database.value(of: AttributeHandle(declaration)) ?? [])
    default: return nil
    }
  }

  /// The value that is read at a handle which A100 had before.
  func valueOfThePast(for pdu: [UInt8]) -> [UInt8]? { pdu[0] == 0x0A ? past[handle(in: pdu)] : nil }
}
