import ATT
import HaloBluetoothCore

/// What a server keeps of a bonded client from one link to the next (Core Specification Vol 3, Part G, 2.5.2 and 3.3.3.3).
package struct ClientRecord: Hashable, Sendable {
  /// What the client has configured.
  package struct Configuration: Hashable, Sendable {
    /// The handle of the value.
    package var handle: AttributeHandle
    /// The type of the value: another one has nothing to do with it.
    package var type: BluetoothUUID
    package var value: ClientConfiguration

    package init(handle: AttributeHandle, type: BluetoothUUID, value: ClientConfiguration) {
      (self.handle, self.type, self.value) = (handle, type, value)
    }
  }

  /// In the order of the handles.
  package var configurations: [Configuration]
  /// The value of Client Supported Features.
  package var features: [UInt8]
  /// The ``AttributeDatabase/fingerprint`` of the attributes that the client knows.
  package var table: UInt64

  package init(configurations: [Configuration] = [], features: [UInt8] = [0], table: UInt64) {
    (self.configurations, self.features, self.table) = (configurations, features, table)
  }
}

extension ServerBearer {
  /// What has to be kept of the client, if there is a bond with it.
  package var record: ClientRecord {
    let configured = configurations.keys.sorted().compactMap { handle in
      database.entry(handle).map {
        ClientRecord.Configuration(
          handle: handle, type: $0.attribute.type, value: configuration(of: handle))
      }
    }
    return ClientRecord(
      configurations: configured, features: caching.features,
      table: caching.knowsTable ? database.fingerprint : knownTable)
  }

  /// Goes on with what the client has done on an earlier link: call it when the link is encrypted with the client's key. If the
  /// attributes have changed since, the client is told first.
  package func restore(_ record: ClientRecord) {
    guard !isClosed else { return }
    knownTable = record.table
    // What it has configured on this link is newer.
    let restored = record.configurations.filter {
      configurations[$0.handle] == nil && database.entry($0.handle)?.attribute.type == $0.type
    }
    for entry in restored { configurations[entry.handle] = entry.value }
    caching.restore(record.features)
    if record.table != database.fingerprint { databaseChanged(.all) }
    for entry in restored { onEvent?(.configured(entry.handle, entry.value)) }
  }
}

extension AttributeDatabase {
  /// The declarations and descriptors with their handles, in one number: it changes with each of them.
  package var fingerprint: UInt64 { FNV1a.hash(hashedBytes) }
}
