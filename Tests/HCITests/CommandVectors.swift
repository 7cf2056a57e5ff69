import HCI
import HaloBluetoothCore
import TestSupport

// Packets with the values that a decoder must find in them. The byte sequences are those of the test files of
// the projects that are named, of a capture, or made after the Core Specification; the values were checked with
// an independent dissector.

let commandVectors: [CommandVector] = [
  CommandVector("pureswift: setExtendedScanEnable", "01422006010110000200", opcode(8258)),
  CommandVector(
    "pureswift: setAdvertiseEnableParameter", "0106200f14001e0001010077d847a339540100", opcode(8198)),
  CommandVector("scapy: Set Connection Encryption", "01130403000101", opcode(1043)),
  CommandVector("bumble: LE Set Scan Enable", "010c20020100", opcode(8204)),
  CommandVector("pureswift: lEAddDeviceToWhiteList", "0111200700b30b7c8fe258", opcode(8209)),
  CommandVector("scapy: LE Set Extended Scan Parameters", "0141200d00010500600060000020012001", opcode(8257)),
  CommandVector("pureswift: setExtendedScanResponseData", "0138200701030003020106", opcode(8248)),
  CommandVector("pureswift: lEReadLocalSupportedFeatures", "01032000", opcode(8195)),
  CommandVector("pureswift: setEventMask", "01010c08ffffffffff1f0000", opcode(3073)),
  CommandVector("pureswift: removeAdvertisingSet", "013c200101", opcode(8252)),
  CommandVector("scapy: Authentication Requested", "011104020001", opcode(1041)),
  CommandVector("pureswift: lEReadRemoteUsedFeatures", "011620024100", opcode(8214)),
  CommandVector("pureswift: addDeviceToPeriodicAdvertiserList", "014720080077d847a3395405", opcode(8263)),
  CommandVector(
    "scapy: LE Extended Create Connection", "0143201a000001aabbccddeeff01600060001800280000002a0000000000",
    opcode(8259)),
  CommandVector("pureswift: setAdvertisingSetRandomAddress", "013520070177d847a33954", opcode(8245)),
  CommandVector("scapy: Create Connection", "0105040d76d56f95010018cc0200000001", opcode(1029)),
  CommandVector("pureswift: clearAdvertisingSets", "013d2000", opcode(8253)),
  CommandVector("pureswift: reset", "01030c00", opcode(3075)),
  CommandVector("pureswift: lowEnergyScan", "010b200701e00130000000", opcode(8203)),
  CommandVector("pureswift: lowEnergyScan", "010c20020101", opcode(8204)),
  CommandVector("capture of a charger: record 44", "010f08020f00", opcode(2063)),
  CommandVector("capture of a charger: record 56", "01052006f39da938155a", opcode(8197)),
  CommandVector(
    "capture of a charger: record 553", "010d2019600030000000a07d1c7fc7f001180028000000d00700000000",
    opcode(8205)),
  CommandVector("capture of a charger: record 556", "011620024500", opcode(8214)),
  CommandVector("capture of a charger: record 559", "011d04024500", opcode(1053)),
  CommandVector("capture of a charger: record 562", "0113200e4500060006000000d00700000000", opcode(8211)),
]

let aclVectors: [ACLVector] = [
  ACLVector(
    "scapy: SM_Security_Request", "0200260600020006000b0d",
    ACLHeader(handle: handle(1536), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 6)),
  ACLVector(
    "ACL handle 0xEFF with PB 2, BC 0", "02ff2e0600020004000b00",
    ACLHeader(handle: handle(3839), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 6)),
  ACLVector(
    "ACL start, controller-to-host (PB 2)", "0240200600020004000b64",
    ACLHeader(handle: handle(64), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 6)),
  ACLVector(
    "bumble: ACL, start flushable, ATT in one packet", "0240200b00070004000801000900ffff",
    ACLHeader(handle: handle(64), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 11)),
  ACLVector(
    "capture of a charger: record 563", "0245000b0007000400100100ffff0028",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 0), broadcast: 0, dataLength: 11)),
  ACLVector(
    "capture of a charger: record 566", "024520180014000400110601000b0000180c000f0001181000ffffe0ff",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 24)),
  ACLVector(
    "capture of a charger: record 567", "0245000b00070004000801000b000228",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 0), broadcast: 0, dataLength: 11)),
  ACLVector(
    "capture of a charger: record 569", "024520090005000400010801000a",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 9)),
  ACLVector(
    "capture of a charger: record 573", "0245201b001700040009070200020300002a0400020500012a06000a0700022a",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 27)),
  ACLVector(
    "capture of a charger: record 589", "024500090005000400040f000f00",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 0), broadcast: 0, dataLength: 9)),
  ACLVector(
    "capture of a charger: record 591", "0245200a000600040005010f000229",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 10)),
  ACLVector(
    "capture of a charger: record 610", "0245001b00170004005212000f55020000000000000000000000000000000066",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 0), broadcast: 0, dataLength: 27)),
  ACLVector(
    "capture of a charger: record 612", "0245201b00170004001b12000f55020000000000000000000000001b00000081",
    ACLHeader(handle: handle(69), boundary: .init(rawValue: 2), broadcast: 0, dataLength: 27)),
]
