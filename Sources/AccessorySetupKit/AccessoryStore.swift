internal import CoreBluetooth
internal import Files
import Foundation
internal import HaloRaw

/// The accessories of all programs of a user, in a file with mode 0600. A program sees its own.
struct AccessoryStore: Sendable {
  private struct Entry: Codable {
    var program: String
    var identifier: UUID
    var displayName: String
    var descriptor: ASDiscoveryDescriptor.Fields
  }

  private struct Contents: Codable {
    var version = Self.newest
    var accessories: [Entry] = []

    static let newest = 1
  }

  /// The number of accessories that are kept: the ones that were stored last.
  private static let limit = 256
  private static let writing = DispatchQueue(label: "accessorysetupkit.accessories", qos: .utility)

  /// Nil if nothing is stored.
  private let path: String?
  private let program: String

  init(folder: String?, program: String) {
    path = folder.map { $0 + "/accessories.json" }
    self.program = program
  }

  func load() -> [ASAccessory] {
    guard let path else { return [] }
    do {
      guard let bytes = try StateFile(path: path).read() else { return [] }
      let contents = try JSONDecoder().decode(Contents.self, from: Data(bytes))
      let mine = contents.accessories.filter { $0.program == program && $0.descriptor.defect == nil }
      return mine.map {
        ASAccessory($0.identifier, displayName: $0.displayName, ASDiscoveryDescriptor($0.descriptor))
      }
    } catch {
      reportMisuse("cannot read \(path.printable): \(error); continuing without stored accessories")
      return []
    }
  }

  /// Stores an accessory, in place of its previous entry.
  ///
  /// - Parameter done: called on another queue with the error
  func save(_ accessory: ASAccessory, done: @escaping @Sendable (ASError?) -> Void) {
    let entry = Entry(
      program: program, identifier: accessory.identifier, displayName: accessory.displayName,
      descriptor: accessory.descriptor.fields)
    change(done) { entries in
      entries.removeAll { $0.program == entry.program && $0.identifier == entry.identifier }
      entries.append(entry)
      entries.removeFirst(max(0, entries.count - Self.limit))
    }
  }

  func remove(_ accessory: ASAccessory, done: @escaping @Sendable (ASError?) -> Void) {
    let (program, identifier) = (program, accessory.identifier)
    change(done) { entries in
      entries.removeAll { $0.program == program && $0.identifier == identifier }
    }
  }

  private func change(
    _ done: @escaping @Sendable (ASError?) -> Void, _ body: @escaping @Sendable (inout [Entry]) -> Void
  ) {
    guard let path else { return done(nil) }
    Self.writing.async {
      let file = StateFile(path: path)
      do throws(FileError) {
        var isNewer = false
        try file.update { found throws(FileError) in
          var contents = Contents()
          if let bytes = try found.get() {
            if let read = try? JSONDecoder().decode(Contents.self, from: Data(bytes)) {
              contents = read
            } else {
              let aside = try file.setAside()
              reportMisuse("the file of accessories is damaged; it was renamed to \(aside.printable)")
            }
          }
          isNewer = contents.version > Contents.newest
          guard !isNewer else { return nil }
          body(&contents.accessories)
          let encoder = JSONEncoder()
          encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
          return (try? encoder.encode(contents)).map { Array($0) }
        }
        done(isNewer ? ASError(.unknown, "\(path.printable) was written by a newer version") : nil)
      } catch {
        done(ASError(.unknown, "cannot store the accessories: \(error)"))
      }
    }
  }
}
