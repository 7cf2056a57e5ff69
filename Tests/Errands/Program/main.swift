// One errand by one door: `errands --door haloraw|corebluetooth --adapter SPEC ERRAND [ARGUMENT]`. Prints a line for each
// result, the same by each door, and `done` at the end.
import ErrandList
import Foundation
import HaloRaw

let doors: [String: (String) async throws -> any Door] = [
  "haloraw": { try await HaloRawDoor.open($0) }, "corebluetooth": { try await CoreBluetoothDoor.open($0) },
]
let arguments = CommandLine.arguments.dropFirst()

guard arguments.count >= 5, arguments[1] == "--door", let door = doors[arguments[2]],
  arguments[3] == "--adapter", let errand = errands[arguments[5]]
else {
  show("usage: errands --door haloraw|corebluetooth --adapter SPEC ERRAND")
  exit(64)
}
do {
  let opened = try await door(arguments[4])
  let user = await User(opened, argument: arguments.count > 5 ? arguments[6] : "") { show($0) }
  await interruptBySignal(user)
  try await errand(user)
  await opened.close()
  show("done")
} catch let error as DoorError {
  show("error \(error.word)")
}
