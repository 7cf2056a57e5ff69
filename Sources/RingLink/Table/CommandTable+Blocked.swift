extension CommandTable {
  /// What can damage a ring. Nothing in this package sends it, whoever asks.
  static var blocked: [CommandEntry] {
    let frames: [(RingCommand, String, String)] = [
      (0x0F, "update mode", "puts old rings into update mode, from which they may not come back"),
      (0x7C, "factory 7C", "is a factory's command, of unknown effect"),
      (0x81, "identity", "rewrites the ring's identity"),
      (0xBF, "factory BF", "is a factory's command, of unknown effect"),
      (0xC6, "erase", "erases the ring's memory"),
      (0xC7, "factory C7", "is a factory's command, of unknown effect"),
      (0xC9, "factory C9", "is a factory's command, of unknown effect"),
      (0xCA, "factory CA", "is a factory's command, of unknown effect"),
      (0xCD, "memory", "writes the ring's memory"),
      (0xCE, "sensor registers", "writes the sensor's registers"),
    ]
    let updates = ["start", "init", "data", "check", "end"]
    return frames.map { command, name, danger in
      CommandEntry(
        subject: .frame(command), name: name, purpose: "It \(danger).", group: .blocked, shape: .none,
        source: "4.16 [F]", danger: danger)
    }
      + updates.enumerated().map { index, name in
        CommandEntry(
          subject: .bulk(BulkID(rawValue: UInt8(index + 1))), name: "firmware update \(name)",
          purpose: "Overwrites the ring's firmware.", group: .blocked, shape: .none, source: "6.5 [A]",
          danger: "overwrites the ring's firmware, and can leave it dead")
      }
  }
}
