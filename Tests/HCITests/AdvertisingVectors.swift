import HCI
import HaloBluetoothCore
import TestSupport

// Packets with the values that a decoder must find in them. The byte sequences are those of the test files of
// the projects that are named, of a capture, or made after the Core Specification; the values were checked with
// an independent dissector.

let advertisingVectors: [AdvertisingVector] = [
  AdvertisingVector(
    "bluez: nokia_bh907",
    "16094e6f6b6961205265616374696f6e2042482d393037020a040f020d110b110e110f111e1108113111000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    [
      .localName(Array("Nokia Reaction BH-907".utf8), isComplete: true), .txPower(4),
      .serviceUUIDs(
        [uuid("110d"), uuid("110b"), uuid("110e"), uuid("110f"), uuid("111e"), uuid("1108"), uuid("1131")],
        width: .two, isComplete: false),
    ]),
  AdvertisingVector(
    "bluez: fuelband",
    "0f094e696b652b204675656c42616e64110700000000decafadedecadeafdecacaff020a000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    [
      .localName(Array("Nike+ FuelBand".utf8), isComplete: true),
      .serviceUUIDs([uuid("ffcacade-afde-cade-defa-cade00000000")], width: .sixteen, isComplete: true),
      .txPower(0),
    ]),
  AdvertisingVector("empty", "", []),
  AdvertisingVector("manufacturer data of one byte", "02ff4c", [.malformed(type(255), hex("4c"))]),
  AdvertisingVector(
    "pureswift: unknownTypeThrows", "03094142", [.localName(Array("AB".utf8), isComplete: true)]),
  AdvertisingVector(
    "bluez: gigaset_gtag", "0201060dff8001021512348091d0f2bbc503020f18000000000000000000",
    [
      .flags(ADFlags(rawValue: 6)),
      .manufacturerData(CompanyIdentifier(rawValue: 384), hex("021512348091d0f2bbc5")),
      .serviceUUIDs([uuid("180f")], width: .two, isComplete: false),
    ]),
  AdvertisingVector(
    "service data 32 and 128", "0720785634120a0b13219ecadc240ee5a9e093f3a3b50300406e0102",
    [
      .serviceData(uuid("12345678"), width: .four, hex("0a0b")),
      .serviceData(uuid("6e400003-b5a3-f393-e0a9-e50e24dcca9e"), width: .sixteen, hex("0102")),
    ]),
  AdvertisingVector(
    "bluez: mio_alpha", "02010603020d180609414c504841",
    [
      .flags(ADFlags(rawValue: 6)), .serviceUUIDs([uuid("180d")], width: .two, isComplete: false),
      .localName(Array("ALPHA".utf8), isComplete: true),
    ]),
  AdvertisingVector(
    "structure past the end", "02010609094162",
    [.flags(ADFlags(rawValue: 6)), .malformed(type(9), hex("4162"))]),
  AdvertisingVector(
    "pureswift: incompleteListOf32BitServiceClassUUIDs",
    "02011a210403180000041800000218000007010000f4010000f5010000f6010000f7010000080946726565646f6d",
    [
      .flags(ADFlags(rawValue: 26)),
      .serviceUUIDs(
        [
          uuid("00001803"), uuid("00001804"), uuid("00001802"), uuid("00000107"), uuid("000001f4"),
          uuid("000001f5"), uuid("000001f6"), uuid("000001f7"),
        ], width: .four, isComplete: false), .localName(Array("Freedom".utf8), isComplete: true),
    ]),
  AdvertisingVector(
    "ring-like: flags, name R02_A1B2, 128-bit service",
    "02010609095230325f4131423211079ecadc240ee5a9e093f3a3b5f0ff406e",
    [
      .flags(ADFlags(rawValue: 6)), .localName(Array("R02_A1B2".utf8), isComplete: true),
      .serviceUUIDs([uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e")], width: .sixteen, isComplete: true),
    ]),
  AdvertisingVector(
    "pureswift: incompleteListOf128BitServiceClassUUIDs",
    "02011a1106031804180218040603180418020603180d09546573742031323862697473",
    [
      .flags(ADFlags(rawValue: 26)),
      .serviceUUIDs([uuid("18030602-1804-1803-0604-180218041803")], width: .sixteen, isComplete: false),
      .localName(Array("Test 128bits".utf8), isComplete: true),
    ]),
  AdvertisingVector(
    "capture of a charger: record 2", "0201060302e0ff17ffa07d1c7fc7f03130303038330100000000010d0d00b8",
    [
      .flags(ADFlags(rawValue: 6)), .serviceUUIDs([uuid("ffe0")], width: .two, isComplete: false),
      .manufacturerData(CompanyIdentifier(rawValue: 32160), hex("1c7fc7f03130303038330100000000010d0d00b8")),
    ]),
  AdvertisingVector(
    "capture of a charger: record 120", "080943686172676572051250002003020a00",
    [
      .localName(Array("Charger".utf8), isComplete: true),
      .connectionIntervalRange(min: interval(80), max: interval(800)), .txPower(0),
    ]),
  AdvertisingVector(
    "capture of a charger: record 136", "03039ffe17169ffe02534b524c7a64345f6a723800000164ebc65224",
    [
      .serviceUUIDs([uuid("fe9f")], width: .two, isComplete: true),
      .serviceData(uuid("fe9f"), width: .two, hex("02534b524c7a64345f6a723800000164ebc65224")),
    ]),
  AdvertisingVector(
    "capture of a charger: record 145", "09ffe0000265ca5df535",
    [.manufacturerData(CompanyIdentifier(rawValue: 224), hex("0265ca5df535"))]),
  AdvertisingVector(
    "pureswift: advertising report body 9", "0201061aff4c000c0e08d75240958bb74941d3cdb6869b1005471c23a1a4",
    [
      .flags(ADFlags(rawValue: 6)),
      .manufacturerData(
        CompanyIdentifier(rawValue: 76), hex("0c0e08d75240958bb74941d3cdb6869b1005471c23a1a4")),
    ]),
  AdvertisingVector(
    "pureswift: advertising report body 30", "0201060aff4c001005071899831e",
    [.flags(ADFlags(rawValue: 6)), .manufacturerData(CompanyIdentifier(rawValue: 76), hex("1005071899831e"))]),
  AdvertisingVector(
    "scapy: Parse EIR_ClassOfDevice", "02010503ff000106084d4920524303021218040d040500020a0004fe06ec88",
    [
      .flags(ADFlags(rawValue: 5)), .manufacturerData(CompanyIdentifier(rawValue: 256), hex("")),
      .localName(Array("MI RC".utf8), isComplete: false),
      .serviceUUIDs([uuid("1812")], width: .two, isComplete: false), .unknown(type(13), hex("040500")),
      .txPower(0), .unknown(type(254), hex("06ec88")),
    ]),
  AdvertisingVector(
    "bumble: LE Extended Advertising Report, complete",
    "0201061106ba5689a6fabfa2bd01467d6e00fbabad08160a181604659b03",
    [
      .flags(ADFlags(rawValue: 6)),
      .serviceUUIDs([uuid("adabfb00-6e7d-4601-bda2-bffaa68956ba")], width: .sixteen, isComplete: false),
      .serviceData(uuid("180a"), width: .two, hex("1604659b03")),
    ]),
  AdvertisingVector(
    "capture of a charger: record 2", "0201060302e0ff17ffa07d1c7fc7f03130303038330100000000010d0d00b8",
    [
      .flags(ADFlags(rawValue: 6)), .serviceUUIDs([uuid("ffe0")], width: .two, isComplete: false),
      .manufacturerData(CompanyIdentifier(rawValue: 32160), hex("1c7fc7f03130303038330100000000010d0d00b8")),
    ]),
]
