import ATT
import HCI
import HaloBluetoothCore
import L2CAP
import RingLink

extension FuzzTarget {
  /// Everything that takes bytes apart and keeps nothing but what is not whole yet.
  static let decoders = [
    FuzzTarget("hci-event", largestInput: 260) { bytes in
      var reader = ByteReader(bytes.span.bytes)
      _ = try? HCIEvent(parsing: &reader)
    },
    FuzzTarget("advertising", largestInput: 2048) { bytes in
      var collector = AdvertisementCollector(capacity: 16)
      var input = FuzzInput(bytes)
      while !input.isEmpty {
        let piece = input.piece()
        let data = AdvertisingData(piece)
        precondition(data.structures.count <= piece.count)
        var reader = ByteReader(piece.span.bytes)
        guard case .leAdvertisingReports(let event)? = try? HCIEvent(parsing: &reader) else { continue }
        for report in event.reports { _ = collector.receive(report, at: .zero) }
        precondition(collector.count <= 16)
      }
    },
    FuzzTarget("h4") { bytes in
      let framer = H4Framer(accepting: H4Framer.fromController + H4Framer.fromHost)
      var input = FuzzInput(bytes)
      while !input.isEmpty {
        framer.receive(input.piece().span.bytes) { packet in precondition(packet.byteCount > 0) }
      }
    },
    FuzzTarget("l2cap") { bytes in
      var recombiner = Recombiner()
      var input = FuzzInput(bytes)
      while !input.isEmpty {
        let isStart = input.byte() & 1 == 0
        recombiner.receive(input.piece().span.bytes, isStart: isStart) { _, frame in
          precondition(frame.byteCount <= 1024)
        }
      }
    },
    FuzzTarget("signaling", largestInput: 512) { bytes in
      var reader = ByteReader(bytes.span.bytes)
      guard let packet = try? SignalingPacket(parsing: &reader) else { return }
      var writer = ByteWriter(capacity: bytes.count)
      packet.write(into: &writer)
      precondition(writer.bytes == bytes)
      _ = packet.data.withReader { try? ConnectionParameterUpdateRequest(parsing: &$0) }
    },
    FuzzTarget("att-pdu", largestInput: 600) { bytes in
      guard let pdu = try? ATTReader.read(bytes.span.bytes) else { return }
      // What is understood is written again so that it is understood in the same way.
      precondition((try? ATTReader.read(pdu.bytes.span.bytes)) == pdu)
    },
    FuzzTarget("att-bearer") { bytes in
      let timers = Timers()
      var sent = 0
      let bearer = ATTBearer(timers: timers) { _ in sent += 1 }
      var input = FuzzInput(bytes)
      var answered = 0
      var asked = 0
      while !input.isEmpty, asked < 64 {
        switch input.byte() & 3 {
        case 0:
          asked += 1
          let handle = AttributeHandle(UInt16(input.byte()))
          bearer.request(ATTReadRequest(handle)) { _ in answered += 1 }
        case 1: timers.advance(by: .seconds(Int(input.byte() & 31)))
        default: bearer.receive(input.piece().span.bytes, at: Arrival(timers.now))
        }
      }
      bearer.close("the end")
      precondition(answered == asked, "each request has one answer")
    },
    FuzzTarget("ring-frame", largestInput: 64) { bytes in
      guard let frame = try? RingFrame(parsing: bytes.span.bytes) else { return }
      precondition(frame.bytes == bytes)
      for isFromRing in [true, false] {
        _ = CommandTable.meaning(of: frame, isFromRing: isFromRing).description
      }
      _ = RawSample(frame)
      _ = RingEvent(frame)
    },
    FuzzTarget("ring-bulk") { bytes in
      let timers = Timers()
      let dispatcher = RingDispatcher(timers: timers) { _ in }
      dispatcher.onUnknown = { if case .bulk(let frame) = $0 { precondition(frame.payload.count <= 65_535) } }
      var input = FuzzInput(bytes)
      while !input.isEmpty {
        let isBulk = input.byte() & 1 == 0
        let value = input.piece()
        timers.advance(by: .milliseconds(Int(input.byte())))
        if isBulk {
          dispatcher.receiveBulk(value.span.bytes, at: timers.now)
        } else {
          dispatcher.receive(value.span.bytes, at: timers.now)
        }
      }
    },
  ]
}
