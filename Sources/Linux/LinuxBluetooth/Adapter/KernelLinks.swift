import GAP
import HCI
import HaloBluetoothCore
import HaloSystem

/// The links over the kernel's L2CAP, and the controller's reports about all links of the adapter.
@BluetoothActor
final class KernelLinks {
  /// The packets lost on all links, those included that have ended.
  var droppedPackets: Int { links.reduce(droppedBefore) { $0 + $1.droppedPackets } }

  let pairing: PairingWatch
  /// Set by the owner.
  var linkWatch: KernelLinkWatch?
  private let watch: KernelAdapterWatch
  private var links: [KernelLink] = []
  private var droppedBefore = 0
  private struct EndingLink: Hashable {
    let adapter: AdapterIndex
    let handle: ConnectionHandle
  }

  /// The links that this process ends, and until when. They outlive the object: another one may be opened on the adapter before
  /// the kernel has ended them.
  private static var ending: [EndingLink: Instant] = [:]
  /// The controller's reports since monitoring began.
  private var parameters: [ConnectionHandle: LinkParameters] = [:]
  private var reasons: [ConnectionHandle: HCIErrorCode] = [:]

  init(_ watch: KernelAdapterWatch, _ pairing: PairingWatch) {
    (self.watch, self.pairing) = (watch, pairing)
  }

  subscript(handle: ConnectionHandle) -> KernelLink? { links.first { $0.handle == handle } }

  func first(where isWanted: (KernelLink) -> Bool) -> KernelLink? { links.first(where: isWanted) }

  /// Whether other programs have links on the adapter.
  var haveOthers: Bool {
    ((try? HCIDevices.links(of: watch.index)) ?? []).contains { self[$0.handle] == nil }
  }

  /// This process ends a link.
  func willEnd(_ handle: ConnectionHandle, by deadline: Instant) { Self.ending[name(handle)] = deadline }

  /// Whether a link has ended or is ended, and the kernel may not know that yet.
  func isEnding(_ handle: ConnectionHandle, at now: Instant) -> Bool {
    reasons[handle] != nil || Self.ending[name(handle)].map { now < $0 } ?? false
  }

  private func name(_ handle: ConnectionHandle) -> EndingLink {
    EndingLink(adapter: watch.index, handle: handle)
  }

  // MARK: Start and end

  /// Takes over a socket that has connected.
  func add(
    _ socket: L2CAPSocket, of adapter: KernelAdapter, for request: ConnectionRequest, isOurs: Bool
  ) -> KernelLink {
    // Events of the controller about the link have been queued for us since before the socket was connected.
    let link = KernelLink(
      adapter, self, socket, peer: request.peer, parameters: socket.handle.flatMap { parameters[$0] },
      isOurs: isOurs, pin: ConnectionParameterOverride(request))
    links.append(link)
    linkWatch?.add(link)
    // The kernel may not have taken ours, or the link may be another program's.
    link.holdParameters()
    return link
  }

  /// Takes over a socket that was accepted: a central has made its link.
  func accept(_ socket: L2CAPSocket, of adapter: KernelAdapter, from central: BluetoothAddress) -> KernelLink
  {
    let link = KernelLink(
      adapter, self, socket, peer: central, role: .peripheral,
      parameters: socket.handle.flatMap { parameters[$0] }, isOurs: true, pin: nil)
    links.append(link)
    linkWatch?.add(link)
    return link
  }

  func remove(_ link: KernelLink) {
    droppedBefore += link.droppedPackets
    links.removeAll { $0 === link }
    linkWatch?.remove(link)
  }

  /// The adapter has failed: all links are lost.
  ///
  /// - Returns: the addresses of their peers
  func removeAll(_ error: StackError) -> Set<UInt64> {
    let lost = links
    for link in lost { link.lose(.adapter(error)) }
    parameters = [:]
    reasons = [:]
    return Set(lost.map(\.peer.value))
  }

  func knowsReason(of handle: ConnectionHandle) -> Bool { reasons[handle] != nil }

  /// The reason for which a link's socket has ended. The controller's is better than the kernel's number.
  ///
  /// - Returns: nil if the adapter is gone or about to go, which ends the link in a moment
  func loss(of link: KernelLink, _ error: SystemError?) -> LinkLoss? {
    if let handle = link.handle, let reason = reasons[handle] {
      // A link that this machine ends may be the first sign of that.
      guard reason == .connectionTerminatedByLocalHost || reason == .remotePowerOff else {
        return .remote(reason)
      }
      guard watch.isUsable() else { return nil }
      return reason == .remotePowerOff ? .remote(reason) : .local
    }
    return watch.isUsable() ? .remote(HCIErrorCode(losing: error)) : nil
  }

  // MARK: Reports of the controller

  func created(_ handle: ConnectionHandle, _ parameters: LinkParameters) {
    self.parameters[handle] = parameters
    reasons[handle] = nil
    Self.ending[name(handle)] = nil
    pairing.created(handle)
  }

  func changed(_ handle: ConnectionHandle, _ parameters: LinkParameters) {
    self.parameters[handle] = parameters
    self[handle]?.adopt(parameters)
  }

  /// Encryption has failed, for which the kernel is about to end the link.
  func encryptionFailed(_ handle: ConnectionHandle, _ reason: HCIErrorCode) { reasons[handle] = reason }

  /// This machine ends a link, whatever reason is sent to the peer. The kernel's own is that a pairing has failed.
  func ending(_ handle: ConnectionHandle, _ reason: HCIErrorCode) {
    let isOfPairing = reason == .authenticationFailure
    reasons[handle] = reasons[handle] ?? (isOfPairing ? reason : .connectionTerminatedByLocalHost)
    self[handle]?.finish()
  }

  func disconnected(_ handle: ConnectionHandle, _ reason: HCIErrorCode) {
    parameters[handle] = nil
    Self.ending[name(handle)] = nil
    reasons[handle] = reasons[handle] ?? reason
    self[handle]?.finish()
  }

  /// The kernel ends all links, as it does before it switches an adapter off.
  func expectPowerOff() {
    watch.expectPowerOff { [weak self] in
      guard let self else { return }
      for link in links where link.isHeld { link.lose(.local) }
    }
  }
}
