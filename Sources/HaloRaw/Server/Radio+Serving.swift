import GAP
import HCI
import HaloBluetoothCore

extension Radio {
  /// Offers services to other devices: advertises them, and lets those that connect read, write and subscribe, for as long as
  /// `body` runs. It begins when the radio advertises.
  ///
  /// ```swift
  /// let temperature = LocalCharacteristic(.temperature, 20.5)
  /// try await radio.serve([LocalService("181A", temperature)], as: "Thermometer") { _ in
  ///   while true {
  ///     try await radio.clock.sleep(for: .seconds(1))
  ///     try await temperature.notify(Celsius(try readSensor()))
  ///   }
  /// }
  /// ```
  ///
  /// It advertises again when a device has gone, and while others are connected, where the radio can. Other devices also see the
  /// services that all devices have: Generic Access with the name, and Generic Attribute.
  ///
  /// - **Cancelled**: `body` is cancelled; the advertisement and all links end, by a task that cannot be cancelled.
  /// - **A link is lost**: it advertises again. So it does when the radio has failed, as soon as that works again.
  /// - **The radio refuses to advertise**: for five seconds before it has begun, `.refused`, and `body` does not run. It is asked
  ///   again later, every ten seconds at least; ``Server/advertisingFailure`` has the reason.
  /// - **Misuse**: data that do not fit in an advertisement are `.invalidValue`, before anything is sent; `.notPermitted` by a
  ///   radio that the kernel drives, without CAP_NET_ADMIN; `.refused` while the radio serves already.
  ///
  /// - Parameters:
  ///   - services: the services, in the order of their handles
  ///   - name: the name that other devices show
  ///   - appearance: the external appearance of the device, which the advertisement has, too; nil for none
  ///   - preferred: the link that the device prefers, as others can read it; `Connection.change(_:)` asks for one
  ///   - maximumConnections: how many devices may be connected at once
  ///   - idleLimit: how long a device may be connected that sends nothing, and has subscribed to no value: silent devices keep
  ///     others away, once there are `maximumConnections` of them. Nil for no limit.
  ///   - allowed: the only devices that may connect, by their addresses; nil for all. Phones and watches change theirs, and are
  ///     not known again.
  ///   - body: the program
  /// - Throws: the errors of `body`; ``BluetoothError`` if the radio does not advertise
  public nonisolated func serve<Result>(
    _ services: [LocalService], as name: String, appearance: AppearanceValue? = nil,
    preferring preferred: PreferredConnectionParameters? = nil, maximumConnections: Int = 3,
    idleLimit: Duration? = nil, allowing allowed: [BluetoothAddress]? = nil,
    _ body: (Server) async throws -> Result
  ) async throws -> Result {
    let admission = LinkAdmission(allowed: allowed, idleLimit: idleLimit)
    let server = try await beginServing(maximumConnections, admission) {
      @BluetoothActor server throws(BluetoothError) in
      try server.start(services, name, appearance, preferred)
    }
    let result: Result
    do {
      result = try await body(server)
    } catch {
      await endServing(server)
      throw error
    }
    await endServing(server)
    return result
  }

  private func beginServing(
    _ maximumConnections: Int, _ admission: LinkAdmission,
    _ start: @BluetoothActor (Server) throws(BluetoothError) -> Void
  ) async throws(BluetoothError) -> Server {
    try checkIsHeard()
    try await untilUsable(within: Self.recoveryTime)
    guard !isServing else { throw BluetoothError(.refused, "the radio serves already") }
    let server = Server(self, maximumConnections: maximumConnections, admission: admission)
    do throws(BluetoothError) {
      try start(server)
    } catch {
      await server.stop()
      throw error
    }
    isServing = true
    do throws(BluetoothError) {
      try await server.untilAdvertising()
    } catch {
      await endServing(server)
      throw error
    }
    return server
  }

  private func endServing(_ server: Server) async {
    await server.stop()
    isServing = false
  }
}

extension Server {
  /// In bytes of UTF-8 (Core Specification Vol 3, Part C, 12.1).
  private static let longestName = 248

  /// The advertisement: the flags and the services, which scanners filter by, and the name in the scan response.
  ///
  /// - Throws: `.invalidValue` if it is too long: nothing is cut
  static func advertising(_ services: [LocalService], _ presence: Presence) throws(BluetoothError)
    -> Advertising
  {
    let name = presence.name
    guard name.utf8.count <= longestName else {
      throw BluetoothError(.invalidValue, "a name has \(longestName) bytes at most, not \(name.utf8.count)")
    }
    var uuids: [BluetoothUUID] = []
    for service in services where service.isAdvertised && !uuids.contains(service.uuid) {
      uuids.append(service.uuid)
    }
    var structures = [ADStructure.flags([.generalDiscoverable, .brEDRNotSupported])]
    if let appearance = presence.appearance {
      structures.append(.appearance(Appearance(rawValue: appearance.rawValue)))
    }
    structures += AdvertisingData(localName: nil, serviceUUIDs: uuids).structures + presence.data.structures
    let response = AdvertisingData(localName: name.isEmpty ? nil : name)
    do throws(AdvertisingFault) {
      return try Advertising(AdvertisingData(structures), scanResponse: response)
    } catch {
      if case .tooLong(.scanResponse, _, let capacity) = error {
        throw BluetoothError(
          .invalidValue,
          "the name has \(name.utf8.count) bytes; an advertisement has room for \(capacity - 2)")
      }
      throw BluetoothError(
        .invalidValue,
        "\(error); the services \(uuids.map(\.description).joined(separator: ", ")) do not fit: let some not be advertised (isAdvertised: false)"
      )
    }
  }
}
