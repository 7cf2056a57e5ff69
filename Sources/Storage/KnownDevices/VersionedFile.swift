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
    guard let found = try? JSONValue(parsing: bytes).member("version", as: Int.self) else { return .damaged }
    guard found <= version else { return .newer }
    return (try? decode(bytes)).map { .contents($0) } ?? .damaged
  }

  /// The contents; nil if there is no file, or none that can be read.
  ///
  /// - Parameter report: takes messages for the user
  public func read(_ report: (String) -> Void) -> Contents? {
    do throws(FileError) {
      guard let bytes = try StateFile(path: path).read() else { return nil }
      switch parse(bytes) {
      case .contents(let contents): return contents
      case .damaged: report("\(path.printable) is damaged; continuing without the \(subject)")
      case .newer:
        report("\(path.printable) was written by a newer version; continuing without the \(subject)")
      }
    } catch {
      report("cannot read the \(subject): \(error); continuing without them")
    }
    return nil
  }

  /// Changes the contents, while no other process does. Blocks for the time of a few writes, or for the lock.
  ///
  /// - Parameters:
  ///   - empty: what to change where there is no file
  ///   - report: takes messages for the user
  ///   - change: returns false to leave the file as it is
  public func update(
    _ empty: Contents, _ report: (String) -> Void, _ change: (inout Contents) -> Bool
  ) throws(VersionedFileError) {
    let file = StateFile(path: path)
    var isNewer = false
    do throws(FileError) {
      try file.update { found throws(FileError) in
        var contents = empty
        switch found.map({ $0.map { parse($0) } }) {
        case .success(nil): break
        case .success(.contents(let read)): contents = read
        case .success(.newer):
          isNewer = true
          return nil
        case .success(.damaged):
          report("the file of \(subject) is damaged; it was renamed to \(try file.setAside().printable)")
        case .failure(let error):
          guard case .tooLarge = error.reason else { throw error }
          report("the file of \(subject) is too large; it was renamed to \(try file.setAside().printable)")
        }
        return change(&contents) ? try? encode(contents) : nil
      }
    } catch {
      throw .file(error)
    }
    if isNewer { throw .newer(path) }
  }
}

/// Why a ``VersionedFile`` was not changed.
public enum VersionedFileError: Error, CustomStringConvertible {
  /// A newer version has written the file with this path.
  case newer(String)
  case file(FileError)

  public var description: String {
    switch self {
    case .newer(let path): "\(path.printable) was written by a newer version; it is not changed"
    case .file(let error): "\(error)"
    }
  }
}
