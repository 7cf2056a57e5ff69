import AccessorySetupKit
import CoreBluetooth
import HaloDevices
import HaloRaw
import Testing

/// Errors as programs handle them: as values of the program, and as the `NSError` that they come back from.
@Suite struct ErrorTests {
  private static let timedOut = NSError(domain: CBErrorDomain, code: 6)
  private static let unpaired = NSError(
    domain: CBATTErrorDomain, code: 15, userInfo: [NSLocalizedDescriptionKey: "Encryption is insufficient."])

  @Test func anNSErrorIsCastToTheErrorOfItsDomain() {
    let error: any Error = Self.timedOut
    #expect((error as? CBError)?.code == .connectionTimeout)
    #expect((Self.timedOut as? CBError)?.code == .connectionTimeout)
    #expect((Self.unpaired as Any as? CBATTError)?.code == .insufficientEncryption)
    #expect(error is CBError)
    #expect(error as? CBATTError == nil)
    #expect(NSError(domain: "other", code: 6) as? CBError == nil)
    #expect((NSError(domain: ASErrorDomain, code: 700) as? ASError)?.code == .userCancelled)
    #expect(CBError(_nsError: Self.timedOut).code == .connectionTimeout)
    #expect(CBATTError(_nsError: NSError(domain: CBATTErrorDomain, code: 0x84)).code.rawValue == 0x84)
  }

  /// `catch CBATTError.insufficientAuthentication` (nordicsemi/IOS-nRF-Connect-Device-Manager 613), and the same of an
  /// error that a library has passed on (StarryInternet/CombineCoreBluetooth 24).
  @Test(arguments: [timedOut, CBError(.connectionTimeout), CBError(_nsError: timedOut)] as [any Error])
  func anErrorIsCaughtByItsCode(_ error: any Error) {
    do {
      throw error
    } catch CBATTError.insufficientAuthentication {
      Issue.record("caught as an error of a peripheral")
    } catch CBError.peripheralDisconnected, CBError.notConnected {
      Issue.record("caught by another code")
    } catch CBError.connectionTimeout {
    } catch {
      Issue.record("not caught: \(error)")
    }
    do {
      throw error
    } catch let error as CBError where error.code == .connectionTimeout {
      #expect(error.errorCode == 6)
    } catch {
      Issue.record("not caught: \(error)")
    }
  }

  /// Codes 5 and 15 ask for pairing (meshtastic/Meshtastic-Apple).
  @Test(
    arguments: [unpaired, CBATTError(.insufficientEncryption), CBATTError(.insufficientAuthentication)]
      as [any Error])
  func anErrorIsMatchedInASwitch(_ error: any Error) {
    let asksForPairing =
      switch error {
      case CBError.unknown, CBError.invalidHandle: false
      case CBATTError.insufficientAuthentication, CBATTError.insufficientEncryption: true
      default: false
      }
    #expect(asksForPairing)
    #expect([5, 15].contains((error as NSError).code))
    #expect((error as NSError).domain == CBATTErrorDomain)
  }

  /// Programs hand domain, code and text to other languages (innoveit/react-native-ble-manager 1427), and users search for the
  /// text (jordanebelanger/SwiftyBluetooth 57).
  @Test func localizedDescriptionsMatchApplesText() {
    #expect(CBError(.connectionTimeout).localizedDescription == "The connection has timed out unexpectedly.")
    let gone: any Error = CBError(.peripheralDisconnected)
    #expect(gone.localizedDescription == "The specified device has disconnected from us.")
    #expect((gone as NSError).localizedDescription == "The specified device has disconnected from us.")
    let ofApplication: any Error = CBATTError(CBATTError.Code(rawValue: 0x83) ?? .success)
    #expect(ofApplication.localizedDescription == "Unknown ATT error.")
    #expect((ofApplication as NSError).code == 0x83)
    #expect(
      "\(CBATTError(.insufficientEncryption))"
        == "Error Domain=CBATTErrorDomain Code=15 \"Encryption is insufficient.\" "
        + "UserInfo={NSLocalizedDescription=Encryption is insufficient.}")
  }

  @Test func theUserInfoIsKept() throws {
    let error = CBError(.connectionFailed, userInfo: [NSLocalizedDescriptionKey: "it is away", "attempt": 3])
    #expect(error.localizedDescription == "it is away")
    #expect((error as any Error).localizedDescription == "it is away")
    #expect(error.userInfo["attempt"] as? Int == 3)
    #expect((error as NSError).userInfo["attempt"] as? Int == 3)
    let back = try #require((error as any Error as NSError) as? CBError)
    #expect(back == error)
    #expect(back.hashValue == error.hashValue)
    #expect(error != CBError(.connectionFailed))
    #expect(error.errorUserInfo["attempt"] as? Int == 3)
  }

  @Test func equalErrorsAreOneKey() {
    #expect(CBError(.notConnected) == CBError(.notConnected))
    #expect(CBError(.notConnected) != CBError(.invalidHandle))
    #expect(
      Set([CBATTError(.invalidOffset), CBATTError(.invalidOffset), CBATTError(.invalidPdu)]).count == 2)
  }

  /// What the stack knows more is printed, and is not the text for the user.
  @Test func theDetailOfTheStackIsPrinted() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    await BluetoothActor.run { strap.answer = { $0.first == 0x10 ? [0x01, 0x10, 1, 0, 0x81] : nil } }.value
    await recorder.perform { $0.peripherals["Strap"]?.discoverServices() }
    await recorder.until("services nil other(129)")
    let error = recorder.lastError
    #expect(error?.localizedDescription == "Unknown ATT error.")
    let detail = (error as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
    #expect(detail?.contains("0x81") == true, "\(detail ?? "none")")
    #expect(error.map { "\($0)".contains("NSDebugDescription=\(detail ?? "")") } == true)
    await radio.close()
  }
}
