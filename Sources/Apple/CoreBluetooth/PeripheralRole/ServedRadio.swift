internal import ATT
import Foundation
internal import GAP
internal import HaloGATT
internal import HCI
internal import HaloSystem
internal import HaloDevices
internal import HaloBluetoothCore

/// The peripheral role of a radio, which all peripheral managers of this process on that radio share: centrals see the services
/// of all of them.
@BluetoothActor
final class ServedRadio {
  /// A manager.
  @BluetoothActor protocol Member: AnyObject {
    /// The advertisement of the manager is sent now, or is refused now, and tried again.
    func advertises(_ isOn: Bool)
    /// A central has connected, or both ends have agreed on another MTU.
    func connected(_ client: PeerIdentity, mtu: Int)
    func configured(_ client: PeerIdentity, _ value: AttributeHandle, wants: Bool)
    /// The link to a central takes values again.
    func ready(_ client: PeerIdentity)
    func left(_ client: PeerIdentity)
  }

  private struct WeakRadio {
    weak var value: ServedRadio?
  }

  /// Centrals that may be connected at once. Nothing is advertised while there are as many.
  private static let maximumConnections = 8
  private static var all: [ObjectIdentifier: WeakRadio] = [:]

  let database = AttributeDatabase()
  private let radio: ManagedAdapter
  private var peripheral: (role: Peripheral, adapter: ObjectIdentifier)?
  private var members: [any Member] = []
  /// The radio's reports on the advertisement, also after its adapter was opened anew.
  private let status = AdvertisingStatus()
  private var clients: [PeerIdentity: GATTLink] = [:]
  private var advertised: (member: ObjectIdentifier, advertising: Advertising, number: Int)?
  private var starts = 0

  /// Returns the one of a radio: the one that exists, or a new one.
  static func of(_ radio: ManagedAdapter) -> ServedRadio {
    let id = ObjectIdentifier(radio)
    if let known = all[id]?.value, known.radio === radio { return known }
    let made = ServedRadio(radio)
    all = all.filter { $0.value.value != nil }
    all[id] = WeakRadio(value: made)
    return made
  }

  private init(_ radio: ManagedAdapter) {
    self.radio = radio
    database.addGenericAccess(name: Self.hostName)
    database.addGenericAttribute(hash: LibcryptoCryptography.databaseHash)
    status.onChange = { [weak self] refusal in
      self?.tell { $0.advertises(refusal == nil) }
    }
  }

  /// The name of the device while none is advertised: that of the machine.
  private static var hostName: String {
    let text = try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
    return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "Linux"
  }

  // MARK: Managers

  func join(_ member: any Member) {
    members.append(member)
    for (client, link) in clients { member.connected(client, mtu: link.mtu) }
    guard members.count == 1 else { return }
    for link in radio.links.made { serve(link) }
    radio.links.onMade = { [weak self] link in self?.serve(link) }
  }

  /// The links end with the last manager. This returns when they have ended.
  func leave(_ member: any Member) async {
    members.removeAll { $0 === member }
    stopAdvertising(member)
    guard members.isEmpty else { return }
    radio.links.onMade = nil
    for link in radio.links.made {
      clients[link.identity] = nil
      link.endServing()
    }
    // The role stays: a manager that joins meanwhile advertises with it.
    await peripheral?.role.stop()
  }

  // MARK: The radio

  /// The radio can be used, the first time or again. An earlier advertisement is sent again.
  func powerOn() {
    guard let adapter = radio.adapter else { return }
    if peripheral?.adapter != ObjectIdentifier(adapter) {
      let role = Peripheral(
        adapter, serving: database, maximumConnections: Self.maximumConnections, status: status)
      role.onConnection = { [weak self] link in
        self?.radio.links.accepted(link)
        self?.connected(link)
      }
      peripheral = (role, ObjectIdentifier(adapter))
    }
    if let advertised { try? peripheral?.role.startAdvertising(advertised.advertising) }
  }

  /// Returns when the radio advertises, or need not, as there are as many centrals as may be.
  ///
  /// - Parameters:
  ///   - name: the name of the device meanwhile; nil for that of the machine
  ///   - limit: how long a radio that refuses is asked again; nil for no limit
  /// - Throws: if nothing is advertised, nor will be
  func startAdvertising(
    _ member: any Member, _ advertising: Advertising, name: String?, within limit: Duration?
  ) async throws(CBError) {
    if let advertised, advertised.member != ObjectIdentifier(member) {
      throw CBError(.alreadyAdvertising, "another manager of this process advertises with this adapter")
    }
    guard let peripheral, radio.state == .poweredOn else {
      throw CBError(.unknown, "the adapter is not powered on")
    }
    do throws(StackError) {
      try peripheral.role.startAdvertising(advertising)
    } catch {
      throw CBError(.unknown, "\(error)")
    }
    starts += 1
    let number = starts
    advertised = (ObjectIdentifier(member), advertising, number)
    setName(name ?? Self.hostName)
    do throws(StackError) {
      try await peripheral.role.untilAdvertising(within: limit)
    } catch {
      if error.code == .cancelled {
        throw CBError(.operationCancelled, "advertising was stopped before the radio had begun")
      }
      if advertised?.number == number { stopAdvertising(member) }
      throw CBError(.unknown, "\(error)")
    }
  }

  func stopAdvertising(_ member: any Member) {
    guard advertised?.member == ObjectIdentifier(member) else { return }
    advertised = nil
    peripheral?.role.stopAdvertising()
    setName(Self.hostName)
  }

  private func setName(_ name: String) {
    guard let handle = database.handles(of: GATTUUID.deviceName).first else { return }
    try? database.setValue(Array(name.utf8.prefix(ATTBearer.maximumValueLength)), of: handle)
  }

  // MARK: Centrals

  func link(to client: PeerIdentity) -> GATTLink? { clients[client] }

  /// The central that a handler of the database is called for.
  func client(of server: ServerBearer) -> PeerIdentity? {
    clients.first { $0.value.server === server }?.key
  }

  /// A peripheral to which this side has connected may use the services on the same link: there is one link to a device.
  private func serve(_ link: GATTLink) {
    link.serve(database)
    connected(link)
  }

  private func connected(_ link: GATTLink) {
    guard let server = link.server else { return }
    let client = link.identity
    clients[client] = link
    server.onEvent = { [weak self] event in
      guard case .configured(let value, let configuration) = event else { return }
      self?.tell { $0.configured(client, value, wants: !configuration.isEmpty) }
    }
    server.onReady = { [weak self] in self?.tell { $0.ready(client) } }
    server.onMTU = { [weak self] mtu in self?.tell { $0.connected(client, mtu: mtu) } }
    link.whenDisconnected { [weak self, weak link] _ in
      guard let self, clients[client] === link else { return }
      clients[client] = nil
      tell { $0.left(client) }
    }
    tell { $0.connected(client, mtu: link.mtu) }
  }

  private func tell(_ body: (any Member) -> Void) {
    for member in members { body(member) }
  }
}
