import HaloBluetoothCore

extension CommandTable {
  /// Why a frame must not be sent; nil if it may.
  package static func danger(of frame: RingFrame) -> String? {
    if let danger = entries(for: .frame(frame.command)).lazy.compactMap(\.danger).first { return danger }
    // The same frame is the answer of a ring that does not report its profile.
    if Self.profile.isWriteReply(frame), let written = try? Self.profile.numbers(in: frame),
      ["age", "height", "weight"].allSatisfy({ written[$0] == 0 })
    {
      return "overwrites the wearer's profile with zeros"
    }
    return nil
  }

  /// Why a bulk frame must not be sent; nil if it may.
  package static func danger(of id: BulkID) -> String? {
    entries(for: .bulk(id)).lazy.compactMap(\.danger).first
  }

  /// Why a value must not be written to a characteristic of a ring, by any procedure; nil if it may.
  ///
  /// It is checked as the ring would read it, with zeros for missing bytes, so that neither a missing byte nor a wrong checksum
  /// bypasses the check.
  package static func danger(ofWriting value: [UInt8]) -> String? {
    guard let first = value.first else { return nil }
    if first == BulkFrame.magic {
      guard value.count > 1 else { return "begins a bulk frame without telling what it is" }
      return danger(of: BulkID(rawValue: value[1]))
    }
    let payload = value.dropFirst().prefix(RingFrame.payloadLength)
    return (try? RingFrame(RingCommand(rawValue: first), payload: payload)).flatMap(danger)
  }

  /// The frames that end the activity that a frame begins; empty for most.
  package static func closing(_ frame: RingFrame) -> [RingFrame] {
    let second = frame.byte(at: 1)
    switch frame.command {
    case .rawStream where ![RawControl.stop.rawValue, RawControl.release.rawValue].contains(second):
      return RawControl.stopSequence
    case Self.measurementStart.command:
      let kind = MeasurementKind(rawValue: second)
      guard kind == .continuousHeartRate else { return [Self.measurementStop.request(MeasurementStop(kind))] }
      return [Self.measurementStart.request(MeasurementStart(kind, action: MeasurementStart.stopAction))]
    case Self.liveHeartRate.command:
      return [Self.liveHeartRate.request(MeasurementCommands.stopLive)]
    case Self.cameraEnter.command where Self.cameraEnter.entry.requests.contains { $0.matches(frame) }:
      return [Self.cameraLeave.frame]
    case Self.sport.command where second != SportControl.endAction:
      let sport = Sport(rawValue: frame.byte(at: 2))
      return [Self.sport.request(SportControl(SportControl.endAction, sport))]
    default: return []
    }
  }
}

/// The messages that have to be confirmed before they are sent.
extension CommandTable {
  /// The effect of a message on a ring that its user may not want, as a clause: `this restarts the ring`; nil for none.
  package static func consequence(of message: RingMessage) -> String? {
    switch message {
    case .frame(let frame): consequence(of: frame)
    case .bulk(let id, _):
      !id.isKnown
        ? "no source says what a bulk frame of id \(Hex.string(id.rawValue)) does" : nil
    }
  }

  private static func consequence(of frame: RingFrame) -> String? {
    switch frame.command {
    case Self.reboot.command: return "this restarts the ring or switches it off"
    case Self.factoryReset.command: return "this erases all data on the ring"
    case Self.radioOff.command where Self.radioOff.entry.requests.contains { $0.matches(frame) }:
      return "this switches the ring's radio off; only its charger switches it on again"
    default: break
    }
    guard meaning(of: frame, isFromRing: false).form == nil else { return nil }
    return
      "no source says what a frame does that begins with \(Hex.string(frame.bytes[..<2], separator: " "))"
  }
}

/// Commands that can damage a ring. This package never sends them, for any caller.
final class BlockedCommands: CommandGroup {
  static let shared = BlockedCommands()

  let blocked: [CommandEntry] = {
    let frames: [(RingCommand, String, String, String)] = [
      (
        0x0F, "update mode", "puts old rings into update mode, from which they may not come back", "4.16 [A]"
      ),
      (
        0x7C, "user id", "writes a user's id, after which firmware calls several functions of unknown effect",
        "4.16 [F][S]"
      ),
      (0x81, "identity", "rewrites the ring's identity", "4.16 [F]"),
      (0xBF, "factory BF", "is a factory's command, of unknown effect", "4.16 [F]"),
      (0xC6, "erase", "erases the ring's memory", "4.16 [F]"),
      (0xC7, "factory C7", "is a factory's command, of unknown effect", "4.16 [F]"),
      (0xC9, "factory C9", "is a factory's command, of unknown effect", "4.16 [F]"),
      (0xCA, "factory CA", "is a factory's command, of unknown effect", "4.16 [F]"),
      (0xCD, "memory", "writes the ring's memory", "4.16 [F]"),
      (0xCE, "sensor registers", "writes the sensor's registers", "4.16 [F]"),
    ]
    let updates = ["start", "init", "data", "check", "end"]
    return frames.map { command, name, danger, source in
      CommandEntry(
        subject: .frame(command), name: name, purpose: "It \(danger).", group: .blocked, shape: .none,
        source: source, danger: danger)
    }
      + updates.enumerated().map { index, name in
        CommandEntry(
          subject: .bulk(BulkID(rawValue: UInt8(index + 1))), name: "firmware update \(name)",
          purpose: "Overwrites the ring's firmware.", group: .blocked, shape: .none, source: "6.5 [A]",
          danger: "overwrites the ring's firmware, and can leave it dead")
      }
  }()

  var entries: [CommandEntry] { blocked }
}
