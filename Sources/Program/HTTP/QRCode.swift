import HaloSystem

/// A text as a QR code, by libqrencode.
package struct QRCode {
  /// Its modules, row by row; true is dark.
  private let modules: [Bool]
  private let width: Int

  private struct Code {
    let version: Int32
    let width: Int32
    let data: UnsafeMutablePointer<UInt8>?
  }

  private typealias Encode =
    @convention(c) (UnsafePointer<CChar>?, Int32, Int32, Int32, Int32) -> UnsafeMutableRawPointer?
  private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// The constants of qrencode.h: the smallest version that fits, correction level L, any bytes, and case matters.
  private static let version: Int32 = 0
  private static let correction: Int32 = 0
  private static let bytes: Int32 = 2
  private static let caseMatters: Int32 = 1
  /// In modules: the light border (ISO/IEC 18004, 6.3.8).
  private static let border = 4

  /// - Returns: nil if libqrencode is not installed, or the text is too long
  package init?(_ text: String) {
    guard let library = try? LoadedLibrary("libqrencode.so.4"),
      let encode: Encode = library.function("QRcode_encodeString"),
      let free: Free = library.function("QRcode_free"),
      let code = encode(text, Self.version, Self.correction, Self.bytes, Self.caseMatters)
    else { return nil }
    defer { free(code) }
    let found = code.load(as: Code.self)
    guard let data = found.data, found.width > 0 else { return nil }
    width = Int(found.width)
    // The lowest bit is the color.
    modules = UnsafeBufferPointer(start: data, count: width * width).map { $0 & 1 == 1 }
  }

  private func isDark(_ row: Int, _ column: Int) -> Bool {
    (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column]
  }

  /// Lines for a terminal, black on white whatever its colors are; each character has two modules, one above the other.
  package var lines: [String] {
    let range = -Self.border..<width + Self.border
    return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
      let blocks = range.map { column in
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return "\u{1b}[30;107m" + blocks.joined() + "\u{1b}[0m"
    }
  }
}
