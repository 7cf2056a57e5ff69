internal import CoreBluetooth
import Foundation
internal import HaloStorage

/// The accessories of all programs of a user, in a file with mode 0600. A program sees its own.
struct AccessoryStore: Sendable {
  fileprivate struct Entry: StoredEntry {
    var program: String
    var identifier: UUID
    var displayName: String
    var descriptor: ASDiscoveryDescriptor.Fields
  }

  /// The number of accessories that are kept: the ones that were stored last.
  private static let limit = 256
  private static let writing = DispatchQueue(label: "accessorysetupkit.accessories", qos: .utility)

  /// Nil if nothing is stored.
  private let file: VersionedFile<Entry>?
  private let program: String

  init(folder: String?, program: String) {
    file = folder.map {
      VersionedFile(
        path: $0 + "/accessories.json", of: "accessories", in: "accessories", keeping: Self.limit)
    }
    self.program = program
  }

  func load() -> [ASAccessory] {
    let mine = file?.read(reportMisuse).filter {
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
        try file.update(reportMisuse) { entries in
          body(&entries)
          return true
        }
        done(nil)
      } catch {
        done(ASError(.unknown, "cannot store the accessories: \(error)"))
      }
    }
  }
}

extension AccessoryStore.Entry {
  init(_ json: JSONValue) throws(JSONError) {
    program = try json.member("program")
    guard let identifier = UUID(uuidString: try json.member("identifier")) else {
      throw .wrongKind(path: ["identifier"])
    }
    self.identifier = identifier
    displayName = try json.member("displayName")
    descriptor = try json.member("descriptor")
  }

  var json: JSONValue {
    .object([
      "program": .string(program), "identifier": .string(identifier.uuidString),
      "displayName": .string(displayName), "descriptor": descriptor.json,
    ])
  }
}

extension ASDiscoveryDescriptor.Fields: JSONDecodable {
  init(_ json: JSONValue) throws(JSONError) {
    service = try json.data("service")
    company = try json.member("company")
    nameSubstring = try json.optionalMember("nameSubstring")
    nameOptions = try json.optionalMember("nameOptions", as: Int.self).map { UInt(bitPattern: $0) }
    manufacturerBlob = try json.data("manufacturerBlob")
    manufacturerMask = try json.data("manufacturerMask")
    serviceBlob = try json.data("serviceBlob")
    serviceMask = try json.data("serviceMask")
    options = UInt(bitPattern: try json.member("options", as: Int.self))
    range = try json.member("range")
  }

  fileprivate var json: JSONValue {
    .members([
      "service": service?.json, "company": .integer(Int(company)),
      "nameSubstring": nameSubstring.map { .string($0) },
      "nameOptions": nameOptions.map { .integer(Int(bitPattern: $0)) },
      "manufacturerBlob": manufacturerBlob?.json, "manufacturerMask": manufacturerMask?.json,
      "serviceBlob": serviceBlob?.json, "serviceMask": serviceMask?.json,
      "options": .integer(Int(bitPattern: options)), "range": .integer(range),
    ])
  }
}

extension JSONValue {
  /// Bytes of a member; nil if there is none.
  fileprivate func data(_ name: String) throws(JSONError) -> Data? {
    guard let text = try optionalMember(name, as: String.self) else { return nil }
    guard let data = Data(base64Encoded: text) else { throw .wrongKind(path: [name]) }
    return data
  }
}

extension Data {
  fileprivate var json: JSONValue { .string(base64EncodedString()) }
}
