import ATT
import HaloBluetoothCore
import HaloGATT

/// Follows one client on a link: its open request, and the procedure that it is in. A client has one open request at
/// a time (Core Specification Vol 3, Part F, 3.3.2).
struct GATTTracker {
  struct Request {
    var moment: PacketTime
    var opcode: ATTOpcode
    var procedure: ObservedProcedure?
    var handle: AttributeHandle?
    var range: HandleRange?
    var type: BluetoothUUID?
    var clientMTU: UInt16?
    /// Whether the offset of a read or prepared write is 0.
    var isFromStart = false
  }

  private struct Running {
    var procedure: ObservedProcedure?
    var start: Int
    var step = 1
    /// The first handle of a request that would continue the procedure; nil if it is complete.
    var next: AttributeHandle?
    /// The last handle of its requests.
    var end: AttributeHandle?
  }

  private(set) var open: Request?
  /// The PDU of the open request; nil if that is only a handle and a value.
  private var asked: (any ATTPDU)?
  private var running: Running?
  private var indication: (moment: PacketTime, handle: AttributeHandle?)?

  /// Handles a PDU of the client.
  mutating func takeRequest(
    _ att: ATTLayer, _ pdu: (any ATTPDU)?, at moment: PacketTime, _ server: DissectedServer
  )
    -> GATTLayer
  {
    var gatt = GATTLayer(att, server)
    switch att.opcode {
    case .writeCommand: gatt.procedure = .writeWithoutResponse
    case .signedWriteCommand: gatt.procedure = .signedWrite
    case .handleValueConfirmation:
      gatt.procedure = .indications
      gatt.request = indication.map { PacketReference($0.moment, to: moment) }
      gatt.handle = indication?.handle
      gatt.attribute = gatt.handle.flatMap { server[$0] }
      indication = nil
    default:
      guard att.opcode.kind == .request else { break }
      gatt.unanswered = open?.moment.number
      let request = Self.request(att, pdu, at: moment, gatt.attribute)
      begin(request)
      asked = pdu
      gatt.procedure = running?.procedure
      gatt.start = running?.start
      gatt.step = running?.step ?? 1
      gatt.type = request.type
    }
    return gatt
  }

  /// Handles a PDU of the server.
  mutating func takeResponse(
    _ att: ATTLayer, _ pdu: (any ATTPDU)?, at moment: PacketTime, _ server: DissectedServer
  ) -> GATTLayer? {
    switch att.opcode {
    case .handleValueNotification, .multipleHandleValueNotification, .handleValueIndication:
      var gatt = GATTLayer(att, server)
      switch att.opcode {
      case .handleValueNotification: gatt.procedure = .notifications
      case .handleValueIndication:
        gatt.procedure = .indications
        gatt.unanswered = indication?.moment.number
        indication = (moment, att.handle)
      default: gatt.procedure = .multipleNotifications
      }
      return gatt
    default: return answer(att, pdu, at: moment, server)
    }
  }

  private mutating func answer(
    _ att: ATTLayer, _ pdu: (any ATTPDU)?, at moment: PacketTime, _ server: DissectedServer
  ) -> GATTLayer? {
    guard let request = open, (att.failed ?? request.opcode) == request.opcode,
      att.opcode == .errorResponse || att.opcode == request.opcode.response
    else { return nil }
    open = nil
    var gatt = GATTLayer()
    gatt.procedure = request.procedure
    gatt.start = running?.start
    gatt.step = running?.step ?? 1
    gatt.request = PacketReference(request.moment, to: moment)
    gatt.type = request.type
    gatt.handle = request.handle
    if let pdu {
      if let asked { server.learn(asked, pdu) }
      running?.next = Self.next(pdu, request)
    }
    gatt.attribute = request.handle.flatMap { server[$0] }
    if request.type == GATTUUID.characteristic, let list = pdu as? ATTReadByTypeResponse {
      gatt.service = list.entries.first.flatMap { server.table.service(of: $0.handle) }
    }
    if let own = request.clientMTU, let answer = pdu as? ATTExchangeMTUResponse {
      // The default, if one end sends a smaller value (Vol 3, Part F, 3.4.2.2).
      gatt.mtu = max(UInt16(ATTBearer.defaultMTU), min(answer.serverMTU, own))
    }
    return gatt
  }

  /// The first handle of a request that would continue the procedure; nil if it is complete.
  private static func next(_ response: any ATTPDU, _ request: Request) -> AttributeHandle? {
    switch response.opcode {
    case .readResponse, .readBlobResponse, .prepareWriteResponse: return request.handle
    default:
      // A response that reaches the end of the range completes the procedure.
      guard let last = response.lastFound, last != request.range?.end else { return nil }
      return last.next
    }
  }

  private mutating func begin(_ request: Request) {
    open = request
    var procedure = request.procedure
    if request.opcode == .executeWriteRequest { procedure = running?.procedure ?? .writeLong }
    open?.procedure = procedure
    if goesOn(request, procedure) {
      running?.procedure = procedure
      running?.step += 1
    } else {
      running = Running(procedure: procedure, start: request.moment.number, end: request.range?.end)
    }
    running?.next = nil
  }

  /// Whether a request is the next of the procedure that runs.
  private func goesOn(_ request: Request, _ procedure: ObservedProcedure?) -> Bool {
    guard let running, let next = running.next else { return false }
    if request.opcode == .executeWriteRequest { return true }
    if let range = request.range {
      // A client may skip a handle that it can infer: the value after a declaration.
      return running.procedure == procedure && range.end == running.end && range.start >= next
    }
    // Reading the same part twice is two procedures; reading the part that follows continues one.
    if procedure == .readLong || procedure == .readLongDescriptor {
      return !request.isFromStart && request.handle == next
    }
    return request.opcode == .prepareWriteRequest && running.procedure == procedure && request.handle == next
  }

  private static func request(
    _ att: ATTLayer, _ pdu: (any ATTPDU)?, at moment: PacketTime, _ attribute: Attribute?
  ) -> Request {
    var request = Request(
      moment: moment, opcode: att.opcode, handle: att.handle, range: pdu?.target.range)
    let isDescriptor = attribute?.kind == .descriptor
    // A PDU that can't be read belongs to no procedure; one that is a handle and a value is not read.
    guard pdu != nil || att.opcode == .writeRequest else { return request }
    switch att.opcode {
    case .exchangeMTURequest:
      request.procedure = .exchangeMTU
      request.clientMTU = (pdu as? ATTExchangeMTURequest)?.clientMTU
    case .findInformationRequest: request.procedure = .discoverDescriptors
    case .findByTypeValueRequest:
      request.type = (pdu as? ATTFindByTypeValueRequest).map { BluetoothUUID($0.type) }
      if request.type == GATTUUID.primaryService { request.procedure = .discoverServiceByUUID }
    case .readByTypeRequest:
      request.type = (pdu as? ATTReadByTypeRequest)?.type
      switch request.type {
      case GATTUUID.characteristic: request.procedure = .discoverCharacteristics
      case GATTUUID.include: request.procedure = .findIncludedServices
      default: request.procedure = .readByUUID
      }
    case .readByGroupTypeRequest:
      request.type = (pdu as? ATTReadByGroupTypeRequest)?.type
      if request.type == GATTUUID.primaryService { request.procedure = .discoverPrimaryServices }
      if request.type == GATTUUID.secondaryService { request.procedure = .discoverSecondaryServices }
    case .readRequest: request.procedure = isDescriptor ? .readDescriptor : .readValue
    case .readBlobRequest:
      request.isFromStart = (pdu as? ATTReadBlobRequest)?.offset == 0
      request.procedure = isDescriptor ? .readLongDescriptor : .readLong
    case .readMultipleRequest: request.procedure = .readMultiple
    case .readMultipleVariableRequest: request.procedure = .readMultipleVariable
    case .prepareWriteRequest: request.procedure = isDescriptor ? .writeLongDescriptor : .writeLong
    case .writeRequest: request.procedure = isDescriptor ? .writeDescriptor : .writeValue
    default: break
    }
    return request
  }
}

extension GATTLayer {
  /// The attribute that a PDU names.
  fileprivate init(_ att: ATTLayer, _ server: DissectedServer) {
    handle = att.handle
    attribute = att.handle.flatMap { server[$0] }
  }
}

/// The two sides of an ATT bearer as clients: each has one open request. The fixed channel of a link is one bearer,
/// each credit-based channel with the PSM of EATT another one (Core Specification Vol 3, Part F, 3.2.11).
struct ATTBearers {
  /// The host as a client, and the peer as one.
  private(set) var host = GATTTracker()
  private(set) var remote = GATTTracker()

  /// The requests without a response.
  var open: [Int] { [host.open, remote.open].compactMap { $0?.moment.number } }

  mutating func receive(
    _ att: ATTLayer, _ source: RawSpan, isSent: Bool, at moment: PacketTime, peer: DissectedServer,
    local: DissectedServer
  ) -> GATTLayer? {
    let kind = att.opcode.kind
    let isFromClient = att.isFromClient
    let isHostClient = isFromClient == isSent
    let server = isHostClient ? peer : local
    // Values that do not describe attributes are read in place.
    let pdu = att.opcode.carriesOnlyValue ? nil : try? ATTReader.read(source.extracting(att.range))
    if isFromClient {
      if att.opcode == .writeRequest, let value = att.value {
        server.noteWrite(att.handle, source.extracting(value))
      }
      return isHostClient
        ? host.takeRequest(att, pdu, at: moment, server) : remote.takeRequest(att, pdu, at: moment, server)
    }
    guard kind != .unknown else { return nil }
    if att.opcode == .handleValueNotification || att.opcode == .handleValueIndication {
      server.noteValue(att.handle)
    }
    return isHostClient
      ? host.takeResponse(att, pdu, at: moment, server) : remote.takeResponse(att, pdu, at: moment, server)
  }
}

extension ATTLayer {
  /// Whether a client sends this PDU, as opposed to a server.
  var isFromClient: Bool {
    let kind = opcode.kind
    return kind == .request || kind == .command || kind == .confirmation
  }
}

extension ATTOpcode {
  /// Whether it has a handle and a value, and nothing else.
  var carriesOnlyValue: Bool {
    switch self {
    case .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication: true
    default: false
    }
  }
}
