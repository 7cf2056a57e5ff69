// Programs of both roles, in the structure of two public contact-tracing apps, against `import CoreBluetooth` alone; built in
// Swift 5 mode. The first argument says which, the second what the program has to tell. A line says what it was told.
import CoreBluetooth

guard CommandLine.arguments.count == 3 else { fatalError("contact-tracing messages|numbers TEXT") }
let text = CommandLine.arguments[2]
switch CommandLine.arguments[1] {
case "messages":
  let queue = DispatchQueue(label: "contact-tracing")
  let (central, peripheral) = (MessageCentral(text, queue), MessagePeripheral(text, queue))
  peripheral.turnOn()
  central.turnOn()
  withExtendedLifetime((central, peripheral)) { RunLoop.main.run() }
case "numbers":
  let tracer = NumberTracer(text)
  tracer.start()
  withExtendedLifetime(tracer) { dispatchMain() }
case let other: fatalError("no \(other)")
}
