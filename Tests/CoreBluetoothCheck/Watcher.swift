import CoreBluetooth

/// Ends the program, which has met something that no program may meet.
func fail(_ reason: String) -> Never {
  print("failed: \(reason)")
  exit(1)
}

/// A delegate that prints a line for each call, and on which a scenario waits for them. What holds in each call is checked in
/// each: it comes on the manager's queue and inside no other one, and the properties have changed before.
final class Watcher: NSObject {
  /// The queue of the manager.
  let queue: DispatchQueue
  var central: CBCentralManager?
  /// The peripherals that were found or retrieved, by what they are called in lines.
  var peripherals: [String: CBPeripheral] = [:]
  var labels: [UUID: String] = [:]
  /// Whether a peripheral may be connecting again when its disconnection is reported.
  var isConnectingAgain = false

  private static let key = DispatchSpecificKey<String>()
  private static let deadline = Date(timeIntervalSinceNow: 35)
  private let name: String
  private let condition = NSCondition()
  private var lines: [String] = []
  /// How many lines a scenario has waited for.
  private var passed = 0
  private var actions: [String: () -> Void] = [:]
  private var isInsideCall = false

  /// - Parameter name: is printed with each line
  init(_ name: String = "") {
    self.name = name
    queue = DispatchQueue(label: "check \(name)")
    queue.setSpecific(key: Self.key, value: name)
    super.init()
  }

  /// Runs something on the queue, as a program would in a call.
  func perform<Result>(_ body: () -> Result) -> Result { queue.sync(execute: body) }

  /// Runs an action inside the next call that prints a line.
  func onNext(_ line: String, _ action: @escaping () -> Void) { perform { actions[line] = action } }

  /// Prints the line of a call.
  func note(_ line: String, isCall: Bool = true) {
    if isCall {
      guard DispatchQueue.getSpecific(key: Self.key) == name else { fail("\(line): on another queue") }
      guard !isInsideCall else { fail("\(line): inside another call") }
    }
    condition.lock()
    print(name.isEmpty ? line : "\(name): \(line)")
    lines.append(line)
    condition.broadcast()
    condition.unlock()
    guard isCall, let action = actions.removeValue(forKey: line) else { return }
    isInsideCall = true
    action()
    isInsideCall = false
  }

  /// Waits for lines in any order, after those that were waited for before. A text that ends with a colon is the beginning of
  /// a line.
  func until(_ wanted: String...) { until(wanted) }

  func until(_ wanted: [String]) {
    condition.lock()
    defer { condition.unlock() }
    var missing = wanted
    while !missing.isEmpty {
      while passed == lines.count {
        guard condition.wait(until: Self.deadline) else { fail("no \(missing)") }
      }
      let line = lines[passed]
      let index = missing.firstIndex { $0 == line || $0.hasSuffix(":") && line.hasPrefix($0) }
      if let index { missing.remove(at: index) }
      passed += 1
    }
  }

  /// How many lines begin with a text.
  func count(_ text: String) -> Int {
    condition.lock()
    defer { condition.unlock() }
    return lines.count { $0.hasPrefix(text) }
  }

  func expect(_ isMet: Bool, _ what: String) {
    if !isMet { fail(what) }
  }
}
