import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloCommandLine

private enum AdvertiseOption {
  static let name = Option("--name", as: .text, help: "the name of the device")
  static let services = Option("--service", as: .list(of: .uuid), help: "the services of the device")
  static let manufacturer = Option(
    "--manufacturer", as: .manufacturerData, help: "data of a company, by its number: FFFF:0102")
  static let serviceData = Option(
    "--service-data", as: .serviceData, help: "data of a service, by its UUID: FCD2:400164")
  static let data = Option(
    "--data", as: .advertisingData, help: "the whole advertisement, in place of all of these")
  static let response = Option(
    "--scan-response", as: .advertisingData, help: "the whole scan response, with --data")
  static let kind = Option(
    "--kind",
    as: .choice(
      "KIND",
      [("connectable", Advertising.Kind.connectable), ("scannable", .scannable), ("beacon", .nonConnectable)]),
    default: "connectable",
    help:
      "connectable: any device may connect, and finds the name; scannable: nobody can connect; beacon: the same, without a scan response"
  )
  static let central = Option(
    "--to", as: .deviceAddress,
    help: "call one device, which may connect: an address, with /r if it is random")
  static let extended = Option(
    "--extended",
    as: .choice("PHY", [("1m", Advertising.ExtendedPHYs.le1M), ("2m", .le2M), ("coded", .leCoded)]),
    help:
      "send extended PDUs, with up to 1650 bytes, which scanners since Bluetooth 5 receive: on 1m, 2m or coded"
  )

  /// The parts of an advertisement.
  static let parts: [any CommandOption] = [name, services, manufacturer, serviceData]
  static let all: [any CommandOption] = [
    name, services, manufacturer, serviceData, data, response, kind, central, extended,
  ]
}

let advertiseCommand = CommandSpec(
  name: "advertise", summary: "send advertisements: a beacon, or a device that can be found",
  options: AdvertiseOption.all + [ServingOption.every, ServingOption.duration, ServingOption.retryTime]
    + ServingOption.admission,
  rules: [
    .excludes(AdvertiseOption.data, AdvertiseOption.parts),
    .needs(AdvertiseOption.response, AdvertiseOption.data),
    .excludes(AdvertiseOption.central, AdvertiseOption.parts + [AdvertiseOption.data, AdvertiseOption.kind]),
  ],
  examples: [
    (
      "sudo halo-raw advertise --kind beacon --service-data FCD2:400164",
      "a sensor of BTHome, whose battery has 100 percent"
    ),
    ("sudo halo-raw advertise --name Halo --service 180D", "a device that others find, and can connect to"),
  ],
  details: """
    What does not fit is refused, and nothing is cut: an advertisement has 31 bytes, three of them for Flags, and so has a scan response,
    which has the name.

    With hciN, the kernel advertises, beside other programs; it calls no single device. Ctrl-C ends it.
    """,
  opensLinks: false
) { invocation in
  let advertising = try advertising(invocation).every(invocation[ServingOption.every])
  try invocation.checkIsHeard()
  let name = invocation[AdvertiseOption.name] ?? "halo-raw"
  try await Session.run(invocation, endsInOrder: true, connects: false, pairs: true) { session in
    let database = AttributeDatabase()
    database.addGenericAccess(
      name: name, resolvesAddresses: session.adapter.security?.resolvesAddresses == true)
    let peripheral = Peripheral(session.adapter, serving: database)
    session.security.letDevicesPair()
    try await session.serve(peripheral, advertising, invocation)
  }
}

private func advertising(_ invocation: Invocation) throws(AdvertisingFault) -> Advertising {
  let kind =
    invocation[AdvertiseOption.central].map { Advertising.Kind.directed($0, isHighDuty: false) }
    ?? invocation[AdvertiseOption.kind]
  let phys = invocation[AdvertiseOption.extended]
  if case .directed = kind { return try Advertising(AdvertisingData(), kind: kind, phys: phys) }
  if let data = invocation[AdvertiseOption.data] {
    let response = invocation[AdvertiseOption.response] ?? AdvertisingData()
    return try Advertising(data, scanResponse: response, kind: kind, phys: phys)
  }
  let name = invocation[AdvertiseOption.name]
  let flags = ADStructure.flags([.generalDiscoverable, .brEDRNotSupported])
  let hasResponse = phys == nil && kind != .nonConnectable
  let structures = AdvertisingData(
    localName: hasResponse ? nil : name, serviceUUIDs: invocation[AdvertiseOption.services] ?? [],
    serviceData: invocation[AdvertiseOption.serviceData].map { [$0] } ?? [],
    manufacturerData: invocation[AdvertiseOption.manufacturer].map { [$0] } ?? []
  ).structures
  return try Advertising(
    AdvertisingData([flags] + structures), scanResponse: AdvertisingData(localName: hasResponse ? name : nil),
    kind: kind,
    phys: phys)
}

// MARK: Values of options

extension ArgumentType where Value == AdvertisingData {
  fileprivate static var advertisingData: Self {
    ArgumentType(placeholder: "HEX", expected: "structures as hexadecimal digits, such as 0201060409544F50") {
      text in
      Hex.bytes(text).map { AdvertisingData($0) }
    }
  }
}

extension ArgumentType where Value == AdvertisingData.ManufacturerData {
  fileprivate static var manufacturerData: Self {
    ArgumentType(placeholder: "ID:HEX", expected: "the number of a company and data, such as FFFF:0102") {
      text in
      guard let (number, data) = parts(of: text), number.count == 4, let id = UInt16(number, radix: 16) else {
        return nil
      }
      return AdvertisingData.ManufacturerData(company: CompanyIdentifier(rawValue: id), data: data)
    }
  }
}

extension ArgumentType where Value == AdvertisingData.ServiceData {
  fileprivate static var serviceData: Self {
    ArgumentType(placeholder: "UUID:HEX", expected: "a UUID and data, such as FCD2:400164") { text in
      guard let (uuid, data) = parts(of: text), let service = BluetoothUUID(uuid) else { return nil }
      return AdvertisingData.ServiceData(service: service, data: data)
    }
  }
}

private func parts(of text: String) -> (String, [UInt8])? {
  guard let colon = text.firstIndex(of: ":"), let data = Hex.bytes(String(text[text.index(after: colon)...]))
  else {
    return nil
  }
  return (String(text[..<colon]), data)
}

extension ArgumentType where Value == BluetoothAddress {
  static var deviceAddress: Self {
    ArgumentType(
      placeholder: "ADDRESS", expected: "an address such as C0:11:22:33:A1:B2, with /r if it is random"
    ) { text in
      let isRandom = text.hasSuffix("/r")
      return BluetoothAddress(isRandom ? String(text.dropLast(2)) : text).map {
        BluetoothAddress($0.value, isRandom ? .random : .public)
      }
    }
  }
}
