import HaloBluetoothCore

/// The functions of libcrypto (OpenSSL 3) that are used, as its headers declare them: none is variadic, a macro or deprecated.
/// OpenSSL's pages crypto(7), EVP_PKEY-EC(7), EVP_MAC(3) and EVP_EncryptInit(3) describe them.
struct Libcrypto: Sendable {
  typealias Name = UnsafePointer<CChar>
  /// A `const OSSL_PARAM *`: ``LibcryptoParameters``.
  typealias Parameters = UnsafeMutablePointer<Int>
  typealias Bytes = UnsafePointer<UInt8>
  typealias Room = UnsafeMutablePointer<UInt8>

  // Keys.
  let newKeyContext: @convention(c) (OpaquePointer?, Name, Name?) -> OpaquePointer?
  let newContextOfKey: @convention(c) (OpaquePointer?, OpaquePointer, Name?) -> OpaquePointer?
  let freeKeyContext: @convention(c) (OpaquePointer?) -> Void
  let freeKey: @convention(c) (OpaquePointer?) -> Void
  let beginGenerating: @convention(c) (OpaquePointer) -> Int32
  let setGroup: @convention(c) (OpaquePointer, Name) -> Int32
  let generate: @convention(c) (OpaquePointer, UnsafeMutablePointer<OpaquePointer?>) -> Int32
  let readParameters: @convention(c) (OpaquePointer, Parameters) -> Int32
  let beginFromData: @convention(c) (OpaquePointer) -> Int32
  let fromData:
    @convention(c) (OpaquePointer, UnsafeMutablePointer<OpaquePointer?>, Int32, Parameters) -> Int32
  let checkPublicKey: @convention(c) (OpaquePointer) -> Int32
  let beginDeriving: @convention(c) (OpaquePointer) -> Int32
  let setPeer: @convention(c) (OpaquePointer, OpaquePointer, Int32) -> Int32
  let derive: @convention(c) (OpaquePointer, Room, UnsafeMutablePointer<Int>) -> Int32
  // Message authentication codes.
  let newCode: @convention(c) (OpaquePointer) -> OpaquePointer?
  let freeCode: @convention(c) (OpaquePointer?) -> Void
  let beginCode: @convention(c) (OpaquePointer, Bytes, Int, Parameters) -> Int32
  let updateCode: @convention(c) (OpaquePointer, Bytes?, Int) -> Int32
  let endCode: @convention(c) (OpaquePointer, Room, UnsafeMutablePointer<Int>, Int) -> Int32
  // Ciphers.
  let newCipher: @convention(c) () -> OpaquePointer?
  let freeCipher: @convention(c) (OpaquePointer?) -> Void
  let beginEncrypting: @convention(c) (OpaquePointer, OpaquePointer, Bytes, Bytes?, Parameters?) -> Int32
  let setPadding: @convention(c) (OpaquePointer, Int32) -> Int32
  let encrypt: @convention(c) (OpaquePointer, Room, UnsafeMutablePointer<Int32>, Bytes, Int32) -> Int32
  // All.
  let compare: @convention(c) (UnsafeRawPointer, UnsafeRawPointer, Int) -> Int32
  let cleanse: @convention(c) (UnsafeMutableRawPointer, Int) -> Void
  let clearError: @convention(c) () -> Void

  /// The algorithms, which are kept until the end of the process. libcrypto counts their users by atomic numbers.
  nonisolated(unsafe) let cmac: OpaquePointer
  nonisolated(unsafe) let aes: OpaquePointer

  init() throws(LibraryError) {
    let library = try LoadedLibrary("libcrypto.so.3")
    newKeyContext = try library.required("EVP_PKEY_CTX_new_from_name")
    newContextOfKey = try library.required("EVP_PKEY_CTX_new_from_pkey")
    freeKeyContext = try library.required("EVP_PKEY_CTX_free")
    freeKey = try library.required("EVP_PKEY_free")
    beginGenerating = try library.required("EVP_PKEY_keygen_init")
    setGroup = try library.required("EVP_PKEY_CTX_set_group_name")
    generate = try library.required("EVP_PKEY_generate")
    readParameters = try library.required("EVP_PKEY_get_params")
    beginFromData = try library.required("EVP_PKEY_fromdata_init")
    fromData = try library.required("EVP_PKEY_fromdata")
    checkPublicKey = try library.required("EVP_PKEY_public_check")
    beginDeriving = try library.required("EVP_PKEY_derive_init")
    setPeer = try library.required("EVP_PKEY_derive_set_peer_ex")
    derive = try library.required("EVP_PKEY_derive")
    newCode = try library.required("EVP_MAC_CTX_new")
    freeCode = try library.required("EVP_MAC_CTX_free")
    beginCode = try library.required("EVP_MAC_init")
    updateCode = try library.required("EVP_MAC_update")
    endCode = try library.required("EVP_MAC_final")
    newCipher = try library.required("EVP_CIPHER_CTX_new")
    freeCipher = try library.required("EVP_CIPHER_CTX_free")
    beginEncrypting = try library.required("EVP_EncryptInit_ex2")
    setPadding = try library.required("EVP_CIPHER_CTX_set_padding")
    encrypt = try library.required("EVP_EncryptUpdate")
    compare = try library.required("CRYPTO_memcmp")
    cleanse = try library.required("OPENSSL_cleanse")
    clearError = try library.required("ERR_clear_error")

    // OPENSSL_INIT_NO_ATEXIT: at the end of the process a thread may still compute, and its memory must not be freed.
    let prepare: @convention(c) (UInt64, OpaquePointer?) -> Int32 = try library.required(
      "OPENSSL_init_crypto")
    _ = prepare(0x0008_0000, nil)
    typealias Fetch = @convention(c) (OpaquePointer?, Name, Name?) -> OpaquePointer?
    let fetchCode: Fetch = try library.required("EVP_MAC_fetch")
    let fetchCipher: Fetch = try library.required("EVP_CIPHER_fetch")
    guard let cmac = fetchCode(nil, "CMAC", nil), let aes = fetchCipher(nil, "AES-128-ECB", nil) else {
      clearError()
      throw LibraryError(name: "libcrypto.so.3", reason: "its configuration has no AES")
    }
    (self.cmac, self.aes) = (cmac, aes)
  }

  /// Throws away what the library says about a failed call, so that the next failure is not taken for this one.
  func failure(_ error: CryptographyError = .failed) -> CryptographyError {
    clearError()
    return error
  }
}

/// A list of parameters for libcrypto: OSSL_PARAM(3), five words each, and one of zeros at the end. Its memory, which may hold
/// a private key, is overwritten before it is freed.
final class LibcryptoParameters {
  enum Value {
    case text(String)
    case bytes([UInt8])
    /// The most significant byte first, for functions that read it, and of zeros for those that write it.
    case number([UInt8])

    /// The number of the type in openssl/core.h.
    fileprivate var type: Int {
      switch self {
      case .number: 2
      case .text: 4
      case .bytes: 5
      }
    }

    fileprivate var count: Int {
      switch self {
      case .number(let bytes), .bytes(let bytes): bytes.count
      case .text(let text): text.utf8.count
      }
    }

    /// As the library has them in memory: numbers with the least significant byte first.
    fileprivate var stored: [UInt8] {
      switch self {
      case .number(let bytes): bytes.reversed()
      // Some functions read a text to a zero byte, which does not count.
      case .text(let text): Array(text.utf8) + [0]
      case .bytes(let bytes): bytes
      }
    }
  }

  private let functions: Libcrypto
  private let list: UnsafeMutableBufferPointer<Int>
  private var memory: [UnsafeMutableRawBufferPointer] = []

  init(_ functions: Libcrypto, _ parameters: [(name: String, value: Value)]) {
    self.functions = functions
    list = .allocate(capacity: 5 * (parameters.count + 1))
    list.initialize(repeating: 0)
    for (index, parameter) in parameters.enumerated() {
      let value = parameter.value.stored
      list[5 * index] = keep(Array(parameter.name.utf8) + [0])
      list[5 * index + 1] = parameter.value.type
      list[5 * index + 2] = keep(value)
      list[5 * index + 3] = parameter.value.count
    }
  }

  private func keep(_ bytes: [UInt8]) -> Int {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    copy.copyBytes(from: bytes)
    memory.append(copy)
    return Int(bitPattern: copy.baseAddress)
  }

  deinit {
    for copy in memory {
      if let start = copy.baseAddress { functions.cleanse(start, copy.count) }
      copy.deallocate()
    }
    list.deallocate()
  }

  /// Calls a function with the list.
  ///
  /// - Returns: whether it returns 1, for success
  func pass(to function: (Libcrypto.Parameters) -> Int32) -> Bool {
    withExtendedLifetime(self) { list.baseAddress.map { function($0) == 1 } ?? false }
  }

  /// The number at this index, which a function has written: the most significant byte first.
  func number(at index: Int) -> [UInt8] { memory[2 * index + 1].reversed() }
}
