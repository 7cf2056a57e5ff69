import HaloCommandLine
import HaloDissection
import HaloSystem
import HaloGATT
import HaloStorage

extension KnownRings {
  package static var standardPath: String? { UserFolders.state.map { $0 + "/rings.json" } }

  /// Reports to standard error.
  ///
  /// - Parameter path: nil stores nothing
  package init(path: String?) {
    self.init(path: path) { Console.error("halo-raw: \($0)") }
  }

  /// The attributes of all known rings, to show the names of handles.
  package var devices: [Dissector.KnownDevice] {
    rings.compactMap { ring in
      guard let peer = ring.peer, let layout = ring.layout else { return nil }
      return Dissector.KnownDevice(
        address: peer.address, characteristics: [layout.commandWrite, layout.commandNotify],
        descriptors: [
          Descriptor(uuid: GATTUUID.clientCharacteristicConfiguration, handle: layout.configuration)
        ])
    }
  }
}
