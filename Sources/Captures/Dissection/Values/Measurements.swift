import HCI
import HaloBluetoothCore

// The fields of measurements and of times (GATT Specification Supplement).

extension FieldLister {
  /// A number of IEEE 11073-20601: 12 bits and an exponent of 4 bits, or 24 bits and one of 8.
  @_lifetime(self: copy self)
  mutating func medicalFloat(_ name: String, isShort: Bool, _ unit: String) throws(DecodeError) {
    let start = offset
    let (mantissa, exponent) = try take { r throws(DecodeError) -> (Int64, Int) in
      if isShort {
        let raw = Int16(bitPattern: try r.readUInt16())
        return (Int64((raw << 4) >> 4), Int(raw >> 12))
      }
      let low = Int32(bitPattern: try r.readUInt24() << 8) >> 8
      return (Int64(low), Int(try r.readInt8()))
    }
    let largest: Int64 = isShort ? 0x7FF : 0x7F_FFFF
    switch mantissa {
    case largest: return note(name, "not a number", from: start)
    case -largest - 1: return note(name, "not at this resolution", from: start)
    case largest - 1: return note(name, "+infinity", from: start)
    case -largest + 1: return note(name, "-infinity", from: start)
    default: break
    }
    guard (-12...9).contains(exponent) else {
      return note(name, "\(mantissa)e\(exponent) \(unit)", from: start)
    }
    var number = FieldNumber(mantissa, places: max(0, -exponent))
    for _ in 0..<max(0, exponent) { number.value *= 10 }
    note(name, "\(number) \(unit)", number: number, from: start)
  }

  /// Year, month, day, hours, minutes, seconds; 0 is not known.
  @_lifetime(self: copy self)
  mutating func dateTime(_ name: String) throws(DecodeError) {
    try show(
      name,
      { r throws(DecodeError) in
        let year = try r.readUInt16()
        return (year, try r.readBytes(5))
      }
    ) { year, rest in
      func two(_ value: UInt8) -> String { DecimalText.padded(value, 2) }
      return DecimalText.padded(year, 4) + "-" + two(rest[0]) + "-" + two(rest[1]) + " " + two(rest[2]) + ":"
        + two(rest[3]) + ":" + two(rest[4])
    }
  }

  /// In quarters of an hour from UTC.
  @_lifetime(self: copy self)
  mutating func timeZone(_ name: String) throws(DecodeError) {
    try show(name, { r throws(DecodeError) in try r.readInt8() }) { quarters in
      guard quarters != -128 else { return "not known" }
      let minutes = Int(quarters.magnitude) * 15
      return "UTC\(quarters < 0 ? "-" : "+")" + DecimalText.padded(minutes / 60, 2) + ":"
        + DecimalText.padded(minutes % 60, 2)
    }
  }

  /// Core Specification Vol 3, Part G, 3.3.3.3.
  @_lifetime(self: copy self)
  mutating func configuration() throws(DecodeError) {
    let start = offset
    let bits = try take { r throws(DecodeError) in try r.readUInt16() }
    let text =
      switch bits & 3 {
      case 0: "off"
      case 1: "notifications on"
      case 2: "indications on"
      default: "notifications and indications on"
      }
    note("content", text, number: FieldNumber(Int64(bits)), from: start)
  }

  /// Core Specification Vol 3, Part G, 3.3.3.5.
  @_lifetime(self: copy self)
  mutating func presentationFormat() throws(DecodeError) {
    try byte(
      "format",
      [
        1: "boolean", 4: "uint8", 5: "uint12", 6: "uint16", 7: "uint24", 8: "uint32", 10: "uint64",
        12: "sint8",
        14: "sint16", 15: "sint24", 16: "sint32", 18: "sint64", 20: "float32", 21: "float64", 22: "SFLOAT",
        23: "FLOAT", 25: "UTF-8", 26: "UTF-16", 27: "struct",
      ])
    try quantity("exponent", .init(-1, ""))
    try show("unit", { r throws(DecodeError) in try r.readUInt16() }) {
      UUIDName.described(BluetoothUUID($0))
    }
    try quantity("name space", .init(1, ""))
    try quantity("description", .init(2, ""))
  }

  /// Core Specification Vol 3, Part C, 12.3. 0xFFFF is no specific value.
  @_lifetime(self: copy self)
  mutating func preferredParameters() throws(DecodeError) {
    var (low, high) = (ConnectionInterval(), ConnectionInterval())
    var timeout = SupervisionTimeout()
    func text(_ raw: UInt16, _ description: String) -> String { raw == .max ? "any" : description }
    let start = offset
    (low, high) = try take { r throws(DecodeError) in
      (try ConnectionInterval(parsing: &r), try ConnectionInterval(parsing: &r))
    }
    note("interval", "\(text(low.rawValue, "\(low)")) to \(text(high.rawValue, "\(high)"))", from: start)
    try quantity("latency", .init(2, "events"))
    let place = offset
    timeout = try take { r throws(DecodeError) in try SupervisionTimeout(parsing: &r) }
    note(
      "timeout", text(timeout.rawValue, "\(timeout)"), number: FieldNumber(Int64(timeout.rawValue)),
      from: place)
  }

  @_lifetime(self: copy self)
  mutating func pnpID() throws(DecodeError) {
    let start = offset
    let (source, vendor) = try take { r throws(DecodeError) in (try r.readUInt8(), try r.readUInt16()) }
    let name = source == 1 ? AssignedNumbers.company(vendor) : nil
    let list = source == 1 ? "Bluetooth" : source == 2 ? "USB" : "source \(source)"
    note(
      "vendor",
      "\(list) \(name.map { "\($0) " } ?? "")\(name == nil ? Hex.string(vendor) : "(\(Hex.string(vendor)))")",
      number: FieldNumber(Int64(vendor)), from: start)
    var product: UInt16 = 0
    try value("product", &product, .hex)
    try show("version", { r throws(DecodeError) in try r.readUInt16() }) {
      "\($0 >> 8).\($0 >> 4 & 15).\($0 & 15)"
    }
  }

  @_lifetime(self: copy self)
  mutating func heartRate() throws(DecodeError) {
    let flags = try bitNames(
      "flags", ["16 bits", "contact", "contact supported", "energy expended", "RR intervals"], bytes: 1)
    try quantity("heart rate", .init(flags & 1 == 0 ? 1 : 2, "bpm"))
    if flags & 4 != 0 { note("sensor contact", flags & 2 == 0 ? "no" : "yes") }
    if flags & 8 != 0 { try quantity("energy expended", .init(2, "kJ")) }
    guard flags & 16 != 0 else { return }
    while remaining >= 2 {
      let start = offset
      let raw = try take { r throws(DecodeError) in try r.readUInt16() }
      // In 1/1024 s.
      let milliseconds = FieldNumber((Int64(raw) * 100_000 + 512) / 1024, places: 2)
      note("RR interval", "\(milliseconds) ms", number: milliseconds, from: start)
    }
  }

  @_lifetime(self: copy self)
  mutating func temperature() throws(DecodeError) {
    let flags = try bitNames("flags", ["Fahrenheit", "time", "type"], bytes: 1)
    try medicalFloat("temperature", isShort: false, flags & 1 == 0 ? "°C" : "°F")
    if flags & 2 != 0 { try dateTime("time") }
    if flags & 4 != 0 { try byte("type", CharacteristicValue.temperatureTypes) }
  }

  @_lifetime(self: copy self)
  mutating func bloodPressure() throws(DecodeError) {
    let flags = try bitNames("flags", ["kPa", "time", "pulse rate", "user", "status"], bytes: 1)
    let unit = flags & 1 == 0 ? "mmHg" : "kPa"
    for name in ["systolic", "diastolic", "mean arterial pressure"] {
      try medicalFloat(name, isShort: true, unit)
    }
    if flags & 2 != 0 { try dateTime("time") }
    if flags & 4 != 0 { try medicalFloat("pulse rate", isShort: true, "bpm") }
    if flags & 8 != 0 { try quantity("user", .init(1, "")) }
    if flags & 16 != 0 {
      try bitNames(
        "status", ["body movement", "cuff too loose", "irregular pulse", "rate too high", "rate too low"],
        bytes: 2)
    }
  }

  @_lifetime(self: copy self)
  mutating func glucose() throws(DecodeError) {
    let flags = try bitNames(
      "flags", ["time offset", "concentration", "mol/L", "sensor status", "context follows"], bytes: 1)
    try quantity("sequence number", .init(2, ""))
    try dateTime("time")
    if flags & 1 != 0 { try quantity("time offset", .init(-2, "min")) }
    if flags & 2 != 0 {
      try medicalFloat("concentration", isShort: true, flags & 4 == 0 ? "kg/L" : "mol/L")
      try show("type and location", { r throws(DecodeError) in try r.readUInt8() }) {
        "type \($0 & 15), location \($0 >> 4)"
      }
    }
    if flags & 8 != 0 { try bitNames("sensor status", [], bytes: 2) }
  }

  /// Pulse oximetry, a single or a continuous measurement.
  @_lifetime(self: copy self)
  mutating func oximeter(isSpotCheck: Bool) throws(DecodeError) {
    let flags = try bitNames(
      "flags",
      isSpotCheck
        ? ["time", "measurement status", "device status", "pulse amplitude index", "clock not set"]
        : ["fast", "slow", "measurement status", "device status", "pulse amplitude index"], bytes: 1)
    try medicalFloat("SpO2", isShort: true, "percent")
    try medicalFloat("pulse rate", isShort: true, "bpm")
    if isSpotCheck, flags & 1 != 0 { try dateTime("time") }
    guard !isSpotCheck else { return showRest("status") }
    for (bit, name) in [(UInt64(1), "fast"), (2, "slow")] where flags & bit != 0 {
      try medicalFloat("\(name) SpO2", isShort: true, "percent")
      try medicalFloat("\(name) pulse rate", isShort: true, "bpm")
    }
    showRest("status")
  }

  @_lifetime(self: copy self)
  mutating func running() throws(DecodeError) {
    let flags = try bitNames("flags", ["stride length", "total distance", "running"], bytes: 1)
    let start = offset
    let raw = try take { r throws(DecodeError) in try r.readUInt16() }
    let speed = FieldNumber((Int64(raw) * 1000 + 128) / 256, places: 3)
    note("speed", "\(speed) m/s", number: speed, from: start)
    try quantity("cadence", .init(1, "steps/min"))
    if flags & 1 != 0 { try quantity("stride length", .init(2, places: 2, "m")) }
    if flags & 2 != 0 { try quantity("total distance", .init(4, places: 1, "m")) }
  }

  @_lifetime(self: copy self)
  mutating func cycling() throws(DecodeError) {
    let flags = try bitNames("flags", ["wheel", "crank"], bytes: 1)
    if flags & 1 != 0 { try revolutions("wheel", width: 4, "/1024 s") }
    if flags & 2 != 0 { try revolutions("crank", width: 2, "/1024 s") }
  }

  @_lifetime(self: copy self)
  private mutating func revolutions(_ part: String, width: Int, _ unit: String) throws(DecodeError) {
    try quantity("\(part) revolutions", .init(width, ""))
    try quantity("last \(part) event", .init(2, unit))
  }

  @_lifetime(self: copy self)
  mutating func cyclingPower() throws(DecodeError) {
    let flags = try bitNames(
      "flags", ["pedal balance", "from left", "torque", "from crank", "wheel", "crank"], bytes: 2)
    try quantity("power", .init(-2, "W"))
    if flags & 1 != 0 { try quantity("pedal balance", .init(1, factor: 5, places: 1, "percent")) }
    if flags & 4 != 0 { try quantity("accumulated torque", .init(2, "/32 Nm")) }
    if flags & 16 != 0 { try revolutions("wheel", width: 4, "/2048 s") }
    if flags & 32 != 0 { try revolutions("crank", width: 2, "/1024 s") }
    showRest("more")
  }

  @_lifetime(self: copy self)
  mutating func weight() throws(DecodeError) {
    let flags = try bitNames("flags", ["imperial", "time", "user", "BMI and height"], bytes: 1)
    let isImperial = flags & 1 != 0
    try quantity("weight", isImperial ? .init(2, places: 2, "lb") : .init(2, factor: 5, places: 3, "kg"))
    if flags & 2 != 0 { try dateTime("time") }
    if flags & 4 != 0 { try quantity("user", .init(1, "")) }
    if flags & 8 != 0 {
      try quantity("BMI", .init(2, places: 1, ""))
      try quantity("height", isImperial ? .init(2, places: 1, "in") : .init(2, places: 3, "m"))
    }
  }
}
