/// The host's description of its system (ring reference, 4.3). It has no known effect on rings.
package struct HostInformation: FrameRecord {
  /// 2 is Android, the value that rings expect.
  package var system: UInt8 = 2
  package var version: UInt8 = 10
  /// Up to 12 bytes of UTF-8.
  package var name: [UInt8] = []

  package static let fields: Fields = Fields(Self()) {
    RecordField("system", \.system, at: 1, words: [1: "iOS", 2: "Android"])
    RecordField("version", \.version, at: 2)
    RecordField("name", \.name, at: 3, count: 12)
  }
}

/// The battery level of a ring (ring reference, 4.2 and 4.15).
public struct RingBattery: FrameRecord, CustomStringConvertible {
  /// 0 to 100.
  public var percent: UInt8
  public var isCharging: Bool

  public init(percent: UInt8, isCharging: Bool) {
    self.percent = percent
    self.isCharging = isCharging
  }

  package static let fields: Fields = fields(at: 1)

  /// An event has them a byte further back than the answer.
  static func fields(at offset: Int) -> Fields {
    Fields(Self(percent: 0, isCharging: false)) {
      RecordField("percent", \.percent, at: offset, .uint8, .percent, in: 0...100)
      RecordField("charging", \.isCharging, at: offset + 1)
    }
  }

  public var description: String { "\(percent) %\(isCharging ? ", charging" : "")" }
}

/// The capabilities that a ring reports in answer to Set Time (ring reference, 4.1). Rings without a display report
/// watch faces and contacts, too: treat it as a hint.
package struct RingCapabilities: FrameRecord {
  package var temperature = false
  package var watchFaces = false
  package var menstruation = false
  package var bloodOxygen = false
  package var bloodPressure = false
  package var oneKeyCheck = false
  package var weather = false
  /// In pixels.
  package var displayWidth: UInt16 = 0
  /// In pixels.
  package var displayHeight: UInt16 = 0
  /// Sleep is requested with bulk id 0x27.
  package var newSleepProtocol = false
  package var maximumWatchFaces: UInt8 = 0
  /// Bits 0 to 4: contacts, lyrics, album, GPS, JieLi music; the rest see the ring reference.
  package var companionFeatures: UInt8 = 0
  package var manualHeartRate = false
  package var music = false
  package var realtek = false
  package var bloodSugar = false
  /// Tens of contacts; 0 means 20.
  package var tensOfContacts: UInt8 = 0
  package var stress = false
  package var variability = false

  package static let fields: Fields = Fields(Self()) {
    RecordField("temperature", \.temperature, at: 1)
    RecordField("watch-faces", \.watchFaces, at: 2)
    RecordField("menstruation", \.menstruation, at: 3).only(.app)
    RecordField("spo2", \.bloodOxygen, at: 4, .bit(1))
    RecordField("blood-pressure", \.bloodPressure, at: 4, .bit(2))
    RecordField("one-key-check", \.oneKeyCheck, at: 4, .bit(4)).only(.app)
    RecordField("weather", \.weather, at: 4, .bit(5))
    RecordField("display-width", \.displayWidth, at: 5, .uint16LittleEndian).only(.app)
    RecordField("display-height", \.displayHeight, at: 7, .uint16LittleEndian).only(.app)
    RecordField("new-sleep-protocol", \.newSleepProtocol, at: 9)
    RecordField("maximum-watch-faces", \.maximumWatchFaces, at: 10).only(.app)
    RecordField("companion-features", \.companionFeatures, at: 11)
    RecordField("manual-heart-rate", \.manualHeartRate, at: 12, .bit(0))
    RecordField("music", \.music, at: 12, .bit(4)).only(.app)
    RecordField("realtek", \.realtek, at: 12, .bit(5))
    RecordField("blood-sugar", \.bloodSugar, at: 12, .bit(7)).only(.app)
    RecordField("tens-of-contacts", \.tensOfContacts, at: 13).only(.app)
    RecordField("stress", \.stress, at: 14, .bit(4))
    RecordField("hrv", \.variability, at: 14, .bit(5))
  }
}

package final class DeviceCommands: CommandGroup {
  static let shared = DeviceCommands()

  package let setTime = RingQuery<ClockSetting, RingCapabilities>(
    0x01, "set time", "Sets the ring's clock; the answer lists what the ring can do.", .device,
    source: "4.1 [F][C][6]", ClockSetting.fields, RingCapabilities.fields)
  package let battery = RingQuery<NoFields, RingBattery>(
    0x03, "battery", "The battery level.", .device, source: "4.2 [F][C]", NoFields.fields,
    RingBattery.fields)
  package let hostInformation = RingQuery<HostInformation, NoFields>(
    0x04, "host information", "Sends the phone's system and name.", .device, source: "4.3 [C]",
    HostInformation.fields, NoFields.fields)
  package let deviceSupport = RingQuery<NoFields, DeviceSupport>(
    0x3C, "device support", "Further features of the ring.", .device, families: .newer, source: "4.4 [C][S]",
    NoFields.fields, DeviceSupport.fields)
  package let setNotificationMask = RingQuery<UInt16, UInt16>(
    0x60, "set notification mask", "The kinds of phone messages that the ring is notified of.", .device,
    source: "4.3 [C]", notificationBits, notificationBits)
  package let notificationMask = RingQuery<NoFields, UInt16>(
    0x61, "notification mask", "The kinds of phone messages that the ring is notified of.", .device,
    source: "4.3 [C]", NoFields.fields, notificationBits)

  /// A bit for each kind of message; only rings that vibrate use it.
  private static let notificationBits = FrameFields<UInt16>.number("mask", at: 1, .uint16LittleEndian)

  var entries: [CommandEntry] {
    [
      setTime.entry, battery.entry, hostInformation.entry, deviceSupport.entry, setNotificationMask.entry,
      notificationMask.entry,
    ]
  }
}

extension RingClient {
  /// The battery level (ring reference, 4.2).
  package func battery() async throws(RingError) -> RingBattery {
    try await request(CommandTable.battery)
  }

  /// The features that the ring expects from its host, and a part of its capabilities (ring reference, 4.4).
  ///
  /// - Returns: nil from rings that do not support the request; it is not sent to the oldest
  package func deviceSupport() async throws(RingError) -> DeviceSupport? {
    guard firmware.family != .rf03 else { return nil }
    do throws(RingError) {
      return try await request(CommandTable.deviceSupport)
    } catch .refused {
      return nil
    } catch .notAnswered {
      return nil
    }
  }

  /// The ring's Device Information service.
  package func information() async throws(RingError) -> RingInformation {
    var information = RingInformation()
    let service = try await RingError.of(await gatt.firstService(RingGATT.deviceInformationService))
    guard let service else { return information }
    for characteristic in try await RingError.of(await gatt.discoverCharacteristics(of: service)) {
      guard let field = RingInformation.fields[characteristic.uuid] else { continue }
      information[keyPath: field] = try await RingError.of(await gatt.text(of: characteristic))
    }
    firmware = information.revisions
    return information
  }
}

/// Further abilities of the ring, and the features that it expects from its host (ring reference, 4.4). Of its 14 bytes, these
/// are understood.
package struct DeviceSupport: FrameRecord {
  package var touch = false
  /// It counts prayers.
  package var counter = false
  /// It has the app's calibration of wearing.
  package var wearCalibration = false
  /// It asks the app for a bond. Some rings with this bit end links to hosts that are not paired, others work without.
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
}
