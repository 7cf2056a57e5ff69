internal import CoreBluetooth
import Foundation
internal import HaloRaw

/// One run of the picker, on the queue of its session: a scan, a list, a choice.
final class Picker: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
  struct Choice {
    let identifier: UUID
    let item: ASPickerDisplayItem
    /// The advertised name; nil until it is received.
    fileprivate(set) var name: String?
    fileprivate var rssi: Int
  }

  /// How long accessories are compared without a terminal, from the first one on.
  private static let comparisonTime = 3.0
  /// Entries of the list. Each report of a hostile device may have another address.
  private static let maximumChoices = 64

  private let items: [ASPickerDisplayItem]
  private let excluded: Set<UUID>
  private let discoveryTime: TimeInterval
  private let face: PickerFace
  private let queue: DispatchQueue
  private var central: CBCentralManager?
  private var choices: [Choice] = []
  private var stopReading: (@Sendable () -> Void)?
  private var completion: ((Result<Choice, ASError>) -> Void)?

  /// - Parameters:
  ///   - excluded: accessories of the session, which are not offered
  ///   - discoveryTime: how long the first one may take without a terminal, in seconds; infinite for as long as it takes
  ///   - completion: called once, on the queue
  init(
    _ items: [ASPickerDisplayItem], excluding excluded: Set<UUID>, within discoveryTime: TimeInterval,
    _ face: PickerFace, _ queue: DispatchQueue, completion: @escaping (Result<Choice, ASError>) -> Void
  ) {
    self.items = items
    self.excluded = excluded
    self.discoveryTime = discoveryTime
    self.face = face
    self.queue = queue
    self.completion = completion
  }

  func start(_ makeCentral: (any CBCentralManagerDelegate, DispatchQueue) -> CBCentralManager) {
    if face.isInteractive {
      face.write("Choose an accessory: enter its number. An empty line cancels.\n")
      stopReading = face.readLines(queue) { [weak self] in self?.typed($0) }
    } else if discoveryTime.isFinite {
      face.after(discoveryTime, queue) { [weak self] in
        self?.chooseStrongest()
      }
    }
    central = makeCentral(self, queue)
  }

  /// Ends the picker; later calls have no effect.
  func finish(_ result: Result<Choice, ASError>) {
    guard let completion else { return }
    self.completion = nil
    stopReading.take()?()
    central?.delegate = nil
    // Its scan ends with it.
    central = nil
    completion(result)
  }

  private func typed(_ line: String?) {
    let text = (line ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !text.isEmpty else { return finish(.failure(ASError(.userCancelled, "no accessory was chosen"))) }
    guard let number = Int(text), choices.indices.contains(number - 1) else {
      return face.write("no accessory \"\(text.printable)\"; enter a number of the list\n")
    }
    finish(.success(choices[number - 1]))
  }

  private func chooseStrongest() {
    if let strongest = choices.max(by: { $0.rssi < $1.rssi }) {
      finish(.success(strongest))
    } else {
      finish(.failure(ASError(.discoveryTimeout, "no accessory that matches advertises")))
    }
  }

  // MARK: CBCentralManagerDelegate

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    switch central.state {
    case .poweredOn:
      central.scanForPeripherals(options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    case .unsupported, .unauthorized, .poweredOff:
      finish(.failure(ASError(.pickerRestricted, "Bluetooth is \(central.state)")))
    case .unknown, .resetting: break
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    // 127: not available. The last one counts then.
    let isMeasured = rssi.intValue != 127
    let rssi = isMeasured ? rssi.intValue : -127
    if let index = choices.firstIndex(where: { $0.identifier == peripheral.identifier }) {
      if isMeasured { choices[index].rssi = rssi }
      name(index, peripheral.name)
      return
    }
    guard choices.count < Self.maximumChoices, !excluded.contains(peripheral.identifier),
      let item = items.first(where: {
        $0.descriptor.fields.matches(name: peripheral.name, advertisementData)
      })
    else { return }
    let choice = Choice(identifier: peripheral.identifier, item: item, name: peripheral.name, rssi: rssi)
    choices.append(choice)
    if face.isInteractive {
      face.write(line(choices.count - 1))
    } else if choices.count == 1 {
      face.after(Self.comparisonTime, queue) { [weak self] in self?.chooseStrongest() }
    }
  }

  /// The name is in a report of its own if it is in the scan response: an entry that was shown without is shown again.
  private func name(_ index: Int, _ name: String?) {
    guard choices[index].name == nil, let name else { return }
    choices[index].name = name
    if face.isInteractive { face.write(line(index)) }
  }

  /// The entry of the list.
  private func line(_ index: Int) -> String {
    let choice = choices[index]
    let address = CBPeripheral.address(of: choice.identifier).map { "\($0)" } ?? ""
    let signal = choice.rssi == -127 ? "" : ", \(choice.rssi) dBm"
    let name = (choice.name ?? "no name").printable
    return "\(index + 1)  \(choice.item.name): \(name), \(address)\(signal)\n"
  }
}

/// The terminal on which the picker shows lists and asks, or its substitute in a test.
package struct PickerFace: Sendable {
  /// Whether a user can choose; otherwise the strongest accessory is taken.
  package var isInteractive: Bool
  package var write: @Sendable (String) -> Void
  /// Calls a handler on a queue with each line that is typed, nil at the end of the input. Returns a closure that stops it.
  package var readLines:
    @Sendable (DispatchQueue, @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void
  /// Runs an action on a queue after some seconds.
  package var after: @Sendable (Double, DispatchQueue, @escaping @Sendable () -> Void) -> Void

  /// The list on standard error, the choice on standard input, if both are a terminal.
  static let terminal = PickerFace(
    isInteractive: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
    write: { FileHandle.standardError.write(Data($0.utf8)) },
    readLines: { queue, handler in
      // A terminal delivers whole lines. Nothing is read beyond the one that is waited for.
      let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
      source.setEventHandler {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        handler(count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil)
      }
      source.resume()
      nonisolated(unsafe) let ended = source
      return { ended.cancel() }
    },
    after: { seconds, queue, action in
      queue.asyncAfter(deadline: .now() + seconds, execute: action)
    })
}
