/// AES-CMAC (RFC 4493) by libcrypto, which is loaded when it is first needed: it does not delay the start of a program, and
/// where it is not installed, only the functions that depend on it are missing.
package enum MessageAuthentication {
  package static var isAvailable: Bool { Libcrypto.shared != nil }

  /// The code of a message.
  ///
  /// - Parameters:
  ///   - message: the message, most significant byte first
  ///   - key: 16 bytes
  /// - Returns: 16 bytes, most significant first; nil if libcrypto is not installed, or refuses
  package static func cmac(_ message: [UInt8], key: [UInt8]) -> [UInt8]? {
    Libcrypto.shared?.cmac(message, key: key)
  }

  /// The Database Hash of attributes: their code with a key of zeros (Core Specification Vol 3, Part G, 7.3.1).
  package static func databaseHash(_ attributes: [UInt8]) -> [UInt8]? {
    cmac(attributes, key: [UInt8](repeating: 0, count: 16))
  }
}

/// The functions of OpenSSL 3 that make a message authentication code: EVP_MAC(3).
private struct Libcrypto {
  static let shared = Libcrypto()

  private typealias Pointer = UnsafeMutableRawPointer
  private typealias Bytes = UnsafePointer<UInt8>

  private let newContext: @convention(c) (Pointer) -> Pointer?
  private let freeContext: @convention(c) (Pointer) -> Void
  private let begin: @convention(c) (Pointer, Bytes, Int, UnsafeRawPointer) -> Int32
  private let update: @convention(c) (Pointer, Bytes?, Int) -> Int32
  private let end:
    @convention(c) (Pointer, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>, Int) -> Int32
  /// The algorithm, which is kept until the end of the process.
  nonisolated(unsafe) private let algorithm: Pointer

  private init?() {
    guard let library = try? LoadedLibrary("libcrypto.so.3"),
      let fetch = library.function(
        "EVP_MAC_fetch",
        as: (@convention(c) (Pointer?, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Pointer?).self),
      let algorithm = fetch(nil, "CMAC", nil)
    else { return nil }
    self.algorithm = algorithm
    do throws(LibraryError) {
      newContext = try library.required("EVP_MAC_CTX_new")
      freeContext = try library.required("EVP_MAC_CTX_free")
      begin = try library.required("EVP_MAC_init")
      update = try library.required("EVP_MAC_update")
      end = try library.required("EVP_MAC_final")
    } catch {
      return nil
    }
  }

  func cmac(_ message: [UInt8], key: [UInt8]) -> [UInt8]? {
    guard let context = newContext(algorithm) else { return nil }
    defer { freeContext(context) }
    var code = [UInt8](repeating: 0, count: 16)
    var length = 0
    let isBegun = withParameter("cipher", "AES-128-CBC") { begin(context, key, key.count, $0) == 1 }
    guard isBegun, update(context, message, message.count) == 1,
      end(context, &code, &length, code.count) == 1,
      length == code.count
    else { return nil }
    return code
  }

  /// A list of one text, and its end: OSSL_PARAM(3), five words each.
  private func withParameter(_ name: String, _ text: String, _ body: (UnsafeRawPointer) -> Bool) -> Bool {
    let utf8String = 4
    return name.withCString { name in
      text.withCString { text in
        var words = [Int](repeating: 0, count: 10)
        words[0] = Int(bitPattern: name)
        words[1] = utf8String
        words[2] = Int(bitPattern: text)
        // The whole text.
        words[3] = 0
        while text[words[3]] != 0 { words[3] += 1 }
        return words.withUnsafeBytes { bytes in bytes.baseAddress.map(body) ?? false }
      }
    }
  }
}
