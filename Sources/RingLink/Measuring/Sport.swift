/// Begins, pauses or ends a sport session (ring reference, 4.14).
package struct SportControl: FrameRecord {
  /// 1 start, 2 pause, 3 resume, 4 end.
  package var action: UInt8 = 1
  public var sport = Sport.walk

  package init(_ action: UInt8, _ sport: Sport) {
    self.action = action
    self.sport = sport
  }

  /// The values of ``action``.
  package static let startAction: UInt8 = 1
  package static let pauseAction: UInt8 = 2
  package static let resumeAction: UInt8 = 3
  package static let endAction: UInt8 = 4

  package static let fields: Fields = Fields(Self(startAction, .walk)) {
    RecordField("action", \.action, at: 1, words: [1: "start", 2: "pause", 3: "resume", 4: "end"])
    RecordField("sport", \.sport, at: 2, words: Sport.names).only(.sdk, words: Sport.uncaptured)
  }
}

/// The ring's answer: whether a session runs, and when it began. Other firmware repeats the request.
package struct SportReply: FrameRecord {
  /// 1 if a session has begun, 0 if it is paused or over; with 6, the answer has the start, too.
  package var action: UInt8 = 0
  /// When the session began, in the ring's wall clock, since 1970 as if that were UTC; 0 if the answer does not contain it.
  package var seconds: UInt32 = 0

  package static let fields: Fields = Fields(Self()) {
    action
    start
  }

  private static let action = RecordField<Self>(
    "action", \.action, at: 1, words: [0: "paused or over", 1: "begun"])
  private static let start = RecordField<Self>("start", \.seconds, at: 3, .uint32LittleEndian, .seconds)

  /// The forms of the answer, by their first bytes.
  static let forms = [
    FrameForm("reply", startingWith: [1, 0], Self.self),
    FrameForm("reply", startingWith: [0], [action.field]),
    FrameForm("start time", startingWith: [6], [start.field]), FrameForm("echo", SportControl.self),
  ]
}

/// The data that a ring sends each second of a sport session (ring reference, 4.14).
public struct SportUpdate: FrameRecord {
  public var sport = Sport(rawValue: 0)
  /// 1 running, 2 paused, 3 not worn; other values are not known.
  public var status: UInt8 = 1
  /// The duration of the session, in seconds.
  public var seconds: UInt16 = 0
  /// The heart rate, in beats per minute.
  public var beatsPerMinute: UInt8 = 0
  /// The steps of the session.
  public var steps: UInt32 = 0
  /// The distance of the session, in meters.
  public var meters: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0

  public init() {}

  /// Values of ``status``.
  public static let running: UInt8 = 1
  public static let paused: UInt8 = 2

  private static let statuses = [Int(running): "running", Int(paused): "paused", 3: "not worn"]

  /// The ``status`` in words: `paused`; nil while the session runs.
  public var interruption: String? {
    status == Self.running ? nil : Self.statuses[Int(status)] ?? "status \(status)"
  }

  package static let fields: Fields = Fields(Self()) {
    RecordField("sport", \.sport, at: 1, words: Sport.names).only(.sdk, words: Sport.uncaptured)
    RecordField("status", \.status, at: 2, words: statuses).only(.sdk, words: [3])
    RecordField("duration", \.seconds, at: 3, .uint16BigEndian, .seconds)
    RecordField("heart-rate", \.beatsPerMinute, at: 5, .uint8, .beatsPerMinute)
    RecordField("steps", \.steps, at: 6, .uint24BigEndian, .steps)
    RecordField("distance", \.meters, at: 9, .uint24BigEndian, .meters)
    RecordField("calories", \.calories, at: 12, .uint24BigEndian, .calories)
  }
}

/// A kind of sport (ring reference, 4.14). Rings count each in the same way, and store its number with the session.
public struct Sport: RawRepresentable, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let walk = Sport(rawValue: 4)
  public static let rope = Sport(rawValue: 5)
  public static let run = Sport(rawValue: 7)
  public static let hike = Sport(rawValue: 8)
  public static let cycle = Sport(rawValue: 9)
  public static let other = Sport(rawValue: 10)
  public static let climbing = Sport(rawValue: 20)
  public static let badminton = Sport(rawValue: 21)
  public static let yoga = Sport(rawValue: 22)

  /// The sports that have a name.
  public static let allCases = names.keys.sorted().map { Sport(rawValue: UInt8($0)) }

  /// The numbers that no capture has shown: all but those of a walk and a run.
  static let uncaptured = names.keys.filter { $0 != 4 && $0 != 7 }

  /// The one with a name: `walk`, `strength training` or `strength-training`; also `sport 255`.
  package init?(name: String) {
    let option = Self.option(name.lowercased())
    guard let number = Self.numbers[option] ?? UInt8(option.dropFirst("sport-".count)) else { return nil }
    self.init(rawValue: number)
    // A number alone is no name, nor is one of a sport that has a name.
    guard self.option == option else { return nil }
  }

  /// Its name without spaces: `strength-training`.
  package var option: String { Self.option(description) }

  private static func option(_ name: String) -> String {
    name.split { $0 == " " }.joined(separator: "-")
  }

  /// The names by their numbers.
  static let names: [Int: String] = [
    1: "gps run", 2: "gps cycle", 3: "gps walk", 4: "walk", 5: "rope", 6: "swim", 7: "run", 8: "hike",
    9: "cycle", 10: "other", 11: "swing", 20: "climbing", 21: "badminton", 22: "yoga", 23: "aerobics",
    24: "spinning", 25: "kayaking", 26: "elliptical", 27: "rowing machine", 28: "table tennis",
    29: "tennis", 30: "golf", 31: "basketball", 32: "football", 33: "volleyball", 34: "rock climbing",
    35: "dance", 36: "roller skating", 40: "treadmill", 41: "indoor walking", 42: "trail running",
    43: "race walking", 44: "track running", 45: "fat-burning run", 50: "outdoor cycling",
    51: "indoor cycling", 52: "mountain biking", 53: "bmx", 55: "pool swimming", 56: "outdoor swimming",
    57: "fin swimming", 58: "synchronized swimming", 60: "hiking", 61: "orienteering", 62: "fishing",
    63: "hunting", 64: "skateboard", 65: "parkour", 66: "atv", 67: "motocross", 68: "racing",
    69: "handcycle", 70: "marathon", 71: "obstacle course", 80: "stair climber", 81: "stepper",
    82: "mixed aerobics", 83: "kickboxing", 84: "core training", 85: "cross training", 86: "indoor fitness",
    87: "group gymnastics", 88: "strength training", 89: "interval training", 90: "free training",
    91: "flexibility training", 92: "gymnastics", 93: "stretching", 94: "pilates", 95: "horizontal bar",
    96: "parallel bars", 97: "battle rope", 98: "fitness", 99: "balance training", 100: "step training",
    110: "square dance", 111: "ballroom dance", 112: "belly dance", 113: "ballet", 114: "street dance",
    115: "zumba", 116: "latin dance", 117: "jazz dance", 118: "hip hop", 119: "pole dance",
    120: "breakdance", 121: "folk dance", 122: "dancing", 123: "modern dance", 124: "disco",
    125: "tap dance", 126: "other dance", 130: "boxing", 131: "wrestling", 132: "martial arts",
    133: "tai chi", 134: "muay thai", 135: "judo", 136: "taekwondo", 137: "karate", 138: "free sparring",
    139: "swordsmanship", 140: "jujitsu", 141: "fencing", 142: "kendo", 150: "beach football",
    151: "beach volleyball", 152: "baseball", 153: "softball", 154: "rugby", 155: "hockey", 156: "squash",
    157: "gateball", 158: "cricket", 159: "handball", 160: "bowling", 161: "polo", 162: "racquetball",
    163: "billiards", 164: "sepak takraw", 165: "dodgeball", 166: "water polo", 167: "ice hockey",
    168: "shuttlecock", 169: "indoor football", 170: "sandbag", 171: "bocce", 172: "jai alai",
    173: "floorball", 174: "australian football", 175: "pickleball", 180: "boating", 181: "sailing",
    182: "dragon boat", 183: "surfing", 184: "kitesurfing", 185: "paddling", 186: "paddleboard",
    187: "indoor surfing", 188: "rafting", 189: "snorkeling", 190: "skiing", 191: "snowboard",
    192: "alpine skiing", 193: "cross-country skiing", 194: "ski orienteering", 195: "biathlon",
    196: "outdoor skating", 197: "indoor skating", 198: "curling", 199: "bobsleigh", 200: "sled",
    201: "snowmobile", 202: "snowshoeing", 210: "hula hoop", 211: "frisbee", 212: "darts",
    213: "kite flying", 214: "tug of war", 215: "esports", 216: "air walker", 217: "playground swing",
    218: "shuffleboard", 219: "table football", 220: "motion-sensing game", 221: "bungee jumping",
    222: "parachuting", 223: "anusara yoga", 224: "yin yoga", 225: "prenatal yoga", 230: "chess", 231: "go",
    232: "draughts", 233: "board game", 234: "bridge", 235: "triathlon", 236: "archery",
    237: "compound exercise", 238: "driving",
  ]

  /// The numbers by ``option``.
  private static let numbers = Dictionary(uniqueKeysWithValues: allCases.map { ($0.option, $0.rawValue) })

  /// Its name; `sport 99` if it has none.
  public var description: String { Self.names[Int(rawValue)] ?? "sport \(rawValue)" }
}
