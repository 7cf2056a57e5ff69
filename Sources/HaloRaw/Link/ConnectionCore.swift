import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import HaloDevices

/// A link of a connection, with the attributes that were discovered on it.
@BluetoothActor
final class CurrentLink {
  let link: GATTLink
  var table = RemoteTable()
  /// Whether a request of the program was carried out.
  var hasAnswered = false
  var gatt: GATTClient { link.gatt }

  init(_ link: GATTLink) {
    self.link = link
  }

  func characteristic(_ place: Place) async throws(StackError) -> Characteristic {
    try await table.characteristic(place, gatt)
  }

  /// - Throws: `.notFound` with the attribute that the device lacks
  func descriptor(_ id: DescriptorID) async throws(StackError) -> Descriptor {
    let all = try await gatt.discoverDescriptors(of: try await characteristic(Place(id.characteristic)))
    guard let found = all.lazy.filter({ $0.uuid == id.uuid }).dropFirst(id.instance).first else {
      throw .notFound("descriptor \(id)")
    }
    return found
  }
}

/// The links of a connection, one after the other: carries out requests on the current one, and lets others wait for the next.
@BluetoothActor
final class ConnectionCore {
  /// A change of the link.
  enum Change {
    case lost(BluetoothError, isFinal: Bool)
    case restored
    case event(LinkEvent)
    case servicesChanged(HandleRange)
  }

  /// The link that there is, or the last one.
  private(set) var live: CurrentLink
  /// Called after each change.
  var onChange: (Change) -> Void = { _ in }
  /// Called with a new link, before other requests are made on it.
  var onOpen: (CurrentLink) async throws(StackError) -> Void = { _ throws(StackError) in }

  /// Nil for a link that the device has made.
  private let establisher: LinkEstablisher?
  private let isKept: Bool
  private var isClosed = false
  /// Makes the next link; nil while there is one, and when there will be none.
  private var making: Task<Void, Never>?
  /// Why there will be no other link.
  private(set) var end: BluetoothError?
  private var waiting = Waiters<BluetoothError>()
  private static let closed = BluetoothError(.closed, "the connection was closed")
  /// How long a link may take to end.
  private static let endingTime = Duration.seconds(5)

  init(_ link: GATTLink, _ establisher: LinkEstablisher? = nil, isKept: Bool = false) {
    live = CurrentLink(link)
    self.establisher = establisher
    self.isKept = isKept
    watch(link)
  }

  isolated deinit {
    making?.cancel()
    establisher?.leave(live.link)
  }

  private func watch(_ link: GATTLink) {
    var handlers = SharedLinks.Handlers()
    handlers.changed = { [weak self] event in self?.onChange(.event(event)) }
    handlers.lost = { [weak self, weak link] loss in
      if let link { self?.lost(link, loss) }
    }
    // The table keeps handles.
    handlers.servicesChanged = { [weak self] range in self?.onChange(.servicesChanged(range)) }
    if let establisher { return establisher.watch(link, handlers) }
    // The device has made the link, and this is used for as long as it lasts.
    link.whenChanged(handlers.changed)
    link.gatt.whenServicesChanged(handlers.servicesChanged)
    link.whenDisconnected(handlers.lost)
  }

  private func lost(_ link: GATTLink, _ loss: LinkLoss) {
    // While a link is made, its loss is reported to the establisher.
    guard link === live.link else { return }
    let error = isClosed ? Self.closed : BluetoothError(StackError.closed(loss.description))
    guard let establisher, isKept, !isClosed else { return finish(error) }
    onChange(.lost(error, isFinal: false))
    establisher.onOpen = { [weak self] link throws(StackError) in
      guard let self else { throw .cancelled }
      try await open(link)
    }
    let hasGivenData = live.hasAnswered || live.gatt.hasReceivedValues
    making = BluetoothActor.run { [weak self] in
      do throws(StackError) {
        let link = try await establisher.next(after: loss, hasGivenData: hasGivenData)
        if let self { self.restored(link) } else { establisher.leave(link) }
      } catch {
        self?.finish(BluetoothError(error))
      }
    }
  }

  /// The next link, which is open but not live yet.
  private var next: CurrentLink?

  private func open(_ link: GATTLink) async throws(StackError) {
    let opened = CurrentLink(link)
    try await onOpen(opened)
    next = opened
  }

  private func restored(_ link: GATTLink) {
    making = nil
    live = next ?? CurrentLink(link)
    next = nil
    onChange(.restored)
    // It may be lost already, which is reported at once.
    watch(link)
    if making == nil { waiting.end(with: .success(())) }
  }

  private func finish(_ error: BluetoothError) {
    guard end == nil else { return }
    making = nil
    end = error
    onChange(.lost(error, isFinal: true))
    waiting.end(with: .failure(error))
  }

  /// Whether another link is made, or will be, when one was lost with this error.
  func isMade(after error: BluetoothError) -> Bool {
    isKept && !isClosed && end == nil && error.code == .linkLost
  }

  // MARK: Requests

  /// The link that there is; waits for it while it is made.
  func current() async throws(BluetoothError) -> CurrentLink {
    while making != nil {
      try await awaitCallback(unless: making == nil) {
        (done: @escaping (Result<Void, BluetoothError>) -> Void) in
        let wait = waiting.add(done)
        return { self.waiting.end(wait.id, with: .cancelled) }
      }
    }
    if let end { throw end }
    // The establisher has done so.
    if establisher == nil { live.link.makeUsable() }
    return live
  }

  /// Carries out a request: on the next link if this one is lost and the request may be repeated, and again if the device has
  /// said meanwhile that its services have changed.
  func perform<Result>(
    repeats mayRepeat: () -> Bool, _ work: (CurrentLink) async throws(StackError) -> Result
  ) async throws(BluetoothError) -> Result {
    while true {
      let live = try await current()
      do throws(StackError) {
        let result = try await live.gatt.whileServicesChange { () throws(StackError) in
          do throws(StackError) {
            return try await work(live)
          } catch .servicesChanged {
            live.table = RemoteTable()
            throw .servicesChanged
          }
        }
        live.hasAnswered = true
        return result
      } catch {
        // The device does not indicate that its services have changed.
        if error.attCode == .invalidHandle { live.table = RemoteTable() }
        if error.code == .closed {
          // A link on which an answer is missing carries no other request, and is about to end.
          let link = live.link
          _ = await link.timers.within(Self.endingTime) { _ = try? await link.disconnection() }
          if isKept, end == nil, !link.isConnected, mayRepeat() { continue }
          if let end { throw end }
        }
        throw BluetoothError(error)
      }
    }
  }

  /// Ends the link, and makes no other.
  func disconnect() async {
    isClosed = true
    making?.cancel()
    guard establisher?.leave(live.link) != true else { return finish(Self.closed) }
    await live.link.disconnect()
    finish(Self.closed)
  }
}
