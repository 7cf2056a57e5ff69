import ATT
import BluetoothCore
import GATTClient

extension Ring {
  /// Opens a peripheral as a ring: MTU, the ring's service and its two characteristics, notifications on, and the
  /// firmware's name. Nothing else is discovered, so that a stream can begin early.
  ///
  /// - Parameters:
  ///   - client: a connected peripheral
  ///   - layout: the handles of an earlier link. With it a single round trip is enough, and a stream begins
  ///     after the second; if the ring refuses, the handles are discovered. The firmware may have changed:
  ///     ``confirmFirmware()`` checks.
  /// - Throws: `.notARing` if the service is missing
  public static func open(_ client: GATTClient, layout: RingLayout? = nil) async throws(RingError) -> Ring {
    if let layout, let ring = try await open(client, at: layout) { return ring }
    let found: (write: Characteristic, notify: Characteristic)?
    do throws(GATTError) {
      try await client.exchangeMTU()
      found = try await commandCharacteristics(of: client)
    } catch {
      throw RingError(error)
    }
    guard let found else { throw .notARing(try await client.serviceList()) }
    let ring = Ring(client, write: found.write, notify: found.notify)
    do throws(GATTError) {
      try await ring.listen()
      ring.firmware.firmwareRevision = try await client.text(RingGATT.firmwareRevision)
    } catch {
      throw RingError(error)
    }
    client.keepHandles()
    return ring
  }

  /// - Returns: nil if the ring refuses: then the layout is not true
  private static func open(_ client: GATTClient, at layout: RingLayout) async throws(RingError) -> Ring? {
    client.assume(
      [Descriptor(uuid: GATTUUID.clientCharacteristicConfiguration, handle: layout.configuration)],
      of: layout.commandNotify)
    let ring = Ring(client, write: layout.commandWrite, notify: layout.commandNotify)
    ring.firmware.firmwareRevision = layout.firmwareRevision
    ring.isAssumed = true
    do throws(GATTError) {
      try await ring.listen()
      return ring
    } catch .att(.refused) {
      client.assume(nil, of: layout.commandNotify)
      return nil
    } catch {
      throw RingError(error)
    }
  }

  private func listen() async throws(GATTError) {
    let dispatcher = self.dispatcher
    configuration = try await client.subscribe(to: commandNotify) { dispatcher.receive($0, at: $1) }
      .configuration
  }

  /// The handles for ``open(_:layout:)`` on the next link.
  public var layout: RingLayout? {
    configuration.map {
      RingLayout(
        commandWrite: commandWrite, commandNotify: commandNotify, configuration: $0,
        firmwareRevision: firmware.firmwareRevision)
    }
  }

  /// Reads the firmware's name, with one round trip.
  ///
  /// - Returns: whether it is the expected one; if not, ``firmware`` is now the actual one, and an earlier layout
  ///   should be discarded
  public func confirmFirmware() async throws(RingError) -> Bool {
    do throws(GATTError) {
      let revision = try await client.text(RingGATT.firmwareRevision)
      client.keepHandles()
      defer { firmware.firmwareRevision = revision }
      return revision == firmware.firmwareRevision
    } catch {
      throw RingError(error)
    }
  }

  private static func commandCharacteristics(
    of client: GATTClient
  ) async throws(GATTError) -> (write: Characteristic, notify: Characteristic)? {
    guard let service = try await client.firstService(RingGATT.commandService) else { return nil }
    let all = try await client.discoverCharacteristics(of: service)
    guard let write = all.first(where: { $0.uuid == RingGATT.commandWrite }),
      let notify = all.first(where: { $0.uuid == RingGATT.commandNotify })
    else { return nil }
    return (write, notify)
  }
}

extension GATTClient {
  /// The text of the first characteristic with a UUID; nil if there is none, or none that can be read.
  func text(_ uuid: BluetoothUUID) async throws(GATTError) -> String? {
    do throws(GATTError) {
      return try await readFirst(uuid: uuid).map { String(printable: $0) }
    } catch .att(.refused) {
      return nil
    }
  }

  /// The text of a characteristic; nil if the peer lists it and will not have it read, as some do.
  func text(of characteristic: Characteristic) async throws(GATTError) -> String? {
    do throws(GATTError) {
      return String(printable: try await read(characteristic))
    } catch .att(.refused) {
      return nil
    }
  }

  func serviceList() async throws(RingError) -> [BluetoothUUID] {
    do throws(GATTError) {
      return try await discoverServices().map(\.uuid)
    } catch {
      throw RingError(error)
    }
  }
}
