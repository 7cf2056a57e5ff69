import ATT
import BluetoothCore

/// A device's attributes, shared by all links to it: a later link needs no discovery.
final class Server {
  @exclusivity(unchecked) private(set) var table = AttributeTable()
  /// The discovered attributes that packets have named since the table has changed.
  @exclusivity(unchecked) private var named: [AttributeHandle: Attribute] = [:]

  subscript(handle: AttributeHandle) -> Attribute? {
    if let attribute = named[handle] { return attribute }
    let attribute = table[handle]
    if attribute?.isInferred == false { named[handle] = attribute }
    return attribute
  }

  func noteWrite(_ handle: AttributeHandle?, _ value: RawSpan) {
    if let handle, table.learned[handle] == nil { table.inferred.noteWrite(handle, value) }
  }

  /// Notes that a characteristic has sent a value: only values behind the write of a configuration say something.
  func noteValue(_ handle: AttributeHandle?) {
    guard !table.inferred.isEmpty, let handle, table.learned[handle] == nil else { return }
    table.inferred.noteValue(handle)
  }

  /// Adds what the answer to a request shows.
  func learn(_ request: ATTPDU, _ response: ATTPDU) {
    table.learned.learn(request, response)
    named = [:]
  }

  /// Adds the attributes discovered before the capture.
  func learn(_ device: Dissector.KnownDevice) {
    table.learn(device)
    named = [:]
  }
}
