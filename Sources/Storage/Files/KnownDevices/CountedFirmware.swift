/// Which firmware answers to a request for the counted stream, as found out by asking; in a JSON file with mode 0600.
package struct CountedFirmware: Sendable {
  /// The number of names that are kept: the ones that were stored last.
  package static let limit = 256
  /// In bytes. A longer name is not stored.
  private static let maximumNameLength = 64

  private struct Entry: StoredEntry, Sendable {
    var firmware: String
    var answers: Bool

    init(firmware: String, answers: Bool) {
      self.firmware = firmware
      self.answers = answers
    }

    init(_ json: JSONValue) throws(JSONError) {
      firmware = try json.member("firmware")
      answers = try json.member("counted")
    }

    var json: JSONValue { .object(["firmware": .string(firmware), "counted": .bool(answers)]) }
  }

  private let file: VersionedFile<Entry>?
  private let report: @Sendable (String) -> Void

  /// - Parameters:
  ///   - path: the file; it may be missing. Nil stores nothing.
  ///   - report: takes messages for the user
  package init(path: String?, report: @escaping @Sendable (String) -> Void) {
    self.report = report
    file = path.map {
      VersionedFile(path: $0, of: "streams of firmware", in: "streams", keeping: Self.limit)
    }
  }

  /// Whether the firmware answers; nil if it was not asked.
  package func answers(_ firmware: String) -> Bool? {
    file?.read(report).last { $0.firmware == firmware }?.answers
  }

  /// Stores whether the firmware answers. Blocks for the time of a few writes, or for the lock.
  package func remember(_ firmware: String, answers: Bool) {
    guard let file, firmware.utf8.count <= Self.maximumNameLength else { return }
    do throws(VersionedFileError) {
      try file.update(report) { entries in
        guard entries.last(where: { $0.firmware == firmware })?.answers != answers else { return false }
        entries.removeAll { $0.firmware == firmware }
        entries.append(Entry(firmware: firmware, answers: answers))
        return true
      }
    } catch {
      if error.isToBeReported { report("cannot store which stream the ring has: \(error)") }
    }
  }
}
