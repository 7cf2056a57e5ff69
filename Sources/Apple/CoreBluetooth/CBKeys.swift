// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Foundation

// The keys of options and advertisements, and other constants, with the values that they have on Apple's systems.

// MARK: CBCentralManager

public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// Has no effect: a manager here needs no consent for Bluetooth.
public let CBCentralManagerOptionDeviceAccessForMedia = "kCBInitOptionDeviceAccessForMedia"
/// Linux only: the adapter, as text that `halo-raw --adapter` takes: `hci0`, `user:hci0`, `virtual`.
public let CBCentralManagerOptionAdapterKey = "halo.adapter"
/// Linux only: the `PairingOptions` of the module `HaloRaw`, by which a person is asked, where Apple's systems show a dialog.
/// Managers with the same adapter share them: the last ones that were given count. Without any, only pairings are made that
/// need no person: Just Works.
public let CBCentralManagerOptionPairingKey = "halo.pairing"

public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"

public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "kCBConnectOptionNotifyOnDisconnection"
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionStartDelay"
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "kCBConnectOptionEnableTransportBridging"
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionEnableAutoReconnect"

public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"

/// Which connection events to report.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
  public var rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
  public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}

// MARK: Advertisements

/// A String.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// An NSNumber, in dBm.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// An array of CBUUID.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// A dictionary from CBUUID to Data.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// Data: the company, two bytes, least significant first; then its data.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// An array of CBUUID. Only Apple's devices advertise such services; never present here.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// An NSNumber with a Bool.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// An array of CBUUID.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"

// MARK: CBPeripheralManager

public let CBPeripheralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
public let CBPeripheralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// Linux only: the adapter, as ``CBCentralManagerOptionAdapterKey``.
public let CBPeripheralManagerOptionAdapterKey = "halo.adapter"
/// Linux only: see ``CBCentralManagerOptionPairingKey``.
public let CBPeripheralManagerOptionPairingKey = "halo.pairing"
/// Linux only, for `startAdvertising`: Data with the company, two bytes, least significant first; then its data.
public let CBPeripheralManagerAdvertisementManufacturerDataKey = "halo.manufacturerData"
/// Linux only, for `startAdvertising`: a dictionary from CBUUID to Data.
public let CBPeripheralManagerAdvertisementServiceDataKey = "halo.serviceData"
public let CBPeripheralManagerRestoredStateServicesKey = "kCBRestoredServices"
public let CBPeripheralManagerRestoredStateAdvertisementDataKey = "kCBRestoredAdvertisement"

// MARK: UUIDs

/// Characteristic Extended Properties.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"
/// Characteristic User Description.
public let CBUUIDCharacteristicUserDescriptionString = "2901"
/// Client Characteristic Configuration.
public let CBUUIDClientCharacteristicConfigurationString = "2902"
/// Server Characteristic Configuration.
public let CBUUIDServerCharacteristicConfigurationString = "2903"
/// Characteristic Presentation Format.
public let CBUUIDCharacteristicFormatString = "2904"
/// Characteristic Aggregate Format.
public let CBUUIDCharacteristicAggregateFormatString = "2905"
/// Valid Range.
public let CBUUIDCharacteristicValidRangeString = "2906"
/// Observation Schedule.
public let CBUUIDCharacteristicObservationScheduleString = "2910"
/// The PSM of a service on an L2CAP channel.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"

// MARK: Errors

public let CBErrorDomain = "CBErrorDomain"
public let CBATTErrorDomain = "CBATTErrorDomain"
