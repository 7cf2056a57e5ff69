import HaloBluetoothCore
import RingLink

/// The properties of a virtual ring and its controller. The same options produce the same behaviour at the same times,
/// bit for bit.
package struct VirtualRingOptions: Hashable, Sendable {
  /// More rings in reach of the controller. Their options of the controller and their ``others`` have no effect.
  package var others: [VirtualRingOptions] = []
  /// The model that it behaves as; nil for one with the properties that most rings have.
  package private(set) var model: VirtualRingModel?
  /// Chooses the course of the pulse, the breath and the movements.
  package var seed: UInt64 = 1
  /// Rings are called after the last two bytes of their address.
  package var name = "R02_BEEF"
  /// The address with which it advertises.
  package var address = BluetoothAddress(0x3035_3841_BEEF, .public)
  /// Decides the family, and with it the encoding of acceleration.
  package var firmware = "RT02R_3.11.00_250611"
  /// The hardware revision, as in the Device Information service.
  package var hardware = "RT02R_V3.1"
  /// Overrides the encoding that ``firmware`` implies.
  package var accelerometerEncoding: AccelerometerEncoding?
  /// In percent.
  package var battery: UInt8 = 87
  /// On its charger a ring refuses to stream.
  package var isCharging = false
  /// Whether it is in contact with skin.
  package var isWorn = true
  /// The time to the first value of a spot measurement; the other times of measurements follow from it.
  package var warmUp = Duration.milliseconds(25_500)
  /// The time between two events of the ring; nil for no events.
  package var eventInterval: Duration?
  /// The oldest rings lack the bulk service.
  package var hasBulkService = true
  /// Sets of raw samples in a second. Rings as sold send 1, which shows no pulse.
  package var rate = 25.0
  /// Names of `DeviceSupport`: the features that the ring reports beside those of its family.
  package var support: [String] = []
  package var hasCountedStream = false
  /// The ATT MTU that the ring requests and accepts.
  package var mtu: UInt16 = 247
  /// The time between two advertisements.
  package var advertisingInterval = Duration.milliseconds(100)
  /// Whether its command service is in the advertisement; some rings advertise none.
  package var advertisesService = true
  /// In dBm.
  package var rssi: Int8 = -56
  /// Whether the controller supports the extended commands of Core Specification 5.
  package var bluetooth5 = true
  /// The most data in an ACL packet, in bytes, either way.
  package var aclLength: UInt16 = 251
  /// How many ACL packets the controller accepts before it has sent one.
  package var aclPackets: UInt8 = 8
  /// The ring's clock when it is switched on. Rings do not have the time until it is set.
  package var clock: RingTime?
  /// The faults to show.
  package var faults = VirtualRingFaults()

  package init() {}

  /// Makes it a ring of a model, as sold.
  mutating func become(_ model: VirtualRingModel) {
    self.model = model
    (firmware, hardware, rate) = (model.firmware, model.hardware, 1)
    name = usualName
  }

  /// The encoding in force. Where the family leaves it open, 16 bits.
  var encoding: AccelerometerEncoding { accelerometerEncoding ?? family.accelerometerEncoding ?? .sixteenBit }

  /// A ring like this one, with the address that is `index` higher, its name and another pulse.
  func another(_ index: Int) -> VirtualRingOptions {
    var ring = self
    ring.others = []
    ring.seed = seed &+ UInt64(index)
    ring.address = BluetoothAddress(address.value &+ UInt64(index) & 0xFFFF_FFFF_FFFF, address.kind)
    ring.name = ring.usualName
    return ring
  }

  /// This ring with the address of a radio. Its name is after that, unless it was given another one.
  package func moved(to address: BluetoothAddress) -> VirtualRingOptions {
    var ring = self
    ring.address = address
    if name == usualName { ring.name = ring.usualName }
    return ring
  }

  /// The name of a ring at its address, as real rings have it.
  private var usualName: String {
    (model ?? .r02).namePrefix + address.description.split(separator: ":").suffix(2).joined()
  }

  /// Whether they include options of a simulated radio: several rings, an address, properties and faults of the controller, and
  /// rings that do not take part in a connection.
  package var needRadioInMemory: Bool {
    let standard = VirtualRingOptions()
    var ring = self
    (ring.seed, ring.faults.randomSeed) = (standard.seed, nil)
    return !others.isEmpty || address != standard.address || rssi != standard.rssi
      || ring.controller != standard.controller || faults.randomSeed != nil
      || faults.establishFailures != 0 || faults.ignoresConnections
  }

  /// The options that ``needRadioInMemory`` is about.
  package static let optionsOfMemory = [
    "rings", "address", "rssi", "bluetooth5", "acl", "packets", "establish-failures", "ignore-connections",
    "faults",
    "silent", "strict-scan",
  ]

  var family: RingFamily {
    RingFirmware(firmwareRevision: firmware, hardwareRevision: hardware).family
  }

  /// The rates that this package can simulate, in sets per second.
  package static let rates = 0.01...2000.0
}

/// The faults of a virtual ring, for tests.
package struct VirtualRingFaults: Hashable, Sendable {
  /// So many connections end with 0x3E (failed to be established) before one holds.
  package var establishFailures = 0
  /// The ring advertises, and answers no request to connect.
  package var ignoresConnections = false
  /// The ring answers a start of the raw stream with a refusal.
  package var refusesRawStream = false
  /// The ring refuses command 0x69, as if it supported only the older command for live heart rate.
  package var refusesMeasurements = false
  /// The ring accepts a start of the raw stream, and sends nothing.
  package var silentRawStream = false
  /// After this number of sets of a stream the ring is gone: supervision timeout.
  package var dropsAfter: Int?
  /// After this number of sets the ring answers nothing any more, and sends nothing, until the link ends.
  package var mutesAfter: Int?
  /// As many links, from the first one, are lost at the host's first request: supervision timeout.
  package var earlyLosses = 0
  /// Every second link is lost at the host's first request.
  package var losesTwice = false
  /// All faults of docs/links.md at random, drawn with this seed; nil for none.
  package var randomSeed: UInt64?
  /// The ring ends a link on which the MTU is to be exchanged.
  package var leavesAtMTU = false
  /// On the second link the ring answers nothing.
  package var isDeafOnSecondLink = false
  /// After this number of sets the ring stops a stream, without a message.
  package var stopsAfter: Int?
  /// After this number of sets the ring stops a stream with a refusal (A1 EE).
  package var refusesAfter: Int?
  /// After this number of sets the ring is put on its charger.
  package var chargesAfter: Int?
  /// Every Nth frame of a stream has a wrong checksum.
  package var badChecksumEvery: Int?
  /// Every Nth packet of the counted stream is lost.
  package var losesPacketEvery: Int?
  /// Every tenth packet of the counted stream is sent after the one that follows it.
  package var reordersPackets = false
  /// The ring's services are missing: a look-alike of another manufacturer.
  package var omitsRingService = false
  /// Settings that are written are acknowledged, and stay as they are.
  package var ignoresSettings = false
  /// The controller never answers.
  package var staysSilent = false
  /// To stop a scan that does not run is refused (0x0C), as some Raspberry Pi chips do.
  package var refusesIdleScanDisable = false
  /// Every Nth frame of a log is lost.
  package var losesLogFrameEvery: Int?
  /// Every Nth frame of a log is sent twice.
  package var doublesLogFrameEvery: Int?
  /// Every Nth frame of a log is sent after the one that follows it.
  package var delaysLogFrameEvery: Int?
  /// After this number of log frames the ring sends no more of them.
  package var logFramesUntilSilence: Int?
  /// So many bulk frames have a wrong CRC.
  package var badBulkCRCs = 0

  package init() {}
}
