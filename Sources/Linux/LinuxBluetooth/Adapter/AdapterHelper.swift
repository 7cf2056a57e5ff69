import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// A separate process that opens the user channel of one adapter, and switches the adapter on and off.
///
/// Each of these requires CAP_NET_ADMIN at that time, and a lost adapter may be reopened long after this process has
/// dropped the capability. The helper has nothing else: no files, no other privileges, and no adapter other than the
/// one with the given address. It ends with this object, or with this process. Driver calls that take seconds do not
/// block the loop.
@BluetoothActor
final class AdapterHelper {
  /// The timeout for the driver to open or close a controller; some load firmware first.
  static let deadline = Duration.seconds(20)

  /// The size of struct halo_adapter_reply, in bytes.
  private static let replyLength = 8

  private enum Action: UInt16 {
    case take = 1
    case bringUp = 2
    case bringDown = 3
  }

  @BluetoothActor
  private struct Request {
    let action: Action
    let index: AdapterIndex
    let end: OneShot<Result<Int32, StackError>>

    var operation: String {
      switch action {
      case .take: "take \(index)"
      case .bringUp: "bring \(index) up"
      case .bringDown: "bring \(index) down"
      }
    }

    func failure(_ reason: StackError) -> Result<Int32, StackError> {
      .failure(StackError(operation, reason))
    }
  }

  private var channel: Int32
  private let timers: Timers
  private var watch: EpollLoop.Watch?
  /// The first request has been sent to the helper.
  private var requests: [Request] = []
  private var number: UInt32 = 0

  /// Starts the helper. Requires CAP_NET_ADMIN.
  ///
  /// - Parameter address: the kernel's address of the adapter; all zero if it has none
  convenience init(for address: BluetoothAddress) throws(StackError) {
    var writer = ByteWriter(capacity: 6)
    address.write(into: &writer)
    let channel = KernelFunction.startHelper(writer.bytes, PacketSocket.receiveBuffer)
    guard channel >= 0 else {
      throw StackError("take an adapter", .system(SystemError("fork", errno: -channel)))
    }
    try self.init(channel: channel)
  }

  /// - Parameters:
  ///   - channel: to the helper: a socket that keeps packets apart, and does not block; it is closed with this object
  ///   - timers: the clock of ``deadline``
  init(channel: Int32, timers: Timers = EpollLoop.shared.timers) throws(StackError) {
    self.channel = channel
    self.timers = timers
    do throws(SystemError) {
      watch = try EpollLoop.shared.watch(channel, for: .readable) { [weak self] _ in self?.receive() }
    } catch {
      Glibc.close(channel)
      throw StackError("take an adapter", .system(error))
    }
  }

  isolated deinit {
    close()
  }

  /// Ends the helper after its pending requests.
  func close() {
    guard channel >= 0 else { return }
    watch?.cancel()
    Glibc.close(channel)
    channel = -1
    let open = requests
    requests = []
    for request in open { request.end(request.failure(.cancelled)) }
  }

  /// Opens the user channel of an adapter, which must be down.
  ///
  /// - Returns: a non-blocking descriptor bound to the user channel
  func take(_ index: AdapterIndex) async throws(StackError) -> Int32 {
    try await perform(.take, index)
  }

  /// Brings an adapter up; no change if it is up.
  func bringUp(_ index: AdapterIndex) async throws(StackError) {
    _ = try await perform(.bringUp, index)
  }

  /// Brings an adapter down; its links end.
  func bringDown(_ index: AdapterIndex) async throws(StackError) {
    _ = try await perform(.bringDown, index)
  }

  /// Waits for an answer until ``deadline``, or until the task is cancelled. A pending request is not cancelled; an
  /// adapter that is opened too late is closed at once.
  private func perform(_ action: Action, _ index: AdapterIndex) async throws(StackError) -> Int32 {
    try await awaitCallback { (done: @escaping (Result<Int32, StackError>) -> Void) in
      let request = Request(action: action, index: index, end: OneShot(done))
      request.end.expire(
        after: Self.deadline, in: timers, with: request.failure(.kernelSilent))
      requests.append(request)
      if requests.count == 1 { sendFirst() }
      return { request.end(request.failure(.cancelled)) }
    }
  }

  private func sendFirst() {
    guard let request = requests.first else { return }
    number &+= 1
    // struct halo_adapter_request.
    var message = ByteWriter(capacity: 8)
    message.write(number)
    message.write(request.index.rawValue)
    message.write(request.action.rawValue)
    let bytes = message.bytes
    if SystemCall.send(channel, bytes, bytes.count) < 0 { end() }
  }

  private func receive() {
    var answered: UInt32 = 0
    var code: Int32 = 0
    var descriptor: Int32 = -1
    let count = KernelFunction.receiveReply(channel, &answered, &code, &descriptor)
    guard count == Self.replyLength else {
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      return end()
    }
    guard answered == number, !requests.isEmpty else { return }
    let request = requests.removeFirst()
    let isWanted = request.end(result(of: request, code, descriptor))
    if !isWanted, descriptor >= 0 {
      // The adapter is released before anything else is done with it.
      KernelCall.close(descriptor) { [weak self] in self?.sendFirst() }
    } else {
      sendFirst()
    }
  }

  private func result(of request: Request, _ code: Int32, _ descriptor: Int32) -> Result<Int32, StackError> {
    if code == 0 { return .success(descriptor) }
    let error = SystemError("bind", errno: code)
    let reason: StackError =
      switch request.action {
      case .take: StackError(takingUserChannel: error, try? HCIDevices.state(of: request.index))
      case .bringUp, .bringDown:
        code == EPERM ? .missing(.netAdmin) : StackError(opening: SystemError("ioctl", errno: code))
      }
    return request.failure(reason)
  }

  /// The helper has ended prematurely, or could not start.
  private func end() {
    let open = requests
    requests = []
    watch?.cancel()
    let error = SystemError("halo-adapter", errno: EPIPE)
    for request in open { request.end(request.failure(.system(error))) }
  }
}
