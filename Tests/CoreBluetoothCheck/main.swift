// What programs for Apple's CoreBluetooth rely on, against `import CoreBluetooth` alone; built in Swift 5 mode. The first
// argument is a scenario, for which the tests have peripherals in reach. Prints each call of the delegate, and `ok` at the end.
import CoreBluetooth

let scenarios: [String: (Watcher) -> Void] = [
  "order": order, "everything": everything, "misuse": misuse, "changes": changes, "stranger": stranger,
  "state": state, "rings": rings, "hold": hold, "meet": meet, "meet-again": meetAgain, "abandon": abandon,
  "restore": restore, "managers": managers, "again": again,
]

guard let scenario = CommandLine.arguments.dropFirst().first.flatMap({ scenarios[$0] }) else {
  fail("the first argument is one of \(scenarios.keys.sorted().joined(separator: ", "))")
}
let watcher = Watcher()
scenario(watcher)
watcher.perform {
  watcher.central?.stopScan()
  print("ok")
}
