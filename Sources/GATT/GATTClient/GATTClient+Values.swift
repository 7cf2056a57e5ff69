import ATT
import HaloBluetoothCore

extension GATTClient {
  /// Reads a value of any length.
  package func read(_ attribute: some AttributeReference) async throws(StackError) -> [UInt8] {
    try await awaitCallback { read(attribute, completion: $0) }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``.
  @discardableResult
  package func read(
    _ attribute: some AttributeReference, completion: @escaping (Result<[UInt8], StackError>) -> Void
  ) -> () -> Void {
    let handle = attribute.requestHandle
    return checked(attribute, completion) {
      run(
        { [bearer] in ReadValue(handle, mtu: bearer.mtu) },
        completion: unlessChanged(handle, isRead: true, completion))
    }
  }

  /// Reads the first value of a type, of any length, without discovering it first: with one round trip if it is short.
  /// Nil if there is none; only its beginning if the server does not return the rest.
  package func readFirst(uuid: BluetoothUUID) async throws(StackError) -> [UInt8]? {
    let bearer = self.bearer
    let mtu = bearer.mtu
    guard let found = try await read(uuid: uuid, limit: 1).first else { return nil }
    // The maximum length of a list entry, for a value of any length (Part F, 3.4.4.2).
    guard found.value.count >= min(mtu - 4, bearer.mtu - 4, 253) else { return found.value }
    do throws(StackError) {
      return try await run { ReadValue(found.handle, after: found.value, mtu: bearer.mtu) }
    } catch let error where error.code == .refused {
      return found.value
    }
  }

  /// Reports that the services have changed, if the server has indicated this for the attribute before it has answered a
  /// request: its handle is then that of another attribute, or of none.
  ///
  /// - Parameter isRead: whether a success is void, too; a write that was confirmed is not made again
  private func unlessChanged<Value>(
    _ handle: AttributeHandle, isRead: Bool,
    _ completion: @escaping (Result<Value, StackError>) -> Void
  ) -> (Result<Value, StackError>) -> Void {
    let count = validity.changeCount
    return { [weak self] result in
      guard let self, validity.hasChanged(HandleRange(handle, handle), since: count) else {
        return completion(result)
      }
      switch result {
      case .success where isRead: completion(.failure(.servicesChanged))
      case .failure(let error) where error.code == .refused: completion(.failure(.servicesChanged))
      case .success, .failure: completion(result)
      }
    }
  }

  /// Reads all values of a type without discovering them first, up to one that the server refuses. Long values are truncated;
  /// ``read(_:)`` reads them in full.
  ///
  /// - Parameters:
  ///   - uuid: the type
  ///   - range: the handles to search
  ///   - limit: the maximum number; with one, a single round trip is enough
  package func read(
    uuid: BluetoothUUID, in range: HandleRange = .all, limit: Int = .max
  ) async throws(StackError) -> [ATTHandleAndValue] {
    try await run { ReadByUUID(uuid, in: range, limit: limit) }
  }

  /// Writes a value and waits for the server's confirmation. A value that does not fit into a PDU is written in parts,
  /// which take effect together.
  package func write(_ value: [UInt8], to attribute: some AttributeReference) async throws(StackError) {
    try await awaitCallback { write(value, to: attribute, completion: $0) }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``. `onStart` is called when the first request is
  /// about to be sent: from then on, the value may be written.
  @discardableResult
  package func write(
    _ value: [UInt8], to attribute: some AttributeReference, onStart: @escaping () -> Void = {},
    completion: @escaping (Result<Void, StackError>) -> Void
  ) -> () -> Void {
    let handle = attribute.requestHandle
    return checked(attribute, completion) {
      guard value.count <= ATTBearer.maximumValueLength else {
        completion(.failure(.tooLong(value.count)))
        return {}
      }
      // Procedures that wait when the link is lost begin, and fail.
      let begin = { [weak self] in if self?.isOpen == true { onStart() } }
      let end = unlessChanged(handle, isRead: false, completion)
      guard value.count > bearer.mtu - 3 else {
        return run(
          {
            begin()
            return WriteValue(handle, value)
          }, completion: end)
      }
      return run(
        { [bearer] in
          begin()
          return QueuedWrite([(handle, value)], mtu: bearer.mtu)
        }, completion: end)
    }
  }

  /// Writes a value in its turn, without anybody waiting for it.
  ///
  /// - Parameters:
  ///   - value: a value that fits into one PDU
  ///   - handle: the attribute to write
  ///   - onFailure: called if it cannot be written
  package func post(
    _ value: [UInt8], to handle: AttributeHandle, onFailure: @escaping (StackError) -> Void = { _ in }
  ) {
    do throws(StackError) {
      try check(handle)
    } catch {
      return onFailure(error)
    }
    procedures.run {
      WriteValue(handle, value)
    } completion: { result in
      if case .failure(let error) = result { onFailure(error) }
    }
  }
}
