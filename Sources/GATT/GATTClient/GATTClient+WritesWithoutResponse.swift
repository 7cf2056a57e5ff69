import ATT
import HaloBluetoothCore

/// Signs the writes of a client.
package struct CommandSigner {
  /// Whether the link needs signatures, as it is not encrypted. On one that is, a write is not signed (Core Specification Vol 3,
  /// Part G, 4.9.2).
  let isNeeded: () -> Bool
  /// Prepares a signature. Returns whether a command can be signed now, or never will be; if not,
  /// `GATTClient.roomAvailable()` is called later.
  let prepare: () -> Bool
  /// Signs a command, the bytes of the whole PDU up to its signature.
  let sign: (_ message: [UInt8]) throws(StackError) -> ATTSignature

  package init(
    isNeeded: @escaping () -> Bool, prepare: @escaping () -> Bool,
    sign: @escaping (_ message: [UInt8]) throws(StackError) -> ATTSignature
  ) {
    (self.isNeeded, self.prepare, self.sign) = (isNeeded, prepare, sign)
  }
}

/// Write Without Response (Core Specification Vol 3, Part G, 4.9.1), and with a signature (4.9.2): only the link limits the
/// sender. A link accepts a bounded number of them; there is room again as they are sent. They are sent in the order of the
/// calls, also with regard to requests: see ``ProcedureQueue``.
extension GATTClient {
  /// How a value is written without a response.
  package enum CommandForm: Hashable, Sendable {
    case plain
    /// With a signature of this side's bond with the server, unless the link is encrypted. It is 12 bytes, which the value does
    /// not have then.
    case signed
  }

  /// Writes a value without a response and without confirmation.
  ///
  /// - Throws: `StackError.noRoom` if the link has no room, or something is to be sent before: then nothing was sent. Wait with
  ///   ``writeWithoutResponse(_:to:_:within:)``.
  package func writeWithoutResponse(
    _ value: [UInt8], to attribute: some AttributeReference, _ form: CommandForm = .plain
  ) throws(StackError) {
    guard procedures.takesCommand, prepare(form) else { throw .noRoom }
    try send(value, to: attribute, form)
  }

  /// - Returns: whether the command can be sent, as far as its signature is concerned
  private func prepare(_ form: CommandForm) -> Bool {
    guard form == .signed, let signer, signer.isNeeded() else { return true }
    return signer.prepare()
  }

  private func send(
    _ value: [UInt8], to attribute: some AttributeReference, _ form: CommandForm
  ) throws(StackError) {
    try check(attribute)
    let handle = attribute.requestHandle
    if let objection = writePolicy?(handle, value, nil) { throw .forbidden(objection) }
    guard form == .signed else { return try bearer.writeWithoutResponse(handle, value) }
    guard let signer else { throw .signingNotOffered }
    guard signer.isNeeded() else { return try bearer.writeWithoutResponse(handle, value) }
    try bearer.writeSigned(handle, value, sign: signer.sign)
  }

  /// Writes a value without an answer, as soon as the link has room for it. Values are sent in the order in which they
  /// were given.
  ///
  /// - Parameters:
  ///   - value: at most MTU - 3 bytes, 15 with a signature
  ///   - attribute: the attribute to write
  ///   - form: whether it is signed
  ///   - time: how long to wait for room
  /// - Throws: `StackError.noRoomInTime(seconds:)`, and `.cancelled`: then nothing was sent
  package func writeWithoutResponse(
    _ value: [UInt8], to attribute: some AttributeReference, _ form: CommandForm = .plain,
    within time: Duration
  ) async throws(StackError) {
    try await awaitCallback { (done: @escaping (Result<Void, StackError>) -> Void) in
      guard let wait = post(value, to: attribute, form, within: time, done) else { return {} }
      return { wait(.cancelled) }
    }
  }

  /// The same for callers that cannot wait: `completion` is called once, when it was sent or has failed.
  package func postWithoutResponse(
    _ value: [UInt8], to attribute: some AttributeReference, _ form: CommandForm = .plain,
    within time: Duration, completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    _ = post(value, to: attribute, form, within: time, completion)
  }

  /// - Returns: a closure that ends it while it waits; nil if it is done
  private func post(
    _ value: [UInt8], to attribute: some AttributeReference, _ form: CommandForm, within time: Duration,
    _ completion: @escaping (Result<Void, StackError>) -> Void
  ) -> ((StackError) -> Void)? {
    do throws(StackError) {
      try writeWithoutResponse(value, to: attribute, form)
      completion(.success(()))
      return nil
    } catch .noRoom {
      var deadline: Timers.Token?
      let token = procedures.post(isReady: { [weak self] in self?.prepare(form) ?? true }) {
        [weak self, timers] in
        timers.cancel(deadline)
        guard let self else { return completion(.failure(.cancelled)) }
        completion(Result { () throws(StackError) in try self.send(value, to: attribute, form) })
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

extension Characteristic {
  /// The form in which its value may be written without a response, by its properties: signed only where it has to be.
  package var commandForm: GATTClient.CommandForm {
    properties.contains(.authenticatedSignedWrites) && !properties.contains(.writeWithoutResponse)
      ? .signed : .plain
  }
}
