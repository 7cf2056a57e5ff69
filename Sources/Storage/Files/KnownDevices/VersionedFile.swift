import HaloSystem

/// An entry of the list of a ``VersionedFile``.
package protocol StoredEntry: JSONDecodable, Sendable {
  var json: JSONValue { get }
}

/// A list in a small JSON file, mode 0600, which programs of several versions may share: a JSON object with members for the
/// list and the `version`. A damaged file is renamed and a new one is begun, unless it has keys; one of a newer version is not
/// changed.
package struct VersionedFile<Entry: StoredEntry>: Sendable {
  private let file: StateFile
  private let subject: String
  private let name: String?
  private let limit: Int
  private let hasKeys: Bool

  /// The version that is written, and the newest one that is understood.
  private static var version: Int { 1 }

  /// Does not touch the file.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - subject: its contents, for messages: `accessories`
  ///   - name: the member with the list; nil for a file that is the list, without a version
  ///   - limit: the number of entries that are kept, the last ones; fewer, if the file would be too large to be read again
  ///   - size: the maximum size of the file, in bytes
  ///   - hasKeys: whether others lose the right to read the file, and a damaged one stays as it is, for its owner to repair
  package init(
    path: String, of subject: String, in name: String?, keeping limit: Int,
    size: Int = StateFile.standardLimit, hasKeys: Bool = false
  ) {
    file = StateFile(path: path, limit: size, isSecret: hasKeys)
    self.hasKeys = hasKeys
    self.subject = subject
    self.name = name
    self.limit = limit
  }

  private enum Found {
    case entries([Entry])
    case damaged
    case newer
  }

  private func parse(_ bytes: [UInt8]) -> Found {
    do throws(JSONError) {
      let json = try JSONValue(parsing: bytes)
      let entries: [Entry]
      if case .object = json {
        let version = try json.member("version", as: Int.self)
        // A list without a version is older than all versions.
        guard let name, version <= Self.version else { return .newer }
        entries = try json.member(name)
      } else {
        guard name == nil else { return .damaged }
        entries = try [Entry](json)
      }
      return entries.count <= limit ? .entries(entries) : .damaged
    } catch {
      return .damaged
    }
  }

  private func bytes(of entries: [Entry]) -> [UInt8] {
    var kept = entries.suffix(limit)
    while true {
      let list = JSONValue.array(kept.map(\.json))
      let json = name.map { .object(["version": .integer(Self.version), $0: list]) } ?? list
      let bytes = Array(json.text.utf8)
      guard bytes.count > file.limit, !kept.isEmpty else { return bytes }
      kept = kept.dropFirst(max(1, kept.count / 8))
    }
  }

  /// Changes whenever the file does; nil if there is none.
  package var stamp: StateFile.Stamp? { file.stamp }

  /// The entries; none if there is no file, or none that can be read. One that is damaged is renamed.
  ///
  /// - Parameter report: takes messages for the user
  package func read(_ report: (String) -> Void) -> [Entry] {
    do throws(VersionedFileError) {
      return try load(report)
    } catch {
      if case .file(let error) = error {
        report("cannot read the \(subject): \(error); continuing without them")
      } else {
        report("\(error)")
      }
      return []
    }
  }

  /// The same, for a program that does not go on without them.
  package func load(_ report: (String) -> Void) throws(VersionedFileError) -> [Entry] {
    let found: Found
    do throws(FileError) {
      found = try file.read().map { parse($0) } ?? .entries([])
    } catch {
      guard case .tooLarge = error.reason else { throw .file(error) }
      found = .damaged
    }
    switch found {
    case .entries(let entries): return entries
    case .newer: throw .newer(file.path)
    case .damaged:
      guard !hasKeys else { throw .damaged(file.path) }
      setAside(report)
      return []
    }
  }

  /// Renames a damaged file, unless another process already did.
  private func setAside(_ report: (String) -> Void) {
    do throws(VersionedFileError) {
      try update(report) { _ in false }
    } catch {
      report("the file of \(subject) is damaged and cannot be renamed: \(error)")
    }
  }

  /// Changes the entries, while no other process does. Blocks for the time of a few writes, or for the lock.
  ///
  /// - Parameters:
  ///   - report: takes messages for the user
  ///   - change: returns false to leave the file as it is
  package func update(
    _ report: (String) -> Void, _ change: (inout [Entry]) -> Bool
  ) throws(VersionedFileError) {
    var refusal: VersionedFileError?
    do throws(FileError) {
      try file.update { bytes throws(FileError) in
        let found: Found
        switch bytes {
        case .success(let bytes): found = bytes.map { parse($0) } ?? .entries([])
        case .failure(let error):
          guard case .tooLarge = error.reason else { throw error }
          found = .damaged
        }
        var entries: [Entry] = []
        switch found {
        case .entries(let read): entries = read
        case .damaged where hasKeys:
          refusal = .damaged(file.path)
          return nil
        case .damaged:
          report("the file of \(subject) is damaged; it was renamed to \(try file.setAside().printable)")
        case .newer:
          refusal = .newer(file.path)
          return nil
        }
        return change(&entries) ? self.bytes(of: entries) : nil
      }
    } catch {
      throw .file(error)
    }
    if let refusal { throw refusal }
  }
}

/// Why a ``VersionedFile`` was not changed.
package enum VersionedFileError: Error, CustomStringConvertible {
  /// A newer version has written the file with this path.
  case newer(String)
  /// The file with this path is damaged, and was left as it is.
  case damaged(String)
  case file(FileError)

  package var description: String {
    switch self {
    case .newer(let path):
      "\(path.printable) was written by a newer version of this program; it is not changed"
    case .damaged(let path):
      "\(path.printable) is damaged; put a copy in its place, or remove it to begin anew"
    case .file(let error): "\(error)"
    }
  }

  /// Whether the user can repair it, and ``VersionedFile/read(_:)`` has not reported it yet. A missing place for the file
  /// cannot be repaired.
  var isToBeReported: Bool {
    switch self {
    case .newer, .damaged: false
    case .file(let error): if case .system = error.reason { false } else { true }
    }
  }
}
