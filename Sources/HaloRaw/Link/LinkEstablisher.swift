import GAP
import HCI
import HaloBluetoothCore
import HaloDevices

/// The links of a connection to a device, one after the other.
@BluetoothActor
final class LinkEstablisher: LinkUser {
  /// Makes a link usable that was made after another one was lost.
  var onOpen: (GATTLink) async throws(StackError) -> Void = { _ throws(StackError) in }

  /// How long a device with a link may take to answer requests for its identity.
  private static let askingTime = Duration.seconds(5)
  private let radio: Radio
  private let device: DeviceSelector
  private let options: LinkOptions
  private let managed: ManagedLink<LinkEstablisher>

  /// - Parameters:
  ///   - radio: where
  ///   - device: which device
  ///   - limit: how long the first link may take
  ///   - reconnection: how long the later ones may take
  ///   - options: the properties of each link
  init(
    _ radio: Radio, _ device: DeviceSelector, within limit: Duration, _ reconnection: Reconnection,
    _ options: LinkOptions
  ) {
    self.radio = radio
    self.device = device
    self.options = options
    managed = ManagedLink(
      to: device.address, canSearch: device.address == nil,
      ReconnectPolicy.Budget(first: limit, later: reconnection.time ?? .zero, steadyTime: .seconds(10)),
      .first,
      timers: radio.central.timers)
  }

  /// The first link.
  func first() async throws(StackError) -> GATTLink {
    let link = try await usable()
    managed.dataFlow()
    return link
  }

  /// Another link, after one was lost.
  ///
  /// - Parameters:
  ///   - loss: why it was lost
  ///   - hasGivenData: whether data had come on it: the next one has the whole time then
  func next(after loss: LinkLoss, hasGivenData: Bool) async throws(StackError) -> GATTLink {
    if hasGivenData { managed.dataFlow() }
    guard managed.lost(loss) else { throw .closed(loss.description) }
    return try await usable()
  }

  /// Reports the events of an existing link, at once if it is lost already, until the link is left.
  func watch(_ link: GATTLink, _ handlers: SharedLinks.Handlers) {
    radio.managed.links.join(link, user: self, handlers)
  }

  /// Uses a link no longer. It ends, unless others use it, or the device has made it.
  ///
  /// - Returns: whether it stays
  @discardableResult
  func leave(_ link: GATTLink) -> Bool { radio.managed.links.leave(link.identity, user: self) }

  private func usable() async throws(StackError) -> GATTLink {
    do throws(StackError) {
      try await managed.ask(for: self) { () throws(StackError) in }
    } catch {
      throw Task.isCancelled ? .cancelled : error
    }
    guard let link = managed.link else { throw .notConnected }
    return link
  }

  // MARK: The steps

  func find(within time: Duration) async throws(StackError) -> BluetoothAddress {
    try checkRadio()
    let device = self.device
    if let linked = await linkedPeer() { return linked }
    let heard = try await radio.central.find(within: time, filter: device.filter, where: device.matches)
    if let heard { return heard.address }
    if let use = device.address.flatMap(radio.central.useByOthers) { throw use }
    let hint =
      radio.central.lacksScanResponses
      ? "; the adapter receives no scan responses, which have the names of many devices: give its address"
      : "; is it near, charged, and not held by a phone?"
    let text = "\(device) did not advertise for \(Int(time.inSeconds.rounded())) s\(hint)"
    throw StackError(.peerNotFound, .absence, text)
  }

  /// A device that the radio has a link to, which need not advertise then: the one that is selected, by its earlier
  /// advertisements, or by its attributes.
  private func linkedPeer() async -> BluetoothAddress? {
    let links = radio.managed.links
    for peer in links.peers {
      if let heard = radio.central.lastHeard(of: peer) {
        if device.matches(heard) { return peer.address }
      } else if let link = links.link(to: peer) {
        let device = self.device
        var isMeant = false
        _ = await link.timers.within(Self.askingTime) { isMeant = await device.matches(link) }
        if isMeant { return peer.address }
      }
    }
    return nil
  }

  func connect(to peer: BluetoothAddress, within time: Duration) async throws(StackError) -> GATTLink {
    try checkRadio()
    let request = options.request(for: peer, within: time)
    let links = radio.managed.links
    return try await links.connect(request, over: radio.central, user: self)
  }

  func open(_ link: GATTLink) async throws(StackError) {
    try await link.gatt.exchangeMTU()
    // A link that others have made, or are making, has their options. Options that are not required may be refused.
    do throws(StackError) { try await options.apply(to: link) } catch {
      if options.isRequired { throw error }
    }
    try await options.prove(link)
    try await onOpen(link)
  }

  func recoverAdapter(within time: Duration) async throws(StackError) {
    try checkRadio()
    try await radio.managed.untilUsable(within: time)
  }

  func release(_ link: GATTLink) async {
    if !leave(link) { await link.disconnect() }
  }

  func failed(
    _ failure: StackError, in phase: ReconnectPolicy.Phase, hasFlowed: Bool,
    next: ReconnectPolicy.Action
  ) -> StackError {
    if next == .giveUp, let link = managed.link { leave(link) }
    return failure
  }

  private func checkRadio() throws(StackError) {
    if radio.isClosed { throw StackError(.radioClosed, .final, "the radio is closed") }
  }
}
