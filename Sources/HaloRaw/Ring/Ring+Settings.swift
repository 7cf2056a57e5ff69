import HaloSystem
import RingLink

/// The settings of a ring: the schedules of its own measurements, the wearer, the display, the touch.
///
/// A setting has a name, and fields with names; values are texts. `halo-raw settings` shows all of them.
extension Ring {
  /// The names of all settings. A ring supports some of them.
  public nonisolated static var settingNames: [String] { CommandTable.settings.map(\.entry.name) }

  /// Reads a setting.
  ///
  /// ```swift
  /// try await ring.setting("heart-rate")["interval"]  // "5"
  /// ```
  ///
  /// - **Cancelled**: `.cancelled`.
  /// - **The link is lost**: kept connections read again; else `.linkLost`.
  /// - **Misuse**: `.invalidValue` for a name that no setting has; `.refused` or `.timedOut` by a ring that does not support it.
  ///
  /// - Returns: a flag is `on` or `off`; a number has no unit
  public func setting(_ name: String) async throws -> [String: String] {
    let setting = try Self.setting(named: name)
    let numbers = try await connection.ringResult { _ throws(RingError) in
      try await self.client.numbers(of: setting)
    }
    return Self.texts(numbers, setting)
  }

  /// Changes fields of a setting: it is read, written and read back. Its other fields keep their values.
  ///
  /// ```swift
  /// try await ring.change("heart-rate", ["enabled": "on", "interval": "10"])
  /// ```
  ///
  /// - **Cancelled**: `.cancelled`; the setting may have been written.
  /// - **The link is lost**: kept connections begin again, which does no harm; else `.linkLost`.
  /// - **Misuse**: `.invalidValue` for an unknown name or value, or if the ring does not report the other fields; the text
  ///   lists the valid ones.
  ///
  /// - Returns: the fields as the ring has them afterwards
  /// - Throws: `.refused` as well, if the ring confirmed the change, and did not make it
  @discardableResult
  public func change(_ name: String, _ fields: [String: String]) async throws -> [String: String] {
    let setting = try Self.setting(named: name)
    var changes: [String: Int] = [:]
    do throws(SettingError) {
      for (name, text) in fields { changes[name] = try setting.field(name).number(from: text) }
    } catch {
      throw BluetoothError(.invalidValue, error.description)
    }
    let numbers = try await connection.ringResult { _ throws(RingError) in
      try await self.client.change(setting, changes)
    }
    return Self.texts(numbers, setting)
  }

  private static func setting(named name: String) throws(BluetoothError) -> RingSetting {
    if let found = CommandTable.settings.first(where: { $0.entry.name == name }) { return found }
    throw BluetoothError(
      .invalidValue, "no setting \"\(name)\"; there are \(settingNames.joined(separator: ", "))")
  }

  private static func texts(_ numbers: [String: Int], _ setting: RingSetting) -> [String: String] {
    var texts: [String: String] = [:]
    for field in setting.fields { texts[field.name] = numbers[field.name].map { field.text(of: $0) } }
    return texts
  }
}

extension RingTime {
  /// The time on the wall clock of this machine, in its zone: the time to which the clock of a ring is set.
  public static var now: RingTime {
    let seconds = Int(SystemClock.wallMicroseconds / 1_000_000)
    return RingTime(seconds: seconds + SystemClock.utcOffset(atUnix: seconds))
  }
}
