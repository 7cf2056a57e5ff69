import HaloCapture

/// Whether the PDUs of a connection are encrypted (Core Specification Vol 6, Part B, 5.1.3).
struct AirEncryption {
  private enum State { case off, negotiated, on }

  private var state = State.off
  /// Whether the sniffer has left the MIC at the end of the PDUs that it has decrypted.
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
    if reception.flags.contains(.encrypted) {
      air.notes.insert(.encrypted)
      state = .on
      return
    }
    guard !isRetransmission || state == .on else { return }
    let opcode = air.kind == .control ? payload.byte(at: 0).map(LLControlOpcode.init) : nil
    switch state {
    case .off:
      if opcode == .encryptionResponse, air.length == 13 { state = .negotiated }
      if opcode == .startEncryptionRequest, air.length == 1 { state = .on }
    case .negotiated:
      // Nothing else may be sent unencrypted now: then the sniffer has missed LL_START_ENC_REQ.
      switch (opcode, air.length) {
      case (.startEncryptionRequest?, 1): state = .on
      case (.reject?, 2), (.rejectExtended?, 3): state = .off
      case (.encryptionResponse?, 13), (.terminate?, 2): break
      default:
        state = .on
        air.notes.insert(.encrypted)
      }
    case .on:
      // With its MIC, an encrypted PDU has at least five bytes. The central's LL_PAUSE_ENC_RSP is the first that is
      // sent unencrypted again.
      guard air.length < 5 else {
        air.notes.insert(.encrypted)
        return
      }
      if opcode == .pauseEncryptionResponse, air.length == 1 { state = .off }
    }
  }

  /// Finds a MIC by the length that the content states.
  private mutating func findMIC(_ air: inout AirLayer, _ payload: RawSpan) {
    if air.kind == .control {
      if let length = payload.byte(at: 0).flatMap({ LLControlOpcode(rawValue: $0).length }) {
        keepsMIC = payload.byteCount == length + 4
      }
    } else if air.llid == 2, let low = payload.byte(at: 0), let high = payload.byte(at: 1) {
      let whole = (Int(high) << 8 | Int(low)) + 4
      if payload.byteCount == whole { keepsMIC = false }
      if payload.byteCount == whole + 4 { keepsMIC = true }
    }
    if keepsMIC, payload.byteCount > 4 { air.micLength = 4 }
  }
}
