import Glibc
import HaloSystem

/// Decompresses the data before the damage of a file: when libarchive finds damage, it drops all that it has not handed out,
/// which is everything of a small file.
struct PartialDecompression {
  private static let inputSize = 1 << 16
  private static let outputSize = 1 << 18

  /// A library's decoder of one format, with its state.
  private enum Decoder: ~Copyable {
    case gzip(GzipDecoder)
    case xz(XZDecoder)

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodedPiece {
      switch self {
      case .gzip(let decoder): decoder.step(input, output)
      case .xz(let decoder): decoder.step(input, output)
      }
    }
  }

  private let file: CapturePart
  private let limit: Int
  private let isCancelled: @Sendable () -> Bool

  /// - Parameters:
  ///   - file: a regular file
  ///   - limit: the most bytes that are written
  ///   - isCancelled: asked between steps of milliseconds
  init(_ file: CapturePart, limit: Int, isCancelled: @escaping @Sendable () -> Bool) {
    self.file = file
    self.limit = limit
    self.isCancelled = isCancelled
  }

  /// The data that could be decompressed.
  ///
  /// - Returns: nil for other formats than gzip and xz, and without their libraries
  func copy(_ format: CompressionFormat) throws(CaptureError) -> TemporaryCopy? {
    switch format {
    case .gzip:
      guard let decoder = GzipDecoder() else { return nil }
      return try copy(.gzip(decoder))
    case .xz:
      guard let decoder = XZDecoder() else { return nil }
      return try copy(.xz(decoder))
    default: return nil
    }
  }

  private func copy(_ decoder: consuming Decoder) throws(CaptureError) -> TemporaryCopy {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Self.inputSize + Self.outputSize, alignment: 16)
    defer { buffer.deallocate() }
    let input = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Self.inputSize])
    let output = UnsafeMutableRawBufferPointer(rebasing: buffer[Self.inputSize...])
    var copy = try TemporaryCopy()
    var unread = 0..<0
    file.rewind()
    while true {
      if isCancelled() { throw CaptureError(.cancelled) }
      if unread.isEmpty {
        let count = SystemCall.read(file.descriptor, input.baseAddress, input.count)
        guard count >= 0 else { throw CaptureError(.cannotRead(lastSystemError)) }
        unread = 0..<count
      }
      let piece = decoder.step(UnsafeRawBufferPointer(rebasing: input[unread]), output)
      unread = min(unread.lowerBound + piece.consumed, unread.upperBound)..<unread.upperBound
      let produced = UnsafeRawBufferPointer(rebasing: output[..<min(piece.produced, output.count)])
      try copy.write(RawSpan(_unsafeBytes: produced))
      guard copy.count <= limit else { throw CaptureError(.growsTooMuch(limit: limit)) }
      // Each iteration takes bytes or makes some, so the loop terminates at the end of the file.
      guard !piece.isLast, piece.consumed > 0 || piece.produced > 0 else { return copy }
    }
  }
}

/// The output of a decoder.
private struct DecodedPiece {
  /// In bytes.
  var consumed: Int
  /// In bytes.
  var produced: Int
  /// Whether nothing can follow: the end, or damage.
  var isLast: Bool
}

/// zlib's inflate, for gzip (RFC 1952). Its interface is that of zlib.h since version 1.2.
private struct GzipDecoder: ~Copyable {
  /// `z_stream`.
  private struct Stream {
    var input: UnsafeRawPointer?
    var inputCount: CUnsignedInt = 0
    var inputTotal: CUnsignedLong = 0
    var output: UnsafeMutableRawPointer?
    var outputCount: CUnsignedInt = 0
    var outputTotal: CUnsignedLong = 0
    var message: UnsafePointer<CChar>?
    var state: UnsafeMutableRawPointer?
    var allocate: UnsafeMutableRawPointer?
    var free: UnsafeMutableRawPointer?
    var opaque: UnsafeMutableRawPointer?
    var dataType: CInt = 0
    var checksum: CUnsignedLong = 0
    var reserved: CUnsignedLong = 0
  }

  private typealias Begin = @convention(c) (UnsafeMutableRawPointer, CInt, UnsafePointer<CChar>, CInt) -> CInt
  private typealias Step = @convention(c) (UnsafeMutableRawPointer, CInt) -> CInt
  private typealias Call = @convention(c) (UnsafeMutableRawPointer) -> CInt

  private let stream = UnsafeMutablePointer<Stream>.allocate(capacity: 1)
  private let inflate: Step
  private let reset: Call
  private let end: Call

  /// - Returns: nil without the library
  init?() {
    stream.initialize(to: Stream())
    guard let library = try? LoadedLibrary("libz.so.1"),
      let begin: Begin = library.function("inflateInit2_"), let inflate: Step = library.function("inflate"),
      let reset: Call = library.function("inflateReset"), let end: Call = library.function("inflateEnd"),
      // The largest window, with the header of gzip; Z_OK is 0.
      begin(stream, 15 + 16, "1.2.0", CInt(MemoryLayout<Stream>.size)) == 0
    else {
      stream.deallocate()
      return nil
    }
    (self.inflate, self.reset, self.end) = (inflate, reset, end)
  }

  deinit {
    _ = end(stream)
    stream.deallocate()
  }

  func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodedPiece {
    (stream.pointee.input, stream.pointee.inputCount) = (input.baseAddress, CUnsignedInt(input.count))
    (stream.pointee.output, stream.pointee.outputCount) = (output.baseAddress, CUnsignedInt(output.count))
    // Z_NO_FLUSH.
    let result = inflate(stream, 0)
    var piece = DecodedPiece(
      consumed: input.count - Int(stream.pointee.inputCount),
      produced: output.count - Int(stream.pointee.outputCount), isLast: result != 0)
    // Z_STREAM_END: another one may follow.
    if result == 1 { piece.isLast = reset(stream) != 0 }
    return piece
  }
}

/// liblzma's decoder of xz. Its interface is that of lzma/base.h since version 5.0.
private struct XZDecoder: ~Copyable {
  /// `lzma_stream`.
  private struct Stream {
    var input: UnsafeRawPointer?
    var inputCount = 0
    var inputTotal: UInt64 = 0
    var output: UnsafeMutableRawPointer?
    var outputCount = 0
    var outputTotal: UInt64 = 0
    var allocator: UnsafeRawPointer?
    var state: UnsafeMutableRawPointer?
    var reservedPointers:
      (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)
    var reservedIntegers: (UInt64, UInt64) = (0, 0)
    var reservedSizes: (Int, Int) = (0, 0)
    var reservedEnumerations: (CInt, CInt) = (0, 0)
  }

  private typealias Begin = @convention(c) (UnsafeMutableRawPointer, UInt64, UInt32) -> CInt
  private typealias Step = @convention(c) (UnsafeMutableRawPointer, CInt) -> CInt
  private typealias End = @convention(c) (UnsafeMutableRawPointer) -> Void

  /// A file of `xz -9` needs 65 MiB.
  private static let memoryLimit: UInt64 = 256 << 20
  /// LZMA_CONCATENATED: several streams in one file.
  private static let concatenated: UInt32 = 8

  private let stream = UnsafeMutablePointer<Stream>.allocate(capacity: 1)
  private let code: Step
  private let end: End

  /// - Returns: nil without the library
  init?() {
    stream.initialize(to: Stream(reservedPointers: (nil, nil, nil, nil)))
    guard let library = try? LoadedLibrary("liblzma.so.5"),
      let begin: Begin = library.function("lzma_stream_decoder"),
      let code: Step = library.function("lzma_code"),
      let end: End = library.function("lzma_end"),
      begin(stream, Self.memoryLimit, Self.concatenated) == 0
    else {
      stream.deallocate()
      return nil
    }
    (self.code, self.end) = (code, end)
  }

  deinit {
    end(stream)
    stream.deallocate()
  }

  func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecodedPiece {
    (stream.pointee.input, stream.pointee.inputCount) = (input.baseAddress, input.count)
    (stream.pointee.output, stream.pointee.outputCount) = (output.baseAddress, output.count)
    // LZMA_RUN; LZMA_OK is 0.
    let result = code(stream, 0)
    return DecodedPiece(
      consumed: input.count - stream.pointee.inputCount, produced: output.count - stream.pointee.outputCount,
      isLast: result != 0)
  }
}
