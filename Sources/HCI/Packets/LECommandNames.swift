/// LE commands up to Core Specification 5.4 that the stack does not send.
extension HCICommandInfo {
  static let leRows: [Row] = [
    .init(
      0x2017, "LE Encrypt", "7.8.22", octet: 27, bit: 6,
      [.bytes("key", 16, .key), .bytes("plaintext", 16)], returns: [.bytes("encrypted", 16)]),
    .init(0x201D, "LE Receiver Test", "7.8.28", octet: 28, bit: 4),
    .init(0x201E, "LE Transmitter Test", "7.8.29", octet: 28, bit: 5),
    .init(0x201F, "LE Test End", "7.8.30", octet: 28, bit: 6),
    .init(
      0x2025, "LE Read Local P-256 Public Key", "7.8.36", octet: 34, bit: 1,
      endsWith: [.leEvent(.readLocalP256PublicKeyComplete)]),
    .init(
      0x2026, "LE Generate DHKey", "7.8.37", octet: 34, bit: 2, endsWith: [.leEvent(.generateDHKeyComplete)]),
    .init(
      0x202B, "LE Read Peer Resolvable Address", "7.8.42", octet: 34, bit: 7,
      [.typedAddress("identity address", type: "identity address type")],
      returns: [.address("resolvable address", .random)]),
    .init(
      0x202C, "LE Read Local Resolvable Address", "7.8.43", octet: 35, bit: 0,
      [.typedAddress("identity address", type: "identity address type")],
      returns: [.address("resolvable address", .random)]),
    .init(0x2033, "LE Receiver Test [v2]", "7.8.28", octet: 35, bit: 7),
    .init(0x2034, "LE Transmitter Test [v2]", "7.8.29", octet: 36, bit: 0),
    .init(0x203E, "LE Set Periodic Advertising Parameters", "7.8.61", octet: 37, bit: 2),
    .init(0x203F, "LE Set Periodic Advertising Data", "7.8.62", octet: 37, bit: 3),
    .init(0x2040, "LE Set Periodic Advertising Enable", "7.8.63", octet: 37, bit: 4),
    .init(
      0x2044, "LE Periodic Advertising Create Sync", "7.8.67", octet: 38, bit: 0,
      endsWith: [
        .leEvent(.periodicAdvertisingSyncEstablished), .leEvent(.periodicAdvertisingSyncEstablishedV2),
      ]),
    .init(0x2045, "LE Periodic Advertising Create Sync Cancel", "7.8.68", octet: 38, bit: 1),
    .init(0x2046, "LE Periodic Advertising Terminate Sync", "7.8.69", octet: 38, bit: 2),
    .init(0x2047, "LE Add Device To Periodic Advertiser List", "7.8.70", octet: 38, bit: 3),
    .init(0x2048, "LE Remove Device From Periodic Advertiser List", "7.8.71", octet: 38, bit: 4),
    .init(0x2049, "LE Clear Periodic Advertiser List", "7.8.72", octet: 38, bit: 5),
    .init(0x204A, "LE Read Periodic Advertiser List Size", "7.8.73", octet: 38, bit: 6),
    .init(
      0x204B, "LE Read Transmit Power", "7.8.74", octet: 38, bit: 7,
      returns: [.power("min transmit power"), .power("max transmit power")]),
    .init(0x204C, "LE Read RF Path Compensation", "7.8.75", octet: 39, bit: 0),
    .init(0x204D, "LE Write RF Path Compensation", "7.8.76", octet: 39, bit: 1),
    .init(0x204F, "LE Receiver Test [v3]", "7.8.28", octet: 39, bit: 3),
    .init(0x2050, "LE Transmitter Test [v3]", "7.8.29", octet: 39, bit: 4),
    .init(0x2051, "LE Set Connectionless CTE Transmit Parameters", "7.8.80", octet: 39, bit: 5),
    .init(0x2052, "LE Set Connectionless CTE Transmit Enable", "7.8.81", octet: 39, bit: 6),
    .init(0x2053, "LE Set Connectionless IQ Sampling Enable", "7.8.82", octet: 39, bit: 7),
    .init(0x2054, "LE Set Connection CTE Receive Parameters", "7.8.83", octet: 40, bit: 0),
    .init(0x2055, "LE Set Connection CTE Transmit Parameters", "7.8.84", octet: 40, bit: 1),
    .init(0x2056, "LE Connection CTE Request Enable", "7.8.85", octet: 40, bit: 2),
    .init(0x2057, "LE Connection CTE Response Enable", "7.8.86", octet: 40, bit: 3),
    .init(0x2058, "LE Read Antenna Information", "7.8.87", octet: 40, bit: 4),
    .init(0x2059, "LE Set Periodic Advertising Receive Enable", "7.8.88", octet: 40, bit: 5),
    .init(0x205A, "LE Periodic Advertising Sync Transfer", "7.8.89", octet: 40, bit: 6),
    .init(0x205B, "LE Periodic Advertising Set Info Transfer", "7.8.90", octet: 40, bit: 7),
    .init(0x205C, "LE Set Periodic Advertising Sync Transfer Parameters", "7.8.91", octet: 41, bit: 0),
    .init(
      0x205D, "LE Set Default Periodic Advertising Sync Transfer Parameters", "7.8.92", octet: 41, bit: 1),
    .init(
      0x205E, "LE Generate DHKey [v2]", "7.8.37", octet: 41, bit: 2,
      endsWith: [.leEvent(.generateDHKeyComplete)]),
    .init(0x205F, "LE Modify Sleep Clock Accuracy", "7.8.94", octet: 41, bit: 4),
    .init(0x2061, "LE Read ISO TX Sync", "7.8.96", octet: 41, bit: 6),
    .init(0x2062, "LE Set CIG Parameters", "7.8.97", octet: 41, bit: 7),
    .init(0x2063, "LE Set CIG Parameters Test", "7.8.98", octet: 42, bit: 0),
    .init(
      0x2064, "LE Create CIS", "7.8.99", octet: 42, bit: 1,
      endsWith: [.leEvent(.cisEstablished), .leEvent(.cisEstablishedV2)]),
    .init(0x2065, "LE Remove CIG", "7.8.100", octet: 42, bit: 2),
    .init(
      0x2066, "LE Accept CIS Request", "7.8.101", octet: 42, bit: 3,
      endsWith: [.leEvent(.cisEstablished), .leEvent(.cisEstablishedV2)]),
    .init(0x2067, "LE Reject CIS Request", "7.8.102", octet: 42, bit: 4),
    .init(0x2068, "LE Create BIG", "7.8.103", octet: 42, bit: 5, endsWith: [.leEvent(.createBIGComplete)]),
    .init(
      0x2069, "LE Create BIG Test", "7.8.104", octet: 42, bit: 6, endsWith: [.leEvent(.createBIGComplete)]),
    .init(
      0x206A, "LE Terminate BIG", "7.8.105", octet: 42, bit: 7, endsWith: [.leEvent(.terminateBIGComplete)]),
    .init(
      0x206B, "LE BIG Create Sync", "7.8.106", octet: 43, bit: 0, endsWith: [.leEvent(.bigSyncEstablished)]),
    .init(0x206C, "LE BIG Terminate Sync", "7.8.107", octet: 43, bit: 1),
    .init(
      0x206D, "LE Request Peer SCA", "7.8.108", octet: 43, bit: 2,
      endsWith: [.leEvent(.requestPeerSCAComplete)]),
    .init(0x206E, "LE Setup ISO Data Path", "7.8.109", octet: 43, bit: 3),
    .init(0x206F, "LE Remove ISO Data Path", "7.8.110", octet: 43, bit: 4),
    .init(0x2070, "LE ISO Transmit Test", "7.8.111", octet: 43, bit: 5),
    .init(0x2071, "LE ISO Receive Test", "7.8.112", octet: 43, bit: 6),
    .init(0x2072, "LE ISO Read Test Counters", "7.8.113", octet: 43, bit: 7),
    .init(0x2073, "LE ISO Test End", "7.8.114", octet: 44, bit: 0),
    .init(0x2074, "LE Set Host Feature", "7.8.115", octet: 44, bit: 1),
    .init(0x2075, "LE Read ISO Link Quality", "7.8.116", octet: 44, bit: 2),
    .init(0x2076, "LE Enhanced Read Transmit Power Level", "7.8.117", octet: 44, bit: 3),
    .init(
      0x2077, "LE Read Remote Transmit Power Level", "7.8.118", octet: 44, bit: 4,
      endsWith: [.leEvent(.transmitPowerReporting)]),
    .init(0x2078, "LE Set Path Loss Reporting Parameters", "7.8.119", octet: 44, bit: 5),
    .init(0x2079, "LE Set Path Loss Reporting Enable", "7.8.120", octet: 44, bit: 6),
    .init(0x207A, "LE Set Transmit Power Reporting Enable", "7.8.121", octet: 44, bit: 7),
    .init(0x207B, "LE Transmitter Test [v4]", "7.8.29", octet: 45, bit: 0),
    .init(0x207C, "LE Set Data Related Address Changes", "7.8.122", octet: 45, bit: 6),
    .init(0x207D, "LE Set Default Subrate", "7.8.123", octet: 46, bit: 0),
    .init(0x207E, "LE Subrate Request", "7.8.124", octet: 46, bit: 1, endsWith: [.leEvent(.subrateChange)]),
    .init(0x207F, "LE Set Extended Advertising Parameters [v2]", "7.8.53", octet: 46, bit: 2),
    .init(0x2080, "LE Set Decision Data", "7.8.144", octet: 46, bit: 3),
    .init(0x2081, "LE Set Decision Instructions", "7.8.145", octet: 46, bit: 4),
    .init(0x2082, "LE Set Periodic Advertising Subevent Data", "7.8.125", octet: 46, bit: 5),
    .init(0x2083, "LE Set Periodic Advertising Response Data", "7.8.126", octet: 46, bit: 6),
    .init(0x2084, "LE Set Periodic Sync Subevent", "7.8.127", octet: 46, bit: 7),
    .init(
      0x2085, "LE Extended Create Connection [v2]", "7.8.66", octet: 47, bit: 0,
      endsWith: [
        .leEvent(.connectionComplete), .leEvent(.enhancedConnectionComplete),
        .leEvent(.enhancedConnectionCompleteV2),
      ]),
    .init(0x2086, "LE Set Periodic Advertising Parameters [v2]", "7.8.61", octet: 47, bit: 1),
  ]
}
