/// The function of touching or waving the ring (ring reference, 4.13). Rings lose it when they restart.
package struct TouchControl: FrameRecord {
  /// 0 is off; 1 to 8 select a function of the phone; with 9, the ring reports what the finger does.
  package var mode: UInt8 = 0
  /// 1 to 10.
  package var sensitivity: UInt8 = 1
  package var sleep: UInt8 = 0

  package init() {}

  static let modes = [
    0: "off", 1: "music", 2: "video", 3: "counter", 4: "e-book", 5: "camera", 6: "call", 7: "game",
    8: "heart",
    9: "events",
  ]

  package static let fields: [RecordField<Self>] = [
    RecordField("mode", \.mode, at: 3, words: modes).only(.sdk, words: [2, 3, 4, 5, 6, 7, 8, 9]),
    RecordField("sensitivity", \.sensitivity, at: 4, settable: 1...10, believed: 1...30),
    RecordField("sleep", \.sleep, at: 5),
  ]
}

/// Whether a ring that is not touched stops to watch for it (ring reference, 4.13).
package struct TouchSleep: FrameRecord {
  /// As in ``TouchControl``.
  package var mode: UInt8 = 0
  /// The time; its unit is not stated.
  package var time: UInt8 = 0

  package init() {}

  package static let fields: [RecordField<Self>] = [
    RecordField("mode", \.mode, at: 3, words: TouchControl.modes),
    RecordField("time", \.time, at: 4),
  ]
}
