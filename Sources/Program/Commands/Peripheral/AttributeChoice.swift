import ATT
import HaloGATT
import HaloBluetoothCore
import HaloCommandLine

/// The attribute that `--uuid` or `--handle` selects.
enum AttributeChoice: Hashable {
  case uuid(BluetoothUUID)
  case handle(AttributeHandle)

  private static let uuidOption = Option("--uuid", as: .uuid, help: "the characteristic with this UUID")
  private static let handleOption = Option(
    "--handle", as: .handle, help: "the attribute with this handle, 1 to 0xffff")

  static let options: [any CommandOption] = [uuidOption, handleOption]
  static let rule = OptionRule.one(options)

  private static let uuidsOption = Option(
    "--uuid", as: .list(of: .uuid), repeatable: true,
    help: "the characteristics with these UUIDs: a list with commas, or several times")
  private static let handlesOption = Option(
    "--handle", as: .list(of: .handle), repeatable: true,
    help: "the characteristics with their values at these handles")

  /// The options of a command that takes several.
  static let listOptions: [any CommandOption] = [uuidsOption, handlesOption]

  /// The attributes that a command line selects with ``listOptions``.
  static func list(_ invocation: Invocation) throws(Failure) -> [AttributeChoice] {
    let all =
      (invocation[uuidsOption] ?? []).map { AttributeChoice.uuid($0) }
      + (invocation[handlesOption] ?? []).map { AttributeChoice.handle($0) }
    guard !all.isEmpty else { throw .usage("give --uuid UUID or --handle H") }
    var seen: Set<AttributeChoice> = []
    return all.filter { seen.insert($0).inserted }
  }

  init(_ invocation: Invocation) throws(Failure) {
    if let uuid = invocation[Self.uuidOption] {
      self = .uuid(uuid)
    } else if let handle = invocation[Self.handleOption] {
      self = .handle(handle)
    } else {
      throw .usage("give --uuid or --handle")
    }
  }

  /// The attribute that a line or an option names: a handle as it is printed, `0x0012` or a number, or a UUID of 4, 8 or 32
  /// digits.
  init?(naming text: String) {
    if text.count > 6 || !text.lowercased().hasPrefix("0x"), let uuid = BluetoothUUID(text) {
      self = .uuid(uuid)
    } else if let handle = try? ArgumentType<AttributeHandle>.handle.parse(text) {
      self = .handle(handle)
    } else {
      return nil
    }
  }

  /// The handle; nil if a UUID was given.
  var handle: AttributeHandle? {
    if case .handle(let handle) = self { handle } else { nil }
  }

  /// The UUID; nil if a handle was given.
  var uuid: BluetoothUUID? {
    if case .uuid(let uuid) = self { uuid } else { nil }
  }

  fileprivate func selects(_ characteristic: Characteristic) -> Bool {
    switch self {
    case .uuid(let uuid): characteristic.uuid == uuid
    case .handle(let handle): characteristic.valueHandle == handle
    }
  }

  /// The handle or the UUID.
  var name: String {
    switch self {
    case .uuid(let uuid): uuid.description
    case .handle(let handle): handle.description
    }
  }

  var title: String {
    switch self {
    case .uuid(let uuid): "characteristic \(uuid)"
    case .handle(let handle): "characteristic with its value at \(handle)"
    }
  }
}

extension GATTClient {
  /// Finds the first characteristic that is selected, service by service.
  func find(_ choice: AttributeChoice) async throws(StackError) -> Characteristic {
    try await find([choice], onlyFirst: true)[0]
  }

  /// Finds the selected characteristics. A service that can't be discovered hides no other one.
  ///
  /// - Parameter onlyFirst: whether the first one of each choice is enough; else all that have the UUID are found
  /// - Returns: at least one for each choice, in the order of the choices and of their handles
  func find(
    _ choices: [AttributeChoice], onlyFirst: Bool = false
  ) async throws(StackError) -> [Characteristic] {
    var found: [Int: [Characteristic]] = [:]
    var fault: StackError?
    for service in try await discoverServices() {
      do throws(StackError) {
        for characteristic in try await discoverCharacteristics(of: service) {
          for (index, choice) in choices.enumerated() where choice.selects(characteristic) {
            found[index, default: []].append(characteristic)
          }
        }
      } catch {
        guard error.isOfOneAttribute else { throw error }
        fault = fault ?? error
      }
      if onlyFirst, found.count == choices.count { break }
    }
    let missing = choices.indices.filter { found[$0] == nil }.map { choices[$0].title }
    guard missing.isEmpty else { throw fault ?? .notFound(missing.joined(separator: ", no ")) }
    var seen: Set<AttributeHandle> = []
    return choices.indices.flatMap { found[$0] ?? [] }.filter { seen.insert($0.valueHandle).inserted }
  }
}

extension StackError {
  /// Whether the peer has answered, though wrongly: other attributes can be asked for.
  var isOfOneAttribute: Bool { [.refused, .malformed, .misbehaved].contains(code) }
}

extension ArgumentType where Value == BluetoothUUID {
  static var uuid: Self {
    ArgumentType(
      placeholder: "UUID",
      expected: "a UUID of 4, 8 or 32 digits such as 180A or 6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"
    ) { BluetoothUUID($0) }
  }
}

extension ArgumentType where Value == AttributeHandle {
  /// An attribute handle, decimal or hexadecimal (`0x0012`).
  static var handle: Self {
    ArgumentType(placeholder: "H", expected: "a handle from 1 to 65535 (0xffff)") { text in
      let number = text.lowercased().hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
      return number.flatMap { $0 > 0 ? AttributeHandle($0) : nil }
    }
  }
}
