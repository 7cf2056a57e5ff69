@testable import AccessorySetupKit
import CoreBluetooth
import HaloDevices
import HaloRaw
import HaloSystem

/// A session whose events, output and answers are written down, on a terminal of the test.
final class SessionRecorder: @unchecked Sendable {
  let recorder = Recorder()
  let session: ASAccessorySession
  private let input: LockedValue<(DispatchQueue, @Sendable (String?) -> Void)?>
  private let timers: LockedValue<[Double: @Sendable () -> Void]>

  init(_ radio: ManagedAdapter, isInteractive: Bool = true, folder: String? = nil, program: String = "tests")
  {
    let input = LockedValue<(DispatchQueue, @Sendable (String?) -> Void)?>(nil)
    let timers = LockedValue<[Double: @Sendable () -> Void]>([:])
    (self.input, self.timers) = (input, timers)
    let recorder = recorder
    let face = PickerFace(
      isInteractive: isInteractive, write: { recorder.note("> \($0.dropLast())") },
      readLines: { queue, handler in
        input.withLock { $0 = (queue, handler) }
        return { input.withLock { $0 = nil } }
      },
      after: { seconds, queue, action in
        timers.withLock { $0[seconds] = { queue.async(execute: action) } }
        recorder.note("after \(seconds)")
      })
    session = ASAccessorySession(face: face, folder: folder, program: program) {
      CBCentralManager(delegate: $0, queue: $1, radio: radio)
    }
  }

  var log: [String] { recorder.log }
  var isReading: Bool { input.withLock { $0 != nil } }
  var names: [String] { session.accessories.map(\.displayName) }

  func until(_ text: String, count: Int = 1) async { await recorder.until(text, count: count) }

  func activate() async {
    session.activate(on: recorder.queue) { [recorder] event in
      let name = event.accessory.map { " \($0.displayName)" } ?? ""
      recorder.note("\(event.eventType)\(name)")
    }
    await until("activated")
  }

  func answer(_ error: (any Error)?) {
    recorder.note("answer \((error as? ASError).map { "\($0.code)" } ?? "\(error.map { "\($0)" } ?? "nil")")")
  }

  func pick(_ items: [ASPickerDisplayItem]) {
    session.showPicker(for: items) { [self] in answer($0) }
  }

  func type(_ line: String?) {
    input.withLock { input in
      if let (queue, handler) = input { queue.async { handler(line) } }
    }
  }

  /// Returns when the picker has had several reports of a peripheral: another manager has had twenty.
  func untilHeard(_ name: String, _ radio: ManagedAdapter) async {
    let other = await Recorder.start(radio)
    await other.perform {
      $0.central.scanForPeripherals(options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }
    await other.until("found \(name)", count: 20)
    await recorder.perform { _ in }
  }

  func fire(_ seconds: Double) { timers.withLock { $0[seconds] }?() }
}

extension ASPickerDisplayItem {
  static func named(
    _ name: String,
    _ set: (ASDiscoveryDescriptor) -> Void = { $0.bluetoothServiceUUID = CBUUID(string: "180D") }
  ) -> ASPickerDisplayItem {
    let descriptor = ASDiscoveryDescriptor()
    set(descriptor)
    return ASPickerDisplayItem(name: name, productImage: nil, descriptor: descriptor)
  }
}
