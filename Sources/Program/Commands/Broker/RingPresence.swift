import HaloBluetoothCore
import HaloCommandLine
import HaloMQTT
import RingLink

/// Says where a ring is. Its description for Home Assistant leads to the topics of one program, and several programs
/// may use it in turn: a program describes it with each link that it makes, and not any more once that link is gone.
@BluetoothActor
final class RingPresence {
  private let output: BrokerOutput
  private let device: BluetoothAddress
  private let name: String?
  private let assistant: HomeAssistant?
  /// The ring, on its link of now.
  private var ring: () -> RingClient? = { nil }
  /// The ring that was described; nil if there is no link.
  private var described: ObjectIdentifier?
  private var published: Set<RingValue> = []
  /// The topics of the description.
  private var claimed: Set<String> = []
  private var isFollowing = false

  init(_ output: BrokerOutput, of device: BluetoothAddress, name: String?) {
    self.output = output
    self.device = device
    self.name = name
    assistant = output.discovery.map {
      HomeAssistant(device, output.topics, prefix: $0, version: HelpPage.version)
    }
  }

  /// Follows the links of a ring from now on.
  func follow(_ ring: @escaping @BluetoothActor () -> RingClient?) {
    self.ring = ring
    isFollowing = true
    check()
  }

  /// Reports changes.
  ///
  /// - Parameters:
  ///   - values: the values that are published now
  ///   - isEnd: whether the program ends: the broker still gets what it has not got of the description, without which Home
  ///     Assistant does not show the values
  func check(publishing values: Set<RingValue> = [], isEnd: Bool = false) {
    guard isFollowing else { return }
    let ring = ring().flatMap { $0.connection.isConnected ? $0 : nil }
    let isNew = !values.isSubset(of: published)
    published.formUnion(values)
    guard let ring else {
      // The results of a command come at its end.
      if isNew, let last = self.ring() { describe(last) }
      return leave(isEnd: isEnd)
    }
    guard isNew || described != ObjectIdentifier(ring) else { return }
    described = ObjectIdentifier(ring)
    describe(ring)
    output.send(message(Topics.online))
  }

  private func describe(_ ring: RingClient) {
    let device = HomeAssistant.Device(
      name: name, model: ring.firmware.hardwareRevision, firmware: ring.firmware.firmwareRevision,
      moments: RingMoments(
        buttons: RingEvent.Button.allCases.map { "\($0)" }, alarms: HeartRateAlarm.words),
      isFollowed: output.followsRings)
    let messages = assistant?.messages(device, published: published) ?? []
    claimed = Set(messages.map(\.topic))
    for message in messages { output.send(message) }
  }

  /// The link is gone: another program may have the ring now.
  private func leave(isEnd: Bool) {
    guard described != nil else { return }
    described = nil
    if !isEnd { output.withdraw(claimed) }
    if output.followsRings { output.send(message(Topics.offline)) }
  }

  /// The program ends. The results of a single command stay available.
  func finish() {
    guard isFollowing else { return }
    isFollowing = false
    if output.followsRings, described != nil { output.send(message(Topics.offline)) }
    ring = { nil }
  }

  private func message(_ text: String) -> Message {
    Message(topic: output.topics.availability(of: device), text: text, kind: .announcement)
  }
}
