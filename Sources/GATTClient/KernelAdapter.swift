import BluetoothCore
import EventLoop
import HCI
import L2CAP

/// A radio that the kernel drives: the raw channel scans and watches, the kernel makes the links and carries ATT over
/// its L2CAP sockets, and its management sets what links are made with.
@BluetoothActor
public final class KernelAdapter: Adapter {
  public var onReport: ((AdvertisingReport, Instant) -> Void)?
  public var onScanFailure: ((HCIError) -> Void)?
  public var onFailure: ((HCIError) -> Void)?
  /// Called with what a person may want to know, and is no failure.
  public var onNote: ((String) -> Void)?

  /// How long the kernel may take to remove an adapter that it has brought down.
  private static let removalTime = Duration.milliseconds(300)
  /// How long to wait for the end of a scan.
  private static let closeDeadline = Duration.milliseconds(500)

  public let index: AdapterIndex
  private var socket: HCISocket<RawChannel>?
  private var controller: RawController?
  private var management: Management?
  private var address = BluetoothAddress(0, .public)
  private var connector: KernelConnector?
  private var failure: HCIError?
  /// What the controller has reported of links since we look.
  private var parameters: [ConnectionHandle: LinkParameters] = [:]
  private var links: [KernelLink] = []
  private var reasons: [ConnectionHandle: HCIErrorCode] = [:]
  /// What links that are gone had lost.
  private var droppedBefore = 0

  public var droppedPackets: Int? {
    links.reduce(droppedBefore + (socket?.packets.droppedPackets ?? 0)) { $0 + $1.droppedPackets }
  }

  public init(_ index: AdapterIndex) {
    self.index = index
  }

  // MARK: Start and end

  /// Opens the sockets. ``start()`` does it, too, if it has not been done: by itself for who wants to give privileges
  /// up in between.
  public func open() async throws(KernelError) {
    try await check()
    controller = try openSockets()
  }

  public func start() async throws(HCIError) -> AdapterInformation {
    do throws(KernelError) {
      if controller == nil { try await open() }
    } catch {
      throw .kernel(error)
    }
    guard let controller else { throw .notReady }
    let information = try await awaitCallback {
      (done: @escaping (Result<RawController.Information, HCIError>) -> Void) in
      controller.initialize(completion: done)
      return {}
    }
    connector = KernelConnector(self, address: address, controller: controller)
    return AdapterInformation(
      address: address, version: "\(information.version.hciVersion)",
      usesExtendedScan: information.usesExtendedScan)
  }

  /// Makes sure that the adapter can be used, before anything is sent to it.
  private func check() async throws(KernelError) {
    let operation = "use \(index)"
    guard let state = try await Controllers.list(isDetailed: false).first(where: { $0.index == index }) else {
      throw KernelError(operation, .noSuchAdapter)
    }
    // Asked first, as the kernel only refuses each command.
    guard Capability.netRaw.isEffective else { throw KernelError(operation, .missing(.netRaw)) }
    guard !state.isTaken else { throw KernelError(operation, .adapterTaken) }
    guard state.isUp else { throw KernelError(operation, .adapterDown(index)) }
    address = state.address
  }

  private func openSockets() throws(KernelError) -> RawController {
    let socket = try HCISocket<RawChannel>(index, filter: RawController.filter)
    self.socket = socket
    let controller = RawController(
      timers: EventLoop.shared.timers, ownAddressType: address.value == 0 ? .random : .public
    ) { packet in socket.packets.send(packet) }
    controller.onReport = { [weak self] report, time in self?.onReport?(report, time) }
    controller.onScanFailure = { [weak self] error in self?.onScanFailure?(error) }
    controller.onFailure = { [weak self] error in self?.fail(error) }
    controller.onLink = { [weak self] news in self?.note(news) }
    socket.packets.onPacket = { packet, time in controller.receive(packet, at: time) }
    socket.packets.onClosed = { [weak self] error in self?.closed(error) }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw KernelError("use \(index)", .system(error))
    }
    // Without management, links are made with the kernel's defaults.
    management = try? Management()
    management?.onEvent = { [weak self] event, index in
      guard let self, index == self.index else { return }
      switch event {
      case .removed: fail((try? HCIDevices.state(of: index)) == nil ? .adapterRemoved : .adapterTaken)
      case .settings(let settings) where !settings.contains(.powered): _ = isGone()
      default: break
      }
    }
    return controller
  }

  public func close() async {
    // A scan that is on its way, too, is ended before nobody can end it any more.
    controller?.setScan(nil)
    if failure == nil, let controller {
      try? await awaitCallback { (done: @escaping (Result<Void, CancellationError>) -> Void) in
        var done: ((Result<Void, CancellationError>) -> Void)? = done
        let finish = {
          done?(.success(()))
          done = nil
        }
        controller.pauseScan(then: finish)
        EventLoop.shared.timers.schedule(after: Self.closeDeadline, finish)
        return finish
      }
    }
    controller?.fail(.cancelled)
    socket?.packets.close()
    management?.close()
  }

  private func closed(_ error: SystemError?) {
    fail(error.map { KernelError.Reason(opening: $0, adapter: index) } ?? .adapterRemoved)
  }

  private func fail(_ reason: KernelError.Reason) {
    fail(.kernel(KernelError("go on with \(index)", reason)))
  }

  private func fail(_ error: HCIError) {
    guard failure == nil else { return }
    failure = error
    connector?.fail(error)
    let lost = links
    links = []
    for link in lost { link.lose(.remote(.hardwareFailure)) }
    controller?.fail(error)
    onFailure?(error)
  }

  // MARK: Scanning and connecting

  public func setScan(_ parameters: ScanParameters?) {
    controller?.setScan(parameters)
  }

  public func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, HCIError>) -> Void
  ) -> () -> Void {
    guard failure == nil, let connector else {
      completion(.failure(failure ?? .notReady))
      return {}
    }
    return connector.connect(request, completion: completion)
  }

  /// Tells the kernel what to make the next link to a peer with, and says when it knows.
  func load(_ request: ConnectionRequest, then next: @escaping () -> Void) {
    guard let management else {
      onNote?("connection parameters are the kernel's: it has no Bluetooth management")
      return next()
    }
    let command = LoadConnectionParameters(peer: request.peer, parameters: request.parameters)
    management.send(command, to: index) { [weak self] result in
      if case .failure(let error) = result {
        self?.onNote?("connection parameters are the kernel's: \(error)")
      }
      next()
    }
  }

  // MARK: Links

  private func note(_ news: RawController.LinkNews) {
    switch news {
    case .connected(let handle, _, let parameters):
      self.parameters[handle] = parameters
      reasons[handle] = nil
      connector?.connected(handle)
    case .parameters(let handle, let parameters):
      self.parameters[handle] = parameters
      links.first { $0.handle == handle }?.adopt(parameters)
    case .parametersRefused(let handle, let status):
      links.first { $0.handle == handle }?.parametersRefused("\(status)")
    case .disconnected(let handle, let reason):
      parameters[handle] = nil
      reasons[handle] = reason
      connector?.disconnected(handle, reason)
    case .failed(let peer, let status): connector?.failed(peer, status)
    }
  }

  /// Takes over a socket that is connected.
  ///
  /// - Parameter isOurs: whether the link was made for it, and is not one that somebody else has made
  func adopt(_ socket: L2CAPSocket, for request: ConnectionRequest, isOurs: Bool) -> KernelLink {
    // What the controller said of the link is on its way to us since before the socket was connected.
    let link = KernelLink(
      self, socket, peer: request.peer, parameters: socket.handle.flatMap { parameters[$0] }, isOurs: isOurs,
      pin: KernelParameterPin(request))
    links.append(link)
    // The kernel may not have taken ours, or the link may be somebody else's.
    link.holdParameters()
    return link
  }

  /// Fetches what the raw channel holds: the kernel hands an event to it before it acts upon it.
  func catchUp() {
    socket?.packets.receivePending()
  }

  func disconnect(_ handle: ConnectionHandle) {
    controller?.disconnect(handle)
  }

  /// Has the controller change a link's parameters. The kernel checks for each command that we may (CAP_NET_RAW).
  func update(
    _ handle: ConnectionHandle, to parameters: ConnectionParameters,
    completion: @escaping (Result<Void, HCIError>) -> Void
  ) {
    controller?.update(handle, to: parameters, completion: completion)
  }

  func readRSSI(_ handle: ConnectionHandle) async throws(HCIError) -> Int8? {
    guard let controller else { throw .notReady }
    return try await awaitCallback { (done: @escaping (Result<Int8?, HCIError>) -> Void) in
      controller.readRSSI(handle, completion: done)
      return {}
    }
  }

  func remove(_ link: KernelLink) {
    droppedBefore += link.droppedPackets
    links.removeAll { $0 === link }
  }

  /// A link's socket has ended: why? What the controller gave as the reason is better than the kernel's number.
  ///
  /// - Returns: nil if the adapter itself is gone or going, which is told at once or in a moment
  func lossReason(of link: KernelLink, _ error: SystemError?) -> HCIErrorCode? {
    catchUp()
    if failure != nil { return nil }
    if let handle = link.handle, let reason = reasons[handle] { return reason }
    return isGone() ? nil : HCIErrorCode(losing: error)
  }

  /// Looks whether the adapter is still there, and fails if it is not.
  func isGone() -> Bool {
    guard failure == nil else { return true }
    do throws(KernelError) {
      if try HCIDevices.state(of: index).isUp { return false }
      // One that is removed is brought down first; that it is removed is told in a moment.
      EventLoop.shared.timers.schedule(after: Self.removalTime) { [weak self] in
        guard let self else { return }
        fail(.adapterDown(index))
      }
    } catch {
      fail(error.reason == .noSuchAdapter ? .adapterRemoved : error.reason)
    }
    return true
  }
}
