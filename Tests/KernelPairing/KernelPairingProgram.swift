import ATT
import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloGATT
import HaloLinuxBluetooth
import HaloSecurityManager
import HaloStorage
import HaloSystem

/// Pairs on an adapter of the kernel, for the tests in Tests/Kernel. What happens is told by a line each.
///
///     kernel-pairing ADAPTER FILE POLICY read ADDRESS LEVEL...
///     kernel-pairing ADAPTER FILE POLICY serve [LEVEL]
///
/// FILE keeps the bonds. POLICY is `never`, `encrypt`, `just-works`, or the user's abilities and answers: `ask:4:yes`,
/// `ask:4:no`, `ask:1:yes`, `ask:4:N` for a passkey N, `ask:4:stdin` for one from standard input. `read` connects, reads the
/// value 2A1C, raises the security of the link to each level, and reads again. `serve` offers that value to those who have
/// encrypted the link, and raises the security of each link to the level, until standard input ends.
@main
enum KernelPairingProgram {
  static func main() {
    Task.detached {
      do throws(StackError) {
        try await run(Array(CommandLine.arguments.dropFirst()))
        exit(0)
      } catch {
        say("error \(error.code): \(error)")
        exit(1)
      }
    }
    while true { pause() }
  }

  nonisolated static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  @BluetoothActor
  private static func run(_ arguments: [String]) async throws(StackError) {
    guard arguments.count > 3, let index = AdapterIndex(arguments[0]) else { exit(64) }
    let adapter = KernelAdapter(index)
    let user = User(arguments[2])
    let security = SecurityHost(
      nil, bonds: UserBonds(path: arguments[1]), settings: settings(arguments[2]))
    security.agent = user
    adapter.security = security
    adapter.onNote = { say("note \($0)") }
    adapter.onFailure = { say("failure \($0.code)") }
    _ = try await adapter.start()
    let levels = arguments.dropFirst(arguments[3] == "read" ? 5 : 4).compactMap {
      Int($0).flatMap(LESecurityLevel.init(rawValue:))
    }
    if arguments[3] == "read" {
      guard let peer = BluetoothAddress(arguments[4]) else { exit(64) }
      await read(peer, levels, adapter)
    } else {
      await serve(adapter, levels.first)
    }
    await adapter.close()
  }

  private static func settings(_ policy: String) -> PairingSettings {
    switch policy {
    case "never": PairingSettings(policy: .never)
    case "encrypt": PairingSettings(policy: .encryptOnly)
    case "just-works": PairingSettings(policy: .justWorks)
    default: PairingSettings(policy: .ask)
    }
  }

  @BluetoothActor
  private static func secure(_ link: any ATTLink, to level: LESecurityLevel) async {
    do throws(StackError) {
      try await awaitCallback {
        (done: @escaping (Result<Void, StackError>) -> Void) in
        link.secure(to: level, completion: done)
        return {}
      }
      say("secured \(level.rawValue): \(describe(link.security))")
    } catch {
      say("refused \(error.code): \(error)")
    }
  }

  private static func describe(_ security: LinkSecurity) -> String {
    let strength = security.isAuthenticated ? "authenticated" : "not authenticated"
    return security.isEncrypted ? "\(strength), \(security.keySize) bytes" : "clear"
  }

  @BluetoothActor
  private static func read(_ peer: BluetoothAddress, _ levels: [LESecurityLevel], _ adapter: KernelAdapter)
    async
  {
    do throws(StackError) {
      var made: (any ATTLink)?
      try await awaitCallback { (done: @escaping (Result<Void, StackError>) -> Void) in
        adapter.connect(ConnectionRequest(peer: peer)) { result in
          done(result.map { made = $0 })
        }
      }
      guard let raw = made else { return }
      let link = GATTLink(raw, timers: adapter.timers, mtu: nil)
      // The test says when.
      link.gatt.onInsufficientSecurity = nil
      link.whenDisconnected { say("ended \($0)") }
      link.whenChanged { if case .change(.encryption) = $0 { say("changed \($0)") } }
      say("connected \(describe(raw.security))")
      await read(link)
      for level in levels {
        await secure(raw, to: level)
        if link.isConnected { await read(link) }
      }
      await link.disconnect()
    } catch {
      say("refused \(error.code): \(error)")
    }
  }

  @BluetoothActor
  private static func read(_ link: GATTLink) async {
    do throws(StackError) {
      let value = try await link.gatt.readFirst(uuid: "2A1C")
      say("read \(value.map { Hex.string($0) } ?? "nothing")")
    } catch {
      say("read \(error.attCode.map { "\($0)" } ?? "\(error.code)")")
    }
  }

  @BluetoothActor
  private static func serve(_ adapter: KernelAdapter, _ level: LESecurityLevel?) async {
    let database = AttributeDatabase()
    database.addGenericAccess(name: "server")
    database.addService("1809")
    database.addCharacteristic("2A1C", .read, value: [7], security: .encrypted)
    // Flags, and the service.
    guard let advertisement = try? Advertising(AdvertisingData([2, 1, 6, 3, 3, 9, 0x18])) else { return }
    let peripheral = RawPeripheral(advertisement, on: adapter)
    var links: [GATTLink] = []
    peripheral.onLink = { raw in
      let onClosed = raw.onClosed
      let link = GATTLink(raw, timers: adapter.timers, mtu: nil)
      link.whenDisconnected { onClosed?($0) }
      links.append(link)
      link.serve(database)
      link.whenChanged {
        if case .change(.encryption) = $0 { say("changed \($0): \(describe(raw.security))") }
      }
      guard let level else { return }
      Task { await secure(raw, to: level) }
    }
    peripheral.onEvent = { event in
      switch event {
      case .advertising(nil): say("advertises")
      case .advertising(let error?): say("refused \(error)")
      case .connected: say("accepted")
      case .disconnected(_, let loss): say("ended \(loss)")
      }
    }
    do throws(StackError) {
      try peripheral.start()
    } catch {
      say("refused \(error.code): \(error)")
      return
    }
    _ = await offTheLoop {
      var byte: UInt8 = 0
      while Glibc.read(STDIN_FILENO, &byte, 1) > 0 {}
    }
    await peripheral.stop()
  }
}

/// A user who gives the same answer to each question.
@BluetoothActor
private final class User: PairingAgent {
  let ioCapability: IOCapability
  private let reply: String

  init(_ policy: String) {
    let words = policy.split(separator: ":").map(String.init)
    ioCapability = IOCapability(rawValue: words.count > 1 ? UInt8(words[1]) ?? 3 : 3)
    reply = words.count > 2 ? words[2] : "no"
  }

  func ask(
    _ question: PairingQuestion, about peer: BluetoothAddress, answer: @escaping (PairingAnswer) -> Void
  ) {
    KernelPairingProgram.say("asked \(question)")
    switch reply {
    case "yes": answer(.accept)
    case "no": answer(.refuse)
    case "stdin": answer(.passkey(readLine().flatMap { UInt32($0) } ?? 0))
    default: answer(UInt32(reply).map { .passkey($0) } ?? .refuse)
    }
  }

  func pairingEnded(with peer: BluetoothAddress, _ error: StackError?) {
    KernelPairingProgram.say("pairing ended \(error.map { "\($0.code)" } ?? "well")")
  }
}
