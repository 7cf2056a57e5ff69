import HaloBluetoothCore
import HaloCapture

/// A packet of the air: the link layer's PDU between access address and CRC (Core Specification Vol 6, Part B, 2).
package struct AirLayer: Hashable, Sendable {
  /// The kind of a PDU.
  package enum Kind: UInt8, Hashable, Sendable {
    /// On an advertising channel, or of periodic advertising (2.3).
    case advertising
    /// A part of an L2CAP frame on a connection, or empty (2.4).
    case data
    /// A PDU on a connection for the link layer itself (2.4.2).
    case control
    /// A PDU of an isochronous stream (2.6).
    case isochronous
    /// The capture has less than its header.
    case unknown
  }

  /// The result of the CRC check.
  package enum CRC: UInt8, Hashable, Sendable {
    /// Neither the sniffer has checked it, nor can it be computed: the initial value of the connection is not in the
    /// capture, or not all bytes are.
    case unknown
    case right
    case wrong
  }

  /// Findings about a PDU of a connection.
  package struct Notes: OptionSet, Hashable, Sendable {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It is the same as the last one from its side, which was sent again.
    package static let retransmission = Notes(rawValue: 1)
    /// It is the first of its connection event, as far as captured.
    package static let beginsEvent = Notes(rawValue: 2)
    /// It is encrypted, so that its content is not known.
    package static let encrypted = Notes(rawValue: 4)
    /// The sniffer has decrypted it, or a program that has changed the file.
    package static let decrypted = Notes(rawValue: 8)
    /// On a secondary advertising channel, or of periodic advertising.
    package static let secondary = Notes(rawValue: 16)
    /// The direction is derived, not stated by the file.
    package static let derivedDirection = Notes(rawValue: 32)
    /// The sniffer finds the CRC right, but it does not match the initial value of the connection.
    package static let otherCRC = Notes(rawValue: 64)
  }

  /// The link that it belongs to.
  package var accessAddress: UInt32 = 0
  package var kind = Kind.unknown
  /// The first byte of the PDU.
  package var header: UInt8 = 0
  /// The second byte of the PDU: the length of the payload, in bytes, without the CRC.
  package var length: UInt8 = 0
  /// The offset of the PDU in the packet's bytes: 4, or 5 behind a coding indicator.
  package var start: UInt8 = 4
  package var crc = CRC.unknown
  package var notes: Notes = []
  /// The type of an extended advertising PDU on a secondary channel.
  package var auxiliary: AirReception.AuxiliaryType?
  /// The opcode of an LL Control PDU.
  package var opcode: LLControlOpcode?
  /// The number of the connection event, if the sniffer reports it.
  package var event: UInt16?
  /// The direction: from the host to the controller if the central has sent the PDU; nil if unknown.
  package var direction: CaptureDirection?
  /// The bytes of a Message Integrity Check at the end of the payload: 0, or 4 after decryption that has kept
  /// them.
  package var micLength: UInt8 = 0
  /// The reason why it is malformed.
  package var problem: PacketProblem?

  /// Parses the header.
  ///
  /// - Parameters:
  ///   - bytes: from the access address to the CRC
  ///   - reception: the sniffer's data about it
  ///   - isCut: whether the capture has only the beginning of the packet
  ///   - isPeriodic: whether the access address is one of periodic advertising
  init(_ bytes: RawSpan, _ reception: AirReception, isCut: Bool, isPeriodic: Bool = false) {
    start = reception.phy == .leCoded ? 5 : 4
    var reader = ByteReader(bytes)
    do throws(DecodeError) {
      accessAddress = try reader.readUInt32()
      try reader.skip(Int(start) - 4)
      header = try reader.readUInt8()
      length = try reader.readUInt8()
    } catch {
      if !isCut { problem = bytes.byteCount == 0 ? .empty : PacketProblem(error) }
      return
    }
    if accessAddress == AccessAddress.advertising.rawValue || isPeriodic {
      kind = .advertising
    } else {
      switch reception.role {
      case .advertising, .auxiliaryAdvertising: kind = .advertising
      case .isochronousFromCentral, .isochronousFromPeripheral, .broadcastIsochronous: kind = .isochronous
      default: kind = header & 3 == 3 ? .control : .data
      }
    }
    let stated = end + AirCRC.length
    if bytes.byteCount < stated ? !isCut : bytes.byteCount > stated {
      problem = .length(stated: Int(length), present: max(0, bytes.byteCount - payloadStart - AirCRC.length))
    }
  }

  /// Where the payload begins: behind the header, and behind CTEInfo if a PDU of a connection has it (2.5.2).
  var payloadStart: Int {
    let hasToneExtension = (kind == .data || kind == .control) && header & 0x20 != 0
    return Int(start) + (hasToneExtension ? 3 : 2)
  }

  /// Where the CRC begins, as the header states it.
  var end: Int { payloadStart + Int(length) }

  /// The payload in the packet's bytes, without a MIC, as far as the capture has it.
  func payload(in bytes: RawSpan) -> Range<Int> {
    (payloadStart..<max(payloadStart, end - Int(micLength))).clamped(to: 0..<bytes.byteCount)
  }

  // MARK: PDUs of a connection (2.4)

  /// Which part of an L2CAP frame it is: 1 continues one or is empty, 2 starts one, 3 is for the link layer.
  package var llid: UInt8 { header & 3 }
  /// Next Expected Sequence Number: acknowledges the last PDU of the other side.
  package var nesn: UInt8 { header >> 2 & 1 }
  /// Sequence Number.
  package var sn: UInt8 { header >> 3 & 1 }
  /// More Data: the sender has more for this connection event.
  package var hasMoreData: Bool { header & 0x10 != 0 }
  /// Whether its only purpose is to keep up the connection.
  package var isEmpty: Bool { kind == .data && llid == 1 && length == 0 }
  package var isOfConnection: Bool { kind == .data || kind == .control }

  /// The type of an advertising PDU.
  package var advertisingType: AdvertisingPDUType? {
    kind == .advertising ? AdvertisingPDUType(rawValue: header) : nil
  }

  /// The name of the PDU in the specification; nil for data, and for a number that is not assigned.
  package var name: String? {
    if notes.contains(.encrypted) { return nil }
    if let opcode { return opcode.name }
    return advertisingType?.name(isSecondary: notes.contains(.secondary), auxiliary)
  }

  /// Whether its content may be read.
  var isReadable: Bool { crc != .wrong && !notes.contains(.encrypted) && kind != .unknown }

  /// Decides on the CRC. The sniffer's finding counts, as only the sniffer has received the bits: a PDU that it has decrypted
  /// has the CRC of the encrypted one.
  ///
  /// - Parameter initial: the initial value of the link; nil if it is unknown
  mutating func check(_ bytes: RawSpan, _ reception: AirReception, initial: UInt32?) {
    var computed: Bool?
    if let initial, end + AirCRC.length <= bytes.byteCount, Int(start) < end {
      var reader = ByteReader(bytes.extracting(end..<bytes.byteCount))
      let present = try? reader.readUInt24()
      computed = AirCRC.value(of: bytes.extracting(Int(start)..<end), initial: initial) == present
    }
    switch (reception.isCRCValid, computed) {
    case (true?, false?):
      crc = .right
      if !reception.flags.contains(.decrypted) { notes.insert(.otherCRC) }
    case (true?, _), (nil, true?): crc = .right
    case (false?, _), (nil, false?): crc = .wrong
    case (nil, nil): crc = .unknown
    }
    if crc == .wrong { problem = .wrongCRC }
  }
}

/// The CRC of packets on the air: 24 bits, over the PDU with its header (Core Specification Vol 6, Part B, 3.1.1).
enum AirCRC {
  /// In bytes.
  static let length = 3
  /// The initial value on the advertising channels, except of periodic advertising.
  static let advertising: UInt32 = 0x555555

  /// The remainders of a byte. The register is kept with its position 23 as the lowest bit, as bits are sent from there,
  /// so that the polynomial x^24 + x^10 + x^9 + x^6 + x^4 + x^3 + x + 1 has its powers in reverse order.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xDA6000 }
  }

  /// The CRC as it follows the PDU, with its first byte as the lowest.
  ///
  /// - Parameters:
  ///   - pdu: with its header, without the CRC
  ///   - initial: the initial value, as a number: CRCInit of the connection
  static func value(of pdu: RawSpan, initial: UInt32) -> UInt32 {
    var state = reversed(initial)
    for index in 0..<pdu.byteCount {
      guard let byte = pdu.byte(at: index) else { break }
      state = state >> 8 ^ table[Int(UInt8(truncatingIfNeeded: state) ^ byte)]
    }
    return state
  }

  /// Changes the CRC behind a PDU as its bytes were changed, so that it stays right, or wrong: it is linear.
  ///
  /// - Parameters:
  ///   - bytes: from the access address to the CRC
  ///   - original: the same before they were changed
  ///   - pdu: its place
  static func adapt(_ bytes: inout [UInt8], from original: [UInt8], _ pdu: Range<Int>) {
    guard bytes.count == original.count, pdu.upperBound + length <= bytes.count else { return }
    let change = pdu.map { bytes[$0] ^ original[$0] }
    let value = Self.value(of: change.span.bytes, initial: 0)
    for index in 0..<length {
      let place = pdu.upperBound + index
      bytes[place] = original[place] ^ UInt8(truncatingIfNeeded: value >> UInt32(8 * index))
    }
  }

  /// The lowest 24 bits in reverse order.
  private static func reversed(_ value: UInt32) -> UInt32 {
    var (value, result) = (value, UInt32(0))
    for _ in 0..<24 {
      result = result << 1 | value & 1
      value >>= 1
    }
    return result
  }
}
