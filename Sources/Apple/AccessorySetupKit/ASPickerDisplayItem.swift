import Foundation
internal import HaloSystem

/// A kind of accessory that the picker offers.
open class ASPickerDisplayItem: NSObject, @unchecked Sendable {
  /// How an accessory is set up once it is chosen.
  public struct SetupOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// The user is asked for a name, on a terminal.
    public static let rename = SetupOptions(rawValue: 1 << 0)
    /// Has no effect: an accessory is authorized when it is chosen.
    public static let confirmAuthorization = SetupOptions(rawValue: 1 << 1)
    /// Has no effect: there is no view in which to report it.
    public static let finishInApp = SetupOptions(rawValue: 1 << 2)
  }

  private struct Options {
    var setup: SetupOptions = []
    var rename: ASAccessory.RenameOptions = []
  }

  private let options = LockedValue(Options())

  /// The name that the user sees.
  public let name: String
  public let productImage: ASProductImage?
  /// A copy of the descriptor.
  public let descriptor: ASDiscoveryDescriptor

  /// - Parameters:
  ///   - name: as the picker shows it
  ///   - productImage: has no effect
  ///   - descriptor: is copied: later changes have no effect
  public init(name: String, productImage: ASProductImage?, descriptor: ASDiscoveryDescriptor) {
    self.name = name
    self.productImage = productImage
    self.descriptor = ASDiscoveryDescriptor(descriptor.fields)
    super.init()
  }

  open var setupOptions: SetupOptions {
    get { options.withLock { $0.setup } }
    set { options.withLock { $0.setup = newValue } }
  }

  /// Has no effect: there is no Wi-Fi to rename.
  open var renameOptions: ASAccessory.RenameOptions {
    get { options.withLock { $0.rename } }
    set { options.withLock { $0.rename = newValue } }
  }
}

/// A program's settings of the picker.
open class ASPickerDisplaySettings: NSObject, @unchecked Sendable {
  /// How long the picker waits for the first accessory that matches, in seconds.
  public struct DiscoveryTimeout: RawRepresentable, Hashable, Sendable {
    public let rawValue: TimeInterval

    public init(rawValue: TimeInterval) {
      self.rawValue = rawValue
    }

    /// One minute.
    public static let short = DiscoveryTimeout(rawValue: 60)
    /// Two minutes.
    public static let medium = DiscoveryTimeout(rawValue: 120)
    /// Five minutes.
    public static let long = DiscoveryTimeout(rawValue: 300)
    /// As long as the program does not end the session.
    public static let unbounded = DiscoveryTimeout(rawValue: .infinity)
  }

  private let timeout = LockedValue(DiscoveryTimeout(rawValue: 30))

  /// New settings, without a change.
  open class var `default`: ASPickerDisplaySettings { ASPickerDisplaySettings() }

  /// 30 s at first. Without a terminal, the picker fails then; on a terminal, the user cancels it.
  open var discoveryTimeout: DiscoveryTimeout {
    get { timeout.withLock { $0 } }
    set { timeout.withLock { $0 = newValue } }
  }
}

/// A picture of a product. The picker on a terminal shows none, so that a picture that can't be found is one without bytes,
/// and the line of an app whose pictures are in an asset catalog, `UIImage(named: "strap")!`, goes on.
public struct ASProductImage: Hashable, Sendable {
  /// The bytes of the image file; empty without one.
  public let data: Data

  public init() {
    data = Data()
  }

  /// - Parameter data: of an image file; nil if it is empty
  public init?(data: Data) {
    guard !data.isEmpty else { return nil }
    self.data = data
  }

  /// Nil if the file can't be read.
  public init?(contentsOfFile path: String) {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    self.init(data: data)
  }

  /// The file with this name, `.png`, `.jpg` or `.jpeg` may be left out, beside the program or in the working folder;
  /// else an image without bytes. Nil for an empty name.
  public init?(named name: String) {
    guard !name.isEmpty else { return nil }
    let folders = [Bundle.main.resourcePath, FileManager.default.currentDirectoryPath].compactMap(\.self)
    for folder in folders {
      for ending in ["", ".png", ".jpg", ".jpeg"] {
        if let found = Self(contentsOfFile: "\(folder)/\(name)\(ending)") {
          self = found
          return
        }
      }
    }
    self.init()
  }

  /// There are no symbols of the system: an image without bytes. Nil for an empty name.
  public init?(systemName name: String) {
    guard !name.isEmpty else { return nil }
    self.init()
  }
}

/// The name of the image of a display item on Apple's systems.
public typealias UIImage = ASProductImage
