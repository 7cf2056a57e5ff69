import HCI

/// The faults of a bad radio and a bad ring, drawn at random: those that docs/links.md lists. The same seed draws the same
/// ones.
package struct RadioFaults {
  /// The fate of an event on its way to the host.
  enum PacketOutcome {
    case delivered
    case lost
    case twice
    /// It is late, and data overtake it.
    case late
    /// A hardware error comes in its place.
    case breakdown
  }

  /// A fault of a ring on a link.
  package enum LinkFault {
    /// It is gone at the first request.
    case vanishing
    /// It answers nothing.
    case silent
    /// In a stream, after this number of sets.
    case gone(after: Int)
    case mute(after: Int)
    case stopped(after: Int)
  }

  private let seed: UInt64
  private var count: UInt64 = 0
  /// No report is sent until the scan is started again.
  private var isDeaf = false
  /// No packet is reported as sent until the controller is reset.
  private var keepsPackets = false

  init(seed: UInt64) {
    self.seed = seed
  }

  private mutating func random(below limit: Int) -> Int {
    count &+= 1
    return Int(SplitMix.mix(seed &+ SplitMix.mix(count)) % UInt64(limit))
  }

  private mutating func happens(inThousand: Int) -> Bool { random(below: 1000) < inThousand }

  /// Why a command is refused; nil if it is not.
  mutating func refusal(of opcode: HCIOpcode) -> HCIErrorCode? {
    switch opcode {
    case Reset.opcode:
      keepsPackets = false
      isDeaf = false
    case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode: isDeaf = false
    case LESetScanParameters.opcode, LESetExtendedScanParameters.opcode:
      return happens(inThousand: 50) ? .commandDisallowed : nil
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode:
      guard happens(inThousand: 50) else { return nil }
      let codes: [HCIErrorCode] = [
        .commandDisallowed, .connectionRejectedLimitedResources, .connectionLimitExceeded,
        .memoryCapacityExceeded,
      ]
      return codes[random(below: codes.count)]
    default: break
    }
    return nil
  }

  mutating func outcome(of event: HCIEvent) -> PacketOutcome {
    switch event {
    case .commandComplete: return random(below: 2000) == 0 ? .breakdown : .delivered
    case .leAdvertisingReports:
      if random(below: 2000) == 0 { isDeaf = true }
      return isDeaf ? .lost : .delivered
    case .numberOfCompletedPackets:
      if happens(inThousand: 3) { keepsPackets = true }
      return keepsPackets ? .lost : .delivered
    case .leConnectionComplete:
      switch random(below: 100) {
      case 0..<2: return .lost
      case 2..<7: return .twice
      case 7..<17: return .late
      default: return .delivered
      }
    case .disconnectionComplete: return happens(inThousand: 30) ? .lost : .delivered
    default: return .delivered
    }
  }

  mutating func faultOfNextLink() -> LinkFault {
    switch random(below: 100) {
    case 0..<6: .vanishing
    case 6..<9: .silent
    case 9..<60: .gone(after: random(below: 3000))
    case 60..<80: .mute(after: random(below: 3000))
    case 80..<95: .stopped(after: random(below: 3000))
    default: .gone(after: random(below: 30_000))
    }
  }
}

/// The finishing step of the SplitMix64 generator: neighbouring numbers become unrelated ones.
package enum SplitMix {
  package static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
