import Foundation
import HaloRaw

// Sends a file to a device as fast as the link takes it: `swift run upload hci0 firmware.bin`. The device counts the bytes that
// it has got, which are compared at the end.
let data = CharacteristicID<[UInt8]>(
  "F0F0A001-6A5C-4F5E-9A3B-0D5B7D1C2E3F", in: "F0F0A000-6A5C-4F5E-9A3B-0D5B7D1C2E3F")
let count = CharacteristicID<[UInt8]>("F0F0A002-6A5C-4F5E-9A3B-0D5B7D1C2E3F", in: data.service)

await exitOnError {
  let arguments = CommandLine.arguments.dropFirst()
  guard arguments.count == 2, let adapter = arguments.first, let path = arguments.last else {
    throw BluetoothError(.invalidValue, "usage: upload ADAPTER FILE")
  }
  let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  try await withRadio(RadioSelector(adapter)) { radio in
    // A link that is too slow for files is not worth the wait.
    let device = try await radio.connect(
      to: .service(data.service), options: LinkOptions(mtu: 100, isRequired: true))
    let room = device.status().maximumValueLength
    let begin = radio.clock.now
    var (sent, shown) = (0, 0)
    while sent < file.count {
      let piece = Array(file[sent..<min(sent + room, file.count)])
      try await device.writeWithoutResponse(piece, to: data)
      sent += piece.count
      if sent * 10 / file.count > shown {
        shown = sent * 10 / file.count
        print("\(shown * 10) %")
      }
    }
    // Reads come after what was sent before them.
    let bytes = try await device.read(count)
    let arrived = bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard arrived == file.count else {
      throw BluetoothError(.peerMisbehaved, "\(arrived) of \(file.count) bytes have arrived")
    }
    let seconds = (radio.clock.now - begin) / .seconds(1)
    print("\(arrived) bytes, \(Int(Double(arrived) / max(seconds, 0.001))) bytes/s")
  }
}
