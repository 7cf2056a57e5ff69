import HCI
import HaloBluetoothCore
import HaloCapture
import HaloLinuxBluetooth

/// The properties of the recorded host, read before the replay.
package struct RecordedHost: Hashable, Sendable {
  /// The adapter whose packets are replayed, if the capture has adapters.
  package private(set) var adapter: UInt16?
  /// The address that stays, set with LE Set Random Address, if any.
  package private(set) var randomAddress: BluetoothAddress?
  /// The private addresses that were set, in their order.
  package private(set) var privateAddresses: [BluetoothAddress] = []
  /// The first requests for its links.
  package private(set) var linkPreferences = LinkPreferences()
  /// The start of the capture, in microseconds since 1970-01-01 UTC; nil if its first record has no timestamp.
  package private(set) var beginning: Int64?
  /// Whether the first command is Reset, as sent by a host with exclusive access. A host beside the kernel does not
  /// send it, and a capture may begin at any point. Nil if there is no command.
  package private(set) var beginsWithReset: Bool?
  /// All its commands, as far as the file was examined.
  package private(set) var commands: Set<HCIOpcode> = []
  /// Whether it asks an idle controller for its links, or whether it advertises: by parameters while it does.
  package private(set) var watchesState = false
  private var isAdvertising = false
  /// Its commands that this stack does not send beside the kernel, each once.
  package private(set) var foreignCommands: [HCIOpcode] = []
  /// The number of the first packet with data of a link that was not established in the capture.
  package private(set) var unknownHandlePackets: Int?
  /// The numbers of its Resets.
  package private(set) var resets: [Int] = []
  /// The notes; see `CaptureNote`.
  package private(set) var notes: [String] = []

  /// Its first commands.
  private var firstCommands: [HCIOpcode] = []

  /// Whether its first commands are those with which this package sets a controller up.
  package var isSetUpLikeOurs: Bool {
    !firstCommands.isEmpty && Self.setUp.starts(with: firstCommands)
  }

  /// The beginning of the setup; other hosts have another order.
  private static let setUp = [
    Reset.opcode, ReadLocalVersionInformation.opcode, ReadLocalSupportedCommands.opcode,
    ReadLocalSupportedFeatures.opcode,
  ]

  package var isOurs: Bool { !notes.isEmpty }

  /// Whether it has used bonds, whose keys no replay has: for encrypted links, or for devices with private addresses.
  package var usesBonds: Bool {
    !commands.isDisjoint(with: [
      LEEnableEncryption.opcode, LELongTermKeyRequestReply.opcode, LEReadResolvingListSize.opcode,
    ])
  }

  /// The number of records to examine: the setup is within the first commands, and a link of the kernel follows soon.
  private static let mostRecords = 10_000

  /// - Throws: `CaptureError` if there is nothing to replay
  package init(path: String, _ options: ReplayTransport.Options) throws(CaptureError) {
    var reader = try CaptureReader(path: path, isReadAgain: true)
    adapter = options.adapter
    var others: Set<UInt16> = []
    var links: Set<ConnectionHandle> = []
    var count = 0
    var packets = 0
    var isOfAir = false
    while count < Self.mostRecords {
      let record: CaptureRecord
      do throws(CaptureError) {
        guard let next = try reader.next() else { break }
        record = next
      } catch {
        // If the file is damaged further on, the replay reports it.
        if packets == 0 { throw error }
        break
      }
      if count == 0 { beginning = record.info.microseconds }
      count += 1
      if case .air = record.info.content { isOfAir = true }
      guard case .hci(let direction) = record.info.content, let type = record.bytes.first else { continue }
      if adapter == nil { adapter = record.info.adapter }
      guard record.info.number >= options.first else { continue }
      guard record.info.adapter == adapter else {
        if let other = record.info.adapter { others.insert(other) }
        continue
      }
      guard direction != nil else { throw CaptureError(.noDirection(record.info.number), path: path) }
      if let text = CaptureNote.text(of: record.bytes) {
        notes.append(text)
        continue
      }
      packets += 1
      note(record, HCIPacketType(rawValue: type), &links)
    }
    if packets == 0, isOfAir { throw CaptureError(.notOfHost, path: path) }
    if packets == 0 { throw CaptureError(.noPackets(of: adapter, others: others.sorted()), path: path) }
  }

  private mutating func note(
    _ record: CaptureRecord, _ type: HCIPacketType, _ links: inout Set<ConnectionHandle>
  ) {
    let bytes = record.bytes.span.bytes
    let body = bytes.extracting(1..<bytes.byteCount)
    switch type {
    case .command: if let command = try? CommandPacket(body) { note(command, record.info.number) }
    case .event:
      guard case .began(let link)? = LinkChange(bytes) else { return }
      links.insert(link.handle)
      // A central may have connected, which ends advertising.
      isAdvertising = false
    case .acl:
      var reader = ByteReader(body)
      guard unknownHandlePackets == nil, let handle = try? ConnectionHandle(parsing: &reader) else { return }
      if !links.contains(handle) { unknownHandlePackets = record.info.number }
    default: break
    }
  }

  private mutating func note(_ first: UInt8?, of opcode: HCIOpcode) {
    switch opcode {
    case ReadRSSI.opcode: watchesState = true
    case LESetAdvertisingEnable.opcode, LESetExtendedAdvertisingEnable.opcode: isAdvertising = first == 1
    case LESetAdvertisingParameters.opcode, LESetExtendedAdvertisingParameters.opcode:
      if isAdvertising { watchesState = true }
    default: break
    }
  }

  private mutating func note(_ command: CommandPacket, _ number: Int) {
    let opcode = command.opcode
    commands.insert(opcode)
    note(command.parameters.byte(at: 0), of: opcode)
    if opcode == Reset.opcode { resets.append(number) }
    if firstCommands.count < Self.setUp.count { firstCommands.append(opcode) }
    if beginsWithReset == nil { beginsWithReset = opcode == Reset.opcode }
    if opcode == LESetRandomAddress.opcode, let set = try? command.decode(LESetRandomAddress.self) {
      if set.address.isResolvable {
        privateAddresses.append(set.address)
      } else {
        randomAddress = randomAddress ?? set.address
      }
    }
    if linkPreferences.phys == nil, opcode == LESetPHY.opcode {
      linkPreferences.phys = (try? command.decode(LESetPHY.self))?.preferred.transmit
    }
    if linkPreferences.dataLength == nil, opcode == LESetDataLength.opcode {
      linkPreferences.dataLength = (try? command.decode(LESetDataLength.self)).map { Int($0.transmit.octets) }
    }
    if !foreignCommands.contains(opcode), !RawController.opcodes.contains(opcode), opcode != Reset.opcode {
      foreignCommands.append(opcode)
    }
  }
}
