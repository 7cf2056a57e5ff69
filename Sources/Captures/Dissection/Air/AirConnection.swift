import HaloCapture

/// A connection of the air, as far as the capture has shown it.
final class AirConnection {
  let link: DissectedLink
  /// The initial value of its CRCs; nil if the capture begins in the middle of the connection.
  let crcInit: UInt32?
  /// Whether one side has ended it.
  private(set) var hasEnded = false

  /// The last PDU from one side, to recognize that it is sent again.
  private struct Side {
    /// Without the bits that may differ when it is sent again: NESN and MD.
    var header: UInt8?
    var payload: [UInt8] = []
    /// Whether the other side has acknowledged it since.
    var isAcknowledged = false
    /// Whether the other side has acknowledged a later one, which the capture does not have.
    var isSuperseded = false

    /// Takes the next PDU from this side.
    ///
    /// - Returns: whether it is the same as the one before
    mutating func repeats(_ header: UInt8, _ payload: RawSpan) -> Bool {
      if self.header == header, !isSuperseded, self.payload.span.bytes.elementsEqual(payload) { return true }
      self.header = header
      self.payload.removeAll(keepingCapacity: true)
      payload.withUnsafeBytes { self.payload.append(contentsOf: $0) }
      (isAcknowledged, isSuperseded) = (false, false)
      return false
    }

    private var sn: UInt8? { header.map { $0 >> 3 & 1 } }

    /// Takes a PDU's NESN of the other side.
    mutating func acknowledge(_ nesn: UInt8) {
      guard let sn else { return }
      if nesn != sn { isAcknowledged = true } else if isAcknowledged { isSuperseded = true }
    }
  }

  private var central = Side()
  private var peripheral = Side()
  private var encryption = AirEncryption()
  private var decryption = AirDecryption()

  /// The last packet, for events and directions.
  private var lastTime: Int64?
  private var lastChannel: UInt8?
  private var lastEvent: UInt16?
  private var lastDirection: CaptureDirection?

  init(_ link: DissectedLink, crcInit: UInt32?) {
    self.link = link
    self.crcInit = crcInit
  }

  /// Handles a PDU, and adds the layers of the frame that it completes.
  ///
  /// - Parameters:
  ///   - packet: its link layer is known
  ///   - bytes: from the access address to the CRC
  ///   - reception: the sniffer's data about it
  ///   - moment: its number and time
  func receive(
    _ packet: inout DissectedPacket, _ bytes: RawSpan, _ reception: AirReception, at moment: PacketTime
  ) {
    guard var air = packet.air else { return }
    if reception.flags.contains(.hasEvent) { air.event = reception.eventCounter }
    if beginsEvent(air, reception, moment) { air.notes.insert(.beginsEvent) }
    if air.direction == nil {
      air.direction = deriveDirection(air, bytes)
      air.notes.insert(.derivedDirection)
    }
    (lastTime, lastChannel, lastEvent) = (Self.time(reception, moment), reception.channel, air.event)
    lastDirection = air.direction
    // The file has no check of the CRC: it was computed, and is that of the PDU before a program has decrypted it.
    if air.crc == .wrong, reception.isCRCValid == nil, encryption.isDecrypted(air, bytes) {
      (air.crc, air.problem) = (.unknown, nil)
      air.notes.insert(.decrypted)
    }
    packet.air = air
    guard air.crc != .wrong, air.problem == nil, let direction = air.direction else { return }
    let isRetransmission = isRetransmission(air, bytes, isSent: direction == .hostToController)
    if isRetransmission { air.notes.insert(.retransmission) }
    encryption.take(&air, bytes, reception, isRetransmission: isRetransmission)
    packet.air = air
    guard !air.isEmpty else { return }
    guard air.notes.contains(.encrypted) else { return read(&packet, bytes, at: moment) }
    guard !packet.isCut, decrypt(&packet, bytes) else { return }
    let plain = packet.bytes
    read(&packet, plain.span.bytes, at: moment)
  }

  /// Puts the content of an encrypted packet in its place, if a key is known; the MIC stays.
  private func decrypt(_ packet: inout DissectedPacket, _ bytes: RawSpan) -> Bool {
    guard let air = packet.air else { return false }
    let payload = air.payload(in: bytes)
    let result = decryption.decrypt(
      Array(bytes.extracting(payload)), header: air.header,
      isFromCentral: air.direction == .hostToController, isRepeated: air.notes.contains(.retransmission),
      link.security.knowledge)
    switch result {
    case .none: return false
    case .failed(let note):
      if let note { packet.security.append(note) }
      return false
    case .decrypted(let plain, let note):
      if let note { packet.security.append(note) }
      packet.bytes.replaceSubrange(payload.prefix(plain.count), with: plain)
      packet.air?.notes.remove(.encrypted)
      packet.air?.notes.insert(.decrypted)
      packet.air?.micLength = UInt8(LinkCipher.micLength)
      return true
    }
  }

  /// Reads the content of a PDU.
  private func read(_ packet: inout DissectedPacket, _ bytes: RawSpan, at moment: PacketTime) {
    guard var air = packet.air else { return }
    defer { packet.air = air }
    let isSent = air.direction == .hostToController
    let isRetransmission = air.notes.contains(.retransmission)
    let payload = air.payload(in: bytes)
    if air.kind == .control {
      air.opcode = bytes.byte(at: payload.lowerBound).flatMap {
        payload.isEmpty ? nil : LLControlOpcode(rawValue: $0)
      }
      if air.opcode == nil, !packet.isCut {
        air.problem = .truncated(offset: payload.lowerBound, needed: 1, available: 0)
      }
      if !isRetransmission, !air.notes.contains(.decrypted) {
        if air.opcode == .encryptionRequest { decryption.request(Array(bytes.extracting(payload))) }
        if air.opcode == .encryptionResponse { decryption.response(Array(bytes.extracting(payload))) }
      }
      if air.opcode == .startEncryptionRequest, !isRetransmission {
        packet.security.append(SecurityNote(.protection, "encrypted from the next packet on"))
      }
      if air.opcode == .terminate, !hasEnded {
        hasEnded = true
        packet.unanswered = link.open
      }
      return
    }
    guard !isRetransmission, air.llid != 0 else { return }
    packet.air = air
    let data = bytes.extracting(payload)
    let isStart = air.llid == 2
    if packet.isCut || link.isTruncated,
      link.receiveTruncated(
        data, length: Int(air.length) - Int(air.micLength), isStart: isStart, isSent: isSent, into: &packet,
        at: moment)
    {
      return
    }
    link.receive(data, at: payload.lowerBound, isStart: isStart, isSent: isSent, into: &packet, at: moment)
    // The problem that the recombination has found.
    air.problem = packet.air?.problem
  }

  // MARK: Events and directions

  /// Whether a connection event begins with a packet: by the sniffer's count; otherwise, as each event has a channel of
  /// its own, by the channel; or by the time. In an event, a packet begins 150 us after the end of the one before, so at
  /// most 2.3 ms after its start on LE 1M and 2M, and 17.3 ms on LE Coded (Core Specification Vol 6, Part B, 4.5).
  private func beginsEvent(_ air: AirLayer, _ reception: AirReception, _ moment: PacketTime) -> Bool {
    guard lastDirection != nil else { return true }
    if let event = air.event, let lastEvent { return event != lastEvent }
    if let channel = reception.channel, let lastChannel, channel != lastChannel { return true }
    guard let time = Self.time(reception, moment), let lastTime else { return false }
    let longest: Int64 = reception.phy == .leCoded ? 17_500 : 2_500
    return time < lastTime || time &- lastTime > longest
  }

  /// In microseconds. The times of packets in Ubertooth's files are those of neither the air nor the host.
  private static func time(_ reception: AirReception, _ moment: PacketTime) -> Int64? {
    reception.source == .perPacketInformation ? Int64(reception.time) / 10 : moment.microseconds
  }

  /// The side that has sent a packet where the file does not record it: the central begins each connection event, and then both
  /// sides take turns (4.5.1). This is wrong where the sniffer has missed the central's first packet or one in the middle of an
  /// event, until the next event. LL Control PDUs that only one side sends correct it.
  private func deriveDirection(_ air: AirLayer, _ bytes: RawSpan) -> CaptureDirection {
    if air.kind == .control, air.crc != .wrong, !encryption.isOn,
      let isFromCentral = bytes.byte(at: air.payloadStart).flatMap({
        LLControlOpcode(rawValue: $0).isFromCentral
      })
    {
      return isFromCentral ? .hostToController : .controllerToHost
    }
    if air.notes.contains(.beginsEvent) { return .hostToController }
    return lastDirection == .hostToController ? .controllerToHost : .hostToController
  }

  // MARK: Retransmissions

  /// Whether a PDU is the same as the last one from its side: sequence number, length and content, without another one
  /// between them that the capture lacks, but the other side has acknowledged (4.5.9). Two PDUs of the same content are
  /// taken for one if the sniffer has missed both a PDU between them and its acknowledgement.
  private func isRetransmission(_ air: AirLayer, _ bytes: RawSpan, isSent: Bool) -> Bool {
    let header = air.header & 0xEB
    let payload = bytes.extracting(air.payload(in: bytes))
    if isSent {
      peripheral.acknowledge(air.nesn)
      return central.repeats(header, payload)
    }
    central.acknowledge(air.nesn)
    return peripheral.repeats(header, payload)
  }
}
