import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import TestLoop

@testable import HaloRecording

/// What a program got.
@BluetoothActor
final class ProgramRun {
  private let link: any ATTLink
  private let adapter: ReplayAdapter
  private let timers: Timers
  private let dialogue: RecordedDialogue
  private var response: OneShot<Void>?
  private var ending: OneShot<Void>?
  private(set) var hasEnded = false
  /// The values of each handle, in order.
  private var values: [AttributeHandle: [[UInt8]]] = [:]
  /// How many events there were before each value, by handle.
  private var places: [AttributeHandle: [Int]] = [:]
  /// The same before each recorded write that the program made while the recording went on.
  private var asked: [Int: Int] = [:]
  private var made: Set<Int> = []
  private var events = 0
  /// The number of the server's own requests.
  private var requests = 0
  private var subscribed: Set<AttributeHandle> = []
  /// The same, from the request to the response of its end.
  private var open: Set<AttributeHandle> = []
  private var strays: Set<AttributeHandle> = []
  private var isDone = false
  private var wasRefused = false
  /// Whether it was quiet for two seconds: then it is taken for one that only listens.
  private var hasListened = false
  private var hasAsked = false
  private var lastRequest: Instant

  init(_ link: any ATTLink, _ adapter: ReplayAdapter, _ dialogue: RecordedDialogue) {
    self.link = link
    self.dialogue = dialogue
    timers = adapter.timers
    lastRequest = timers.now
    self.adapter = adapter
    link.onPDU = { [weak self] bytes, _ in self?.receive(bytes) }
    link.onClosed = { [weak self] _ in self?.finish() }
    adapter.onInterrupt = { [weak self] in self?.finish() }
  }

  private func finish() {
    hasEnded = true
    response.take()?(())
    ending.take()?(())
  }

  private func receive(_ bytes: RawSpan) {
    guard let pdu = try? ATTReader.read(bytes) else { return }
    events += 1
    if pdu.opcode.kind == .request { requests += 1 }
    switch pdu {
    case let pushed as ATTHandleValueNotification: take(pushed.value, of: pushed.handle)
    case let pushed as ATTHandleValueIndication:
      take(pushed.value, of: pushed.handle)
      send(ATTHandleValueConfirmation())
    case is ATTExchangeMTURequest: send(ATTExchangeMTUResponse(serverMTU: 23))
    default:
      switch pdu.opcode.kind {
      case .request:
        send(ATTErrorResponse(request: pdu.opcode, handle: 0, code: .requestNotSupported))
      case .response:
        wasRefused = pdu.opcode == .errorResponse
        response.take()?(())
      default: break
      }
    }
  }

  private func take(_ value: [UInt8], of handle: AttributeHandle) {
    if !open.contains(handle) { strays.insert(handle) }
    values[handle, default: []].append(value)
    places[handle, default: []].append(events)
  }

  private func send(_ pdu: any ATTPDU) { link.send(pdu.bytes.span.bytes) }

  private func ask(_ pdu: any ATTPDU, _ note: () -> Void = {}) async {
    hasListened = hasListened || !hasAsked && timers.now - lastRequest >= .seconds(2)
    lastRequest = timers.now
    note()
    guard pdu.opcode.kind == .request else { return send(pdu) }
    await withCheckedContinuation { continuation in
      response = OneShot { continuation.resume() }
      send(pdu)
    }
  }

  func perform(_ step: RandomProgram.Step) async {
    switch step {
    case .configure(let handle, let owner, let isOn):
      if isOn { open.insert(owner) } else { subscribed.remove(owner) }
      await ask(ATTWriteRequest(handle, value: [isOn ? 1 : 0, 0]))
      if !isOn { open.remove(owner) }
      if isOn, !wasRefused, !hasEnded { subscribed.insert(owner) }
    case .ask(let index, let pdu):
      events += 1
      await ask(pdu) {
        self.hasAsked = true
        self.note(self.dialogue.exchanges[index])
      }
    case .other(let pdu): await ask(pdu) { self.hasAsked = self.hasAsked || pdu.opcode == .writeCommand }
    case .pause(let duration): await timers.sleep(for: duration)
    case .disconnect: link.disconnect()
    }
  }

  /// The first of equal writes counts as the first recorded one.
  private func note(_ exchange: RecordedDialogue.Exchange) {
    let equal = (dialogue.bySubject[exchange.subject] ?? []).filter {
      dialogue.exchanges[$0].value == exchange.value
    }
    guard let index = equal.first(where: { !made.contains($0) }) else { return }
    made.insert(index)
    if !adapter.isEnding, !hasListened { asked[index] = events }
  }

  func end() async {
    isDone = true
    guard !hasEnded else { return }
    await withCheckedContinuation { continuation in ending = OneShot { continuation.resume() } }
  }

  // MARK: Checking

  /// What is wrong with what came.
  func faults(of program: RandomProgram) -> [String] {
    var faults = strays.map { "\($0): a value without a subscription" }
    if !isDone, !program.isCutOff, program.longestPause < .seconds(2), !adapter.isEnding {
      faults.append("the link was lost before all was asked for")
    }
    let own = dialogue.pushes.filter { $0.handle == nil }.count
    if !program.isCutOff, requests != own { faults.append("\(requests) of \(own) requests of the server") }
    let recorded = Dictionary(grouping: dialogue.pushes.filter { $0.handle != nil }) { $0.handle ?? 0 }
    for (handle, pushes) in recorded {
      let expected = pushes.map { Array($0.bytes[3...]) }
      let came = values[handle] ?? []
      if !program.isCutOff, subscribed.contains(handle), came.count != expected.count {
        faults.append("\(handle): \(came.count) of \(expected.count) values")
      }
      let count = Dictionary(expected.map { ($0, 1) }, uniquingKeysWith: +)
      if Dictionary(came.map { ($0, 1) }, uniquingKeysWith: +).contains(where: {
        $0.value > count[$0.key] ?? 0
      }) {
        faults.append("\(handle): a value came twice")
      }
      if isInOrder(program), !program.isCutOff, came != Array(expected.prefix(came.count)) {
        faults.append("\(handle): the order is not that of the capture")
      }
      if Set(expected).count == expected.count {
        faults += ordering(handle, pushes, came).map { "\(handle): \($0)" }
      }
    }
    return faults
  }

  /// Whether the program does what the recorded client did, in its order and not later, or only listens.
  private func isInOrder(_ program: RandomProgram) -> Bool {
    if program.listens { return true }
    let all = dialogue.exchanges.indices.filter { !dialogue.exchanges[$0].pushes.isEmpty }
    return !program.hasPauses && !program.unsubscribes && program.asks.filter(all.contains) == all
  }

  /// Values of one cause are in order, and none comes before its cause if the program does that.
  private func ordering(
    _ handle: AttributeHandle, _ pushes: [RecordedDialogue.Push], _ came: [[UInt8]]
  ) -> [String] {
    let place = Dictionary(came.enumerated().map { ($1, $0) }, uniquingKeysWith: min)
    var faults: [String] = []
    for (cause, effects) in Dictionary(grouping: pushes, by: \.cause) {
      let order = effects.compactMap { place[Array($0.bytes[3...])] }
      if order != order.sorted() { faults.append("values with the same cause are out of order") }
      if let cause, let asked = asked[cause], order.contains(where: { places[handle]?[$0] ?? 0 < asked }) {
        faults.append("a value came before its cause")
      }
    }
    return faults
  }
}
