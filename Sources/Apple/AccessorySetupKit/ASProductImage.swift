import Foundation

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
