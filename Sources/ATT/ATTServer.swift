import HaloBluetoothCore

/// The server half of a bearer: it gets the PDUs of a client, and answers with ``ATTBearer/sendFromServer(_:)``.
///
/// The bearer itself answers Exchange MTU Request, as both halves share the MTU.
package protocol ATTServer: AnyObject {
  /// Handles a request, a command or a confirmation of the client.
  ///
  /// A request gets exactly one answer, now or later; anything else gets none.
  ///
  /// - Parameters:
  ///   - pdu: the opcode and its parameters, unchecked; the span is valid only during the call
  ///   - time: when the packet was received
  func receive(_ pdu: RawSpan, at time: Instant)
  /// Both ends have agreed on another MTU.
  func mtuChanged(_ mtu: Int)
  /// The bearer has ended: nothing can be sent any more.
  func bearerClosed()
}

extension ATTServer {
  package func mtuChanged(_ mtu: Int) {}
}

extension ATTReader {
  /// Reads a PDU for a server, and checks the parts that do not depend on the server's attributes (Core Specification Vol 3,
  /// Part F, 3.4).
  ///
  /// - Parameter bytes: one complete PDU, opcode first, and nothing behind it
  /// - Throws: the Error Response that a request gets; commands and confirmations get no answer
  package static func read(fromClient bytes: RawSpan) throws(ATTErrorResponse) -> any ATTPDU {
    let opcode = ATTOpcode(rawValue: bytes.byte(at: 0) ?? 0)
    var reader = ByteReader(bytes)
    // Other PDUs may get fields in a later version of the specification. A client must not send them before.
    guard let pdu = try? read(&reader), reader.isAtEnd else {
      throw ATTErrorResponse(request: opcode, handle: 0, code: .invalidPDU)
    }
    if let (handle, code) = pdu.fault { throw ATTErrorResponse(request: opcode, handle: handle, code: code) }
    return pdu
  }

  /// The answer of a server that has no attributes; nil if there is none. Peers may look for services on a client, and
  /// an unanswered request blocks them for 30 seconds.
  static func answerWithoutAttributes(to bytes: RawSpan) -> (any ATTPDU)? {
    guard ATTOpcode(rawValue: bytes.byte(at: 0) ?? 0).kind.isAnswered else { return nil }
    do throws(ATTErrorResponse) {
      // There is nothing in the queue to be executed.
      return try read(fromClient: bytes).refusalWithoutAttribute ?? ATTExecuteWriteResponse()
    } catch {
      return error
    }
  }
}

/// The types of GATT whose attributes are groups for Read By Group Type Request (Part G, 2.5.3).
private let groupTypes = [BluetoothUUID(UInt16(0x2800)), BluetoothUUID(UInt16(0x2801))]

extension ATTPDU {
  /// The fault of a request that is invalid for any client and any server.
  fileprivate var fault: (AttributeHandle, ATTErrorCode)? {
    if case .range(let range) = target, !range.isValid { return (range.start, .invalidHandle) }
    switch opcode {
    case .readByGroupTypeRequest:
      guard let request = self as? ATTReadByGroupTypeRequest else { return nil }
      return groupTypes.contains(request.type) ? nil : (request.range.start, .unsupportedGroupType)
    case .executeWriteRequest:
      guard let flags = (self as? ATTExecuteWriteRequest)?.flags else { return nil }
      return flags == .cancel || flags == .write ? nil : (0, .invalidPDU)
    default: return opcode.kind == .unknown ? (0, .requestNotSupported) : nil
    }
  }

  /// The answer to a request for attributes that do not exist; nil for a PDU that is about no attribute.
  package var refusalWithoutAttribute: ATTErrorResponse? {
    switch target {
    case .none: nil
    case .attribute(let handle): ATTErrorResponse(request: opcode, handle: handle, code: .invalidHandle)
    case .range(let range): ATTErrorResponse(request: opcode, handle: range.start, code: .attributeNotFound)
    }
  }
}
