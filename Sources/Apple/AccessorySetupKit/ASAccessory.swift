@_exported import Foundation
internal import HaloSystem

/// An accessory that the user has chosen for this program.
open class ASAccessory: NSObject, @unchecked Sendable {
  public typealias AccessoryState = ASAccessoryState

  /// The set-up options of an accessory. Accepted; there is no pairing.
  public struct SupportOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    public static let bluetoothPairingLE = SupportOptions(rawValue: 1 << 1)
    public static let bluetoothTransportBridging = SupportOptions(rawValue: 1 << 2)
    public static let bluetoothHID = SupportOptions(rawValue: 1 << 3)
  }

  /// The names that are changed with an accessory's. Accepted; there is no Wi-Fi.
  public struct RenameOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    public static let ssid = RenameOptions(rawValue: 1 << 0)
  }

  private struct Shared {
    var displayName: String
    var state: AccessoryState
  }

  let identifier: UUID
  private let shared: LockedValue<Shared>

  /// For `CBCentralManager.retrievePeripherals(withIdentifiers:)`.
  open var bluetoothIdentifier: UUID? { identifier }
  /// The name of the display item; after a rename, the user's.
  open var displayName: String { shared.withLock { $0.displayName } }
  /// Authorized, until the accessory is removed.
  open var state: AccessoryState { shared.withLock { $0.state } }
  /// The descriptor by which the accessory was discovered.
  public let descriptor: ASDiscoveryDescriptor

  init(_ identifier: UUID, displayName: String, _ descriptor: ASDiscoveryDescriptor) {
    self.identifier = identifier
    self.descriptor = descriptor
    shared = LockedValue(Shared(displayName: displayName, state: .authorized))
    super.init()
  }

  func rename(_ name: String) { shared.withLock { $0.displayName = name } }

  func wasRemoved() { shared.withLock { $0.state = .unauthorized } }

  open override var description: String {
    "<ASAccessory: identifier = \(identifier.uuidString), displayName = \(displayName), state = \(state)>"
  }
}

/// An event of a session.
open class ASAccessoryEvent: NSObject, @unchecked Sendable {
  public let eventType: ASAccessoryEventType
  public let accessory: ASAccessory?
  public let error: (any Error)?

  init(_ eventType: ASAccessoryEventType, _ accessory: ASAccessory? = nil, error: (any Error)? = nil) {
    self.eventType = eventType
    self.accessory = accessory
    self.error = error
    super.init()
  }

  open override var description: String {
    "<ASAccessoryEvent: \(eventType)\(accessory.map { ", \($0.displayName)" } ?? "")>"
  }
}
