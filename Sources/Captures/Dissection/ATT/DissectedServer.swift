import ATT
import HaloBluetoothCore
import HaloCaptureLinks

/// A device's attributes, shared by all links to it: a later link needs no discovery.
final class DissectedServer {
  @exclusivity(unchecked) private(set) var table = AttributeTable()
  /// The attributes that packets have named since the table has changed; nil for handles of which nothing is known.
  /// Those that were recognized by what is written are left out, as each value may say more of them. Bounded.
  @exclusivity(unchecked) private var named: [AttributeHandle: Attribute?] = [:]

  subscript(handle: AttributeHandle) -> Attribute? {
    if let attribute = named[handle] { return attribute }
    let attribute = table[handle]
    if attribute?.isInferred != true, named.count < LearnedAttributes.capacity {
      named.updateValue(attribute, forKey: handle)
    }
    return attribute
  }

  func noteWrite(_ handle: AttributeHandle?, _ value: RawSpan) {
    guard let handle, table.learned[handle] == nil else { return }
    table.inferred.noteWrite(handle, value)
    named.removeValue(forKey: handle)
  }

  /// Notes that a characteristic has sent a value: only values behind the write of a configuration say something.
  func noteValue(_ handle: AttributeHandle?) {
    guard !table.inferred.isEmpty, let handle, table.learned[handle] == nil else { return }
    table.inferred.noteValue(handle)
  }

  /// Adds what the answer to a request shows.
  func learn(_ request: any ATTPDU, _ response: any ATTPDU) {
    table.learned.learn(request, response)
    named = [:]
  }

  /// Adds the attributes discovered before the capture.
  func learn(_ device: Dissector.KnownDevice) {
    table.learn(device)
    named = [:]
  }
}
