import HaloBluetoothCore

/// Sends commands to the controller one at a time, within its command credits, and returns its answers to the callers
/// (Core Specification Vol 4, Part E, 4.4).
///
/// Each command has a deadline, counted from the time when it is first in the queue. This detects a controller that
/// does not answer, or never returns its command credits.
package final class CommandQueue {
  /// The return parameters after the status.
  package typealias Completion = (Result<[UInt8], StackError>) -> Void

  private struct Entry {
    var opcode: HCIOpcode
    var packet: [UInt8]
    var deadline: Duration
    /// Whether Command Status with success completes the command; otherwise another event has to follow.
    var endsWithStatus: Bool
    /// Whether the controller counts as working if it does not answer.
    var allowsTimeout: Bool
    var completion: Completion
  }

  /// Answers without a matching command.
  private(set) var unexpectedAnswers = 0
  /// Called when a command has timed out.
  package var onTimeout: ((StackError) -> Void)?
  /// Called for a NOP while no command waits for an answer or for a credit: controllers send one when they have started.
  var onUnaskedNOP: (() -> Void)?

  private let timers: Timers
  private let send: (RawSpan) -> Void
  private var credits = 1
  private var queue: [Entry] = []
  private var isHeadSent = false
  private var deadline: Timers.Token?
  /// The error for all commands while sending is not allowed.
  private var failure: StackError?
  private var writer = ByteWriter(capacity: 260)

  package init(timers: Timers, send: @escaping (RawSpan) -> Void) {
    self.timers = timers
    self.send = send
  }

  func enqueue(
    _ packet: [UInt8], opcode: HCIOpcode, endsWithStatus: Bool, deadline: Duration,
    allowsTimeout: Bool = false, completion: @escaping Completion
  ) {
    if let failure { return completion(.failure(failure)) }
    queue.append(
      Entry(
        opcode: opcode, packet: packet, deadline: deadline, endsWithStatus: endsWithStatus,
        allowsTimeout: allowsTimeout, completion: completion))
    if queue.count == 1 { startHead() }
  }

  /// Sends a command and waits for Command Complete.
  package func send<Command: HCICompletingCommand>(
    _ command: Command, deadline: Duration = HostController.commandDeadline, allowsTimeout: Bool = false,
    completion: @escaping (Result<Command.Response, StackError>) -> Void
  ) {
    enqueue(command, endsWithStatus: false, deadline: deadline, allowsTimeout: allowsTimeout) { result in
      completion(
        result.flatMap { parameters in
          Result { () throws(StackError) in try Command.response(parameters) }
        })
    }
  }

  /// Sends a command and waits for Command Status.
  package func send<Command: HCIStatusCommand>(
    _ command: Command, deadline: Duration = HostController.commandDeadline, allowsTimeout: Bool = false,
    completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    enqueue(command, endsWithStatus: true, deadline: deadline, allowsTimeout: allowsTimeout) {
      completion($0.map { _ in })
    }
  }

  /// - Parameter completion: called exactly once, with the return parameters after the status
  func enqueue(
    _ command: some HCICommand, endsWithStatus: Bool, deadline: Duration = HostController.commandDeadline,
    allowsTimeout: Bool = false, completion: @escaping Completion
  ) {
    command.packet(into: &writer)
    enqueue(
      writer.bytes, opcode: type(of: command).opcode, endsWithStatus: endsWithStatus, deadline: deadline,
      allowsTimeout: allowsTimeout, completion: completion)
  }

  private func startHead() {
    guard let head = queue.first else { return }
    isHeadSent = false
    deadline = timers.schedule(after: head.deadline) { [weak self] in
      self?.headTimedOut()
    }
    sendHead()
  }

  private func headTimedOut() {
    guard let head = queue.first else { return }
    let error = StackError.commandTimedOut(head.opcode)
    if head.allowsTimeout {
      // The answer would have returned the credit.
      if isHeadSent { credits = max(credits, 1) }
      return finishHead(.failure(error))
    }
    fail(error)
    onTimeout?(error)
  }

  private func sendHead() {
    guard credits > 0, !isHeadSent, let head = queue.first else { return }
    credits -= 1
    isHeadSent = true
    send(head.packet.span.bytes)
  }

  private func finishHead(_ result: Result<[UInt8], StackError>) {
    guard !queue.isEmpty else { return }
    timers.cancel(deadline)
    let head = queue.removeFirst()
    isHeadSent = false
    startHead()
    head.completion(result)
  }

  /// The command that an answer is for; nil if it is for none.
  private func head(_ opcode: HCIOpcode, _ credits: UInt8) -> Entry? {
    self.credits = Int(credits)
    // Opcode zero only returns command credits.
    guard opcode.rawValue != 0 else {
      if queue.isEmpty { onUnaskedNOP?() }
      return nil
    }
    if isHeadSent, let head = queue.first, head.opcode == opcode { return head }
    unexpectedAnswers += 1
    return nil
  }

  package func receive(_ event: CommandComplete) {
    let head = head(event.opcode, event.commandCredits)
    defer { sendHead() }
    guard head != nil else { return }
    guard let status = event.status else {
      let error = DecodeError(offset: 0, reason: .truncated(needed: 1, available: 0))
      return finishHead(.failure(.malformedResponse(event.opcode, error)))
    }
    if status == .success {
      finishHead(.success(Array(event.returnParameters.dropFirst())))
    } else {
      finishHead(.failure(.commandFailed(event.opcode, status)))
    }
  }

  package func receive(_ event: CommandStatus) {
    let head = head(event.opcode, event.commandCredits)
    defer { sendHead() }
    guard let head else { return }
    if event.status != .success {
      finishHead(.failure(.commandFailed(event.opcode, event.status)))
    } else if head.endsWithStatus {
      finishHead(.success([]))
    }
  }

  /// Fails all outstanding commands, and all further ones until `restart()`.
  package func fail(_ error: StackError) {
    guard failure == nil else { return }
    failure = error
    timers.cancel(deadline)
    let waiting = queue
    queue = []
    isHeadSent = false
    for entry in waiting { entry.completion(.failure(error)) }
  }

  /// Removes all outstanding commands without calling their completions.
  func removeAll() {
    failure = .cancelled
    timers.cancel(deadline)
    queue = []
    isHeadSent = false
  }

  /// Restarts the queue before a Reset: there is one command credit, and outstanding commands fail.
  func restart(_ error: StackError) {
    fail(error)
    failure = nil
    credits = 1
  }
}
