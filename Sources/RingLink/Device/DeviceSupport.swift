/// What else the ring can do, and the features that it expects from its host (ring reference, 4.4). Of its 14 bytes, these
/// are understood.
package struct DeviceSupport: FrameRecord {
  package var touch = false
  /// It counts prayers.
  package var counter = false
  /// It has the app's calibration of wearing.
  package var wearCalibration = false
  /// It offers to bond. Not needed here.
  package var wantsBond = false
  package var gesture = false
  /// The modes of touch and gesture that it has.
  package var music = false
  package var video = false
  package var eBook = false
  package var camera = false
  package var call = false
  package var game = false
  /// It stores SpO2 by the minute, bulk id 0x5F.
  package var minuteOxygen = false
  /// It stores temperatures at intervals, bulk id 0x74.
  package var hasTemperatures74 = false
  /// It stores temperatures in the newer form, bulk id 0x77.
  package var hasIntervalTemperature = false
  /// All 14 bytes.
  package var bytes: [UInt8] = Array(repeating: 0, count: 14)

  package static let fields: Fields = Fields(Self()) {
    RecordField("bytes", \.bytes, at: 1, count: 14)
    RecordField("touch", \.touch, at: 2, .bit(0)).only(.sdk)
    RecordField("counter", \.counter, at: 2, .bit(1)).only(.sdk)
    RecordField("wear-calibration", \.wearCalibration, at: 2, .bit(2)).only(.sdk)
    RecordField("wants-bond", \.wantsBond, at: 2, .bit(3)).only(.app)
    RecordField("gesture", \.gesture, at: 2, .bit(7)).only(.sdk)
    RecordField("music", \.music, at: 3, .bit(0)).only(.sdk)
    RecordField("video", \.video, at: 3, .bit(1)).only(.sdk)
    RecordField("e-book", \.eBook, at: 3, .bit(2)).only(.sdk)
    RecordField("camera", \.camera, at: 3, .bit(3)).only(.sdk)
    RecordField("call", \.call, at: 3, .bit(4)).only(.sdk)
    RecordField("game", \.game, at: 3, .bit(5)).only(.sdk)
    RecordField("minute-spo2", \.minuteOxygen, at: 8, .bit(2)).only(.sdk)
    RecordField("temperatures-74", \.hasTemperatures74, at: 8, .bit(7)).only(.sdk)
    RecordField("interval-temperature", \.hasIntervalTemperature, at: 9, .bit(7)).only(.app)
  }

  /// The names of all bits that are understood.
  package static let featureNames = fields.compactMap { field in
    if case .number = field.access { field.field.name } else { nil }
  }

  /// Sets a bit by its name; does nothing if there is none of this name.
  package mutating func set(_ feature: String) {
    for field in Self.fields where field.field.name == feature {
      if case .number(_, let set) = field.access { try? set(&self, 1) }
    }
  }

  /// The names of the bits that are set: `touch`, `gesture`.
  package var features: [String] {
    Self.fields.compactMap { field in
      guard case .number(let get, _) = field.access, get(self) == 1 else { return nil }
      return field.field.name
    }
  }
}
