import HaloBluetoothCore
import HaloCapture

/// The state of a connection's encryption, as shown first by the sniffer's flags, then by the PDUs' bytes, then by the
/// procedures that start and pause encryption (Core Specification Vol 6, Part B, 5.1.3).
struct AirEncryption {
  private enum State { case off, negotiated, on }

  /// The packets of one side since encryption has begun.
  private struct Side {
    /// Whether its last PDU was plaintext.
    var isPlain = false
    /// The bytes that its L2CAP frame still lacks, if the frame began as plaintext.
    var missing = 0
  }

  private var state = State.off
  private var central = Side()
  private var peripheral = Side()
  /// Whether the MIC was left at the end of the PDUs that were decrypted.
  private var keepsMIC = false

  /// Whether it is on since LL_START_ENC_REQ.
  var isOn: Bool { state == .on }

  /// Notes in a PDU whether it is encrypted, or has a MIC, and follows how encryption starts and pauses.
  mutating func take(
    _ air: inout AirLayer, _ bytes: RawSpan, _ reception: AirReception, isRetransmission: Bool
  ) {
    // An empty PDU is never encrypted.
    guard air.length > 0 else { return }
    let payload = bytes.extracting(air.payload(in: bytes))
    if reception.flags.contains(.decrypted) {
      air.notes.insert(.decrypted)
      findMIC(&air, payload)
      return
    }
    let isSaid = reception.flags.contains(.encrypted)
    if isSaid { state = .on }
    // With its MIC, an encrypted PDU has at least five bytes.
    let isPlain =
      !isSaid && (air.length < 5 || showsPlaintext(air, payload, isRetransmission: isRetransmission))
    if state != .off { note(air, payload, isPlain: isPlain, isRetransmission: isRetransmission) }
    guard !isRetransmission || state == .on else { return }
    let opcode = air.kind == .control ? payload.byte(at: 0).map(LLControlOpcode.init) : nil
    switch state {
    case _ where opcode == .encryptionRequest && isPlain:
      // A device asks anew, whatever was agreed on before.
      state = .off
    case .off:
      if opcode == .encryptionResponse, air.length == 13 { state = .negotiated }
      if opcode == .startEncryptionRequest, air.length == 1 { begin() }
    case .negotiated:
      // Nothing else should be sent unencrypted now: then the sniffer has missed LL_START_ENC_REQ.
      switch (opcode, air.length) {
      case (.startEncryptionRequest?, 1): begin()
      case (.reject?, 2), (.rejectExtended?, 3): state = .off
      case (.encryptionResponse?, 13), (.terminate?, 2): break
      default:
        guard !isPlain || opcode == .startEncryptionResponse else { break }
        state = .on
        if !isPlain { air.notes.insert(.encrypted) }
      }
    case .on:
      guard isPlain else {
        air.notes.insert(.encrypted)
        return
      }
      findMIC(&air, payload)
      // The central's LL_PAUSE_ENC_RSP is the first that is sent unencrypted again.
      if opcode == .pauseEncryptionResponse, air.length == 1 { state = .off }
    }
  }

  /// Whether a PDU was decrypted in the file, so that its CRC, which is that of the encrypted one, does not fit.
  func isDecrypted(_ air: AirLayer, _ bytes: RawSpan) -> Bool {
    state == .on && air.length > 0 && air.end + AirCRC.length == bytes.byteCount
      && showsPlaintext(air, bytes.extracting(air.payload(in: bytes)), isRetransmission: false)
  }

  private mutating func begin() {
    state = .on
    (central, peripheral) = (Side(), Side())
  }

  private func side(of air: AirLayer) -> Side { air.direction == .hostToController ? central : peripheral }

  /// Whether a PDU can't be encrypted, by its bytes: the length of an L2CAP frame on a fixed channel that fits looks so by
  /// chance once in 700 million times, and an LL Control PDU has a length that no encrypted one has. Weaker signs count if the
  /// last PDU of the same side was plaintext.
  private func showsPlaintext(_ air: AirLayer, _ payload: RawSpan, isRetransmission: Bool) -> Bool {
    let length = Int(air.length)
    let present = length - 4
    let side = side(of: air)
    let frame = Self.header(of: payload)
    // ATT, signaling and the Security Manager; an attacker may send such a frame with any LLID.
    let isFixed = frame.map { (4...6).contains($0.channel) } ?? false
    if isFixed, let frame, frame.length == present || frame.length + 4 == present { return true }
    if air.kind == .control {
      guard let known = payload.byte(at: 0).flatMap({ LLControlOpcode(rawValue: $0).length }) else {
        return false
      }
      // No PDU has the length that it would have without a MIC.
      let cannotBeEncrypted = !LLControlOpcode.lengths.contains(present)
      return known == length && (cannotBeEncrypted || side.isPlain)
        || side.isPlain && keepsMIC && known == present
    }
    guard air.llid == 2 else { return isRetransmission ? side.isPlain : side.missing > 0 }
    guard side.isPlain, let frame else { return false }
    return isFixed ? frame.length > present : frame.channel >= 0x40 && frame.length == present
  }

  private mutating func note(_ air: AirLayer, _ payload: RawSpan, isPlain: Bool, isRetransmission: Bool) {
    var side = side(of: air)
    side.isPlain = isPlain
    if air.kind == .data, !isRetransmission {
      let length = Int(air.length) - (keepsMIC ? 4 : 0)
      if air.llid == 2 {
        side.missing = isPlain ? max(0, (Self.header(of: payload)?.length ?? 0) + 4 - length) : 0
      } else {
        side.missing = max(0, side.missing - length)
      }
    }
    if air.direction == .hostToController { central = side } else { peripheral = side }
  }

  /// The length and the channel of an L2CAP frame.
  private static func header(of payload: RawSpan) -> (length: Int, channel: UInt16)? {
    var reader = ByteReader(payload)
    guard let length = try? reader.readUInt16(), let channel = try? reader.readUInt16() else { return nil }
    return (Int(length), channel)
  }

  /// Finds a MIC by the length that the content states.
  private mutating func findMIC(_ air: inout AirLayer, _ payload: RawSpan) {
    if air.kind == .control {
      if let length = payload.byte(at: 0).flatMap({ LLControlOpcode(rawValue: $0).length }) {
        keepsMIC = payload.byteCount == length + 4
      }
    } else if air.llid == 2, let (length, _) = Self.header(of: payload) {
      let whole = length + 4
      if payload.byteCount == whole { keepsMIC = false }
      if payload.byteCount == whole + 4 { keepsMIC = true }
    }
    if keepsMIC, payload.byteCount > 4 { air.micLength = 4 }
  }
}
