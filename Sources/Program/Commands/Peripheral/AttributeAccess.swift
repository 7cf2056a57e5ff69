import ATT
import HaloGATT
import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// How a value is written.
enum WriteWay: Equatable {
  case withResponse
  case withoutResponse(GATTClient.CommandForm)

  /// For the output; nil for the usual way.
  var note: String? {
    switch self {
    case .withResponse: nil
    case .withoutResponse(.plain): "without response"
    case .withoutResponse(.signed): "signed, without response"
    }
  }
}

extension Characteristic {
  /// How it is written.
  ///
  /// - Parameter wanted: what the user wants; nil for what its properties allow
  /// - Throws: if its properties forbid it
  func way(_ wanted: WriteWay?) throws(Failure) -> WriteWay {
    switch wanted {
    case nil where properties.contains(.write): return .withResponse
    case .withResponse? where properties.contains(.write): return .withResponse
    case .withoutResponse(.signed)? where properties.contains(.authenticatedSignedWrites):
      return .withoutResponse(.signed)
    case nil, .withoutResponse(.plain)?:
      if !properties.isDisjoint(with: [.writeWithoutResponse, .authenticatedSignedWrites]) {
        return .withoutResponse(commandForm)
      }
    default: break
    }
    let name = GATTUUID.attributeName(of: uuid).map { " (\($0))" } ?? ""
    let way =
      switch wanted {
      case .withoutResponse(.signed)?: " with a signature"
      case .withoutResponse?: " without response"
      default: ""
      }
    throw Failure(
      .protocolError,
      "characteristic \(uuid)\(name) can't be written\(way): its properties are "
        + (properties.isEmpty ? "none" : properties.description))
  }
}

extension GATTClient {
  /// Whether a handle may be one of the ring's own characteristics. If discovery fails, it counts as one.
  func takesCommands(_ choice: AttributeChoice) async -> Bool {
    do throws(StackError) {
      return RingGATT.takesCommands(try await find(choice).uuid)
    } catch let error where error.code == .notFound {
      return false
    } catch {
      return true
    }
  }

  /// Finds the attribute to write, and the characteristic whose value it is; nil if it is no characteristic's.
  func target(
    of choice: AttributeChoice
  ) async throws(StackError) -> (handle: AttributeHandle, characteristic: Characteristic?) {
    do throws(StackError) {
      try await exchangeMTU()
      let characteristic = try await find(choice)
      return (characteristic.valueHandle, characteristic)
    } catch {
      guard error.code == .notFound, case .handle(let handle) = choice else { throw error }
      return (handle, nil)
    }
  }

  func write(_ value: [UInt8], to handle: AttributeHandle, _ way: WriteWay) async throws(StackError) {
    switch way {
    case .withResponse: try await write(value, to: handle)
    case .withoutResponse(let form):
      try await writeWithoutResponse(value, to: handle, form, within: .seconds(10))
    }
  }

  /// Reads the selected values: that of a handle, or all with a UUID.
  func read(_ choice: AttributeChoice) async throws(StackError) -> [ATTHandleAndValue] {
    try await exchangeMTU()
    switch choice {
    case .handle(let handle): return [ATTHandleAndValue(handle: handle, value: try await read(handle))]
    case .uuid(let uuid):
      var values: [ATTHandleAndValue] = []
      for found in try await read(uuid: uuid) {
        // The list holds only the first bytes of long values.
        values.append(ATTHandleAndValue(handle: found.handle, value: try await read(found.handle)))
      }
      guard !values.isEmpty else { throw .notFound("value with the UUID \(uuid)") }
      return values
    }
  }
}
