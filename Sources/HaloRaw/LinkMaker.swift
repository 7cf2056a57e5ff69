import GAP
import GATTClient
import HCI
import HaloBluetoothCore

/// Why there is no link, for a program and for the `LinkKeeper`.
struct LinkFailure: Error {
  var error: BluetoothError
  var fault: LinkKeeper.Fault

  init(_ error: BluetoothError, _ fault: LinkKeeper.Fault) {
    self.error = error
    self.fault = fault
  }

  init(_ error: GAPError) { self.init(BluetoothError(error), LinkKeeper.Fault(error)) }
}

/// Makes the links of a connection: carries out what a `LinkKeeper` decides, on a radio.
@BluetoothActor
final class LinkMaker {
  /// Makes a link usable that was just established.
  typealias Open = @BluetoothActor (GATTLink) async throws(LinkFailure) -> Void

  private let radio: Radio
  private let device: DeviceSelector
  private var keeper: LinkKeeper
  private var peer: BluetoothAddress?
  private var timers: Timers { radio.central.timers }

  /// - Parameters:
  ///   - radio: where
  ///   - device: which device
  ///   - limit: how long the first link may take
  ///   - reconnection: how long the later ones may take
  init(_ radio: Radio, _ device: DeviceSelector, within limit: Duration, _ reconnection: Reconnection) {
    self.radio = radio
    self.device = device
    peer = device.address
    keeper = LinkKeeper(
      LinkKeeper.Budget(first: limit, later: reconnection.time ?? .zero, steadyTime: .seconds(10)),
      isKnown: device.address != nil, canSearch: device.address == nil)
  }

  /// The first link.
  func first() async throws(BluetoothError) -> GATTLink {
    let link = try await drive(keeper.begin(at: timers.current)) { _ throws(LinkFailure) in }
    keeper.dataFlow()
    return link
  }

  /// Another link, after one was lost.
  ///
  /// - Parameters:
  ///   - loss: why it was lost
  ///   - open: makes the new one usable
  func next(after loss: LinkLoss, open: Open) async throws(BluetoothError) -> GATTLink {
    let fault: LinkKeeper.Fault =
      if case .adapter(let error) = loss { LinkKeeper.Fault(error) } else { .link }
    let isPeers = loss.isByPeer
    let action = keeper.failed(fault, endedByPeer: isPeers, at: timers.current)
    guard action != .giveUp else { throw BluetoothError(.linkLost, loss.description) }
    return try await drive(action, open)
  }

  /// Data have come on the last link: the next one has the whole time.
  func dataFlow() { keeper.dataFlow() }

  /// Uses a link no longer. It ends, unless others use it, or the device has made it.
  ///
  /// - Returns: whether it stays
  @discardableResult
  func leave(_ link: GATTLink) -> Bool { radio.managed.links.leave(link.peer, user: self) }

  private func drive(_ first: LinkKeeper.Action, _ open: Open) async throws(BluetoothError) -> GATTLink {
    var action = first
    var link: GATTLink?
    while true {
      do throws(LinkFailure) {
        if case .connect(let time) = action {
          if let link, !leave(link) { await link.disconnect() }
          link = try await connect(within: time)
        } else {
          try await carryOut(action, link, open)
        }
        if Task.isCancelled { throw LinkFailure(.cancelled, .final) }
        if action == .flow, let link { return link }
        action = keeper.succeeded(action, at: timers.current)
      } catch {
        let next: LinkKeeper.Action =
          Task.isCancelled
          ? .giveUp
          : keeper.failed(
            error.fault, during: link?.unfinished,
            endedByPeer: link?.loss?.isByPeer == true, at: timers.current)
        guard next != .giveUp else {
          if let link { leave(link) }
          throw Task.isCancelled ? .cancelled : error.error
        }
        action = next
      }
    }
  }

  private func carryOut(
    _ action: LinkKeeper.Action, _ link: GATTLink?, _ open: Open
  ) async throws(LinkFailure) {
    switch action {
    case .find(let time): peer = try await find(within: time)
    case .open(let time):
      guard let link else { throw LinkFailure(.hci(.notConnected)) }
      // What waits for an answer on this link fails then.
      let end = timers.schedule(after: time) { link.end() }
      defer { timers.cancel(end) }
      do throws(GATTError) {
        try await link.gatt.exchangeMTU()
        link.gatt.watchServiceChanges()
      } catch {
        throw LinkFailure(.gatt(error))
      }
      try await open(link)
    case .pause(let time): await timers.sleep(for: time)
    case .recover(let time):
      do throws(BluetoothError) {
        try await radio.untilUsable(within: time)
      } catch {
        throw LinkFailure(error, .controller)
      }
    case .connect, .start, .flow, .giveUp: break
    }
  }

  private func checkRadio() throws(LinkFailure) {
    if radio.isClosed { throw LinkFailure(.closed, .final) }
  }

  private func find(within time: Duration) async throws(LinkFailure) -> BluetoothAddress {
    try checkRadio()
    let device = self.device
    if let linked = linkedPeer { return linked }
    do throws(GAPError) {
      let heard = try await radio.central.find(within: time, filter: device.filter, where: device.matches)
      if let heard { return heard.address }
    } catch {
      throw LinkFailure(error)
    }
    let hint =
      radio.central.lacksScanResponses
      ? "; the adapter receives no scan responses, which have the names of many devices: give its address"
      : "; is it near, charged, and not held by a phone?"
    let text =
      "\(device) did not advertise for \(Int(time.inSeconds.rounded())) s\(hint)"
    throw LinkFailure(BluetoothError(.notFound, text), .absence)
  }

  /// A device that the radio has a link to, which need not advertise then: the one that is meant, by what it has advertised.
  private var linkedPeer: BluetoothAddress? {
    radio.managed.links.peers.first { peer in radio.central.lastHeard(of: peer).map(device.matches) ?? false }
  }

  private func connect(within time: Duration) async throws(LinkFailure) -> GATTLink {
    try checkRadio()
    guard let peer else { throw LinkFailure(.hci(.notConnected)) }
    var request = ConnectionRequest(peer: peer, deadline: time)
    request.leftOut = keeper.leftOut
    do throws(GAPError) {
      let links = radio.managed.links
      let link = try await links.connect(request, over: radio.central, user: self)
      links.join(link, user: self)
      return link
    } catch {
      throw LinkFailure(error)
    }
  }
}
