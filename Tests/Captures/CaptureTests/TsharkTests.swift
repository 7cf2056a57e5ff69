import Glibc
import HaloBluetoothCore
import HaloCapture
import Testing

private let isThere = access("/usr/bin/tshark", X_OK) == 0
private let folder = {
  var parts = #filePath.split(separator: "/").dropLast(4)
  parts.append("captures")
  return "/" + parts.joined(separator: "/")
}()

/// Runs a command line and gives what it prints.
private func output(_ command: String) throws -> [Substring] {
  let stream = try #require(popen(command + " 2>/dev/null", "r"))
  var text: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { text += buffer[..<count] }
  try #require(pclose(stream) == 0)
  return String(decoding: text, as: UTF8.self).split(separator: "\n")
}

/// The project's captures, as Wireshark converts them, and as it reads them itself.
@Suite(.enabled(if: isThere, "tshark is not installed")) struct TsharkTests {
  static let names = ["bumble-stream", "virtual-scan", "virtual-inspect"]

  @Test(arguments: names, ["pcap", "nsecpcap", "pcapng"])
  func conversionsAreReadTheSame(_ name: String, _ format: String) throws {
    let original = "\(folder)/\(name).btsnoop"
    let file = TemporaryFile()
    _ = try output("tshark -r \(original) -F \(format) -w \(file.path)")
    let converted = Reading(path: file)
    let expected = Reading(path: original)
    #expect(converted.error == nil && expected.records.count > 10)
    #expect(converted.format == (format == "pcapng" ? .pcapng : .pcap(.h4WithDirection)))
    #expect(converted.lines == expected.lines)
  }

  /// From each format that tells as much as the other.
  @Test(arguments: [
    (2, "pcap"), (2, "nsecpcap"), (2, "pcapng"), (3, "btsnoop"), (3, "pcapng"), (4, "btsnoop"), (4, "pcapng"),
  ]) func filesMadeByHandAreConverted(_ index: Int, _ format: String) throws {
    let original = TemporaryFile(samples[index].bytes)
    let file = TemporaryFile()
    _ = try output("tshark -r \(original.path) -F \(format) -w \(file.path)")
    #expect(Reading(path: file).lines == Reading(path: original).lines)
  }

  /// Numbers, times and lengths of all records, whatever the file is. Not every USB transfer is a packet; test_usb.py
  /// is about these.
  @Test(arguments: samples.indices.filter { !samples[$0].format.lowercased().contains("usb") })
  func numbersTimesAndLengths(_ index: Int) throws {
    let file = TemporaryFile(samples[index].bytes)
    let frames = try output(
      "tshark -r \(file.path) -T fields -e frame.number -e frame.time_epoch -e frame.cap_len -e frame.protocols"
    )
    let records = Reading(path: file).records
    #expect(frames.count == records.count)
    for (frame, record) in zip(frames, records) {
      let fields = frame.split(separator: "\t", omittingEmptySubsequences: false)
      #expect(Int(fields[0]) == record.info.number)
      let time = record.info.microseconds.map {
        "\($0 / 1_000_000).\(String($0 % 1_000_000 + 1_000_000).dropFirst())000"
      }
      #expect(fields[1] == time ?? "")
      // Wireshark has no type byte where the file has none, and PacketLogger's own.
      let isH4 = fields[3].contains("hci_h4")
      let isNote = if case .packetLogger = record.info.content { true } else { false }
      let added =
        switch record.info.content {
        case .hci: isH4 || fields[3].contains("packetlogger") ? 0 : 1
        default: isNote ? -1 : 0
        }
      #expect(try #require(Int(fields[2])) == record.bytes.count - added, "\(frame)")
    }
  }
}
