import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

@Suite struct ManagementTests {
  private final class Outbox {
    var packets: [String] = []
  }

  private let timers = Timers()
  private let out = Outbox()
  private let queue: ManagementQueue
  private let hci0 = AdapterIndex(rawValue: 0)
  private let peer = BluetoothAddress(0xC011_2233_A1B2, .random)

  init() {
    let out = self.out
    queue = ManagementQueue(timers: timers) { out.packets.append(Hex.string(Array($0))) }
  }

  private func receive(_ packet: String) {
    let bytes = hex(packet)
    queue.receive(bytes.span.bytes)
  }

  @Test func theIndexList() throws {
    var result: Result<[AdapterIndex], StackError>?
    queue.enqueue(.readControllerIndexList, to: .none) { result = $0 }
    #expect(out.packets == ["0300ffff0000"])
    receive("0100ffff0900" + "0300" + "00" + "0200" + "0000" + "0300")
    #expect(try result?.get() == [hci0, AdapterIndex(rawValue: 3)])
  }

  @Test func controllerInformation() throws {
    var result: Result<ManagementControllerInformation, StackError>?
    queue.enqueue(.readControllerInformation, to: hci0) { result = $0 }
    #expect(out.packets == ["040000000000"])
    let name = Hex.string(Array("pi".utf8)) + String(repeating: "00", count: 247)
    let short = String(repeating: "00", count: 11)
    receive(
      "010000001b01" + "0400" + "00" + "1371da7d1a00" + "09" + "0f00" + "ffbe0100" + "010a0000" + "000000"
        + name
        + short)
    let information = try #require(try result?.get())
    #expect(information.address == BluetoothAddress(0x001A_7DDA_7113, .public))
    #expect(information.version == CoreVersion(rawValue: 9))
    #expect(information.currentSettings == [.powered, .lowEnergy, .secureConnections])
    #expect(information.name == "pi")
  }

  /// The interval in steps of 1.25 ms, the timeout in steps of 10 ms; LE random is 2 here.
  @Test func connectionParameters() throws {
    var isLoaded = false
    queue.enqueue(.loadConnectionParameters(.fast, for: peer), to: hci0) { result in
      if case .success = result { isLoaded = true }
    }
    #expect(
      out.packets == ["350000001100" + "0100" + "b2a1332211c0" + "02" + "0600" + "0c00" + "0000" + "9001"])
    receive("010000000300" + "3500" + "00")
    #expect(isLoaded)
  }

  @Test func aMissingPrivilegeIsNamed() {
    var error: StackError?
    queue.enqueue(.setPowered(true), to: hci0) { result in
      if case .failure(let failure) = result { error = failure }
    }
    #expect(out.packets == ["050000000100" + "01"])
    receive("020000000300" + "0500" + "14")
    #expect(error?.code == .missingPrivilege)
    #expect(error?.description.contains("CAP_NET_ADMIN") == true)
  }

  @Test func answersGoToTheirOwnCommandAndAdapter() {
    var order: [Int] = []
    let hci1 = AdapterIndex(rawValue: 1)
    queue.enqueue(.setPowered(true), to: hci0) { _ in order.append(0) }
    queue.enqueue(.setPowered(true), to: hci1) { _ in order.append(1) }
    queue.enqueue(.readControllerInformation, to: hci1) { _ in order.append(2) }
    receive("020001000300" + "0400" + "03")
    receive("020001000300" + "0500" + "03")
    receive("020000000300" + "0500" + "03")
    receive("020000000300" + "0500" + "03")
    #expect(order == [2, 1, 0])
  }

  @Test func commandTimesOut() {
    var error: StackError?
    queue.enqueue(.readControllerIndexList, to: .none) { result in
      if case .failure(let failure) = result { error = failure }
    }
    timers.advance(to: .zero + ManagementQueue.deadline)
    #expect(error?.code == .noAnswer)
    // Its answer, late, is nobody's.
    receive("0100ffff0500" + "0300" + "00" + "0000")
  }

  @Test func socketFailureFailsPendingCommands() {
    var errors: [StackError] = []
    let note = { (result: Result<[AdapterIndex], StackError>) in
      if case .failure(let failure) = result { errors.append(failure) }
    }
    let gone = StackError("ask", .adapterRemoved)
    queue.enqueue(.readControllerIndexList, to: .none, completion: note)
    queue.fail(gone)
    queue.enqueue(.readControllerIndexList, to: .none, completion: note)
    #expect(errors == [gone, gone])
    #expect(out.packets.count == 1)
  }

  @Test func reportsEventsWithAdapterIndex() {
    var events: [String] = []
    queue.onEvent = { events.append("\($1) \($0)") }
    receive("040002000000")
    receive("050002000000")
    receive("060000000400" + "00020000")
    receive("130000000200" + "0601")
    receive("150000000000")
    #expect(
      events == [
        "hci2 indexAdded", "hci2 indexRemoved", "hci0 newSettings(le)",
        "hci0 discovering(addresses 0x06, true)",
        "hci0 unknown(21)",
      ])
  }

  @Test func decodersAreTotal() {
    let packets = [
      "0100ffff0900" + "0300" + "00" + "0200" + "0000" + "0300", "020000000300" + "0500" + "14",
      "060000000400" + "00020000",
    ]
    for packet in packets {
      checkDecoderIsTotal(hex(packet)) { bytes in
        queue.receive(bytes.span.bytes)
        _ = try? bytes.withReader(ManagementCommand.readControllerInformation.read)
        _ = try? bytes.withReader(ManagementCommand.readControllerIndexList.read)
        _ = try? bytes.withReader(ManagementCommand.setPowered(true).read)
      }
    }
  }

  @Test func aCommandIsWaitedForNoLongerThanTheCallerWants() throws {
    var results: [Result<[AdapterIndex], StackError>] = []
    let cancel = queue.enqueue(.readControllerIndexList, to: .none) { results.append($0) }
    cancel()
    cancel()
    #expect(results == [.failure(StackError("list the adapters", .cancelled))])
    // Its late answer, and the deadline, come to nothing.
    receive("0100ffff0500" + "0300" + "00" + "0000")
    timers.advance(to: timers.now + .seconds(4))
    #expect(results.count == 1)
  }
}
