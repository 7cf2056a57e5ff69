import ATT
import HaloBluetoothCore
@testable import HaloGATT
import TestSupport
import Testing

/// The values of service and include declarations (Core Specification Vol 3, Part G, 3.1 and 3.2).
@Suite struct ServiceDeclarationTests {
  @Test(arguments: [
    ("180f", "0f18"), ("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e", "9ecadc240ee5a9e093f3a3b5f0ff406e"),
    // ATT has no UUIDs of 32 bits: they are written in full.
    ("12345678", "fb349b5f80000080001000007856 3412"),
  ])
  func aServiceIsItsUUID(_ text: String, _ bytes: String) {
    for isPrimary in [true, false] {
      let service = ServiceDeclaration(uuid(text), isPrimary: isPrimary)
      #expect(service.bytes == hex(bytes))
      #expect(ServiceDeclaration(type: service.type, parsing: hex(bytes)) == service)
    }
  }

  @Test func rejectsServiceDeclarationOfOtherTypeOrLength() {
    #expect(ServiceDeclaration(type: GATTUUID.characteristic, parsing: hex("0f18")) == nil)
    for length in 0...20 where length != 2 && length != 16 {
      let bytes = Array(repeating: UInt8(1), count: length)
      #expect(ServiceDeclaration(type: GATTUUID.primaryService, parsing: bytes) == nil)
    }
  }

  @Test func aLongUUIDIsNotInAnInclude() {
    let handles = range(0x001A, 0x0024)
    #expect(IncludeDeclaration(handles, uuid("180a")).bytes == hex("1a0024000a18"))
    #expect(IncludeDeclaration(handles, BluetoothUUID(7 as UInt128)).bytes == hex("1a002400"))
    #expect(IncludeDeclaration(parsing: hex("1a0024000a18")) == IncludeDeclaration(handles, uuid("180a")))
    #expect(IncludeDeclaration(parsing: hex("1a002400")) == IncludeDeclaration(handles, nil))
    let long = IncludeDeclaration(parsing: hex("1a002400") + BluetoothUUID(7 as UInt128).wireBytes)
    #expect(long?.uuid == BluetoothUUID(7 as UInt128))
    for length in 0...24 where ![4, 6, 20].contains(length) {
      #expect(IncludeDeclaration(parsing: Array(repeating: 1, count: length)) == nil)
    }
  }
}

/// Which link may read or write which attribute (Core Specification Vol 3, Part C, 10.3.1).
@Suite struct AttributePermissionsTests {
  private let paired = LinkSecurity(isPaired: true)
  private let encrypted = LinkSecurity(isEncrypted: true, isPaired: true, keySize: 7)
  private let authenticated = LinkSecurity(isEncrypted: true, isAuthenticated: true, isPaired: true)

  @Test func refusalNamesMissingSecurity() {
    #expect(LinkSecurity.none.refusal(of: .none) == nil)
    #expect(LinkSecurity.none.refusal(of: .encrypted) == .insufficientAuthentication)
    #expect(paired.refusal(of: .encrypted) == .insufficientEncryption)
    #expect(paired.refusal(of: .authenticated) == .insufficientEncryption)
    #expect(encrypted.refusal(of: .encrypted) == nil)
    #expect(encrypted.refusal(of: .authenticated) == .insufficientAuthentication)
    #expect(authenticated.refusal(of: .authenticated) == nil)
    let long = SecurityRequirement(needsEncryption: true, minimumKeySize: 16)
    #expect(encrypted.refusal(of: long) == .encryptionKeySizeTooShort)
    #expect(authenticated.refusal(of: long) == nil)
    #expect(authenticated.refusal(of: .authorized) == .insufficientAuthorization)
    #expect(LinkSecurity(isAuthorized: true).refusal(of: .authorized) == nil)
  }
}
