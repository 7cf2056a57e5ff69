import HCI
import HaloBluetoothCore

/// The summary of a connection on the air.
package struct AirConnectionSummary: Hashable, Sendable {
  /// The packets of one side, as far as the capture has them.
  package struct Side: Hashable, Sendable {
    /// The number of packets, without those with a wrong CRC.
    package var packets = 0
    /// How many of them were empty.
    package var empty = 0
    /// How many of them were the same as the one before.
    package var retransmissions = 0
    /// The number of ATT PDUs.
    package var attPDUs = 0
  }

  package var accessAddress: UInt32
  /// Nil if the capture begins in the middle of the connection.
  package var central: BluetoothAddress?
  /// Nil if the capture begins in the middle of the connection.
  package var peripheral: BluetoothAddress?
  /// The name of the peripheral, if the capture shows it.
  package var name: String?
  /// The time of the first packet, in microseconds since 1970-01-01 UTC; nil if it has no timestamp.
  package var start: Int64?
  /// The time of LL_TERMINATE_IND; nil if the capture does not have it.
  package var end: Int64?
  /// Why it ended, by LL_TERMINATE_IND.
  package var reason: HCIErrorCode?
  /// The connection interval of CONNECT_IND.
  package var interval: ConnectionInterval?
  /// In order; the last ones are missing if there were too many.
  package internal(set) var changes: [ConnectionSummary.Change] = []
  /// The number of connection events with packets.
  package var events = 0
  package var fromCentral = Side()
  package var fromPeripheral = Side()
  /// The number of packets with a wrong CRC.
  package var crcErrors = 0
  /// The number of packets whose content is not known, as it is encrypted.
  package var encrypted = 0
  /// The number of packets that were decrypted, by the sniffer or in the file.
  package var decrypted = 0
  /// The number of PDUs of the Security Manager.
  package var pairingPDUs = 0
  /// The ATT_MTU in force, in bytes; nil if it was not exchanged.
  package var mtu: UInt16?

  /// See ``UsedDevice/traffic``.
  var traffic: Int { fromCentral.attPDUs + fromPeripheral.attPDUs + pairingPDUs + encrypted }

  init(_ accessAddress: UInt32, start: Int64?) {
    self.accessAddress = accessAddress
    self.start = start
  }

  /// Notes other parameters.
  mutating func add(_ words: String, at microseconds: Int64?) {
    guard changes.count < ConnectionSummary.changeCapacity, changes.last?.words != words else { return }
    changes.append(.init(microseconds: microseconds, words: words))
  }

  /// Adds a packet of the connection.
  mutating func add(_ air: AirLayer, _ packet: DissectedPacket) {
    if air.notes.contains(.beginsEvent) { events += 1 }
    if let name = packet.link?.name { self.name = name }
    guard air.crc != .wrong else {
      crcErrors += 1
      return
    }
    let time = packet.info.microseconds
    if air.notes.contains(.encrypted) {
      if encrypted == 0 { add("encrypted", at: time) }
      encrypted += 1
    }
    if air.notes.contains(.decrypted) { decrypted += 1 }
    if packet.smp != nil { pairingPDUs += 1 }
    if air.direction == .hostToController {
      fromCentral.add(air, packet)
    } else {
      fromPeripheral.add(air, packet)
    }
    if let mtu = packet.gatt?.mtu { self.mtu = mtu }
    guard let opcode = air.opcode, !air.notes.contains(.retransmission) else { return }
    let bytes = packet.bytes
    var reader = ByteReader(bytes.span.bytes.extracting(air.payload(in: bytes.span.bytes)))
    do throws(DecodeError) {
      try reader.skip(1)
      try add(opcode, &reader, at: time)
    } catch {
      // A damaged PDU changes nothing.
    }
  }

  private mutating func add(
    _ opcode: LLControlOpcode, _ reader: inout ByteReader, at time: Int64?
  ) throws(DecodeError) {
    switch opcode.fields {
    case var update as LLConnectionUpdate:
      try update.visit(&reader)
      add(CaptureSummary.words(update.parameters), at: time)
    case var map as LLChannelMap:
      try map.visit(&reader)
      add("\(map.channels)", at: time)
    case var update as LLPHYUpdate:
      try update.visit(&reader)
      add("\(update.fromCentral) from the central, \(update.fromPeripheral) from the peripheral", at: time)
    case var error as LLError where opcode == .terminate:
      try error.visit(&reader)
      (end, reason) = (time, error.error)
    default: break
    }
  }
}

extension AirConnectionSummary.Side {
  fileprivate mutating func add(_ air: AirLayer, _ packet: DissectedPacket) {
    packets += 1
    if air.isEmpty { empty += 1 }
    if air.notes.contains(.retransmission) { retransmissions += 1 }
    if packet.att != nil { attPDUs += 1 }
  }
}
