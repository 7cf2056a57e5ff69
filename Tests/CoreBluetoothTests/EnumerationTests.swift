import AccessorySetupKit
import CoreBluetooth
import Testing

/// A program's own description, as many have one for these types (theheraldproject/herald-for-ios,
/// NordicSemiconductor/IOS-Common-Libraries).
extension CBCharacteristicWriteType: @retroactive CustomStringConvertible {
  public var description: String { self == .withResponse ? "ask" : "post" }
}

/// Enumerations that Apple's frameworks declare in C take any value, and a switch has to expect it.
@Suite struct EnumerationTests {
  /// Codes of applications and profiles: jordanebelanger/SwiftyBluetooth 57 (131, 132),
  /// innoveit/react-native-ble-manager 345 (255).
  @Test(arguments: [0x80, 0x83, 0x84, 0xF1, 0xFF])
  func aCodeOfAnApplicationIsKept(_ value: Int) throws {
    let code = try #require(CBATTError.Code(rawValue: value))
    #expect(code.rawValue == value)
    #expect(code != .unlikelyError)
    #expect("\(code)" == "CBATTErrorCode(rawValue: \(value))")
    let error = CBATTError(code)
    #expect(error.code == code)
    #expect(error.errorCode == value)
    #expect((error as any Error as NSError).code == value)
  }

  @Test func anyValueIsOneOfEachEnumeration() {
    #expect(CBError.Code(rawValue: 99)?.rawValue == 99)
    #expect(CBManagerState(rawValue: 99)?.rawValue == 99)
    #expect(CBManagerAuthorization(rawValue: 99)?.rawValue == 99)
    #expect(CBPeripheralState(rawValue: 99)?.rawValue == 99)
    #expect(CBCharacteristicWriteType(rawValue: 99)?.rawValue == 99)
    #expect(CBConnectionEvent(rawValue: 99)?.rawValue == 99)
    #expect(CBPeripheralManagerConnectionLatency(rawValue: 99)?.rawValue == 99)
    #expect(ASError.Code(rawValue: 99)?.rawValue == 99)
    #expect(ASAccessoryEventType(rawValue: 99)?.rawValue == 99)
    #expect(ASAccessory.AccessoryState(rawValue: 99)?.rawValue == 99)
    #expect(ASDiscoveryDescriptor.Range(rawValue: 99)?.rawValue == 99)
  }

  @Test func aSwitchOverAllCasesHandlesAnUnknownValue() {
    func text(_ state: CBManagerState?) -> String {
      switch state {
      case .unknown: "unknown"
      case .resetting, .unsupported, .unauthorized, .poweredOff: "off"
      case .poweredOn: "on"
      case nil: "none"
      @unknown default: "new"
      }
    }
    #expect(text(.poweredOn) == "on")
    #expect(text(.unauthorized) == "off")
    #expect(text(CBManagerState(rawValue: 17)) == "new")
  }

  @Test func casesArePrintedByTheirNames() {
    #expect("\(CBManagerState.poweredOn)" == "poweredOn")
    #expect(String(describing: CBPeripheralState.disconnecting) == "disconnecting")
    #expect("\([CBError.Code.connectionTimeout])" == "[connectionTimeout]")
    #expect("\(CBATTError.Code.insufficientEncryption)" == "insufficientEncryption")
    #expect("\(ASError.Code.userCancelled) \(ASAccessoryEventType.activated)" == "userCancelled activated")
    #expect("\(CBManagerState(rawValue: 17) ?? .unknown)" == "CBManagerState(rawValue: 17)")
  }

  @Test func aProgramsOwnDescriptionIsPrinted() {
    #expect("\(CBCharacteristicWriteType.withoutResponse)" == "post")
    #expect(String(describing: CBCharacteristicWriteType.withResponse) == "ask")
    #expect("\([CBCharacteristicWriteType.withResponse])" == "[ask]")
    #expect(String(describing: CBCharacteristicWriteType.withResponse as Any) == "ask")
  }

  @Test func theMisspelledNameIsTheSameCode() {
    #expect(CBError.Code.unkownDevice == .unknownDevice)
  }

  /// A state is a key of a dictionary, and goes to another task.
  @Test func valuesAreHashableAndSendable() async {
    let names: [CBPeripheralState: String] = [.connected: "here", .disconnected: "away"]
    let name = await Task.detached { names[.connected] }.value
    #expect(name == "here")
  }
}
