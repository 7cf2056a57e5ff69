import ATT
import HaloGATT
import HaloBluetoothCore
import HaloCommandLine
import RingLink

extension Characteristic {
  /// Whether it is written with response.
  ///
  /// - Parameter isRefused: whether the user wants none
  /// - Throws: if its properties forbid it
  func hasResponse(isRefused: Bool) throws(Failure) -> Bool {
    if properties.contains(.write), !isRefused { return true }
    guard !properties.contains(.writeWithoutResponse) else { return false }
    let name = GATTUUID.attributeName(of: uuid).map { " (\($0))" } ?? ""
    let way = isRefused ? " without response" : ""
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

  func write(_ value: [UInt8], to handle: AttributeHandle, hasResponse: Bool) async throws(StackError) {
    if hasResponse {
      try await write(value, to: handle)
    } else {
      try await writeWithoutResponse(value, to: handle, within: .seconds(10))
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
