import ATT
import HaloGATT
import HaloBluetoothCore
import HaloCommandLine

/// The subscriptions of a session, also over several links.
@BluetoothActor
final class SessionSubscriptions {
  private struct Subscribed {
    let choice: AttributeChoice
    let kind: SubscriptionKind?
    var subscriptions: [Subscription]
  }

  private let output: SessionOutput
  private var all: [Subscribed] = []
  /// The values of the link of now that are printed without a subscription.
  private var heard: Set<AttributeHandle> = []
  /// The values that have come since the last write.
  private var unseen: [AttributeHandle: Int] = [:]
  /// Called when a value has come.
  var onValue: (() -> Void)?

  init(_ output: SessionOutput) { self.output = output }

  func add(
    _ choice: AttributeChoice, _ kind: SubscriptionKind?, _ table: AttributeList, on gatt: GATTClient
  ) async throws {
    guard index(of: choice, table) == nil else {
      throw Failure.usage("\(choice.name) is subscribed to already")
    }
    let made = try await subscribe(to: choice, kind, table, on: gatt)
    all.append(Subscribed(choice: choice, kind: kind, subscriptions: made))
    let text = "subscribed to \(made.map(\.handle.description).joined(separator: ", "))"
    output.print("link", note: text, text: text)
  }

  func remove(_ choice: AttributeChoice, _ table: AttributeList, on gatt: GATTClient) async throws {
    guard let index = index(of: choice, table) else {
      throw Failure.usage("\(choice.name) is not subscribed to")
    }
    for subscription in all.remove(at: index).subscriptions { try await gatt.unsubscribe(subscription) }
  }

  /// Subscribes again on a new link. Values that the device sends without a subscription are printed, too: some do, and others
  /// after a write to the descriptor.
  func renew(_ table: AttributeList, on gatt: GATTClient) async throws {
    heard = []
    for characteristic in table.notifying {
      heard.insert(characteristic.valueHandle)
      _ = gatt.listen(to: characteristic) { [weak self] value, time in
        self?.take(Array(value), of: characteristic, at: time)
      }
    }
    for index in all.indices {
      let old = all[index]
      all[index].subscriptions = try await subscribe(to: old.choice, old.kind, table, on: gatt)
    }
  }

  func end(on gatt: GATTClient) async {
    for subscription in all.flatMap(\.subscriptions) { try? await gatt.unsubscribe(subscription) }
  }

  /// Values that have come so far are of an earlier write.
  func forgetValues() { unseen = [:] }

  /// Takes the values that have come since the last write.
  ///
  /// - Returns: whether there are any
  /// - Throws: `.usage` if they are not subscribed to
  func takeValue(of choice: AttributeChoice, _ table: AttributeList) throws(Failure) -> Bool {
    let handles = table.characteristics(choice).map(\.valueHandle)
    let counts = handles.map { unseen.removeValue(forKey: $0) ?? 0 }
    if counts.contains(where: { $0 > 0 }) { return true }
    guard index(of: choice, table) != nil else {
      throw .usage("\(choice.name) is not subscribed to")
    }
    return false
  }

  /// The subscription that a choice means: by its handle or by its UUID, whichever it was made with.
  private func index(of choice: AttributeChoice, _ table: AttributeList) -> Int? {
    let handles = Set(table.characteristics(choice).map(\.valueHandle))
    return all.firstIndex { !handles.isDisjoint(with: $0.subscriptions.map(\.handle)) }
  }

  private func subscribe(
    to choice: AttributeChoice, _ kind: SubscriptionKind?, _ table: AttributeList, on gatt: GATTClient
  ) async throws -> [Subscription] {
    let found = table.characteristics(choice)
    guard !found.isEmpty else { throw Failure(StackError.notFound(choice.title)) }
    var made: [Subscription] = []
    for characteristic in found {
      made.append(
        try await gatt.subscribe(to: characteristic, as: kind) { [weak self] value, time in
          guard self?.heard.contains(characteristic.valueHandle) == false else { return }
          self?.take(Array(value), of: characteristic, at: time)
        })
    }
    return made
  }

  private func take(_ value: [UInt8], of characteristic: Characteristic, at time: Instant) {
    output.printValue("value", characteristic.valueHandle, characteristic.uuid, value, at: time)
    unseen[characteristic.valueHandle, default: 0] += 1
    onValue?()
  }
}
