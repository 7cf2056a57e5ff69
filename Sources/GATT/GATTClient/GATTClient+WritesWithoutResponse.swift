import ATT
import HaloBluetoothCore

/// Write Without Response (Core Specification Vol 3, Part G, 4.9.1): without a response, so that only the link limits
/// the sender. A link accepts a bounded number of them; there is room again as they are sent. They are sent in the order of the
/// calls, also with regard to requests: see ``ProcedureQueue``.
extension GATTClient {
  /// Writes a value without a response and without confirmation.
  ///
  /// - Throws: `StackError.noRoom` if the link has no room, or something is to be sent before: then nothing was sent. Wait with
  ///   ``writeWithoutResponse(_:to:within:)``.
  package func writeWithoutResponse(
    _ value: [UInt8], to attribute: some AttributeReference
  ) throws(StackError) {
    guard procedures.takesCommand else { throw .noRoom }
    try send(value, to: attribute)
  }

  private func send(_ value: [UInt8], to attribute: some AttributeReference) throws(StackError) {
    try check(attribute)
    let handle = attribute.requestHandle
    if let objection = writePolicy?(handle, value, nil) { throw .forbidden(objection) }
    try bearer.writeWithoutResponse(handle, value)
  }

  /// Writes a value without an answer, as soon as the link has room for it. Values are sent in the order in which they
  /// were given.
  ///
  /// - Parameters:
  ///   - value: at most MTU - 3 bytes
  ///   - attribute: the attribute to write
  ///   - time: how long to wait for room
  /// - Throws: `StackError.noRoomInTime(seconds:)`, and `.cancelled`: then nothing was sent
  package func writeWithoutResponse(
    _ value: [UInt8], to attribute: some AttributeReference, within time: Duration
  ) async throws(StackError) {
    try await awaitCallback { (done: @escaping (Result<Void, StackError>) -> Void) in
      guard let wait = post(value, to: attribute, within: time, done) else { return {} }
      return { wait(.cancelled) }
    }
  }

  /// The same for callers that cannot wait: `completion` is called once, when it was sent or has failed.
  package func postWithoutResponse(
    _ value: [UInt8], to attribute: some AttributeReference, within time: Duration,
    completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    _ = post(value, to: attribute, within: time, completion)
  }

  /// - Returns: a closure that ends it while it waits; nil if it is done
  private func post(
    _ value: [UInt8], to attribute: some AttributeReference, within time: Duration,
    _ completion: @escaping (Result<Void, StackError>) -> Void
  ) -> ((StackError) -> Void)? {
    do throws(StackError) {
      try writeWithoutResponse(value, to: attribute)
      completion(.success(()))
      return nil
    } catch .noRoom {
      var deadline: Timers.Token?
      let token = procedures.post { [weak self, timers] in
        timers.cancel(deadline)
        guard let self else { return completion(.failure(.cancelled)) }
        completion(Result { () throws(StackError) in try self.send(value, to: attribute) })
      }
      let end = { [procedures] (error: StackError) in
        if procedures.cancel(token) { completion(.failure(error)) }
      }
      deadline = timers.schedule(after: time) { end(.noRoomInTime(seconds: time.inSeconds)) }
      return { [timers] error in
        timers.cancel(deadline)
        end(error)
      }
    } catch {
      completion(.failure(error))
      return nil
    }
  }
}
