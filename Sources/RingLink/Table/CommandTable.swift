/// Everything that a ring understands and sends, one entry each. Encoders, decoders, the virtual ring, the meaning of a
/// frame and the reference page are made of it.
///
/// The entries are in groups, in the files of their subjects: a stored property of a `CommandGroup` is an entry, or an
/// array of entries. `CommandTable.battery` is the property `battery` of the group that has it.
@dynamicMemberLookup
package enum CommandTable {
  static let groups: [any CommandGroup] = [
    DeviceCommands.shared, MeasurementCommands.shared, HistoryCommands.shared, ScheduleSettings.shared,
    WearerSettings.shared, ActionCommands.shared, RawStreamCommands.shared, RingReports.shared,
    BlockedCommands.shared,
  ]

  /// All entries, in the order of the reference page.
  package static let all: [CommandEntry] = groups.flatMap(\.entries)

  /// All settings, in the order of the reference page.
  package static let settings = ScheduleSettings.shared.settings + WearerSettings.shared.settings

  /// The switches of everything that the ring measures automatically: all of them are off when its lights stay dark.
  package static let automaticMeasurements = ScheduleSettings.shared.settings

  /// The indices in ``all`` of the entries of each command, by its number.
  private static let frameRows = rows { if case .frame(let command) = $0 { command.rawValue } else { nil } }
  /// The same for bulk frames.
  private static let bulkRows = rows { if case .bulk(let id) = $0 { id.rawValue } else { nil } }

  private static func rows(_ number: (CommandEntry.Subject) -> UInt8?) -> [[Int]] {
    var rows = Array(repeating: [Int](), count: 256)
    for (row, entry) in all.enumerated() {
      if let number = number(entry.subject) { rows[Int(number)].append(row) }
    }
    return rows
  }

  // Swift finds a property of a group by these.
  package static subscript<R>(dynamicMember row: KeyPath<DeviceCommands, R>) -> R { read(row) }
  package static subscript<R>(dynamicMember row: KeyPath<MeasurementCommands, R>) -> R { read(row) }
  package static subscript<R>(dynamicMember row: KeyPath<HistoryCommands, R>) -> R { read(row) }
  package static subscript<R>(dynamicMember row: KeyPath<ScheduleSettings, R>) -> R { read(row) }
  package static subscript<R>(dynamicMember row: KeyPath<WearerSettings, R>) -> R { read(row) }
  package static subscript<R>(dynamicMember row: KeyPath<ActionCommands, R>) -> R { read(row) }
  package static subscript<R>(dynamicMember row: KeyPath<RingReports, R>) -> R { read(row) }

  private static func read<Group: CommandGroup, Row>(_ row: KeyPath<Group, Row>) -> Row {
    Group.shared[keyPath: row]
  }

  /// The entries that share a first byte or a bulk id.
  package static func entries(for subject: CommandEntry.Subject) -> [CommandEntry] {
    rows(for: subject).map { all[$0] }
  }

  /// Their indices in ``all``.
  static func rows(for subject: CommandEntry.Subject) -> [Int] {
    switch subject {
    case .frame(let command): frameRows[Int(command.rawValue)]
    case .bulk(let id): bulkRows[Int(id.rawValue)]
    }
  }
}

/// A part of the command table.
protocol CommandGroup: Sendable {
  static var shared: Self { get }
  /// Its entries, in the order of the reference page: all stored properties, which a test compares. Reflection would
  /// find them as well, but takes as long as the rest of a short command.
  var entries: [CommandEntry] { get }
}

/// A type with an entry in the command table.
package protocol CommandRow: Sendable {
  var entry: CommandEntry { get }
}

/// A row of the command table: the complete description of one command of any type.
package struct CommandEntry: Hashable, Sendable, CommandRow {
  /// The transport: frames of 16 bytes, or bulk frames.
  package enum Subject: Hashable, Sendable, CustomStringConvertible {
    case frame(RingCommand)
    case bulk(BulkID)

    package var description: String {
      switch self {
      case .frame(let command): command.description
      case .bulk(let id): id.description
      }
    }
  }

  /// The form of the answer.
  package enum ReplyShape: String, Hashable, Sendable {
    case none
    case single
    case multiFrame = "multi-frame"
    /// Frames are sent until it is ended.
    case stream
    case bulk
    /// No request: the ring sends it on its own.
    case event
  }

  package enum Group: String, Hashable, Sendable, CaseIterable {
    case device = "Device"
    case measurements = "Measurements"
    case history = "History"
    case settings = "Settings"
    case actions = "Actions"
    case rawStream = "Raw stream"
    case events = "What the ring sends unasked"
    case blocked = "Never sent"
  }

  package var subject: Subject
  /// The bytes that follow the command's byte, where several entries share it.
  package var prefix: [UInt8] = []
  /// `battery`
  package var name: String
  /// The purpose, as a sentence.
  package var purpose: String
  package var group: Group
  package var shape: ReplyShape
  package var requests: [FrameForm] = []
  package var replies: [FrameForm] = []
  /// Rings that are known to answer, which may be none; others refuse or do not answer.
  package var families: Set<RingFamily> = .every
  /// The source of this information: a section of the ring reference.
  package var source: String
  /// The parts of a bulk frame's payload that have one source alone.
  var loneContents: [String: LoneSource] = [:]
  /// Why it is never sent, for any caller; nil if it may be.
  package var danger: String?

  package var entry: CommandEntry { self }
}

extension Set<RingFamily> {
  package static var every: Self { Set(RingFamily.allCases) }
  /// The old ones lack it.
  package static var newer: Self { [.ry, .rt, .rt11cr] }
}
