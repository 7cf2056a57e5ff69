import ATT
import HaloBluetoothCore
import RingLink
import TestSupport
import Testing
import HaloSimulation

/// The attributes of the virtual ring, through its radio.
@Suite struct RingAttributesTests {
  private func connected(_ options: VirtualRingOptions = .init()) -> ScriptedHost {
    let host = ScriptedHost(options)
    #expect(host.connect())
    return host
  }

  private func refusal(_ pdu: (any ATTPDU)?) -> ATTErrorCode? {
    (pdu as? ATTErrorResponse)?.code
  }

  @Test func servicesAreFoundByGroup() {
    let host = connected()
    var found: [String] = []
    var start: AttributeHandle? = .first
    while let next = start,
      let answer = host.ask(
        ATTReadByGroupTypeRequest(HandleRange(next, .last), type: BluetoothUUID(0x2800 as UInt16)))
        as? ATTReadByGroupTypeResponse
    {
      found += answer.entries.map { "\($0.group) \(Hex.string($0.value))" }
      start = answer.lastFound?.next
    }
    #expect(
      found == [
        "0x0001...0x0004 0118", "0x0005...0x000b 0018",
        "0x000e...0x0013 9ecadc240ee5a9e093f3a3b5f0ff406e",
        "0x0014...0x0019 c75d2a01e36526af474e11d728f75bde", "0x001a...0x0024 0a18",
        "0x0030...0x003a 474e49522d42414c2d57415201001d7a",
      ])
  }

  @Test func servicesAreFoundByUUID() {
    let host = connected()
    var writer = ByteWriter()
    RingGATT.commandService.write(into: &writer)
    #expect(
      host.ask(ATTFindByTypeValueRequest(.all, type: 0x2800, value: writer.bytes))
        == ATTFindByTypeValueResponse([HandleRange(0x000E, 0x0013)]))
    #expect(
      refusal(host.ask(ATTFindByTypeValueRequest(.all, type: 0x2800, value: [0x0D, 0x18])))
        == .attributeNotFound)
    var options = VirtualRingOptions()
    options.faults.omitsRingService = true
    #expect(
      refusal(
        connected(options).ask(ATTFindByTypeValueRequest(.all, type: 0x2800, value: writer.bytes)))
        == .attributeNotFound)
  }

  @Test func handlesAreThoseOfARealRing() {
    let host = connected()
    _ = host.ask(ATTExchangeMTURequest(clientMTU: 247))
    let characteristics = host.ask(
      ATTReadByTypeRequest(HandleRange(0x000E, 0x0019), type: BluetoothUUID(0x2803 as UInt16)))
    guard let entries = (characteristics as? ATTReadByTypeResponse)?.entries else {
      Issue.record("no characteristics")
      return
    }
    // Write with and without response, notify; without response, notify.
    #expect(entries.map(\.handle.rawValue) == [0x0F, 0x11, 0x15, 0x17])
    #expect(entries.map { $0.value[0] } == [0x0C, 0x10, 0x04, 0x10])
    #expect(entries.map { $0.value[1] } == [0x10, 0x12, 0x16, 0x18])
    #expect(
      host.ask(ATTFindInformationRequest(HandleRange(0x0013, 0x0013)))
        == ATTFindInformationResponse([
          ATTHandleAndType(handle: 0x0013, type: BluetoothUUID(0x2902 as UInt16))
        ]))
    #expect(host.ask(ATTReadRequest(0x0020)) == ATTReadResponse(Array("RT02R_3.11.00_250611".utf8)))
    #expect(host.ask(ATTReadRequest(0x001E)) == ATTReadResponse(Array("RT02R_V3.1".utf8)))
    // One included service with its UUID, one without.
    let first = host.ask(
      ATTReadByTypeRequest(HandleRange(0x0030, 0x003A), type: BluetoothUUID(0x2802 as UInt16)))
    #expect(first == ATTReadByTypeResponse([.init(handle: 0x0031, value: hex("1a0024000a18"))]))
    let second = host.ask(
      ATTReadByTypeRequest(HandleRange(0x0032, 0x003A), type: BluetoothUUID(0x2802 as UInt16)))
    #expect(second == ATTReadByTypeResponse([.init(handle: 0x0032, value: hex("50005200"))]))
  }

  @Test func indicationsWaitForTheirConfirmation() {
    let host = connected()
    #expect(host.ask(ATTWriteRequest(0x0038, value: [2, 0])) == ATTWriteResponse())
    #expect(host.ask(ATTWriteRequest(0x0037, value: [1])) == ATTWriteResponse())
    #expect(host.ask(ATTWriteRequest(0x0037, value: [2])) == ATTWriteResponse())
    host.run(.seconds(1))
    let indications = { host.pdus.filter { $0.opcode == .handleValueIndication } }
    #expect(indications().map(\.bytes) == [ATTHandleValueIndication(0x0037, value: [1]).bytes])
    host.send([0x1E])
    host.run(.seconds(1))
    #expect(indications().last == ATTHandleValueIndication(0x0037, value: [2]))
    host.send([0x1E])
    host.send([0x1E])
    host.run(.seconds(1))
    #expect(host.radio.peripheral.log.confirmations == 2)
    #expect(host.radio.peripheral.log.strayAnswers == 1)
  }

  @Test func indicatesServiceChangedToSubscriber() {
    let host = connected()
    host.radio.peripheral.indicateServiceChanged()
    host.run(.seconds(1))
    #expect(host.pdus.isEmpty)
    #expect(host.ask(ATTWriteRequest(0x0004, value: [2, 0])) == ATTWriteResponse())
    host.radio.peripheral.indicateServiceChanged()
    host.run(.seconds(1))
    #expect(host.pdus.last == ATTHandleValueIndication(0x0003, value: [1, 0, 0xFF, 0xFF]))
  }

  @Test func subscriptionsEndWithTheLink() {
    let host = connected()
    #expect(host.subscribe())
    host.radio.disconnect()
    host.run(.seconds(1))
    #expect(host.connect())
    #expect(host.ask(ATTReadRequest(0x0013)) == ATTReadResponse([0, 0]))
    host.write(CommandTable.battery.request())
    host.run(.seconds(1))
    #expect(host.notifications.isEmpty)
  }

  @Test func damagedPDUsAreSurvived() {
    let pdus: [any ATTPDU] = [
      ATTExchangeMTURequest(clientMTU: 517), ATTFindInformationRequest(.all),
      ATTFindByTypeValueRequest(.all, type: 0x2800, value: [1, 0x18]),
      ATTReadByTypeRequest(.all, type: BluetoothUUID(0x2803 as UInt16)), ATTReadRequest(0x0020),
      ATTReadByGroupTypeRequest(.all, type: BluetoothUUID(0x2800 as UInt16)),
      ATTReadBlobRequest(0x0022, offset: 299), ATTReadMultipleRequest([3, 4]),
      ATTReadMultipleVariableRequest([3, 4]),
      ATTWriteRequest(0x0010, value: CommandTable.battery.request().bytes),
      ATTWriteCommand(0x0016, value: hex("bc27010000ff00")), ATTWriteRequest(0x0013, value: [1, 0]),
      ATTPrepareWriteRequest(.init(handle: 0x0034, offset: 0xFFFF, value: [1])),
      ATTExecuteWriteRequest(.write), ATTHandleValueConfirmation(), ATTWriteResponse(),
      ATTErrorResponse(request: .findByTypeValueRequest, handle: 1, code: .attributeNotFound),
      ATTExchangeMTUResponse(serverMTU: 0),
      ATTFindByTypeValueResponse([HandleRange(0xFFFF, 1)]),
    ]
    for pdu in pdus {
      let host = connected()
      checkDecoderIsTotal(pdu.bytes) { damaged in
        host.send(damaged, fragment: 251)
        host.run(.milliseconds(31))
      }
      #expect(host.ask(ATTReadRequest(0x001E)) != nil, "\(pdu)")
    }
  }
}
