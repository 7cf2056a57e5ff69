import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// The kernel's Bluetooth management interface: the list of adapters, their power state and the parameters of new
/// links. Reading requires no privilege; changes require CAP_NET_ADMIN when this object is created.
@BluetoothActor
package final class Management {
  /// Called for each event that is not an answer.
  package var onEvent: ((ManagementEvent, AdapterIndex) -> Void)? {
    get { queue.onEvent }
    set { queue.onEvent = newValue }
  }

  /// Whether the kernel takes commands that change something.
  package let isPrivileged = Capability.netAdmin.isEffective

  private let socket: HCISocket<ControlChannel>
  let queue: ManagementQueue
  var descriptor: Int32 { socket.packets.descriptor }

  package init() throws(StackError) {
    let socket = try HCISocket<ControlChannel>()
    self.socket = socket
    queue = ManagementQueue(timers: EpollLoop.shared.timers) { packet in socket.packets.send(packet) }
    socket.packets.onPacket = { [queue] packet, _ in queue.receive(packet) }
    socket.packets.onClosed = { [queue] error in
      let reason = error.map { StackError(opening: $0) } ?? .connectionEnded
      queue.fail(StackError("reach the kernel's Bluetooth management", reason))
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw StackError("reach the kernel's Bluetooth management", .system(error))
    }
  }

  /// Sends a command.
  ///
  /// - Parameters:
  ///   - command: the command with its parameters
  ///   - index: of the adapter; `.none` for commands without one
  ///   - completion: called exactly once, within three seconds
  package func send<Response>(
    _ command: ManagementCommand<Response>, to index: AdapterIndex = .none,
    completion: @escaping (Result<Response, StackError>) -> Void
  ) {
    queue.enqueue(command, to: index, completion: completion)
  }

  /// Sends a command and waits for the answer: for at most three seconds, or until the task is cancelled, which does
  /// not cancel the command.
  package func send<Response>(
    _ command: ManagementCommand<Response>, to index: AdapterIndex = .none
  ) async throws(StackError) -> Response {
    try await awaitCallback { queue.enqueue(command, to: index, completion: $0) }
  }

  /// Ends the connection to the kernel.
  package func close() {
    socket.packets.close()
  }
}

/// Sends commands to the kernel's management interface, and returns its answers to the callers. It does no I/O.
///
/// The kernel answers in any order; if two commands of the same kind to the same adapter are pending, the first answer
/// completes the first command, as the answers have no other identifier.
final class ManagementQueue {
  typealias Completion = (Result<[UInt8], StackError>) -> Void

  static let deadline = Duration.seconds(3)

  private struct Entry {
    var id: UInt64
    var opcode: UInt16
    /// The purpose of the command, for errors.
    var operation: String
    var index: AdapterIndex
    var deadline: Timers.Token
    var completion: Completion
  }

  /// Called for each event that is not an answer.
  var onEvent: ((ManagementEvent, AdapterIndex) -> Void)?

  private let timers: Timers
  private let send: (RawSpan) -> Void
  private var entries: [Entry] = []
  private var nextID: UInt64 = 0
  private var failure: StackError?

  init(timers: Timers, send: @escaping (RawSpan) -> Void) {
    self.timers = timers
    self.send = send
  }

  /// Sends a command.
  ///
  /// - Returns: a closure that stops waiting for the answer: the command completes as cancelled
  @discardableResult
  func enqueue<Response>(
    _ command: ManagementCommand<Response>, to index: AdapterIndex,
    completion: @escaping (Result<Response, StackError>) -> Void
  ) -> () -> Void {
    let operation = index == .none ? command.operation : "\(command.operation) (\(index))"
    if let failure {
      completion(.failure(failure))
      return {}
    }
    let id = nextID
    nextID &+= 1
    let timer = timers.schedule(after: Self.deadline) { [weak self] in
      self?.finish(id, .failure(StackError(operation, .noAnswer)))
    }
    entries.append(
      Entry(id: id, opcode: command.opcode, operation: operation, index: index, deadline: timer) { result in
        switch result {
        case .failure(let error): completion(.failure(error))
        case .success(let parameters):
          let response = try? parameters.withReader(command.read)
          completion(response.map { .success($0) } ?? .failure(StackError(operation, .malformedAnswer)))
        }
      })
    var packet = ByteWriter()
    ManagementPacket(command, to: index).write(into: &packet)
    send(packet.span)
    return { [weak self] in self?.finish(id, .failure(.cancelled)) }
  }

  /// Handles a packet from the kernel. Undecodable packets are ignored.
  func receive(_ packet: RawSpan) {
    var reader = ByteReader(packet)
    guard let packet = try? ManagementPacket(parsing: &reader), let event = try? ManagementEvent(packet)
    else { return }
    switch event {
    case .commandComplete(let opcode, let status, let parameters):
      answer(opcode, packet.index, status, parameters)
    case .commandStatus(let opcode, let status): answer(opcode, packet.index, status, [])
    default: onEvent?(event, packet.index)
    }
  }

  private func answer(
    _ opcode: UInt16, _ index: AdapterIndex, _ status: ManagementStatus, _ parameters: [UInt8]
  ) {
    guard let entry = entries.first(where: { $0.opcode == opcode && $0.index == index }) else { return }
    guard status != .success else { return finish(entry.id, .success(parameters)) }
    let reason: StackError =
      switch status {
      case .permissionDenied: .missing(.netAdmin)
      case .invalidIndex: .noSuchAdapter
      case .notPowered: .adapterDown(index)
      case .blockedByRFKill: .radioBlocked
      default: .management(status)
      }
    finish(entry.id, .failure(StackError(entry.operation, reason)))
  }

  private func finish(_ id: UInt64, _ result: Result<[UInt8], StackError>) {
    guard let place = entries.firstIndex(where: { $0.id == id }) else { return }
    let entry = entries.remove(at: place)
    timers.cancel(entry.deadline)
    entry.completion(result)
  }

  /// Fails all pending and future commands.
  func fail(_ error: StackError) {
    failure = failure ?? error
    for entry in entries { finish(entry.id, .failure(error)) }
  }
}

/// A process that gives the kernel's management a last command when this process ends, whatever ends it. The kernel keeps the
/// settings of programs: an advertisement of a program that was killed would go on, and use up one of the few that there may
/// be.
///
/// That process has the management's socket, and no privilege.
final class LastCommand {
  private let channel: Int32

  /// - Returns: nil if the process cannot be started
  @BluetoothActor
  init?(_ management: Management) {
    channel = KernelFunction.startLastCommand(management.descriptor)
    guard channel >= 0 else { return nil }
  }

  deinit {
    close(channel)
  }

  /// - Parameter packet: replaces the one before; nil for none
  func set(_ packet: ManagementPacket?) {
    var writer = ByteWriter()
    packet?.write(into: &writer)
    // A packet of one byte is no command.
    if packet == nil { writer.write(UInt8(0)) }
    writer.bytes.withUnsafeBytes { bytes in
      _ = SystemCall.send(channel, bytes.baseAddress, bytes.count, waits: false)
    }
  }
}
