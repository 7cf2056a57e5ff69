import Foundation
internal import HaloRaw
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
