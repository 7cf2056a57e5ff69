/// Settings, as people change them: a field here and there.
extension Ring {
  /// Changes a part of a setting: reads it, writes it as a whole, and reads it back.
  ///
  /// ```swift
  /// try await ring.change(CommandTable.heartRateSchedule) { $0.intervalMinutes = 10 }
  /// ```
  ///
  /// - Returns: what the ring has afterwards
  /// - Throws: `.notTaken` if the ring acknowledged, and has something else in a field that was changed;
  ///   `.invalidSetting` if a number is outside of its limits, or if the ring does not tell what the rest is;
  ///   `.refused` if the ring does not have the setting
  @discardableResult
  public func change<Value>(
    _ setting: Setting<Value>, _ change: (inout Value) -> Void
  ) async throws(RingError) -> Value {
    let read = try await numbers(of: setting)
    let isSilent = read.values.allSatisfy { $0 == 0 }
    let before = try readable(setting.command) { () throws(RingFrameError) in
      isSilent ? Value() : try setting.value(of: read)
    }
    var value = before
    change(&value)
    let base = setting.numbers(of: before)
    let changes = setting.numbers(of: value).filter { base[$0.key] != $0.value }
    let found = try await write(changes, over: read, to: setting)
    return try readable(setting.command) { () throws(RingFrameError) in try setting.value(of: found) }
  }

  /// The same for a setting whatever its type.
  ///
  /// - Parameter changes: by the fields' names; flags are 0 and 1
  @discardableResult
  public func change(
    _ setting: any RingSetting, _ changes: [String: Int]
  ) async throws(RingError) -> [String: Int] {
    try await write(changes, over: try await numbers(of: setting), to: setting)
  }

  /// Writes a setting that reads as `read`, and makes sure that the ring took the changes.
  @discardableResult
  public func write(
    _ changes: [String: Int], over read: [String: Int], to setting: any RingSetting
  ) async throws(RingError) -> [String: Int] {
    let wanted: [String: Int]
    do throws(SettingError) {
      wanted = try setting.applying(changes, to: read)
    } catch {
      throw .invalidSetting(error)
    }
    let found = try await write(wanted, to: setting)
    let lost = setting.fields.map(\.name).filter { changes[$0] != nil && changes[$0] != found[$0] }
    guard lost.isEmpty || !setting.isTold(found) else {
      throw .notTaken(.frame(setting.command), ["\(setting.entry.name) \(lost.joined(separator: ", "))"])
    }
    return found
  }

  /// Reads a setting that the ring may not have.
  ///
  /// - Returns: nil if the ring refuses, or says nothing
  public func numbersIfSupported(_ setting: any RingSetting) async throws(RingError) -> [String: Int]? {
    do throws(RingError) {
      return try await numbers(of: setting)
    } catch {
      switch error {
      case .refused, .notAnswered: return nil
      default: throw error
      }
    }
  }
}
