import Glibc
import HaloCommandLine
import HaloSystem
import HaloMQTT

/// Where the password of the user of a broker is.
enum BrokerPassword: Sendable {
  /// It is this one; nil for none.
  case known(String?)
  /// It is the first line of this file.
  case file(String)

  static let option = Option(
    "--mqtt-password-file", as: .file(.reads),
    help: "the file with the password of the user in --mqtt, which nobody else can read")

  /// In bytes.
  private static let longest = 1024
  private static let variable = "HALO_MQTT_PASSWORD"
  /// The name of systemd's credential (LoadCredential=).
  private static let credential = "mqtt-password"

  /// Takes the password of the address; else that of `--mqtt-password-file`; else that of the service's credential
  /// `mqtt-password`; else that of `HALO_MQTT_PASSWORD`.
  init(_ invocation: Invocation, of address: BrokerAddress) throws(Failure) {
    let named = invocation[Self.option]
    guard address.user != nil else {
      guard named == nil else {
        throw .usage("--mqtt-password-file needs the user in the address: mqtt://USER@HOST/PREFIX")
      }
      self = .known(nil)
      return
    }
    guard address.password == nil else {
      guard named == nil else { throw .usage("--mqtt has a password, and so has --mqtt-password-file") }
      self = .known(address.password)
      return
    }
    if let named {
      self = .file(named)
    } else if let credential = Self.credentialFile {
      self = .file(credential)
    } else {
      self = .known(getenv(Self.variable).map { String(cString: $0) })
    }
  }

  /// - Throws: if the file can't be read, others can read it, or it has no password
  func read() throws(Failure) -> String? {
    switch self {
    case .known(let password): return password
    case .file(let path):
      let bytes: [UInt8]
      do throws(FileError) { bytes = try InputFile.readSecret(path, limit: Self.longest) } catch {
        throw Failure(
          error.reason == .readableByOthers ? .noPermission : .cannotOpenFile,
          "cannot read the password of --mqtt: \(error)")
      }
      let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      guard !line.isEmpty, !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
        throw Failure(.badData, "the first line of \(path.printable) is no password")
      }
      return text
    }
  }

  /// Nil if this is no service with that credential.
  private static var credentialFile: String? {
    guard let folder = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }), folder.hasPrefix("/")
    else {
      return nil
    }
    let path = "\(folder)/\(credential)"
    return access(path, F_OK) == 0 ? path : nil
  }
}
