import HCI
import HaloBluetoothCore

/// The opcode of an LL Control PDU (Core Specification Vol 6, Part B, 2.4.2), with all that is known of it.
package struct LLControlOpcode: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let terminate = LLControlOpcode(rawValue: 0x02)
  package static let encryptionRequest = LLControlOpcode(rawValue: 0x03)
  package static let encryptionResponse = LLControlOpcode(rawValue: 0x04)
  package static let startEncryptionRequest = LLControlOpcode(rawValue: 0x05)
  package static let startEncryptionResponse = LLControlOpcode(rawValue: 0x06)
  package static let pauseEncryptionResponse = LLControlOpcode(rawValue: 0x0B)
  package static let reject = LLControlOpcode(rawValue: 0x0D)
  package static let rejectExtended = LLControlOpcode(rawValue: 0x11)

  /// In the terms of the specification; nil if it is unknown.
  package var name: String? { row?.name }

  /// The section that describes it.
  var reference: String {
    row.flatMap { $0.section }.map { "Vol 6, Part B, 2.4.2.\($0)" } ?? "Vol 6, Part B, 2.4.2"
  }

  /// Whether the central sends it; nil if both sides may.
  var isFromCentral: Bool? {
    switch row?.sender {
    case .central?: true
    case .peripheral?: false
    default: nil
    }
  }

  /// The fields of its data, empty; nil if they are unknown.
  var fields: (any PacketFields)? { row?.fields }

  /// The lengths of all PDUs that are known.
  static let lengths = Set((UInt8.min...UInt8.max).compactMap { LLControlOpcode(rawValue: $0).length })

  /// The length of the PDU's payload with the opcode; nil if it is unknown.
  var length: Int? {
    guard var fields else { return nil }
    var writer = ByteWriter()
    fields.visit(&writer)
    return 1 + writer.count
  }

  private enum Sender { case either, central, peripheral }

  private struct Row {
    var name: String
    var section: Int?
    var sender = Sender.either
    var fields: (any PacketFields)?

    init(_ name: String, _ section: Int?, _ sender: Sender, _ fields: any PacketFields) {
      (self.name, self.section, self.sender, self.fields) = (name, section, sender, fields)
    }

    init(_ name: String, _ section: Int?, _ sender: Sender, _ fields: [DecodedField]) {
      self.init(name, section, sender, DecodedFields(fields))
    }

    init(_ name: String) { self.name = name }
  }

  private var row: Row? { Self.rows.indices.contains(Int(rawValue)) ? Self.rows[Int(rawValue)] : nil }

  /// By opcode, from 0x00.
  private static let rows: [Row] = [
    Row("LL_CONNECTION_UPDATE_IND", 1, .central, LLConnectionUpdate()),
    Row("LL_CHANNEL_MAP_IND", 2, .central, LLChannelMap()),
    Row("LL_TERMINATE_IND", 3, .either, LLError()),
    Row("LL_ENC_REQ", 4, .central, LLFields.encryptionRequest),
    Row("LL_ENC_RSP", 5, .peripheral, LLFields.encryptionResponse),
    Row("LL_START_ENC_REQ", 6, .peripheral, []),
    Row("LL_START_ENC_RSP", 7, .either, []),
    Row("LL_UNKNOWN_RSP", 8, .either, LLFields.unknown),
    Row("LL_FEATURE_REQ", 9, .central, LLFields.features),
    Row("LL_FEATURE_RSP", 10, .either, LLFields.features),
    Row("LL_PAUSE_ENC_REQ", 11, .central, []),
    Row("LL_PAUSE_ENC_RSP", 12, .either, []),
    Row("LL_VERSION_IND", 13, .either, LLFields.version),
    Row("LL_REJECT_IND", 14, .either, LLError()),
    Row("LL_PERIPHERAL_FEATURE_REQ", 15, .peripheral, LLFields.features),
    Row("LL_CONNECTION_PARAM_REQ", 16, .either, LLFields.connectionParameters),
    Row("LL_CONNECTION_PARAM_RSP", 17, .either, LLFields.connectionParameters),
    Row("LL_REJECT_EXT_IND", 18, .either, LLFields.rejection),
    Row("LL_PING_REQ", 19, .either, []),
    Row("LL_PING_RSP", 20, .either, []),
    Row("LL_LENGTH_REQ", 21, .either, LLFields.lengths),
    Row("LL_LENGTH_RSP", 21, .either, LLFields.lengths),
    Row("LL_PHY_REQ", 22, .either, LLFields.phys),
    Row("LL_PHY_RSP", 22, .either, LLFields.phys),
    Row("LL_PHY_UPDATE_IND", 23, .central, LLPHYUpdate()),
    Row("LL_MIN_USED_CHANNELS_IND", 24, .peripheral, LLFields.minimumChannels),
    Row("LL_CTE_REQ", 25, .either, LLFields.toneRequest),
    Row("LL_CTE_RSP", 26, .either, []),
    Row("LL_PERIODIC_SYNC_IND", 27, .either, LLFields.periodicSync),
    Row("LL_CLOCK_ACCURACY_REQ", 28, .either, LLFields.clockAccuracy),
    Row("LL_CLOCK_ACCURACY_RSP", 28, .either, LLFields.clockAccuracy),
    Row("LL_CIS_REQ", 29, .central, LLFields.streamRequest),
    Row("LL_CIS_RSP", 30, .peripheral, LLFields.streamResponse),
    Row("LL_CIS_IND", 31, .central, LLFields.streamIndication),
    Row("LL_CIS_TERMINATE_IND", 32, .either, LLFields.streamTermination),
    Row("LL_POWER_CONTROL_REQ", 33, .either, LLFields.powerRequest),
    Row("LL_POWER_CONTROL_RSP", 34, .either, LLFields.powerResponse),
    Row("LL_POWER_CHANGE_IND", 35, .either, LLFields.powerChange),
    Row("LL_SUBRATE_REQ", 36, .peripheral, LLFields.subrateRequest),
    Row("LL_SUBRATE_IND", 37, .central, LLFields.subrate),
    Row("LL_CHANNEL_REPORTING_IND", 38, .central, LLFields.channelReporting),
    Row("LL_CHANNEL_STATUS_IND", 39, .peripheral, LLFields.channelStatus),
    Row("LL_PERIODIC_SYNC_WR_IND", 40, .either, LLFields.periodicSyncWithResponses),
    // Since version 6.0.
    Row("LL_FEATURE_EXT_REQ", nil, .either, LLFields.featurePage),
    Row("LL_FEATURE_EXT_RSP", nil, .either, LLFields.featurePage),
    // Since version 6.0, too: Channel Sounding and frame spaces; their data are shown as bytes.
    Row("LL_CS_SEC_RSP"), Row("LL_CS_CAPABILITIES_REQ"), Row("LL_CS_CAPABILITIES_RSP"),
    Row("LL_CS_CONFIG_REQ"), Row("LL_CS_CONFIG_RSP"), Row("LL_CS_REQ"), Row("LL_CS_RSP"), Row("LL_CS_IND"),
    Row("LL_CS_TERMINATE_REQ"), Row("LL_CS_FAE_REQ"), Row("LL_CS_FAE_RSP"), Row("LL_CS_CHANNEL_MAP_IND"),
    Row("LL_CS_SEC_REQ"), Row("LL_CS_TERMINATE_RSP"), Row("LL_FRAME_SPACE_REQ"), Row("LL_FRAME_SPACE_RSP"),
  ]
}
