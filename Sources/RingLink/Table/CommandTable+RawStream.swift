extension CommandTable {
  /// The raw stream has code of its own, ``RawControl`` and ``RawSample``: it must not cost an allocation.
  static var rawStream: CommandEntry {
    let optical = [
      FrameField("raw", at: 2, .uint16BigEndian), FrameField("max", at: 4, .uint16BigEndian),
      FrameField("min", at: 6, .uint16BigEndian), FrameField("diff", at: 8, .uint16BigEndian),
      FrameField("valid", at: 10, .flag(on: 1, off: 0)),
    ]
    let axes = [
      FrameField("y", at: 2, .bytes(2)), FrameField("z", at: 4, .bytes(2)), FrameField("x", at: 6, .bytes(2)),
    ]
    let counters = [
      FrameField("first", at: 2, .uint16BigEndian), FrameField("second", at: 4, .uint16BigEndian),
    ]
    let words = [2: "stop", 3: "once", 4: "stream", 5: "release the light"]
    return CommandEntry(
      subject: .frame(.rawStream), name: "raw stream", purpose: "The sensors as they are, sample by sample.",
      group: .rawStream, shape: .stream,
      requests: [FrameForm("control", [FrameField("control", at: 1, .uint8, words: words)])],
      replies: [
        FrameForm("SpO2", startingWith: [1], optical), FrameForm("PPG", startingWith: [2], optical),
        FrameForm("acceleration", startingWith: [3], axes),
        FrameForm("wear calibration", startingWith: [8], counters),
        FrameForm("refused", startingWith: [0xFF]),
      ], source: "5 [F][C]")
  }
}
