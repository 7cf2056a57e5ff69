import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloGATT

/// The values that a table gets while it is offered: each is stored, and sent to the devices that have subscribed to it.
@BluetoothActor
final class ServedValues {
  private let database: AttributeDatabase
  private let peripheral: Peripheral
  /// All that the table has.
  private let characteristics: [CharacteristicDeclaration]
  /// The characteristics whose values a link had no room for: it gets those of then when it has room.
  private var missed: [ObjectIdentifier: Set<CharacteristicDeclaration>] = [:]

  init(_ database: AttributeDatabase, _ peripheral: Peripheral) {
    self.database = database
    self.peripheral = peripheral
    characteristics = database.handles(of: GATTUUID.characteristic).compactMap { handle in
      database.value(of: handle).flatMap { CharacteristicDeclaration(parsing: $0) }
    }
  }

  /// Finds a characteristic whose value can be given.
  ///
  /// - Throws: why there is none
  func characteristic(_ choice: AttributeChoice) throws(Failure) -> CharacteristicDeclaration {
    let found = characteristics.filter { characteristic in
      switch choice {
      case .uuid(let uuid): characteristic.uuid == uuid
      case .handle(let handle): characteristic.valueHandle == handle
      }
    }
    guard let first = found.first else { throw .usage("the table has no \(choice.title)") }
    guard found.count == 1 else {
      let handles = found.map(\.valueHandle.description).joined(separator: ", ")
      throw .usage("the table has \(choice.title) \(found.count) times; give its handle: \(handles)")
    }
    guard !database.makesValue(of: first.valueHandle) else {
      throw .usage("\(choice.title) has a value that this program makes; give another one")
    }
    return first
  }

  /// Takes a line such as `2A6E D107`, `0x0012 D107` or `2A00 --text Pi`; an empty one is none.
  ///
  /// - Throws: the error in the line
  func take(line: String) throws(Failure) {
    // A file of Windows may begin with a byte order mark, and its lines end with a carriage return.
    var line = line.unicodeScalars[...]
    if line.first == "\u{FEFF}" { line.removeFirst() }
    if line.last == "\r" { line.removeLast() }
    let words = Substring(line).split(maxSplits: 1, whereSeparator: \.isWhitespace)
    guard let name = words.first.map(String.init) else { return }
    guard let choice = AttributeChoice(naming: name) else {
      throw .usage("\"\(name.printable)\" is neither a handle, such as 0x0012, nor a UUID, such as 2A6E")
    }
    let characteristic = try characteristic(choice)
    guard words.count == 2 else { throw .usage("there is no value behind \(name); give one such as A104") }
    try set(try value(of: String(words[1])), of: characteristic)
  }

  /// Stores a value, and sends it as each device has asked for.
  func set(_ value: [UInt8], of characteristic: CharacteristicDeclaration) throws(Failure) {
    do throws(StackError) {
      try database.setValue(value, of: characteristic.valueHandle)
    } catch {
      throw Failure(error)
    }
    // The table may have had no value.
    let access = ServerAttribute.Access(characteristic.properties)
    database.setPermissions(of: characteristic.valueHandle, access)
    let clients = peripheral.connections.compactMap(\.server)
    if !missed.isEmpty {
      missed = missed.filter { key, _ in clients.contains { ObjectIdentifier($0) == key } }
    }
    for client in clients { send(value, of: characteristic, to: client) }
  }

  /// One value of each characteristic waits for a slow link: the newest.
  private func send(_ value: [UInt8], of characteristic: CharacteristicDeclaration, to client: ServerBearer) {
    guard client.push(value, of: characteristic.valueHandle, replacesWaiting: true) == .full else { return }
    missed[ObjectIdentifier(client), default: []].insert(characteristic)
    client.onReady = { [weak self, unowned client] in self?.sendMissed(to: client) }
  }

  private func sendMissed(to client: ServerBearer) {
    for characteristic in missed.removeValue(forKey: ObjectIdentifier(client)) ?? [] {
      guard let value = database.value(of: characteristic.valueHandle) else { continue }
      send(value, of: characteristic, to: client)
    }
  }
}

/// The values that lines of standard input give. A wrong line is said with its number; the end of the input ends nothing.
@BluetoothActor
final class ValueLines {
  /// In bytes: a value of 512 bytes as digits with spaces, and the name of a characteristic.
  private nonisolated static let longestLine = 2048

  private let values: ServedValues
  private let input = LineInput(longestLine: longestLine)

  init(_ values: ServedValues) { self.values = values }

  /// - Parameter agent: gets a line first, as it may be an answer; nil if nobody is asked
  func start(_ agent: PersonAgent?) {
    let isOpen = input.start { [self] line in
      if agent?.take(line?.text) == true { return }
      if let line { take(line) }
    }
    if isOpen, StandardInput.isForegroundTerminal {
      Console.hint("a line such as \"2A6E D107\" gives the value of a characteristic")
    }
  }

  func stop() { input.stop() }

  private func take(_ line: InputLines.Line) {
    do throws(Failure) {
      guard let text = line.text else {
        throw .usage("it is longer than \(Self.longestLine) bytes")
      }
      try values.take(line: text)
    } catch {
      Console.error("halo-raw: standard input, line \(line.number): \(error.message)")
    }
  }
}
