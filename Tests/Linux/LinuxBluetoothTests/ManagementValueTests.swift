import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// The numbers of the kernel's Bluetooth management (BlueZ, doc/mgmt-api.txt), and what an answer means.
@Suite struct ManagementValueTests {
  private final class Outbox {
    var packets: [String] = []
  }

  private let timers = Timers()
  private let out = Outbox()
  private let queue: ManagementQueue
  private let hci2 = AdapterIndex(rawValue: 2)

  init() {
    let out = self.out
    queue = ManagementQueue(timers: timers) { out.packets.append(Hex.string(Array($0))) }
  }

  private func receive(_ packet: String) { queue.receive(hex(packet).span.bytes) }

  @Test func settingsAreBitsWithNames() {
    let all: [(ManagementSettings, UInt32, String)] = [
      (.powered, 0x0001, "powered"), (.connectable, 0x0002, "connectable"),
      (.discoverable, 0x0008, "discoverable"),
      (.bondable, 0x0010, "bondable"), (.bredr, 0x0080, "br/edr"), (.lowEnergy, 0x0200, "le"),
      (.advertising, 0x0400, "advertising"), (.secureConnections, 0x0800, "secure-conn"),
      (.privacy, 0x2000, "privacy"), (.staticAddress, 0x8000, "static-addr"),
    ]
    for (setting, bits, name) in all { #expect(setting.rawValue == bits && setting.description == name) }
    let names =
      "powered, connectable, discoverable, bondable, br/edr, le, advertising, secure-conn, privacy, static-addr"
    #expect(ManagementSettings(rawValue: .max).description == names)
    #expect(ManagementSettings(rawValue: 0x0201).description == "powered, le")
    #expect(ManagementSettings(rawValue: ~0xAE9B & 0xFFFF).description == "")
  }

  private static let statuses: [(UInt8, String, StackError?)] = [
    (0x00, "success", nil), (0x01, "unknown command", nil), (0x03, "failed", nil), (0x0A, "busy", nil),
    (0x0B, "rejected", nil), (0x0C, "not supported", nil), (0x0D, "invalid parameters", nil),
    (0x0F, "not powered", .adapterDown(AdapterIndex(rawValue: 2))), (0x11, "no such adapter", .noSuchAdapter),
    (0x12, "blocked by rfkill", .radioBlocked), (0x14, "permission denied", .missing(.netAdmin)),
    (0x02, "status 0x02", nil), (0xFF, "status 0xff", nil),
  ]

  /// A status without a reason of its own is told as the kernel's.
  @Test(arguments: statuses.indices) func aStatusHasANameAndAReason(_ index: Int) {
    let (code, name, reason) = Self.statuses[index]
    #expect(ManagementStatus(rawValue: code).description == name)
    var results: [Result<ManagementSettings, StackError>] = []
    queue.enqueue(.setPowered(false), to: hci2) { results.append($0) }
    #expect(out.packets == ["05000200010000"])
    receive("010002000700 0500" + Hex.string([code]) + "01000000")
    let other = StackError(
      .system, .refusal, "the kernel's Bluetooth management says: \(name)", cause: .system(Int32(code)))
    let expected: Result<ManagementSettings, StackError> =
      code == 0 ? .success(.powered) : .failure(StackError("switch the adapter (hci2)", reason ?? other))
    #expect(results == [expected])
  }

  /// Each command says what it is for, with its adapter if it has one.
  @Test func aFailureNamesTheCommand() {
    var errors: [String] = []
    func note<Value>(_ result: Result<Value, StackError>) {
      if case .failure(let error) = result { errors.append(error.description) }
    }
    let parameters = ManagementCommand.loadConnectionParameters(.fast, for: BluetoothAddress(1, .public))
    queue.enqueue(.readControllerIndexList, to: .none, completion: note)
    queue.enqueue(.readControllerInformation, to: hci2, completion: note)
    queue.enqueue(parameters, to: hci2, completion: note)
    #expect(
      out.packets.last == "35000200110001000100000000000106000c0000009001")
    receive("0200ffff0300 0300 03")
    receive("020002000300 0400 03")
    receive("020002000300 3500 03")
    let says = "the kernel's Bluetooth management says: failed"
    #expect(
      errors == [
        "cannot list the adapters: \(says)", "cannot ask what the adapter is (hci2): \(says)",
        "cannot set the connection parameters (hci2): \(says)",
      ])
  }

  /// Three seconds, to the millisecond; a command that was answered has no deadline.
  @Test func theDeadlineIsThreeSeconds() {
    var results: [Result<ManagementSettings, StackError>] = []
    queue.enqueue(.setPowered(true), to: hci2) { results.append($0) }
    timers.advance(to: .zero + .milliseconds(2999))
    #expect(results == [])
    timers.advance(to: .zero + .milliseconds(3000))
    #expect(results == [.failure(StackError("switch the adapter (hci2)", .noAnswer))])
    queue.enqueue(.setPowered(true), to: hci2) { results.append($0) }
    receive("010002000700 0500 00 00000000")
    timers.advance(to: timers.now + .seconds(10))
    #expect(results.count == 2 && results.last == .success([]))
  }

  /// All of the information: address, version, manufacturer, supported and current settings, class, name.
  @Test func informationIsReadWhole() throws {
    var result: Result<ManagementControllerInformation, StackError>?
    queue.enqueue(.readControllerInformation, to: hci2) { result = $0 }
    let name = Array("desk".utf8) + [0] + Array("rest".utf8)
    let parameters =
      hex("060504030201 0c 5d00 ffbe0100 01020000 0c0104")
      + name + [UInt8](repeating: 0, count: 249 - name.count)
    receive("010002000f01 0400 00" + Hex.string(parameters.dropLast()))
    #expect(result == .failure(StackError("ask what the adapter is (hci2)", .malformedAnswer)))
    queue.enqueue(.readControllerInformation, to: hci2) { result = $0 }
    receive("010002001001 0400 00" + Hex.string(parameters))
    #expect((try? result?.get().name) == "desk")
    // The short name that follows is not read.
    queue.enqueue(.readControllerInformation, to: hci2) { result = $0 }
    receive("010002001101 0400 00" + Hex.string(parameters + [7]))
    let information = try #require(try result?.get())
    #expect(information.address == BluetoothAddress(0x0102_0304_0506, .public))
    #expect(information.version == CoreVersion(rawValue: 12))
    #expect(information.manufacturer == CompanyIdentifier(rawValue: 0x005D))
    #expect(
      information.supportedSettings.rawValue == 0x1BEFF && information.currentSettings.rawValue == 0x0201)
    #expect(information.name == "desk")
  }

  @Test func anAnswerThatIsCutIsMalformed() {
    var results: [Result<[AdapterIndex], StackError>] = []
    queue.enqueue(.readControllerIndexList, to: .none) { results.append($0) }
    receive("0100ffff0700 0300 00 0200 0000")
    #expect(results == [.failure(StackError("list the adapters", .malformedAnswer))])
  }

  /// LE public is 1, LE random 2; 0 would be BR/EDR.
  @Test(
    arguments: [
      (BluetoothAddress.Kind.public, 1), (.random, 2), (.publicIdentity, 1), (.randomIdentity, 2),
    ] as [(BluetoothAddress.Kind, UInt8)])
  func addressesHaveTheKernelsKind(_ kind: BluetoothAddress.Kind, _ number: UInt8) {
    #expect(BluetoothAddress(1, kind).kernelType == number)
    // struct sockaddr_l2: family, PSM, address, channel, kind of address.
    let bytes = KernelAddress.l2cap(BluetoothAddress(0x0102_0304_0506, kind)).bytes
    #expect(KernelAddress.l2capDevice(in: bytes)?.kernelType == BluetoothAddress(0, kind).kernelType)
    #expect(KernelAddress.l2capDevice(in: bytes)?.value == 0x0102_0304_0506)
    #expect(bytes == hex("1f00 0000 060504030201 0400") + [number, 0])
  }
}
