import AccessorySetupKit
import CoreBluetooth

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// The lines that docs/porting.md gives in place of those that Linux has not.

#if canImport(os)
  import os
#else
  /// The calls of Apple's `Logger`, on standard error.
  struct Logger: Sendable {
    let subsystem: String
    let category: String

    func debug(_ message: String) { write("debug", message) }
    func info(_ message: String) { write("info", message) }
    func error(_ message: String) { write("error", message) }

    private func write(_ level: String, _ message: String) {
      FileHandle.standardError.write(Data("\(category) \(level): \(message)\n".utf8))
    }
  }
#endif

#if !canImport(ObjectiveC)
  func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
#endif

@MainActor
final class Replacements: NSObject {
  private let logger = Logger(subsystem: "halo", category: "porting")
  private var timer: Timer?
  private let lock = NSRecursiveLock()
  private let queue: DispatchQueue? = .main
  private var values: [UUID: String] = [:]

  func start() {
    timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in
      MainActor.assumeIsolated { self?.tick() }
    }
    DispatchQueue.main.asyncAfter(deadline: .now() + 1) { [weak self] in self?.tick() }
  }

  func observe() -> NSObjectProtocol {
    NotificationCenter.default.addObserver(forName: nil, object: nil, queue: .main) { [weak self] _ in
      MainActor.assumeIsolated { self?.tick() }
    }
  }

  func tick() {
    logger.info("tick at \(ProcessInfo.processInfo.systemUptime)")
    lock.lock()
    defer { lock.unlock() }
    autoreleasepool { logger.debug("in a pool") }
  }

  func values(_ rssi: NSNumber, _ advertisement: [String: Any]) -> (Int, Int?) {
    (rssi.intValue, (advertisement[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue)
  }

  func associate(_ value: String, with peripheral: CBPeripheral) {
    values[peripheral.identifier] = value
    logger.info("read \(value)")
  }

  /// A requirement that is optional on Apple's systems always has an implementation here.
  func forward(
    _ central: CBCentralManager, _ peripheral: CBPeripheral, to delegate: CBCentralManagerDelegate?
  ) {
    delegate?.centralManager(central, didConnect: peripheral)
    delegate?.centralManager(central, didDisconnectPeripheral: peripheral, error: nil)
    peripheral.delegate?.peripheral(peripheral, didDiscoverServices: nil)
  }
}

/// A method that classes may leave out.
protocol ProgressListener: AnyObject {
  func progressed(_ part: Double, at nanoseconds: UInt64)
}

extension ProgressListener {
  func progressed(_ part: Double, at nanoseconds: UInt64 = DispatchTime.now().uptimeNanoseconds) {}
}

/// A delegate on the main actor, with a conformance of its own extension.
@MainActor
final class MainDelegate: NSObject, ProgressListener {
  private lazy var central = CBCentralManager(delegate: self, queue: nil)
  private let service = CBUUID()

  func start() { _ = central.state }
}

extension MainDelegate: @preconcurrency CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    central.scanForPeripherals(withServices: [service, CBUUID(nsuuid: UUID())])
  }
}

/// The methods that subclasses implement have to be in the class that declares the conformance.
class BaseDelegate: NSObject, CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {}
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}
}

class SpecialDelegate: BaseDelegate {
  override func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}
}

/// Observes properties, and keeps the observations.
class StateWatcher {
  private var observations: [NSKeyValueObservation] = []
  var changes: [String] = []

  func watch(_ central: CBCentralManager, _ peripheral: CBPeripheral, _ manager: CBPeripheralManager) {
    observations = [
      peripheral.observe(\.state, options: [.initial, .old, .new]) { [weak self] peripheral, change in
        self?.changes.append("\(peripheral.identifier) \(change.newValue == .connected)")
      },
      central.observe(\.state) { [weak self] manager, _ in self?.changes.append("\(manager.state)") },
      central.observe(\.delegate) { [weak self] central, _ in
        if central.delegate == nil { self?.changes.append("no delegate") }
      },
    ]
    observations.append(
      manager.observe(\.isAdvertising, options: .initial) { [weak self] manager, _ in
        self?.changes.append("\(manager.isAdvertising)")
      })
  }

  func stop() {
    for observation in observations { observation.invalidate() }
  }
}

/// The values of a property as a sequence, in place of Combine's publisher.
extension NSObjectProtocol where Self: CBManager {
  func values<Value: Sendable>(_ keyPath: KeyPath<Self, Value>) -> AsyncStream<Value> {
    AsyncStream { continuation in
      let observation = observe(keyPath, options: .initial) { _, change in
        if let value = change.newValue { continuation.yield(value) }
      }
      continuation.onTermination = { _ in observation.invalidate() }
    }
  }
}

func isOn(_ manager: CBCentralManager) async -> Bool {
  for await state in manager.values(\.state) where state != .unknown { return state == .poweredOn }
  return false
}

@available(*, deprecated)
func deprecatedNames(_ peripheral: CBPeripheral) -> NSNumber? { peripheral.rssi }

/// What Foundation on Linux does not have, in other words.
enum OtherWords {
  static func request(_ url: URL) -> URLRequest { URLRequest(url: url, timeoutInterval: 10) }

  static func text(of error: Error) -> String {
    NSLog("%@", error.localizedDescription)
    return String(format: "%@", "\(error)")
  }

  static func rename(_ name: String) -> String? {
    let before = UserDefaults.standard.object(forKey: "name") as? String
    UserDefaults.standard.set(name, forKey: "name")
    return before
  }

  static func seconds(since start: DispatchTime) -> UInt64 {
    (DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1_000_000_000
  }

  static func age(_ time: TimeInterval) -> TimeInterval { Date().timeIntervalSinceReferenceDate - time }

  static func crc(_ bytes: UnsafeRawPointer?, _ count: Int) -> UInt8 {
    UnsafeRawBufferPointer(start: bytes, count: count).reduce(0, ^)
  }

  static func crc(of data: Data) -> UInt8 { data.withUnsafeBytes { crc($0.baseAddress, $0.count) } }
}
