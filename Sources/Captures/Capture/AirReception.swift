/// How a sniffer has received a packet of the air, in a form for all file formats. The bytes of such a record are the access
/// address (4 bytes), the coding indicator on LE Coded (1 byte), the PDU with its header, and the CRC (3 bytes), each least
/// significant byte first (Core Specification Vol 6, Part B, 2.1).
@usableFromInline package struct AirReception: Hashable, Sendable {
  /// The link type of the file, or of the interface.
  package enum Source: UInt8, Hashable, Sendable {
    /// LINKTYPE_BLUETOOTH_LE_LL (251): no header.
    case linkLayer
    /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR (256).
    case linkLayerWithHeader
    /// LINKTYPE_NORDIC_BLE (272): Nordic's nRF Sniffer.
    case nordic
    /// LINKTYPE_PPI (192) with packets of type 147 or 251: Ubertooth and Kismet.
    case perPacketInformation
  }

  /// The kind of the PDU, as far as the sniffer reports it.
  package enum Role: UInt8, Hashable, Sendable {
    /// An advertising PDU, or one of a connection from either side: the access address decides.
    case unspecified
    case advertising
    /// On a secondary advertising channel.
    case auxiliaryAdvertising
    case fromCentral
    case fromPeripheral
    case isochronousFromCentral
    case isochronousFromPeripheral
    case broadcastIsochronous
  }

  /// Which extended advertising PDU it is (a field of the nRF Sniffer).
  package enum AuxiliaryType: UInt8, Hashable, Sendable {
    case advertisement, chain, synchronization, scanResponse
  }

  /// The PHY on which it was sent.
  package enum PHY: UInt8, Hashable, Sendable, CustomStringConvertible {
    case le1M, le2M, leCoded

    package var description: String {
      switch self {
      case .le1M: "LE 1M"
      case .le2M: "LE 2M"
      case .leCoded: "LE Coded"
      }
    }
  }

  /// The sniffer's findings about the packet.
  package struct Flags: OptionSet, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let crcChecked = Flags(rawValue: 1 << 0)
    package static let crcValid = Flags(rawValue: 1 << 1)
    /// It was encrypted on the air.
    package static let encrypted = Flags(rawValue: 1 << 2)
    /// The sniffer has decrypted it.
    package static let decrypted = Flags(rawValue: 1 << 3)
    package static let micChecked = Flags(rawValue: 1 << 4)
    package static let micValid = Flags(rawValue: 1 << 5)
    /// ``AirReception/offenses`` is valid.
    package static let hasOffenses = Flags(rawValue: 1 << 6)
    /// ``AirReception/referenceAddress`` is valid.
    package static let hasReferenceAddress = Flags(rawValue: 1 << 7)
    /// The packet may have been sent on another channel.
    package static let channelAliased = Flags(rawValue: 1 << 8)
    /// The PDU is still whitened, so that its bytes have no meaning.
    package static let whitened = Flags(rawValue: 1 << 9)
    /// ``AirReception/packetCounter`` is valid.
    package static let hasCounter = Flags(rawValue: 1 << 10)
    /// ``AirReception/eventCounter`` is valid.
    package static let hasEvent = Flags(rawValue: 1 << 11)
    /// The resolvable private address of the advertiser is a known one.
    package static let addressResolved = Flags(rawValue: 1 << 12)
    /// The record has fewer bytes than the header of its link type.
    package static let incompleteHeader = Flags(rawValue: 1 << 13)
  }

  package var source: Source
  package var role = Role.unspecified
  /// Nil if the format has no field for it.
  package var phy: PHY?
  package var auxiliaryType: AuxiliaryType?
  package var flags: Flags = []
  /// The channel index: 0 to 36 are data channels, 37 to 39 are the primary advertising channels (Vol 6, Part B, 1.4.1).
  package var channel: UInt8?
  /// The signal's strength in dBm.
  package var rssi: Int8?
  /// The noise in dBm.
  package var noise: Int8?
  /// Bits of the access address that were received wrongly.
  package var offenses: UInt8 = 0
  /// The version of the nRF Sniffer's header.
  package var version: UInt8 = 0
  /// The number of the connection event, for PDUs of a connection (nRF Sniffer).
  package var eventCounter: UInt16 = 0
  /// The number of the packet on the way from the sniffer to the host (nRF Sniffer).
  package var packetCounter: UInt16 = 0
  /// In microseconds: from the end of the packet before to the start of this one up to version 2 of the nRF
  /// Sniffer's header; the sniffer's clock at the start of the packet in version 3. In steps of 100 ns: Ubertooth's clock
  /// with PPI.
  package var time: UInt32 = 0
  /// The access address that the sniffer was set to.
  package var referenceAddress: UInt32 = 0

  package init(_ source: Source) { self.source = source }

  /// Whether the CRC is right, as the sniffer has found; nil if it has not checked it.
  package var isCRCValid: Bool? { flags.contains(.crcChecked) ? flags.contains(.crcValid) : nil }

  /// The side that has sent it on a connection: the central is taken for the host; nil if the file does not record it.
  package var direction: CaptureDirection? {
    switch role {
    case .fromCentral, .isochronousFromCentral: .hostToController
    case .fromPeripheral, .isochronousFromPeripheral: .controllerToHost
    default: nil
    }
  }

  /// The channel index of an RF channel, which are counted from 0 at 2402 MHz in steps of 2 MHz (Vol 6, Part B, 1.4.1).
  static func channel(atRFChannel number: UInt8) -> UInt8? {
    switch number {
    case 0: 37
    case 1...11: number - 1
    case 12: 38
    case 13...38: number - 2
    case 39: 39
    default: nil
    }
  }
}
