import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

/// BR/EDR: events, and the protocols on channels that are opened with signalling commands.
@Suite struct ClassicTests {
  /// Connection Complete: link 0x0040 to 30:35:38:41:BE:EF.
  private static let connected = "04 03 0b 00 4000 efbe41383530 01 00"

  private func open(_ psm: String, _ script: Script = Script()) -> Script {
    script.received(Self.connected)
    script.frame("02 01 0400 \(psm) 4100", channel: 1, isSent: true)
    script.frame("03 01 0800 5000 4100 0100 0000", channel: 1, isSent: false)
    script.frame("03 01 0800 5000 4100 0000 0000", channel: 1, isSent: false)
    return script
  }

  @Test func maxSlotsChangeHasAHandleAndANumber() {
    let packet = Script().received("04 1b 03 4000 05")
    #expect(packet.summary == "Max Slots Change: connection handle 0x0040, max slots 5")
    #expect(packet.hci?.connection?.rawValue == 0x40)
    #expect(packet.fields(of: .hci).filter { $0.range.lowerBound >= 3 }.map(\.value) == ["0x0040", "5"])
  }

  @Test func anExtendedInquiryResultHasItsStructures() throws {
    let script = Script()
    let eir = "0409 523033 020a04" + String(repeating: "00", count: 240 - 8)
    let packet = script.received("04 2f ff 01 efbe41383530 01 00 0c025a 1234 c4 \(eir)".dense)
    #expect(packet.summary == "Extended Inquiry Result: 30:35:38:41:BE:EF \"R03\", -60 dBm")
    #expect(packet.value(.hci, "class of device") == "phone (0x5a020c)")
    let values = packet.fields(of: .hci).filter { $0.name == "value" }
    #expect(values.map(\.value) == ["\"R03\"", "4 dBm"])
    #expect(values.map(\.reference) == ["CSS, Part A, 1.2", "CSS, Part A, 1.5"])
    #expect(packet.fields(of: .hci).first { $0.name == "AD length" }?.reference == "Vol 3, Part C, 8")
    // The name is known on the link.
    #expect(script.received(Self.connected).link?.text == "0x0040 30:35:38:41:BE:EF R03")
  }

  @Test func eventsOfLinksAreTakenApart() {
    let script = Script()
    #expect(
      script.received("04 14 06 00 4000 02 1203").summary
        == "Mode Change: Success (0x00), connection handle 0x0040, mode sniff, interval 786 slots"
        || script.received("04 14 06 00 4000 02 1203").summary.contains("mode sniff, interval 786 slots"))
    let voice = script.received("04 2c 11 00 4100 efbe41383530 02 0c 04 3c00 3c00 02".dense)
    #expect(voice.summary.contains("link type eSCO"))
    #expect(voice.summary.contains("air mode CVSD"))
    #expect(voice.link?.peer?.description == "30:35:38:41:BE:EF")
    let data = script.received("03 4100 03 010203")
    #expect(data.link?.peer?.description == "30:35:38:41:BE:EF")
    #expect(script.received("04 32 09 efbe41383530 01 00 03".dense).summary.contains("display, yes or no"))
  }

  @Test func signallingNamesChannelsAndOptions() throws {
    let script = Script()
    script.received(Self.connected)
    let request = script.frame("02 01 0400 0300 4100", channel: 1, isSent: true)
    #expect(request.summary == "Connection Request, id 1: PSM RFCOMM (0x0003), source CID 0x0041")
    let response = script.frame("03 01 0800 5000 4100 0000 0000", channel: 1, isSent: false)
    #expect(response.summary.contains("destination CID 0x0050, source CID 0x0041, result successful"))
    let configuration = script.frame(
      "04 02 1300 5000 0000 0102 f503 04 09 03 0a 03 d007 e02e f203", channel: 1, isSent: true)
    #expect(configuration.value(.signaling, "MTU") == "1013 bytes")
    #expect(configuration.value(.signaling, "mode") == "enhanced retransmission")
    #expect(configuration.value(.signaling, "monitor timeout") == "12000 ms")
    let features = script.frame("0b 03 0800 0200 0000 b8020000", channel: 1, isSent: false)
    #expect(
      features.value(.signaling, "features")
        == "enhanced retransmission mode, streaming mode, FCS option, fixed channels, unicast connectionless data (0x000002b8)"
    )
    // Two commands in a frame.
    let two = script.frame("0a 04 0200 0200 0a 05 0200 0300", channel: 1, isSent: true)
    #expect(
      two.fields(of: .signaling).filter { $0.name == "type" }.map(\.value) == [
        "extended features", "fixed channels",
      ])
    let reject = script.frame("01 06 0600 0200 4100 0000", channel: 1, isSent: false)
    #expect(reject.summary == "Command Reject, id 6: reason invalid CID, local CID 0x0041, remote CID 0x0000")
  }

  @Test func sdpIsTakenApart() throws {
    let script = open("0100")
    // Service Search Attribute Request: L2CAP, attributes 0x0000 to 0xFFFF.
    let request = script.frame(
      "06 0001 000f 35 03 19 0100 0400 35 05 0a 0000ffff 00", channel: 0x50, isSent: true)
    #expect(request.top == .sdp)
    #expect(request.summary(of: .l2cap) == "SDP (PSM 0x0001), dynamic channel 0x0050, 20 bytes")
    #expect(
      request.summary
        == "Service Search Attribute Request, transaction 1, UUID L2CAP (0100), attribute range 0x0000...0xffff"
    )
    #expect(request.fields(of: .sdp).first?.reference == "Vol 3, Part B, 4.7.1")
    // One record: handle 0x00010000, class Handsfree (111E).
    let response = script.frame(
      "07 0001 0017 0014 35 12 35 10 09 0000 0a 00010000 09 0001 35 03 19 111e 00", channel: 0x41,
      isSent: false)
    #expect(response.profile?.layer == .sdp)
    let fields = response.fields(of: .sdp)
    #expect(
      fields.filter { $0.name == "attribute" }.map(\.value) == ["ServiceRecordHandle", "ServiceClassIDList"])
    #expect(fields.first { $0.name == "ServiceRecordHandle" }?.value == "65536")
    #expect(fields.first { $0.name == "UUID" }?.value == "Handsfree (111E)")
    #expect(!fields.contains { $0.name == "damaged" }, "\(fields)")
    let error = script.frame("01 0002 0002 0003", channel: 0x41, isSent: false)
    #expect(error.summary == "Error Response, transaction 2, error invalid syntax")
  }

  @Test func rfcommIsTakenApart() {
    let script = open("0300")
    let start = script.frame("0b 3f 01 9c", channel: 0x50, isSent: true)
    #expect(start.summary == "RFCOMM SABM, channel 1")
    // Parameter Negotiation of DLCI 2: 7 credits, frames of up to 1008 bytes.
    let negotiation = script.frame("03 ef 15 83 11 02 f0 07 00 f003 00 07 70", channel: 0x50, isSent: true)
    #expect(negotiation.summary.contains("RFCOMM UIH of the multiplexer"))
    #expect(negotiation.value(.rfcomm, "command") == "Parameter Negotiation")
    #expect(negotiation.value(.rfcomm, "maximum frame size") == "1008 bytes")
    let data = script.frame("09 ff 07 21 415421 5c", channel: 0x41, isSent: false)
    #expect(data.summary == "RFCOMM UIH, channel 1, credits 33: 415421 \"AT!\"")
    let long = script.frame(
      "09 ef 0400 " + String(repeating: "41", count: 2) + "5c", channel: 0x41, isSent: false)
    #expect(long.value(.rfcomm, "length") == "2 bytes")
    // The channel is closed: its number means nothing now.
    script.frame("06 07 0400 5000 4100", channel: 1, isSent: true)
    script.frame("07 07 0400 5000 4100", channel: 1, isSent: false)
    #expect(script.frame("0b 3f 01 9c", channel: 0x50, isSent: true).top == .l2cap)
  }

  /// The data of a serial port are the protocol of the device: who takes it apart needs the bytes of each frame.
  @Test(arguments: [
    // Bose headphones: the firmware's revision (davidv.dev, obyn.io/posts/headset).
    ("00010305312e302e30", nil),
    // A pixel display of Divoom: the radio is switched on (MarcG046/timebox #2).
    ("010500050304000b0002", nil),
    // Soundcore earphones (DamienStaebler/SoundcoreDesktop #12).
    ("08ee00000001010a0002", nil),
    // ESC/POS printers: initialize, then a raster image (vivier/phomemo-tools #48).
    ("1b401d76300030000100", nil),
    // PeriPage printers report their firmware as text (bitrate16/peripage-python #26).
    ("56312e342e355f5344", "V1.4.5_SD"),
    // Label printers with TSPL, and hands-free units, have lines.
    ("53495a452034300d0a434c530d0a", "SIZE 40\\x0d\\x0aCLS\\x0d\\x0a"),
    ("0d0a4f4b0d0a", nil),
    ("4154", nil),
    // A display's reply with zeros at its end is no text.
    ("4142434400", nil),
  ])
  func aLineOfRFCOMMHasTheData(digits: String, text: String?) {
    let script = open("0300")
    let length = Hex.string([UInt8(digits.count | 1)])
    let packet = script.frame("0b ef \(length) \(digits) 5c", channel: 0x50, isSent: true)
    #expect(packet.summary == "RFCOMM UIH, channel 1: \(digits)" + (text.map { " \"\($0)\"" } ?? ""))
    #expect(
      packet.profile?.data(in: packet.source.span.bytes).map { Hex.string(packet.source[$0]) } == digits)
    #expect(!packet.fields(of: .rfcomm).contains { $0.name == "damaged" })
  }

  /// Frames of 300 bytes of a radio's audio (khusmann/benlink #2) have a length of two bytes; and a frame may be cut.
  @Test func longAndDamagedDataAreShown() {
    let script = open("0300")
    let digits = String(repeating: "7e009c71", count: 75)
    let long = script.frame("0b ff 5802 02 \(digits) 5c", channel: 0x50, isSent: true)
    #expect(long.summary == "RFCOMM UIH, channel 1, credits 2: \(digits)")
    let short = script.frame("0b ef 41 0102", channel: 0x50, isSent: true)
    #expect(short.summary == "RFCOMM UIH, channel 1: 0102")
    let nothing = script.frame("0b ff 01 21 5c", channel: 0x50, isSent: true)
    #expect(nothing.summary == "RFCOMM UIH, channel 1, credits 33")
    for damaged in ["0b", "0b ef", "0b ef 00", "0b ff 21"] {
      #expect(script.frame(damaged, channel: 0x50, isSent: true).summary.hasPrefix("RFCOMM"))
    }
  }

  @Test func avdtpIsTakenApart() {
    let script = open("1900")
    #expect(script.frame("10 01", channel: 0x50, isSent: true).summary == "AVDTP Discover Command, label 1")
    let endPoints = script.frame("12 01 04 08 0a 00", channel: 0x41, isSent: false)
    #expect(endPoints.summary == "AVDTP Discover Accept, label 1")
    #expect(
      endPoints.fields(of: .avdtp).filter { $0.name == "type" }.map(\.value) == [
        "audio sink", "audio source",
      ])
    let configuration = script.frame(
      "20 03 04 08 0100 0706 00 00 2115 0235", channel: 0x50, isSent: true)
    #expect(configuration.summary == "AVDTP Set Configuration Command, label 2, ACP SEID 1, codec SBC")
    let rejected = script.frame("23 03 07 29", channel: 0x41, isSent: false)
    #expect(rejected.summary == "AVDTP Set Configuration Reject, label 2, error unsupported configuration")
    // The second channel carries media.
    script.frame("02 02 0400 1900 4200", channel: 1, isSent: true)
    script.frame("03 02 0800 5100 4200 0000 0000", channel: 1, isSent: false)
    let media = script.frame("8060 0001 00000000 00000001 01", channel: 0x51, isSent: true)
    #expect(media.summary == "AVDTP (PSM 0x0019), dynamic channel 0x0051, 13 bytes")
  }

  @Test func avrcpIsTakenApart() {
    let script = open("1700")
    let notify = script.frame("10 110e 03 48 00 001958 31 00 0005 0d 00000000", channel: 0x50, isSent: true)
    #expect(notify.summary == "AVRCP RegisterNotification Notify, label 1, event volume changed")
    let interim = script.frame("12 110e 0f 48 00 001958 31 00 0002 0d 40", channel: 0x41, isSent: false)
    #expect(
      interim.summary
        == "AVRCP RegisterNotification Interim, label 1, event volume changed, volume 50 percent")
    let play = script.frame("20 110e 00 48 7c 44 00", channel: 0x50, isSent: true)
    #expect(play.summary == "AVRCP Pass Through Control, label 2, operation play pressed")
  }

  /// Random frames, and frames of a good beginning: the fields stay within the frame.
  @Test(arguments: ["0100", "0300", "1900", "1700"]) func anyFrameIsRead(_ psm: String) {
    let script = open(psm)
    var random = SeededGenerator(seed: 11)
    let good: [[UInt8]] = [
      hex("070001001700143512351009 00000a000100000900013503 19111e00".dense), hex("03ef158311".dense),
      hex("1202 0100 0706".dense), hex("12110e0f480000195831000002".dense), hex("0700010020001d".dense),
      Array(repeating: 0x35, count: 300), Array(repeating: 0x37, count: 60),
    ]
    for round in 0..<3000 {
      var bytes = random.bytes(Int(random.next() % 40))
      if round % 2 == 0 { bytes = good[Int(random.next() % UInt64(good.count))] + bytes }
      let packet = script.packet(
        Script.acl(bytes, channel: round % 3 == 0 ? 0x50 : 0x41, isSent: round % 3 == 0),
        isSent: round % 3 == 0)
      _ = packet.summary
      for layer in packet.layers {
        #expect(packet.fields(of: layer).outside(packet.bytes.count).isEmpty, "\(packet)")
      }
    }
  }

  @Test func attOnBREDRIsATT() {
    let script = open("1f00")
    let request = script.frame("0a 0300", channel: 0x50, isSent: true)
    #expect(request.att?.opcode == .readRequest)
    #expect(script.frame("0b 41", channel: 0x41, isSent: false).gatt?.request?.number == request.info.number)
  }

  @Test func isochronousDataHasItsHeaders() throws {
    let script = Script()
    // Handle 0x0060, complete, with time stamp; 13 bytes, of which 5 are data.
    let packet = script.packet(hex("05 6060 0d00 40420f00 0700 0540 a1a2a3a4a5".dense), isSent: false)
    #expect(packet.value(.hci, "time stamp") == "1000000 us")
    #expect(packet.value(.hci, "sequence number") == "7")
    #expect(packet.value(.hci, "SDU length and status") == "5 bytes, possibly invalid")
    #expect(packet.hci?.problem == nil)
    #expect(packet.summary.contains("complete fragment, with time stamp"))
    #expect(packet.fields(of: .hci).first?.reference == "Vol 4, Part A, 2")
  }

  @Test func vendorEventsAreNamedByTheManufacturer() throws {
    let script = Script()
    // Read Local Version Information: Intel.
    script.sent("01 0110 00")
    script.received("04 0e 0c 01 0110 00 0b 0000 0b 0200 0000".dense)
    #expect(script.received("04 ff 07 02 00 01 01 00 00 00".dense).summary.hasPrefix("Intel Bootup"))
    #expect(script.sent("01 05fc 00").summary.hasPrefix("Intel Read Version (0xfc05)"))
    let pi = Script()
    pi.received("04 0e 0c 01 0110 00 0b 0000 0b 3101 0000".dense)
    #expect(pi.sent("01 18fc 06 0000 00100e00").summary.hasPrefix("Broadcom Update UART Baud Rate (0xfc18)"))
    #expect(
      pi.received("04 0e 04 01 18fc 00").summary.hasPrefix("Broadcom Update UART Baud Rate (0xfc18) done"))
    let unknown = Script().sent("01 18fc 00")
    #expect(unknown.summary.hasPrefix("Vendor Specific (0xfc18)"))
  }
}
