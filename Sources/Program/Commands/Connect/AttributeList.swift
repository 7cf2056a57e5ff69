import ATT
import HaloGATT
import HaloBluetoothCore
import RingLink

/// The services and characteristics of a device, as they were discovered on its link of now.
struct AttributeList {
  struct Entry {
    let kind: String
    let handle: AttributeHandle
    let uuid: BluetoothUUID
    let name: String?
    /// The properties of a characteristic.
    let note: String?
    let text: String
  }

  private(set) var entries: [Entry] = []
  private var characteristics: [Characteristic] = []
  /// The service of a ring's frames; its characteristics have the UUIDs of those of the Nordic UART Service.
  private var frames: HandleRange?

  var isOfRing: Bool { frames != nil }

  /// Takes a ring's frames; nil if the device is none.
  var frameTarget: Characteristic? {
    characteristics(.uuid(RingGATT.commandWrite)).first { frames?.contains($0.valueHandle) == true }
  }

  init() {}

  /// Discovers them. A service that the peer describes wrongly hides no other one.
  @BluetoothActor
  init(_ gatt: GATTClient) async throws(StackError) {
    for service in try await gatt.discoverServices() {
      if service.uuid == RingGATT.commandService { frames = service.handles }
      add(
        "service", service.handles.start, service.uuid, GATTUUID.name(of: service.uuid), nil,
        "\(service.handles)")
      do throws(StackError) {
        for characteristic in try await gatt.discoverCharacteristics(of: service) {
          characteristics.append(characteristic)
          add(
            "characteristic", characteristic.valueHandle, characteristic.uuid,
            GATTUUID.attributeName(of: characteristic.uuid), "\(characteristic.properties)",
            "  \(characteristic.valueHandle)")
        }
      } catch {
        guard error.isOfOneAttribute else { throw error }
      }
    }
  }

  private mutating func add(
    _ kind: String, _ handle: AttributeHandle, _ uuid: BluetoothUUID, _ name: String?, _ note: String?,
    _ place: String
  ) {
    let text = "\(place)  \(uuid)" + (name.map { " \($0)" } ?? "") + (note.map { "  [\($0)]" } ?? "")
    entries.append(Entry(kind: kind, handle: handle, uuid: uuid, name: name, note: note, text: text))
  }

  /// The characteristics of a choice: one with a handle, or all with a UUID.
  func characteristics(_ choice: AttributeChoice) -> [Characteristic] {
    characteristics.filter {
      switch choice {
      case .uuid(let uuid): $0.uuid == uuid
      case .handle(let handle): $0.valueHandle == handle
      }
    }
  }

  /// The characteristics whose values the device may send.
  var notifying: [Characteristic] {
    characteristics.filter { !$0.properties.isDisjoint(with: [.notify, .indicate]) }
  }

  func uuid(at handle: AttributeHandle) -> BluetoothUUID? {
    characteristics.first { $0.valueHandle == handle }?.uuid
  }

  /// Handles and UUIDs, as they are typed.
  var words: [String] {
    var all: [String] = []
    for word in characteristics.flatMap({ [$0.valueHandle.description, $0.uuid.description] })
    where !all.contains(word) {
      all.append(word)
    }
    return all
  }
}
