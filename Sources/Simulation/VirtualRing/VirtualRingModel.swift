import RingLink

/// Models of rings, each as published traces and reports show it; everything else is as in any virtual ring. As sold, they send
/// one set of raw samples a second. None of the numbers below is one of the decoder's.
package enum VirtualRingModel: String, CaseIterable, Sendable {
  /// BlueX RF03: 12-bit acceleration, older requests for nights (tahnok/colmi_r02_client). It advertises company 0x1234, which
  /// the Halo tutorial looks for.
  case r02
  /// The same chip; it advertises its name, and nothing else that would identify it (CitizenOneX/colmi_r06_fbp).
  case r06
  /// It answers a request for temperatures with a frame a day, the oldest first, and has those of completed days only
  /// (stansz/smart-ring, docs/RING_BEHAVIOR.md).
  case r09
  /// It answers with all days in a frame, and reports its wearer's profile without the last three fields (thebabush/junk,
  /// fixtures/colmi-r10).
  case r10

  /// The beginning of its name.
  var namePrefix: String { rawValue.uppercased() + "_" }

  var firmware: String {
    switch self {
    case .r02, .r06: "R02_3.00.06_240523"
    case .r09: "RT09_3.10.21_251107"
    case .r10: "RT03CR_1.00.02_260319"
    }
  }

  var hardware: String {
    switch self {
    case .r02, .r06: "R02_V3.0"
    case .r09: "RT09_V3.1"
    case .r10: "RT03CR_V1.0"
    }
  }

  var advertisesNameOnly: Bool { self == .r06 }

  /// Whether the temperatures of each day have a frame, and those of today none.
  var hasTemperatureFrames: Bool { self == .r09 }

  /// Its answer to 0x01 after the packet length; nil for that of its family.
  var capabilities: RingFrame? {
    guard self == .r10 else { return nil }
    return try? RingFrame(0x01, payload: [1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0x20, 0, 0, 0x30])
  }

  /// Its answer to 0x3C; nil for that of its family.
  var deviceSupport: RingFrame? {
    guard self == .r10 else { return nil }
    return try? RingFrame(0x3C, payload: [0x00, 0xAC, 0x27])
  }

  /// The profile that it reports before one was written: 30 years, 175 cm, 70 kg. Nil if it reports none.
  var profile: RingFrame? {
    guard self == .r10 else { return nil }
    return try? RingFrame(0x0A, payload: [0x01, 0, 0, 0, 0x1E, 0xAF, 0x46])
  }

  /// The profile that it reports after one was written.
  func answer(toProfile written: RingFrame) -> RingFrame? {
    guard profile != nil else { return nil }
    return try? RingFrame(0x0A, payload: [0x01] + (2...7).map(written.byte(at:)))
  }
}
