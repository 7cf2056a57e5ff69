import Foundation

/// A picture of a product: the bytes of an image file. The list on a terminal does not show it.
public struct ASProductImage: Hashable, Sendable {
  public let data: Data

  public init(data: Data) {
    self.data = data
  }
}

/// A kind of accessory that the picker offers.
open class ASPickerDisplayItem: NSObject, @unchecked Sendable {
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
}
