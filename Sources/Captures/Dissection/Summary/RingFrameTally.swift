import RingLink

/// How many frames of each kind a ring and its host have sent.
struct RingFrameTally: Sendable {
  private var frames: [FrameKind: Int] = [:]
  /// The number of frames of kinds that there was no room for.
  private(set) var overflow = 0

  mutating func add(_ ring: RingLayer) {
    guard let kind = FrameKind(ring) else { return }
    guard frames.count < CaptureSummary.capacity || frames[kind] != nil else {
      overflow += 1
      return
    }
    frames[kind, default: 0] += 1
  }

  /// The numbers by the names of the kinds. Texts are made at the end, not for each packet.
  var texts: [String: Int] { Dictionary(frames.map { ($0.key.description, $0.value) }, uniquingKeysWith: +) }

  /// What a ring's frame is counted as.
  private enum FrameKind: Hashable, CustomStringConvertible {
    case sample(RawSample.Name)
    case packet(CountedSample.Light)
    /// A frame with the same meaning.
    case frame(FrameMeaning.Kind, isFromRing: Bool)
    case bulk(BulkID, isFromRing: Bool)

    init?(_ ring: RingLayer) {
      switch ring.content {
      case .frame(let meaning):
        if meaning.refusal == nil, let sample = ring.sample {
          self = .sample(sample.name)
        } else if let sample = ring.countedSample {
          self = .packet(sample.light)
        } else {
          self = .frame(meaning.kind, isFromRing: ring.isFromRing)
        }
      case .bulk(let frame): self = .bulk(frame.id, isFromRing: ring.isFromRing)
      case .part, .damaged: return nil
      }
    }

    var description: String {
      switch self {
      case .sample(let name): name.rawValue
      case .packet(let light): "packets of \(light)"
      case .frame(let kind, let isFromRing):
        kind.isRefusal ? "\(kind.name), refused" : "\(kind.name), \(Self.side(isFromRing))"
      case .bulk(let id, let isFromRing): "\(id.isKnown ? "bulk " : "")\(id), \(Self.side(isFromRing))"
      }
    }

    private static func side(_ isFromRing: Bool) -> String { isFromRing ? "from the ring" : "to the ring" }
  }
}

extension RawSample {
  fileprivate enum Name: String {
    case ppg = "samples of PPG"
    case spo2 = "samples of SpO2"
    case accelerometer = "samples of acceleration"
    case refused = "raw stream refused"
    case wearCalibrationEnd = "ends of a wear calibration"
    case unknown = "samples of an unknown kind"
  }

  fileprivate var name: Name {
    switch self {
    case .ppg: .ppg
    case .spo2: .spo2
    case .accelerometer: .accelerometer
    case .refused: .refused
    case .wearCalibrationEnd: .wearCalibrationEnd
    case .unknown: .unknown
    }
  }
}
