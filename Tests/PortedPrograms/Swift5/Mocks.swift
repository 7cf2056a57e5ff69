// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverForceUnwrap
import CoreBluetooth

// Names for the types, and objects behind protocols, in the style of CoreBluetoothMock.

public typealias MockManagerState = CBManagerState
public typealias MockPeripheralState = CBPeripheralState
public typealias MockUUID = CBUUID
public typealias MockError = CBError
public typealias MockATTError = CBATTError
public let MockAdvertisementDataLocalNameKey = CBAdvertisementDataLocalNameKey

public protocol MockPeripheral: AnyObject {
  var identifier: UUID { get }
  var name: String? { get }
  var state: MockPeripheralState { get }
  func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int
  func readRSSI()
}

extension CBPeripheral: MockPeripheral {}

public enum MockResponses {
  public static func read(_ isPermitted: Bool) -> Result<Data, Error> {
    isPermitted ? .success(Data([1])) : .failure(MockATTError(.readNotPermitted))
  }

  public static func lost() -> Error { MockError(.connectionTimeout, userInfo: ["attempt": 1]) }

  public static func application(_ code: UInt8) -> MockATTError.Code {
    MockATTError.Code(rawValue: Int(code))!
  }
}

/// A service that a test makes: a mutable one with more properties.
open class MockService: CBMutableService {
  public var isHidden = false
}
