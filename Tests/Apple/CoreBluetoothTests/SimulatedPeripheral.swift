import ATT
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloRaw
import L2CAP
import HaloSimulation

/// A peripheral in the air, with a database of attributes.
@BluetoothActor
final class SimulatedPeripheral {
  let address: BluetoothAddress
  /// The largest PDU that it takes, from the next link on.
  var mtu = 185
  /// How many of its advertising events come before the first scan response that is heard.
  var lostResponses = 0
  /// In reach and switched on.
  var isPresent = true {
    didSet { medium?.advertisingChanged(self) }
  }
  var rssi: Int8 = -50
  /// Takes nothing more from its link.
  var isStalled = false {
    didSet { link?.isDead = isStalled }
  }
  /// Takes written values; a value that is returned is sent behind the response.
  var onWrite: (_ handle: AttributeHandle, _ value: [UInt8]) -> [(AttributeHandle, [UInt8])] = { _, _ in [] }
  /// Answers a request in place of the server, if it returns something.
  var answer: (_ request: [UInt8]) -> [UInt8]? = { _ in nil }
  private(set) var writes: [(handle: AttributeHandle, value: [UInt8])] = []
  var isConnected: Bool { link != nil }
  /// All of its links until now.
  private(set) var connectionCount = 0

  private let advertisingData: [UInt8]
  private let scanResponse: [UInt8]?
  private let database: AttributeDatabase
  private var advertisingEvents = 0
  private var medium: RadioMedium?
  private var link: SimulatedLink?
  private var recombiner = Recombiner()
  private var bearer: ATTBearer?
  private var server: ServerBearer?

  init(
    _ address: String, _ advertisingData: [ADStructure], scanResponse: [ADStructure]? = nil,
    _ database: AttributeDatabase = AttributeDatabase()
  ) {
    guard let address = BluetoothAddress(address) else { fatalError("not an address: \(address)") }
    self.address = address
    self.advertisingData = AdvertisingData(advertisingData).bytes
    self.scanResponse = scanResponse.map { AdvertisingData($0).bytes }
    self.database = database
  }

  func enter(_ medium: RadioMedium) {
    self.medium = medium
    medium.add(self)
  }

  /// Goes out of reach.
  func vanish() {
    isPresent = false
    link?.end(.connectionTimeout, .connectionTimeout)
  }

  func leave() { link?.end(.remoteUserTerminatedConnection, .connectionTerminatedByLocalHost) }

  private func written(_ value: [UInt8], to handle: AttributeHandle) {
    writes.append((handle, value))
    for (handle, value) in onWrite(handle, value) where server?.notify(value, of: handle) == .notSubscribed {
      server?.indicate(value, of: handle)
    }
  }

  private func send(_ pdu: RawSpan) {
    var frame = ByteWriter(capacity: pdu.byteCount + BasicHeader.length)
    BasicHeader.writeFrame(pdu, on: .attribute, into: &frame)
    link?.sendFromPeripheral(frame.span)
  }
}

extension SimulatedPeripheral: @BluetoothActor SimulatedDevice {
  var features: LEFeatures { .encryption }
  var version: RemoteVersion { RemoteVersion(CoreVersion(rawValue: 9), CompanyIdentifier(rawValue: 0x005D)) }

  var advertisement: RadioAdvertisement? {
    guard isPresent, link == nil else { return nil }
    return RadioAdvertisement(
      data: advertisingData, scanResponse: advertisingEvents > lostResponses ? scanResponse : nil)
  }

  func nextAdvertisement(after now: Instant) -> Instant? {
    guard isPresent, link == nil else { return nil }
    advertisingEvents += 1
    return now + .milliseconds(20)
  }

  func acceptsLink(from central: BluetoothAddress) -> Bool { true }

  func connected(_ link: SimulatedLink) {
    guard let medium else { return }
    self.link = link
    connectionCount += 1
    recombiner = Recombiner()
    let bearer = ATTBearer(timers: medium.timers, receiveMTU: mtu) { [weak self] in self?.send($0) }
    let server = ServerBearer(database, on: bearer, timers: medium.timers)
    server.onEvent = { [weak self] event in
      if case .written(let handle, let value) = event { self?.written(value, to: handle) }
    }
    (self.bearer, self.server) = (bearer, server)
  }

  func received(_ fragment: SimulatedFragment, on link: SimulatedLink) {
    let recombiner = recombiner
    recombiner.receive(fragment.data.span.bytes, isStart: fragment.isStart) { channel, payload in
      guard channel == .attribute, let bearer, let medium else { return }
      if let bytes = answer(Array(payload)) {
        send(bytes.span.bytes)
      } else {
        bearer.receive(payload, at: Arrival(medium.timers.now))
      }
    }
  }

  func ended(_ link: SimulatedLink, _ reason: HCIErrorCode) {
    self.link = nil
    isStalled = false
    bearer?.close("the link has ended")
    (bearer, server) = (nil, nil)
  }
}
