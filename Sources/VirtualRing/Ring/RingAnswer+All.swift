import RingLink

extension RingAnswer {
  /// The answer to a frame; nil if the ring does not support it.
  static func answer(to meaning: FrameMeaning, family: RingFamily) -> RingAnswer? {
    guard meaning.form != nil, let entry = meaning.entry, entry.families.contains(family) else { return nil }
    return byEntry[entry.name]?.first { $0.entry == entry }
  }

  nonisolated(unsafe) private static let byEntry = Dictionary(grouping: all, by: \.entry.name)

  private static var all: [RingAnswer] {
    device + CommandTable.settings.map(setting) + actions + measurements + history
  }

  private static var device: [RingAnswer] {
    [
      query(CommandTable.battery) { ring, _ in
        RingBattery(percent: ring.options.battery, isCharging: ring.options.isCharging)
      },
      RingAnswer(entry: CommandTable.setTime.entry) { ring, frame in
        if let time = try? ClockSetting(parsing: frame).time { ring.memory.clock.set(to: time) }
        return [
          CommandTable.payloadLength.frame(SingleByte(UInt8(clamping: ring.payloadLength()))),
          CommandTable.setTime.frame(of: ring.capabilities),
        ]
      },
      query(CommandTable.hostInformation) { _, _ in NoFields() },
      query(CommandTable.deviceSupport) { ring, _ in ring.deviceSupport },
      query(CommandTable.notificationMask) { ring, _ in ring.memory.notificationMask },
      query(CommandTable.setNotificationMask) { ring, mask in
        ring.memory.notificationMask = mask
        return mask
      },
    ]
  }

  private static var actions: [RingAnswer] {
    [
      action(CommandTable.blink), action(CommandTable.find),
      RingAnswer(entry: CommandTable.cameraEnter.entry) { ring, _ in
        ring.events.enterCamera()
        return [CommandTable.camera.frame(SingleByte(1))]
      },
      action(CommandTable.cameraKeep),
      RingAnswer(entry: CommandTable.cameraLeave.entry) { ring, _ in
        ring.events.leaveCamera()
        return [CommandTable.camera.frame(SingleByte(3))]
      },
      action(CommandTable.reboot) { $0.leave() },
      action(CommandTable.powerOff) { if !$0.options.isCharging { $0.switchOff() } },
      action(CommandTable.factoryReset) { $0.forgetEverything() },
    ]
  }
}
