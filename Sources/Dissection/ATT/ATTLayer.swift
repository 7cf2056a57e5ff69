import ATT
import BluetoothCore

/// An ATT PDU (Core Specification Vol 3, Part F, 3.4).
public struct ATTLayer: Hashable, Sendable {
  public var opcode: ATTOpcode
  /// The whole PDU, in ``DissectedPacket/source``.
  public var range: Range<Int>
  /// The one attribute that the PDU names, if it names one; of an Error Response, the attribute in error.
  public var handle: AttributeHandle?
  /// The range of the value in ``DissectedPacket/source``, if the PDU carries exactly one.
  public var value: Range<Int>?
  /// Of an Error Response.
  public var error: ATTErrorCode?
  /// Of an Error Response: the request that failed.
  public var failed: ATTOpcode?
  /// Why the PDU cannot be parsed.
  public var problem: DecodeError?

  /// The parameters that follow the opcode.
  public var parameters: Range<Int> { range.lowerBound + 1..<range.upperBound }

  /// Reads what is in a fixed place.
  ///
  /// - Returns: nil if there is not even an opcode
  init?(_ source: RawSpan, _ range: Range<Int>) {
    guard !range.isEmpty, let byte = source.byte(at: range.lowerBound) else { return nil }
    opcode = ATTOpcode(rawValue: byte)
    self.range = range
    var reader = ByteReader(source.extracting(range))
    do throws(DecodeError) {
      try reader.skip(1)
      var end = range.upperBound
      switch opcode {
      case .errorResponse:
        failed = ATTOpcode(rawValue: try reader.readUInt8())
        handle = AttributeHandle(try reader.readUInt16())
        error = ATTErrorCode(rawValue: try reader.readUInt8())
        return
      case .readRequest, .readBlobRequest:
        handle = AttributeHandle(try reader.readUInt16())
        return
      case .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication:
        handle = AttributeHandle(try reader.readUInt16())
      case .signedWriteCommand:
        handle = AttributeHandle(try reader.readUInt16())
        guard reader.remaining >= 12 else {
          throw DecodeError(offset: 3, reason: .truncated(needed: 12, available: reader.remaining))
        }
        end -= 12
      case .prepareWriteRequest, .prepareWriteResponse:
        handle = AttributeHandle(try reader.readUInt16())
        try reader.skip(2)
      case .findByTypeValueRequest: try reader.skip(6)
      case .readResponse, .readBlobResponse, .readMultipleResponse: break
      default: return
      }
      value = range.lowerBound + reader.offset..<end
    } catch {
      problem = error
    }
  }

  /// The section of the PDU.
  var reference: String { opcode.reference }
}
