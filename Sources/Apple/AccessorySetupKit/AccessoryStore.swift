internal import CoreBluetooth
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
  private let file: VersionedFile<Contents>?
  private let program: String

  init(folder: String?, program: String) {
    file = folder.map { folder in
      VersionedFile(path: folder + "/accessories.json", version: Contents.newest, of: "accessories") {
        bytes in
        try JSONDecoder().decode(Contents.self, from: Data(bytes))
      } encode: { contents in
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return Array(try encoder.encode(contents))
      }
    }
    self.program = program
  }

  func load() -> [ASAccessory] {
    let mine = file?.read(reportMisuse)?.accessories.filter {
      $0.program == program && $0.descriptor.defect == nil
    }
    return (mine ?? []).map {
      ASAccessory($0.identifier, displayName: $0.displayName, ASDiscoveryDescriptor($0.descriptor))
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
    guard let file else { return done(nil) }
    Self.writing.async {
      do throws(VersionedFileError) {
        try file.update(Contents(), reportMisuse) { contents in
          body(&contents.accessories)
          return true
        }
        done(nil)
      } catch {
        done(ASError(.unknown, "cannot store the accessories: \(error)"))
      }
    }
  }
}
