import ATT
import HaloBluetoothCore

/// Something that has happened to a connection.
public struct ConnectionEvent: Hashable, Sendable, CustomStringConvertible {
  /// The kind of an event. More kinds may be added.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The link has ended; ``ConnectionEvent/error`` says why.
    public static let lost = Kind("lost")
    /// The link was made again.
    public static let restored = Kind("restored")
    /// The services of the device have changed. Reads, writes and iterations follow by themselves.
    public static let servicesChanged = Kind("servicesChanged")
    /// A property of the link has changed, or the device has asked for others: ``Connection/status()`` has those in force.
    public static let linkChanged = Kind("linkChanged")
  }

  public let kind: Kind
  /// When it happened, by the clock of the radio.
  public let time: Instant
  /// The event, in one line.
  public let description: String
  /// Why the link has ended; nil for other events.
  public let error: BluetoothError?
}

/// The properties of a link.
public struct ConnectionStatus: Hashable, Sendable {
  /// Whether there is a link.
  public let isConnected: Bool
  /// The largest ATT PDU that both sides take, in bytes.
  public let mtu: Int
  /// How many bytes fit into a write without response, or a notification: the MTU less 3, 512 at most. Other writes, and reads,
  /// have up to 512 bytes with each MTU.
  public var maximumValueLength: Int { min(mtu - 3, ATTBearer.maximumValueLength) }
  /// The time from one connection event to the next; nil if it is not known.
  public let interval: Duration?
  /// How many connection events the device may skip; nil if it is not known.
  public let latency: Int?
  /// The time without a packet after which the link is lost; nil if it is not known.
  public let supervisionTimeout: Duration?
  /// The layer on which this side sends; nil if it is not known.
  public let transmitPHY: PHY?
  /// The layer on which the device sends; nil if it is not known.
  public let receivePHY: PHY?
  /// The longest packets that this side sends on the air, in bytes; nil if it is not known.
  public let dataLength: Int?
  /// Whether the link is encrypted; false where the kernel has the link and does not report it.
  public let isEncrypted: Bool
  /// Whether its key comes from a pairing with protection against a man in the middle.
  public let isAuthenticated: Bool
}
