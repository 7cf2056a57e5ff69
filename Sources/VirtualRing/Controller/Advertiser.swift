import BluetoothCore
import HCI
import RingLink

/// The data that the ring advertises while it is not connected, and its timing.
struct Advertiser {
  /// With the flags, and the service where it is advertised.
  let advertisement: [UInt8]
  /// With the name.
  let scanResponse: [UInt8]

  private let seed: UInt64
  private let interval: Int64
  private let start: Instant

  init(options: VirtualRingOptions, start: Instant) {
    self.start = start
    seed = options.seed
    interval = max(20_000_000, options.advertisingInterval.wholeNanoseconds)
    var structures: [ADStructure] = [.flags([.generalDiscoverable, .brEDRNotSupported])]
    if options.advertisesService, !options.faults.omitsRingService {
      structures.append(.serviceUUIDs([RingGATT.commandService], width: .sixteen, isComplete: true))
    }
    advertisement = AdvertisingData(structures).bytes
    var response: [ADStructure] = [.localName(Array(options.name.utf8.prefix(29)), isComplete: true)]
    if options.name.utf8.count <= 20 {
      var writer = ByteWriter(capacity: 6)
      options.address.write(into: &writer)
      // 0xFFFF is for tests: no company has it.
      response.append(.manufacturerData(CompanyIdentifier(rawValue: 0xFFFF), writer.bytes))
    }
    scanResponse = AdvertisingData(response).bytes
  }

  /// The first advertising event after `now`. To each interval a delay of up to 10 ms is added, so that two
  /// advertisers do not meet for ever (Core Specification Vol 6, Part B, 4.4.2.2.1).
  func nextEvent(after now: Instant) -> Instant {
    var number = max(0, now.nanoseconds(since: start) / interval - 1)
    while true {
      let delay = Int64(SplitMix.mix(seed &+ UInt64(number)) % 10_000_000)
      let event = start + .nanoseconds(number * interval + delay)
      if event > now { return event }
      number += 1
    }
  }
}
