import HaloBluetoothCore
import HaloCommandLine
import HaloSecurityManager
import HaloStorage
import HaloSystem

private let fromOption = Option(
  "--from", as: .text, placeholder: "DIR", default: BluetoothdFolder.standardPath,
  help: "what to import: bluetoothd's folder, or a copy")

let bondsCommand = CommandSpec(
  name: "bonds", arguments: "[forget DEVICE|import]",
  summary: "list the paired devices, forget one, or import those of bluetoothd",
  positionals: 0...2, options: [fromOption, CommonOptions.format],
  examples: [
    ("sudo halo-raw bonds import", "take over the devices that bluetoothd is paired with"),
    ("halo-raw bonds", "list all"),
    ("halo-raw bonds --format jsonl", "the same, with a record for each"),
  ],
  details: """
    A bond is what is kept of a pairing: the keys by which this machine and the device encrypt their links, and by which
    it is known again at another private address. No format shows the keys. They are in bonds.json in the folder for
    state, which only its owner can read: $XDG_STATE_HOME/halo-raw, else ~/.local/state/halo-raw.

    DEVICE is an address or a name. After halo-raw bonds forget, let the device forget this machine, too: many refuse to
    pair again as long as they have the old keys.

    A bond is for one adapter: the device expects the address of the adapter that it was paired with. Import copies the
    bonds that bluetoothd has for all adapters, and changes nothing there. Devices that halo-raw has a bond with already
    keep that one. Only root can read the folder of bluetoothd.
    """,
  usesAdapter: false
) { invocation in
  let words = invocation.positionals
  let isImport = words == ["import"]
  if invocation.isGiven(fromOption), !isImport { throw Failure.usage("--from is for halo-raw bonds import") }
  switch (words.first, words.count) {
  case (nil, _):
    list(try BondFile.standard().load(), OutputFormat(invocation))
  case ("forget", 2):
    let file = try BondFile.standard()
    let forgotten = try file.bonds(of: words[1])
    for peer in Set(forgotten.map(\.peer)) { try file.remove(peer) }
    list(forgotten, OutputFormat(invocation), as: "forgot: ")
    Console.error(
      "let the device forget this machine, too: it may refuse to pair again as long as it has the keys")
  case ("import", 1):
    guard !invocation[fromOption].isEmpty else { throw Failure.usage("--from wants a folder, not \"\"") }
    let found = try BluetoothdFolder.contents(of: invocation[fromOption])
    // What only root can read is read. The file belongs to the invoking user.
    try Privileges.afterOpening(.other)
    for error in found.unreadable { Console.error("cannot read \(error)") }
    guard !found.bonds.isEmpty || found.others > 0 else {
      throw Failure(.notFound, "no paired devices in \(invocation[fromOption].printable)")
    }
    let (added, present, refused) = try BondFile.standard().add(found.bonds)
    list(added, OutputFormat(invocation), as: "imported: ")
    for bond in present { Console.error("not imported, as there is a bond already: \(BondRow(bond).text)") }
    for error in refused { Console.error("not imported: \(error)") }
    if found.others > 0 {
      Console.error("\(Console.counted(found.others, "device")) without a key for Bluetooth LE: not imported")
    }
    if !refused.isEmpty {
      throw Failure(.cannotOpenFile, "\(Console.counted(refused.count, "device")) could not be imported")
    }
  default:
    throw Failure.usage(
      "usage: halo-raw bonds, or halo-raw bonds forget DEVICE, or halo-raw bonds import [--from DIR]")
  }
}

@BluetoothActor
private func list(_ bonds: [Bond], _ format: OutputFormat, as done: String = "") {
  var printer = RecordPrinter(format, BondRow.columns)
  for row in bonds.map(BondRow.init) { printer.print(row.fields, text: done + row.text) }
}

extension BluetoothdFolder {
  fileprivate static func contents(of folder: String) throws(Failure) -> Contents {
    do throws(FileError) {
      return try read(folder)
    } catch {
      guard error.isForbidden else { throw Failure(ExitCode(error), "cannot import: \(error)") }
      throw Failure(.noPermission, "only root can read \(folder.printable); run the same command with sudo")
    }
  }
}

extension UserBonds {
  /// The bonds of the user's file, before or after privileges are dropped; nil without a folder for state.
  static var ofUser: UserBonds? {
    BondFile.pathOfCaller.map { UserBonds(path: $0) }
  }
}

extension BondFile {
  /// The file of the user.
  fileprivate static func standard() throws(Failure) -> BondFile {
    guard let path = standardPath else {
      throw Failure(.cannotOpenFile, "there is no folder for bonds; set HOME or XDG_STATE_HOME")
    }
    return BondFile(path: path)
  }

  /// The bonds with a device, of each adapter.
  ///
  /// - Parameter text: its address, or its name
  fileprivate func bonds(of text: String) throws -> [Bond] {
    let bonds = try load()
    let found: [Bond]
    if let address = BluetoothAddress(text) {
      let namesType = text.contains("/")
      found = bonds.filter { $0.peer.value == address.value && (!namesType || $0.peer.kind == address.kind) }
    } else {
      let name = text.lowercased()
      found = bonds.filter { $0.name?.lowercased() == name }
    }
    guard !found.isEmpty else {
      throw Failure(.notFound, "no bond with \(text.printable); halo-raw bonds lists them")
    }
    guard Set(found.map(\.peer)).count == 1 else {
      let which = Set(found.map { "\($0.peer)/\($0.peer.kind)" }).sorted().joined(separator: ", ")
      throw Failure(
        .notFound, "there are several devices \(text.printable): name one by its address: \(which)")
    }
    return found
  }
}

/// A bond as a row of the list, without its keys.
private struct BondRow {
  let bond: Bond

  static let columns = [
    "name", "address", "type", "own_address", "own_type", "authenticated", "secure_connections",
    "key_size_bytes",
    "private_addresses",
  ]

  init(_ bond: Bond) { self.bond = bond }

  var fields: [Field] {
    let strength = bond.strength
    return [
      .text(bond.name), .text("\(bond.peer)"), .text("\(bond.peer.kind)"), .text("\(bond.own)"),
      .text("\(bond.own.kind)"), .flag(strength.isAuthenticated), .flag(strength.isSecureConnections),
      .number(strength.keySize), .flag(bond.identityResolvingKey != nil),
    ]
  }

  var text: String {
    let strength = bond.strength
    return [
      bond.name?.printable ?? "(no name)", "\(bond.peer) (\(bond.peer.kind))", "with adapter \(bond.own)",
      (strength.isAuthenticated ? "authenticated" : "not authenticated")
        + ", \(strength.isSecureConnections ? "Secure Connections" : "legacy pairing"), \(strength.keySize) bytes"
        + (bond.identityResolvingKey == nil ? "" : ", private addresses"),
    ].joined(separator: "  ")
  }
}
