import AccessorySetupKit
import CoreBluetooth
import Testing

/// A program's own description, as many have one for these types (theheraldproject/herald-for-ios,
/// NordicSemiconductor/IOS-Common-Libraries).
extension CBCharacteristicWriteType: CustomStringConvertible {
  public var description: String { self == .withResponse ? "ask" : "post" }
}

/// The codes of errors take any value, and programs switch over the other enumerations as on Apple's systems.
@Suite struct EnumerationTests {
  /// Codes of applications and profiles: jordanebelanger/SwiftyBluetooth 57 (131, 132),
  /// innoveit/react-native-ble-manager 345 (255).
  @Test(arguments: [0x80, 0x83, 0x84, 0xF1, 0xFF])
  func aCodeOfAnApplicationIsKept(_ value: Int) throws {
    let code = try #require(CBATTError.Code(rawValue: value))
    #expect(code.rawValue == value)
    #expect(code != .unlikelyError)
    #expect("\(code)" == "other(\(value))")
    let error = CBATTError(code)
    #expect(error.code == code)
    #expect(error.errorCode == value)
    #expect((error as any Error as NSError).code == value)
  }

  @Test func anyValueIsACode() {
    for value in -1...800 {
      #expect(CBError.Code(rawValue: value)?.rawValue == value)
      #expect(CBATTError.Code(rawValue: value)?.rawValue == value)
      #expect(ASError.Code(rawValue: value)?.rawValue == value)
    }
    #expect(CBATTError.Code.other(2) == .readNotPermitted)
    #expect(Set([CBATTError.Code.other(2), .readNotPermitted]).count == 1)
  }

  @Test func aSwitchOverAllCasesTakesADefaultOrNone() {
    func text(_ state: CBManagerState?) -> String {
      switch state {
      case .unknown: "unknown"
      case .resetting, .unsupported, .unauthorized, .poweredOff: "off"
      case .poweredOn: "on"
      case nil: "none"
      @unknown default: "new"
      }
    }
    func text(_ state: CBPeripheralState) -> String {
      switch state {
      case .disconnected, .disconnecting: "away"
      case .connecting, .connected: "here"
      }
    }
    #expect(text(.poweredOn) == "on")
    #expect(text(.unauthorized) == "off")
    #expect(text(CBManagerState(rawValue: 17)) == "none")
    #expect(text(.disconnecting) == "away")
  }

  @Test func casesArePrintedByTheirNames() {
    #expect("\(CBManagerState.poweredOn)" == "poweredOn")
    #expect(String(describing: CBPeripheralState.disconnecting) == "disconnecting")
    #expect("\(CBError.Code.connectionTimeout)" == "connectionTimeout")
    #expect("\(CBATTError.Code.insufficientEncryption)" == "insufficientEncryption")
    #expect("\(ASError.Code.userCancelled) \(ASAccessoryEventType.activated)" == "userCancelled activated")
    #expect("\(CBError.Code(rawValue: 17) ?? .unknown)" == "leGattExceededBackgroundNotificationLimit")
  }

  @Test func aProgramsOwnDescriptionIsPrinted() {
    #expect("\(CBCharacteristicWriteType.withoutResponse)" == "post")
    #expect(String(describing: CBCharacteristicWriteType.withResponse) == "ask")
    #expect("\([CBCharacteristicWriteType.withResponse])" == "[ask]")
    #expect(String(describing: CBCharacteristicWriteType.withResponse as Any) == "ask")
  }

  @Test func misspelledUnknownDeviceCodeIsEqual() {
    #expect(CBError.Code.unkownDevice == .unknownDevice)
  }

  /// A state is a key of a dictionary, and goes to another task.
  @Test func valuesAreHashableAndSendable() async {
    let names: [CBPeripheralState: String] = [.connected: "here", .disconnected: "away"]
    let name = await Task.detached { names[.connected] }.value
    #expect(name == "here")
  }
}
