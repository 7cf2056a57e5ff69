import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLink
import TestLoop
import TestSupport
import Testing

@BluetoothActor
@Suite(.onTheLoop) struct CentralTests {
  let adapter = FakeAdapter()
  let central: Central

  init() {
    central = Central(adapter)
  }

  @Test func sharedScanUsesMostAggressiveParameters() {
    let gentle = central.scan(ScanParameters(isActive: false, filtersDuplicates: true)) { _ in }
    #expect(adapter.scans.last??.isActive == false)
    let keen = central.scan(.aggressive) { _ in }
    #expect(adapter.scans.last == ScanParameters(window: ScanInterval(.milliseconds(80))))
    keen.cancel()
    #expect(adapter.scans.last == ScanParameters(isActive: false, filtersDuplicates: true))
    gentle.cancel()
    #expect(adapter.scans.last == .some(nil))
    gentle.cancel()
  }

  @Test func eachScanAppliesItsOwnFilter() {
    var all: [UInt64] = []
    var near: [UInt64] = []
    var rings: [UInt64] = []
    _ = central.scan { all.append($0.address.value) }
    _ = central.scan(filter: .init(minimumRSSI: -70)) { near.append($0.address.value) }
    _ = central.scan(filter: .init(services: [uuid("180f")])) { rings.append($0.address.value) }
    adapter.report(1)
    adapter.report(2, rssi: -90)
    // Signal strengths that nobody knows pass.
    adapter.report(3, rssi: nil, "020106 03030f18")
    #expect(all == [1, 2, 3])
    #expect(near == [1, 3])
    #expect(rings == [3])
  }

  @Test func doesNotCallCancelledScan() {
    var second: Central.Scan?
    var calls = 0
    _ = central.scan { _ in second?.cancel() }
    second = central.scan { _ in calls += 1 }
    adapter.report(1)
    adapter.report(2)
    #expect(calls == 0)
  }

  /// The radio is asked again: a refusal ends nobody's scan.
  @Test func aRefusalIsKnownUntilTheRadioScans() {
    var calls = 0
    let scan = central.scan { _ in calls += 1 }
    let error = StackError.commandFailed(LESetScanEnable.opcode, .commandDisallowed)
    adapter.onScanRefusal?(error)
    #expect(central.scanRefusal == error)
    adapter.onScanRefusal?(nil)
    #expect(central.scanRefusal == nil)
    adapter.report(1)
    #expect(calls == 1)
    adapter.onScanRefusal?(error)
    scan.cancel()
    #expect(central.scanRefusal == nil)
  }

  /// A peer that does not answer the exchange of the MTU is not asked on the next link, whoever makes it.
  @Test func aPeerThatDoesNotAnswerTheExchangeIsNotAskedAgain() async throws {
    for isAsked in [true, false, false] {
      let link = FakeLink()
      adapter.link = .success(link)
      let connection = try await central.connect(ConnectionRequest(peer: link.peer))
      let result = try? await connection.gatt.exchangeMTU()
      #expect(link.takeSent().contains { $0.hasPrefix("02") } == isAsked)
      #expect(result == (isAsked ? nil : 23))
      await connection.disconnect()
    }
  }

  /// It was lost by chance: nothing follows from that.
  @Test func anExchangeOnALostLinkIsTriedAgain() async throws {
    for _ in 0..<2 {
      let link = FakeLink()
      adapter.link = .success(link)
      let connection = try await central.connect(ConnectionRequest(peer: link.peer))
      connection.gatt.exchangeMTU { _ in }
      #expect(link.takeSent().contains { $0.hasPrefix("02") })
      link.lose(.remote(.connectionTimeout))
    }
  }

  @Test func connectingFailsWithTheReason() async {
    adapter.link = .failure(.peerNotFound(BluetoothAddress(1, .random), seconds: 1))
    await #expect(throws: StackError.self) {
      try await central.connect(ConnectionRequest(peer: BluetoothAddress(1, .random)))
    }
  }

  /// A peer that is heard, and not connected to in time, does advertise.
  @Test func aPeerThatWasHeardDidAdvertise() async {
    let scan = central.scan { _ in }
    let (seven, eight) = (BluetoothAddress(7, .random), BluetoothAddress(8, .random))
    adapter.report(7)
    adapter.link = .failure(.peerNotFound(seven, seconds: 5))
    await #expect(throws: StackError.peerDidNotAnswer(seven, seconds: 5)) {
      try await central.connect(ConnectionRequest(peer: seven, deadline: .seconds(5)))
    }
    adapter.link = .failure(.peerNotFound(eight, seconds: 5))
    await #expect(throws: StackError.peerNotFound(eight, seconds: 5)) {
      try await central.connect(ConnectionRequest(peer: eight))
    }
    scan.cancel()
  }

  /// One that advertises without being connectable refuses links, and one that was last heard long ago may be gone.
  @Test func whyAPeerCouldNotBeConnectedTo() async {
    let peers = (0...2).map { BluetoothAddress(7 + $0, .random) }
    let scan = central.scan { _ in }
    func report(_ peer: BluetoothAddress, _ type: AdvertisingReport.EventType, _ data: String = "020106") {
      adapter.onReport?(
        AdvertisingReport(address: peer, eventType: type, rssi: -60, data: hex(data)), adapter.timers.now)
    }
    func reason(_ peer: BluetoothAddress) async -> StackError? {
      adapter.link = .failure(.peerNotFound(peer, seconds: 5))
      do throws(StackError) {
        _ = try await central.connect(ConnectionRequest(peer: peer, deadline: .seconds(5)))
        return nil
      } catch {
        return error
      }
    }
    report(peers[0], [.legacy, .scannable])
    report(peers[1], [.legacy, .connectable, .scannable])
    // A scan response alone does not say whether it can be connected to.
    report(peers[2], [.legacy, .scanResponse, .scannable], "0309616263")
    #expect(await reason(peers[0]) == .peerNotConnectable(peers[0]))
    #expect(await reason(peers[1]) == .peerDidNotAnswer(peers[1], seconds: 5))
    #expect(await reason(peers[2]) == .peerDidNotAnswer(peers[2], seconds: 5))
    await testTimers.sleep(for: .seconds(10))
    #expect(await reason(peers[1]) == .peerDidNotAnswer(peers[1], seconds: 5))
    await testTimers.sleep(for: .microseconds(1))
    #expect(await reason(peers[1]) == .peerNotFound(peers[1], seconds: 5))
    // Other errors are as they are.
    adapter.link = .failure(.connectionFailed(peers[0], .connectionTimeout))
    await #expect(throws: StackError.connectionFailed(peers[0], .connectionTimeout)) {
      try await central.connect(ConnectionRequest(peer: peers[0]))
    }
    scan.cancel()
  }

  /// The weakest signal that is wanted is wanted.
  @Test func theMinimumOfTheSignalIsIncluded() {
    var seen: [UInt64] = []
    let scan = central.scan(filter: .init(minimumRSSI: -70)) { seen.append($0.address.value) }
    adapter.report(1, rssi: -71)
    adapter.report(2, rssi: -70)
    adapter.report(3, rssi: -69)
    #expect(seen == [2, 3])
    // One that was far stays out when its strength is not measured (nordicsemi/IOS-nRF-Connect#124).
    for number in 1...4 as ClosedRange<UInt64> { adapter.report(number, rssi: nil) }
    #expect(seen == [2, 3, 2, 3, 4])
    scan.cancel()
  }

  /// All scans have ended by then; each failure is reported.
  @Test func reportsEachAdapterFailure() {
    var errors: [StackError] = []
    var ends = 0
    let scan = central.scan(onEnd: { ends += 1 }) { _ in Issue.record("called") }
    central.onFailure = { [adapter] error in
      #expect(ends == 1)
      adapter.report(1)
      errors.append(error)
    }
    adapter.onFailure?(.transportClosed("unplugged"))
    adapter.onFailure?(.transportClosed("unplugged again"))
    #expect(
      errors == [.transportClosed("unplugged"), .transportClosed("unplugged again")] && ends == 1)
    scan.cancel()
  }

  @Test func adapterInformationIsSetByStartAndRecovery() async throws {
    #expect(central.information == nil)
    let information = try await central.start()
    #expect(central.information == information)
    // It may be another one afterwards.
    let recovered = try await central.recover(within: .seconds(1))
    #expect(central.information == recovered && recovered != information)
  }

  /// Two scans: each parameter satisfies both.
  @Test func combinesParametersOfTwoScans() {
    let slow = ScanParameters(
      isActive: false, interval: ScanInterval(.milliseconds(200)), window: ScanInterval(.milliseconds(100)),
      filtersDuplicates: true)
    let fast = ScanParameters(
      isActive: true, interval: ScanInterval(.milliseconds(80)), window: ScanInterval(.milliseconds(10)))
    let scans = [central.scan(slow) { _ in }, central.scan(fast) { _ in }]
    let both = adapter.scans.last ?? nil
    #expect(both?.isActive == true && both?.filtersDuplicates == false)
    #expect(both?.interval == ScanInterval(.milliseconds(80)) && both?.window == both?.interval)
    scans[1].cancel()
    #expect(adapter.scans.last == slow)
    let third = central.scan(slow) { _ in }
    #expect(adapter.scans.last == slow)
    scans[0].cancel()
    third.cancel()
    #expect(adapter.scans.last == .some(nil))
  }

  /// What a program does with a device, with one `catch` for all of it.
  private func use(_ peer: BluetoothAddress) async -> String? {
    do {
      try await central.start()
      let connection = try await central.connect(ConnectionRequest(peer: peer))
      _ = try await connection.readRSSI()
      _ = try await connection.gatt.discoverServices()
      _ = try await connection.gatt.read(AttributeHandle(0x0003))
      try await connection.setPHYs(.le2M)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func eachErrorSaysItsCause() async {
    let link = FakeLink()
    let notFound = StackError.peerNotFound(link.peer, seconds: 1)
    adapter.link = .failure(notFound)
    #expect(await use(link.peer) == notFound.description)

    // No services, and a value that may not be read.
    link.answer("10 0100 ffff 0028", "01 10 0100 0a")
    link.answer("0a 0300", "01 0a 0300 02")
    adapter.link = .success(link)
    let refusal = ATTErrorResponse(request: .readRequest, handle: 0x0003, code: .readNotPermitted)
    #expect(await use(link.peer) == StackError.refused(refusal).description)

    link.answer("0a 0300", "0b 41")
    let change = StackError("change the PHY", .notOffered)
    #expect(await use(link.peer) == change.description)
  }

  @Test func aCancelledTaskGivesTheLinkUp() async {
    let central = self.central
    let task = spawn {
      try await central.connect(ConnectionRequest(peer: BluetoothAddress(1, .random)))
    }
    await settle()
    task.cancel()
    await #expect(throws: StackError.cancelled) { try await task.value }
    #expect(adapter.cancellations == 1)
  }

  @Test func stoppingEndsTheLinks() async throws {
    let link = FakeLink()
    adapter.link = .success(link)
    let connection = try await central.connect(ConnectionRequest(peer: link.peer))
    var losses: [LinkLoss] = []
    connection.whenDisconnected { losses.append($0) }
    await central.stop()
    #expect(losses == [.local])
    #expect(!connection.isConnected)
  }

  @Test func stoppingEndsTheScan() async throws {
    _ = central.scan { _ in }
    #expect(adapter.scans.last != .some(nil))
    await central.stop()
    #expect(adapter.scans.last == .some(nil))
  }
}
