// One errand by one door: `errands --door haloraw|corebluetooth --adapter SPEC ERRAND [ARGUMENT]`. Prints a line for each
// result, the same by each door, and `done` at the end.
import Foundation

typealias Errand = @MainActor (any Door) async throws -> Void

let doors: [String: any Door.Type] = ["haloraw": HaloRawDoor.self, "corebluetooth": CoreBluetoothDoor.self]
let errands = [centralErrands, interruptedErrands, servingErrands]
let arguments = CommandLine.arguments.dropFirst()
let argument = arguments.count > 5 ? arguments[6] : ""

guard arguments.count >= 5, arguments[1] == "--door", let door = doors[arguments[2]],
  arguments[3] == "--adapter", let errand = errands.lazy.compactMap({ $0[arguments[5]] }).first
else {
  say("usage: errands --door haloraw|corebluetooth --adapter SPEC ERRAND")
  exit(64)
}
do {
  let opened = try await door.open(arguments[4])
  try await errand(opened)
  await opened.close()
  say("done")
} catch let error as DoorError {
  say("error", error.word)
}
