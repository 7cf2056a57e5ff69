import ATT
import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

/// Runs something that fails with a ``GATTError``, and tells it as the program's failure.
@BluetoothActor
func gattFailure<Value>(
  _ work: @BluetoothActor () async throws(GATTError) -> Value
) async throws(Failure) -> Value {
  do throws(GATTError) {
    return try await work()
  } catch {
    throw Failure(error)
  }
}

/// The same for a ``RingError``.
@BluetoothActor
func ringFailure<Value>(
  _ work: @BluetoothActor () async throws(RingError) -> Value
) async throws(Failure) -> Value {
  do throws(RingError) {
    return try await work()
  } catch {
    throw Failure(error)
  }
}

/// Which attribute a command means.
enum AttributeChoice {
  case uuid(BluetoothUUID)
  case handle(AttributeHandle)

  static let options = [
    OptionSpec("--uuid", value: "UUID", help: "the characteristic with this UUID"),
    OptionSpec("--handle", value: "H", help: "the attribute with this handle, 1 to 0xffff"),
  ]

  init(_ invocation: Invocation) throws(Failure) {
    let uuid = try invocation.uuid("--uuid")
    let handle = try invocation.handle("--handle")
    switch (uuid, handle) {
    case (let uuid?, nil): self = .uuid(uuid)
    case (nil, let handle?): self = .handle(handle)
    case (nil, nil): throw .usage("which value? Give --uuid UUID or --handle H")
    default: throw .usage("--uuid and --handle together are one too many")
    }
  }

  /// The UUID, where it is known.
  var uuid: BluetoothUUID? {
    if case .uuid(let uuid) = self { uuid } else { nil }
  }
}

extension GATTClient {
  /// Looks for the characteristic that is meant, service by service.
  func find(_ choice: AttributeChoice) async throws(GATTError) -> Characteristic {
    for service in try await discoverServices() {
      for characteristic in try await discoverCharacteristics(of: service) {
        switch choice {
        case .uuid(let uuid) where characteristic.uuid == uuid: return characteristic
        case .handle(let handle) where characteristic.valueHandle == handle: return characteristic
        default: continue
        }
      }
    }
    switch choice {
    case .uuid(let uuid): throw .notFound("characteristic \(uuid)")
    case .handle(let handle): throw .notFound("characteristic with its value at \(handle)")
    }
  }
}

/// How a value is shown to a person: its bytes, and the text that they spell if they do.
func describe(_ value: [UInt8]) -> String {
  guard !value.isEmpty else { return "(empty)" }
  let digits = Hex.string(value, separator: " ")
  return spelledText(value).map { "\(digits)  \"\($0)\"" } ?? digits
}

/// The same in short, for a table: the text if there is one, else the bytes, and not too many of either.
func describeBriefly(_ value: [UInt8]) -> String {
  guard !value.isEmpty else { return "(empty)" }
  let full = spelledText(value).map { "\"\($0)\"" } ?? Hex.string(value, separator: " ")
  return full.count <= 72 ? full : "\(full.prefix(64))… (\(value.count) bytes)"
}

/// The text that bytes spell; nil if they spell none.
private func spelledText(_ value: [UInt8]) -> String? {
  let text = String(printable: value)
  // Two letters are a coincidence more often than a text.
  let isText = text.count > 2 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\\" }
  return isText ? text : nil
}

/// The columns of a value in a record.
let valueColumns: [(name: String, unit: String?)] = [("handle", nil), ("uuid", nil), ("value", nil)]

func valueFields(_ handle: AttributeHandle, _ uuid: BluetoothUUID?, _ value: [UInt8]) -> [Field] {
  [.number(Int(handle.rawValue)), .text(uuid?.description), .text(Hex.string(value))]
}
