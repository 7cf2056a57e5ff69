import HaloFiles
import HaloJSON

/// A small JSON file with a version, mode 0600, which programs of several versions may share: a JSON object with a member
/// `version`. A damaged file is renamed and a new one is begun; one of a newer version is not changed.
public struct VersionedFile<Contents>: Sendable {
  public let path: String
  private let version: Int
  private let subject: String
  private let decode: @Sendable ([UInt8]) throws -> Contents
  private let encode: @Sendable (Contents) throws -> [UInt8]

  /// Does not touch the file.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - version: the newest version that is understood, which is written
  ///   - subject: what it contains, for messages: `accessories`
  ///   - decode: reads the contents of a file of this version or an older one
  ///   - encode: writes them, with the version
  public init(
    path: String, version: Int, of subject: String, decode: @escaping @Sendable ([UInt8]) throws -> Contents,
    encode: @escaping @Sendable (Contents) throws -> [UInt8]
  ) {
    self.path = path
    self.version = version
    self.subject = subject
    self.decode = decode
    self.encode = encode
  }

  private enum Found {
    case contents(Contents)
    case damaged
    case newer
  }

  private func parse(_ bytes: [UInt8]) -> Found {
    guard let json = try? JSONValue(parsing: bytes) else { return .damaged }
    // What is no object is older than all versions.
    var found = 0
    if case .object = json {
      guard let number = try? json.member("version", as: Int.self) else { return .damaged }
      found = number
    }
    guard found <= version else { return .newer }
    return (try? decode(bytes)).map { .contents($0) } ?? .damaged
  }

  /// The contents; nil if there is no file, or none that can be read. One that is damaged is renamed.
  ///
  /// - Parameter report: takes messages for the user
  public func read(_ report: (String) -> Void) -> Contents? {
    do throws(FileError) {
      guard let bytes = try StateFile(path: path).read() else { return nil }
      switch parse(bytes) {
      case .contents(let contents): return contents
      case .damaged: setAside(report)
      case .newer: report(VersionedFileError.newer(path).description)
      }
    } catch {
      if case .tooLarge = error.reason {
        setAside(report)
      } else {
        report("cannot read the \(subject): \(error); continuing without them")
      }
    }
    return nil
  }

  /// Renames a damaged file, unless another process already did.
  private func setAside(_ report: (String) -> Void) {
    do throws(VersionedFileError) {
      try change(report) { _ in nil }
    } catch {
      report("the file of \(subject) is damaged and cannot be renamed: \(error)")
    }
  }

  /// Changes the contents, while no other process does. Blocks for the time of a few writes, or for the lock.
  ///
  /// - Parameters:
  ///   - empty: what to change where there is no file
  ///   - report: takes messages for the user
  ///   - body: returns false to leave the file as it is
  public func update(
    _ empty: Contents, _ report: (String) -> Void, _ body: (inout Contents) -> Bool
  ) throws(VersionedFileError) {
    try change(report) { found in
      var contents = found ?? empty
      return body(&contents) ? contents : nil
    }
  }

  private func change(
    _ report: (String) -> Void, _ body: (Contents?) -> Contents?
  ) throws(VersionedFileError) {
    let file = StateFile(path: path)
    var isNewer = false
    do throws(FileError) {
      try file.update { found throws(FileError) in
        var contents: Contents?
        switch found.map({ $0.map { parse($0) } }) {
        case .success(nil): break
        case .success(.contents(let read)): contents = read
        case .success(.newer):
          isNewer = true
          return nil
        case .success(.damaged): report(try line(settingAside: file))
        case .failure(let error):
          guard case .tooLarge = error.reason else { throw error }
          report(try line(settingAside: file))
        }
        return body(contents).flatMap { try? encode($0) }
      }
    } catch {
      throw .file(error)
    }
    if isNewer { throw .newer(path) }
  }

  private func line(settingAside file: StateFile) throws(FileError) -> String {
    "the file of \(subject) is damaged; it was renamed to \(try file.setAside().printable)"
  }
}

/// What stands in the list of a ``VersionedFile``.
protocol StoredEntry: JSONDecodable, Sendable {
  var json: JSONValue { get }
}

extension VersionedFile {
  /// A list, of which the last entries are kept: as many as `limit` says, and fewer if the file would be too large to be read
  /// again.
  ///
  /// - Parameter name: the member with the list; nil for a file that is the list, without a version
  init<Entry: StoredEntry>(
    path: String, of subject: String, in name: String?, keeping limit: Int
  ) where Contents == [Entry] {
    self.init(path: path, version: name == nil ? 0 : 1, of: subject) { bytes in
      let json = try JSONValue(parsing: bytes)
      let entries: [Entry] = try name.map { try json.member($0) } ?? [Entry](json)
      guard entries.count <= limit else { throw JSONError.wrongKind(path: []) }
      return entries
    } encode: { entries in
      var kept = entries.suffix(limit)
      while true {
        let list = JSONValue.array(kept.map(\.json))
        let bytes = Array((name.map { .object(["version": .integer(1), $0: list]) } ?? list).text.utf8)
        guard bytes.count > StateFile.standardLimit, !kept.isEmpty else { return bytes }
        kept = kept.dropFirst(max(1, kept.count / 8))
      }
    }
  }
}

/// Why a ``VersionedFile`` was not changed.
public enum VersionedFileError: Error, CustomStringConvertible {
  /// A newer version has written the file with this path.
  case newer(String)
  case file(FileError)

  public var description: String {
    switch self {
    case .newer(let path):
      "\(path.printable) was written by a newer version of this program; it is not changed"
    case .file(let error): "\(error)"
    }
  }

  /// Whether the user can do something about it, and was not told by ``VersionedFile/read(_:)``: not if the machine has no
  /// place to store the file.
  var isToBeReported: Bool {
    switch self {
    case .newer: false
    case .file(let error): if case .system = error.reason { false } else { true }
    }
  }
}
