import GAP
import HaloBluetoothCore
import HaloSecurityManager
import HaloStorage
import HaloSystem

/// Which pairings a radio agrees to, and who is asked.
///
/// A device that wants a secure link answers a read with Insufficient Authentication: the radio pairs with it then, and
/// repeats the read. What a pairing has agreed on is kept as a bond, in a file of the user; later links are encrypted with
/// it before they are used.
///
/// ```swift
/// let options = PairingOptions.asking(.displayAndConfirm) { question, device in
///   guard case .compare(let number) = question else { return .refuse }
///   return await person.says("Does \(device) show \(number)?") ? .accept : .refuse
/// }
/// try await withRadio(pairing: options) { radio in … }
/// ```
public struct PairingOptions: Sendable {
  /// What the program can show a person, and have a person type.
  public enum Interface: Hashable, Sendable {
    case none
    /// A number can be shown.
    case display
    /// A number can be shown, and a person says yes or no.
    case displayAndConfirm
    /// A number can be typed.
    case keyboard
    /// All of these.
    case keyboardAndDisplay
  }

  /// Asks a person, and returns the answer. The question of `.showPasskey` is answered when it is no longer to be shown;
  /// its task is cancelled when the pairing has ended.
  public typealias Ask = @Sendable (PairingQuestion, BluetoothAddress) async -> PairingAnswer

  private let policy: PairingPolicy
  private let interface: Interface
  private let ask: Ask?
  /// The shortest key, in bytes: 7 to 16. Keys of less than 16 bytes can be found by trying.
  public var minimumKeySize = 16
  /// Whether Just Works, which does not protect against a man in the middle, is refused.
  public var requiresAuthentication = false
  /// Whether a device with a bond may pair anew without it, as it does when it has forgotten the bond. Anybody can pretend
  /// to be that device: allow it only while its owner waits for it.
  public var allowsRepairing = false
  /// What a tag or a code on the device to pair with says: AD structures with the types 0x22 and 0x23, or 0x10, as in an NFC
  /// record of type `application/vnd.bluetooth.le.oob`. Such a pairing is authenticated, and needs no person. Not on `hciN`,
  /// where the kernel pairs. Other data is as none.
  public var outOfBandData: [UInt8]?
  /// Whether the radio uses private addresses, which change every 15 minutes, so that nobody can track it by its address.
  /// Devices that it pairs with meanwhile get the key by which they know it again; those of earlier bonds do not know it. The
  /// kernel's adapters (`hciN`) do not offer it.
  public var usesPrivateAddresses = false
  /// The file of the bonds; nil for that of the user, which `halo-raw bonds` lists. Simulated devices have no bonds in
  /// that one.
  public var bondFile: String?

  private init(_ policy: PairingPolicy, _ interface: Interface = .none, _ ask: Ask? = nil) {
    (self.policy, self.interface, self.ask) = (policy, interface, ask)
  }

  /// No link is encrypted.
  public static let never = PairingOptions(.never)
  /// Links to devices with a bond are encrypted; there are no new pairings.
  public static let bondedOnly = PairingOptions(.encryptOnly)
  /// Devices that want it are paired with, if that needs no person: Just Works.
  public static let justWorks = PairingOptions(.justWorks)

  /// A person is asked about each pairing.
  ///
  /// - Parameters:
  ///   - interface: what the person can see and type
  ///   - ask: asks
  public static func asking(_ interface: Interface, _ ask: @escaping Ask) -> PairingOptions {
    PairingOptions(.ask, interface, ask)
  }

  /// - Parameter isReal: whether the devices are not simulated
  @BluetoothActor
  package func host(isReal: Bool) -> SecurityHost {
    let path = bondFile ?? (isReal ? BondFile.standardPath : nil)
    let file: (any BondStore)? = path.map { UserBonds(path: $0) }
    let host = SecurityHost(
      LibcryptoCryptography.shared, bonds: file ?? (isReal ? nil : SimulatedBonds()))
    host.usesPrivateAddresses = usesPrivateAddresses
    apply(to: host)
    return host
  }

  /// From now on, the radio pairs like this. Its bonds stay those that it has.
  @BluetoothActor
  package func apply(to host: SecurityHost) {
    var settings = PairingSettings(policy: policy)
    settings.minimumKeySize = max(7, min(minimumKeySize, 16))
    settings.requiresAuthentication = requiresAuthentication
    settings.allowsRepairing = allowsRepairing
    settings.outOfBand = outOfBandData.flatMap { OutOfBandData(tag: $0) }
    host.settings = settings
    host.agent = ask.map { ProgramAgent(interface, $0) }
  }
}

/// Asks by the closure of a program, one question at a time.
@BluetoothActor
private final class ProgramAgent: PairingAgent {
  let ioCapability: IOCapability
  private let closure: PairingOptions.Ask
  private var task: Task<Void, Never>?

  init(_ interface: PairingOptions.Interface, _ closure: @escaping PairingOptions.Ask) {
    ioCapability =
      switch interface {
      case .none: .noInputNoOutput
      case .display: .displayOnly
      case .displayAndConfirm: .displayYesNo
      case .keyboard: .keyboardOnly
      case .keyboardAndDisplay: .keyboardDisplay
      }
    self.closure = closure
  }

  func ask(
    _ question: PairingQuestion, about peer: BluetoothAddress, answer: @escaping (PairingAnswer) -> Void
  ) {
    task?.cancel()
    task = BluetoothActor.run { [closure] in
      let reply = await closure(question, peer)
      // A passkey that was shown needs no answer, but may be refused.
      if case .showPasskey = question, reply != .refuse { return }
      if !Task.isCancelled { answer(reply) }
    }
  }

  func pairingEnded(with peer: BluetoothAddress, _ error: StackError?) {
    task.take()?.cancel()
  }
}

extension Connection {
  /// Pairs with the device, unless the link is encrypted already; the options of the radio say how.
  ///
  /// - **Cancelled**: `.cancelled`; the pairing goes on.
  /// - **The link is lost**: `.linkLost`.
  ///
  /// - Parameter isAuthenticated: whether a person has to have compared or typed a number
  /// - Throws: `.notPermitted` if a side does not pair, or the pairing has failed; `.keyMissing` if the device has
  ///   forgotten its
  ///   bond
  public func pair(isAuthenticated: Bool = false) async throws {
    try await core.perform(repeats: { false }) { live throws(StackError) in
      try await live.link.secure(to: isAuthenticated ? .authenticated : .encrypted)
    }
  }
}
