import GAP
import HCI
import HaloBluetoothCore
import TestLoop
import Testing
import HaloSimulation

/// A host of this package, and a device that is a script.
@BluetoothActor
@Suite(.onTheLoop) struct DeviceTests {
  /// A device that is always heard, and keeps what comes.
  private final class Device: SimulatedDevice {
    let address = BluetoothAddress(0xC011_2233_A1B2, .random)
    let rssi: Int8 = -60
    let features: LEFeatures = []
    let version = RemoteVersion(CoreVersion(rawValue: 9), CompanyIdentifier(rawValue: 0xFFFF))
    var scanResponse: [UInt8]? = []
    private(set) var link: SimulatedLink?
    private(set) var fragments: [[UInt8]] = []

    var advertisement: RadioAdvertisement? {
      RadioAdvertisement(data: [2, 1, 6], scanResponse: scanResponse)
    }
    func nextAdvertisement(after now: Instant) -> Instant? {
      link == nil ? now + .milliseconds(20) : nil
    }
    func acceptsLink(from central: BluetoothAddress) -> Bool { true }
    func connected(_ link: SimulatedLink) { self.link = link }
    func received(_ fragment: SimulatedFragment, on link: SimulatedLink) { fragments.append(fragment.data) }
    func ended(_ link: SimulatedLink, _ reason: HCIErrorCode) { self.link = nil }
  }

  private let medium = RadioMedium(timers: testTimers)
  private let device = Device()
  private let transport: SimulatedTransport
  private let adapter: HCIAdapter

  init() {
    medium.add(device)
    transport = SimulatedTransport(medium)
    adapter = HCIAdapter(transport, randomAddress: BluetoothAddress(0xC000_0000_0001, .random))
  }

  private func connect() async throws -> any ATTLink {
    var link: (any ATTLink)?
    _ = adapter.connect(ConnectionRequest(peer: device.address)) { link = try? $0.get() }
    await pass(200)
    return try #require(link)
  }

  /// Sends a command of ATT that ends with a number.
  private func send(_ number: UInt8, on link: any ATTLink) {
    let pdu = [0x52, number]
    link.send(pdu.span.bytes)
  }

  private func pass(_ milliseconds: Int) async { await testTimers.sleep(for: .milliseconds(milliseconds)) }

  /// The device sees at once that the controller is gone, and has a link with it when it is there again.
  @Test func aControllerThatLeavesEndsItsLinks() async throws {
    _ = try await adapter.start()
    let first = try await connect()
    var loss: LinkLoss?
    first.onClosed = { loss = $0 }
    let closed = transport.onClose
    transport.close()
    closed?("off")
    #expect(device.link == nil && loss == .adapter(.transportClosed("off")))
    _ = try await adapter.recover(within: .seconds(5))
    let second = try await connect()
    #expect(second.peer == device.address && device.link != nil)
    await adapter.close()
    #expect(device.link == nil)
  }

  /// Nothing crosses a link that the device does not take part in, and all of it crosses later, in order.
  @Test func aLinkThatStallsGoesOn() async throws {
    _ = try await adapter.start()
    let link = try await connect()
    await pass(500)
    let before = device.fragments.count
    send(1, on: link)
    device.link?.isDead = true
    send(2, on: link)
    await pass(1000)
    #expect(device.fragments.count == before)
    device.link?.isDead = false
    await pass(100)
    #expect(device.fragments.dropFirst(before).map(\.last) == [1, 2])
    await adapter.close()
  }

  /// The response may be lost, and then is not reported; an empty one is.
  @Test(arguments: [nil, [], [2, 0x0A, 4]] as [[UInt8]?])
  func aScanResponseThatIsNotHeardIsNotReported(_ response: [UInt8]?) async throws {
    device.scanResponse = response
    var reports: [AdvertisingReport] = []
    adapter.onReport = { report, _ in reports.append(report) }
    _ = try await adapter.start()
    adapter.setScan(ScanParameters(isActive: true))
    await pass(100)
    let responses = reports.filter { $0.eventType.contains(.scanResponse) }
    #expect(responses.isEmpty == (response == nil) && responses.allSatisfy { $0.data == response })
    #expect(reports.count > responses.count)
    await adapter.close()
  }
}
