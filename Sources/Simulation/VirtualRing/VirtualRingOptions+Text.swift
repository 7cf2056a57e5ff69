import ATT
import HaloBluetoothCore
import RingLink

/// Text that does not describe a virtual ring: a one-line description of the error.
package struct VirtualRingOptionsError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String
}

extension VirtualRingOptions {
  /// Parses `virtual:rate=25,seed=7,name=R02_BEEF`, or the part that follows the colon. A switch such as `charging` may
  /// be written alone, or with `=true` or `=false`.
  ///
  /// `rings=3` makes three rings; options behind `ring=2` are about the second one only: `rings=3,rate=4,ring=2,charging`.
  package init(parsing text: String) throws(VirtualRingOptionsError) {
    self.init()
    var rest = text[...]
    if rest == "virtual" { return }
    if rest.hasPrefix("virtual:") { rest = rest.dropFirst("virtual:".count) }
    guard !rest.isEmpty else { return }
    var count = 1
    var ofAll: [(key: String, text: String?)] = []
    var ofOne: [(ring: Int, key: String, text: String?)] = []
    var ring: Int?
    for item in rest.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let (key, text) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
      switch key {
      case "rings": count = try Value(key: key, text: text).integer(in: 1...Self.maximumRings)
      case "ring": ring = try Value(key: key, text: text).integer(in: 1...Self.maximumRings)
      default:
        if let ring { ofOne.append((ring, key, text)) } else { ofAll.append((key, text)) }
      }
    }
    // The effect of other options depends on the model.
    for (key, text) in ofAll.filter({ $0.key == "model" }) + ofAll.filter({ $0.key != "model" }) {
      try set(key, to: text)
    }
    var rings = [self] + (1..<count).map { another($0) }
    for (ring, key, text) in ofOne.filter({ $0.key == "model" }) + ofOne.filter({ $0.key != "model" }) {
      guard ring <= count else {
        throw VirtualRingOptionsError(description: "there is no virtual ring \(ring); give rings=\(ring)")
      }
      try rings[ring - 1].set(key, to: text)
    }
    self = rings[0]
    others = Array(rings.dropFirst())
  }

  /// The number of rings that one controller can have in reach.
  package static let maximumRings = 64

  /// The names of all options, for messages and help.
  package static let optionNames = [
    "rings", "ring", "model", "ignore-connections", "rate", "seed", "name", "address", "firmware", "hardware",
    "encoding", "battery",
    "charging", "mtu",
    "advertising", "service", "rssi", "bluetooth5", "acl", "packets", "establish-failures", "refuse",
    "support", "counted", "lose", "reorder", "worn", "warm-up", "events", "bulk", "refuse-measurements",
    "no-data",
    "drop-after",
    "mute-after", "early", "twice", "deaf", "leave-at-mtu", "faults", "stop-after", "refuse-after",
    "charge-after",
    "bad-checksum-every",
    "look-alike", "ignore-settings", "silent", "strict-scan",
    "clock", "lose-every", "double-every", "delay-every", "silent-after", "bad-bulk",
  ]

  /// The options that are true or false.
  private static let flags: [String: any WritableKeyPath<Self, Bool> & Sendable] = [
    "charging": \.isCharging, "service": \.advertisesService, "bluetooth5": \.bluetooth5,
    "ignore-connections": \.faults.ignoresConnections, "counted": \.hasCountedStream,
    "reorder": \.faults.reordersPackets, "worn": \.isWorn, "bulk": \.hasBulkService,
    "refuse-measurements": \.faults.refusesMeasurements, "refuse": \.faults.refusesRawStream,
    "no-data": \.faults.silentRawStream, "twice": \.faults.losesTwice,
    "leave-at-mtu": \.faults.leavesAtMTU, "deaf": \.faults.isDeafOnSecondLink,
    "look-alike": \.faults.omitsRingService, "ignore-settings": \.faults.ignoresSettings,
    "silent": \.faults.staysSilent, "strict-scan": \.faults.refusesIdleScanDisable,
  ]

  /// The options that are a number, of which the least is named.
  private static let counts: [String: (count: any WritableKeyPath<Self, Int?> & Sendable, least: Int)] = [
    "lose": (\.faults.losesPacketEvery, 2), "drop-after": (\.faults.dropsAfter, 0),
    "mute-after": (\.faults.mutesAfter, 0), "stop-after": (\.faults.stopsAfter, 1),
    "refuse-after": (\.faults.refusesAfter, 1), "charge-after": (\.faults.chargesAfter, 1),
    "bad-checksum-every": (\.faults.badChecksumEvery, 1), "lose-every": (\.faults.losesLogFrameEvery, 1),
    "double-every": (\.faults.doublesLogFrameEvery, 1), "delay-every": (\.faults.delaysLogFrameEvery, 1),
    "silent-after": (\.faults.logFramesUntilSilence, 0),
  ]

  private mutating func set(_ key: String, to text: String?) throws(VirtualRingOptionsError) {
    let value = Value(key: key, text: text)
    if let flag = Self.flags[key] { return self[keyPath: flag] = try value.flag() }
    if let (count, least) = Self.counts[key] {
      return self[keyPath: count] = try value.integer(in: least...Int(Int32.max))
    }
    switch key {
    case "model": become(try value.model())
    case "rate": rate = try value.number(in: Self.rates)
    case "seed": seed = try value.integer(in: 0...UInt64.max)
    case "name": name = try value.name()
    case "address": address = try value.address()
    case "firmware": firmware = try value.string()
    case "hardware": hardware = try value.string()
    case "encoding": accelerometerEncoding = try value.encoding()
    case "battery": battery = try value.integer(in: 0...100)
    case "mtu": mtu = try value.integer(in: UInt16(ATTBearer.defaultMTU)...UInt16(ATTBearer.largestMTU))
    case "advertising": advertisingInterval = .milliseconds(try value.integer(in: 20...10240) as Int)
    case "rssi": rssi = try value.integer(in: -127...20)
    case "acl": aclLength = try value.integer(in: 27...251)
    case "packets": aclPackets = try value.integer(in: 1...255)
    case "establish-failures": faults.establishFailures = try value.integer(in: 0...1000)
    case "support": support = try value.names(of: DeviceSupport.featureNames)
    case "warm-up": warmUp = .nanoseconds(Int64(try value.number(in: 0...120) * 1e9))
    case "events": eventInterval = .nanoseconds(Int64(try value.number(in: 0.01...86400) * 1e9))
    case "early": faults.earlyLosses = try value.integer(in: 0...1000)
    case "faults": faults.randomSeed = UInt64(try value.integer(in: 0...Int(Int32.max)))
    case "clock": clock = try value.time()
    case "bad-bulk": faults.badBulkCRCs = try value.integer(in: 0...Int(Int32.max))
    default:
      throw VirtualRingOptionsError(
        description: "the virtual ring has no option \"\(key.printable)\"; it has "
          + Self.optionNames.joined(separator: ", "))
    }
  }

  /// The text of one option, and the valid values.
  private struct Value {
    var key: String
    var text: String?

    func wrong(_ wanted: String) -> VirtualRingOptionsError {
      let found = text.map { ", not \"\($0.printable)\"" } ?? ""
      return VirtualRingOptionsError(description: "the virtual ring's \(key) must be \(wanted)\(found)")
    }

    func string() throws(VirtualRingOptionsError) -> String {
      guard let text, !text.isEmpty, text.utf8.count <= 248 else { throw wrong("a text") }
      return text
    }

    func name() throws(VirtualRingOptionsError) -> String {
      guard let text, (1...29).contains(text.utf8.count) else { throw wrong("a name of 1 to 29 bytes") }
      return text
    }

    func model() throws(VirtualRingOptionsError) -> VirtualRingModel {
      guard let model = text.flatMap(VirtualRingModel.init) else {
        throw wrong(VirtualRingModel.allCases.map(\.rawValue).joined(separator: ", "))
      }
      return model
    }

    func address() throws(VirtualRingOptionsError) -> BluetoothAddress {
      guard let text, let address = BluetoothAddress(text) else {
        throw wrong("an address such as C0:11:22:33:BE:EF/random")
      }
      return address
    }

    func time() throws(VirtualRingOptionsError) -> RingTime {
      guard let text, let time = RingTime(text) else { throw wrong("a time such as 2026-11-21T13:45:00") }
      return time
    }

    func encoding() throws(VirtualRingOptionsError) -> AccelerometerEncoding {
      switch text {
      case "12": return .twelveBit
      case "16": return .sixteenBit
      default: throw wrong("12 or 16")
      }
    }

    /// Separated by +.
    func names(of all: [String]) throws(VirtualRingOptionsError) -> [String] {
      let names = (text ?? "").split(separator: "+").map(String.init)
      guard !names.isEmpty, names.allSatisfy(all.contains) else {
        throw wrong("names of \(all.joined(separator: ", ")), separated by +")
      }
      return names
    }

    func flag() throws(VirtualRingOptionsError) -> Bool {
      switch text {
      case nil, "true", "yes", "1": return true
      case "false", "no", "0": return false
      default: throw wrong("true or false")
      }
    }

    func number(in range: ClosedRange<Double>) throws(VirtualRingOptionsError) -> Double {
      guard let text, let number = Double(text), range.contains(number) else {
        throw wrong("a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }

    func integer<T: FixedWidthInteger>(in range: ClosedRange<T>) throws(VirtualRingOptionsError) -> T {
      guard let text, let number = T(text), range.contains(number) else {
        throw wrong("a whole number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
  }
}
