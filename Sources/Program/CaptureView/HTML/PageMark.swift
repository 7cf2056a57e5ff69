import ATT
import HCI
import HaloBluetoothCore
import HaloDissection
import L2CAP

/// Why a packet is marked in the list of a report. Requests without an answer are marked, too; they are known only at
/// the end (``PageWriter``).
enum PageMark: String {
  /// It reports that something failed.
  case error
  /// It refuses what was asked for.
  case refused
  /// It cannot be parsed.
  case damaged

  init?(_ packet: DissectedPacket) {
    if Self.isDamaged(packet) {
      self = .damaged
    } else if Self.refuses(packet) {
      self = .refused
    } else if Self.reportsError(packet) {
      self = .error
    } else {
      return nil
    }
  }

  private static func isDamaged(_ packet: DissectedPacket) -> Bool {
    if case .damaged? = packet.ring?.content { return true }
    return packet.hci?.problem != nil || packet.air?.problem != nil || packet.att?.problem != nil
  }

  private static func refuses(_ packet: DissectedPacket) -> Bool {
    if packet.ring?.meaning?.refusal != nil || packet.ring?.sample == .refused { return true }
    if packet.smp?.code == .pairingFailed { return true }
    if let opcode = packet.air?.opcode, [.reject, .rejectExtended].contains(opcode) { return true }
    guard let signaling = packet.signaling else { return false }
    return signaling.code == .commandReject || Self.rejectsParameters(signaling, packet.source)
  }

  private static func rejectsParameters(_ signaling: SignalingLayer, _ source: [UInt8]) -> Bool {
    guard signaling.code == .connectionParameterUpdateResponse else { return false }
    let command = Array(source[signaling.range.clamped(to: 0..<source.count)]).withReader {
      try? SignalingPacket(parsing: &$0)
    }
    return command?.fields(ConnectionParameterUpdateResponse.self)?.isAccepted == false
  }

  /// Discovery ends with Attribute Not Found: this is not a failure.
  private static func reportsError(_ packet: DissectedPacket) -> Bool {
    if let error = packet.att?.error { return error != .attributeNotFound }
    return packet.hci?.type == .event && packet.hci?.status.map { $0 != .success } == true
  }
}
