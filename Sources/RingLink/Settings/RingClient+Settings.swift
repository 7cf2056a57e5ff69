/// Changes of individual fields of settings.
extension RingClient {
  /// Changes a part of a setting: reads it, writes it as a whole, and reads it back.
  ///
  /// ```swift
  /// try await ring.change(CommandTable.heartRateSchedule, ["interval": 10])
  /// ```
  ///
  /// - Parameters:
  ///   - setting: the setting to change
  ///   - changes: by the fields' names; flags are 0 and 1
  /// - Returns: the setting as the ring has it afterwards
  /// - Throws: `.notTaken` if the ring acknowledged the write but has another value in a field that was changed;
  ///   `.invalidSetting` if a number is out of range, or if the ring does not report the other fields; `.refused` if
  ///   the ring does not support the setting
  @discardableResult
  package func change(
    _ setting: RingSetting, _ changes: [String: Int]
  ) async throws(RingError) -> [String: Int] {
    try await write(changes, over: try await numbers(of: setting), to: setting)
  }

  /// Writes a setting that reads as `read`, and makes sure that the ring took the changes.
  @discardableResult
  package func write(
    _ changes: [String: Int], over read: [String: Int], to setting: RingSetting
  ) async throws(RingError) -> [String: Int] {
    let wanted: [String: Int]
    do throws(SettingError) {
      wanted = try setting.applying(changes, to: read)
    } catch {
      throw .invalidSetting(error)
    }
    let found = try await write(wanted, to: setting)
    // Fields that a ring leaves out of a setting that most do not report cannot be compared.
    let told = setting.fields.filter { setting.isReadable || found[$0.name].map($0.isReported) ?? false }
    let lost = told.map(\.name).filter { changes[$0] != nil && changes[$0] != found[$0] }
    guard lost.isEmpty || !setting.isReported(found) else {
      throw .notTaken(.frame(setting.command), ["\(setting.entry.name) \(lost.joined(separator: ", "))"])
    }
    return found
  }

  /// Reads a setting that the ring may not have.
  ///
  /// - Returns: nil if the ring refuses or does not answer
  package func numbersIfSupported(_ setting: RingSetting) async throws(RingError) -> [String: Int]? {
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

/// The automatic measurements of a ring, saved to be restored: ``RingClient/automaticMeasurements()``.
package struct SavedMeasurements: Hashable, Sendable, CustomStringConvertible {
  /// The settings that are on: the numbers of their fields, by the names of the settings.
  package var settings: [String: [String: Int]]

  package init(_ settings: [String: [String: Int]] = [:]) { self.settings = settings }

  package var isEmpty: Bool { settings.isEmpty }

  /// In the order of the table. Settings that are not automatic measurements are omitted, whatever their origin.
  var entries: [(setting: RingSetting, numbers: [String: Int])] {
    CommandTable.automaticMeasurements.compactMap { setting in
      guard let kept = settings[setting.entry.name] else { return nil }
      var numbers: [String: Int] = [:]
      for field in setting.fields {
        // A field that a ring leaves out reads as a number that cannot be written.
        if let number = kept[field.name], field.settable.contains(number) { numbers[field.name] = number }
      }
      return (setting, numbers)
    }
  }

  /// `heart-rate, spo2`
  package var description: String { entries.map(\.setting.entry.name).joined(separator: ", ") }
}

/// The ring's own measurements take the sensor away from a stream, and light it (ring reference, 5.1 and 5.6).
///
/// ```swift
/// let saved = try await ring.automaticMeasurements()
/// try await ring.pause(saved)
/// // ... stream ...
/// try await ring.restore(saved)
/// ```
///
/// A ring keeps its settings when the link is lost: the caller that pauses has to keep `saved` until it is restored.
extension RingClient {
  /// Reads the settings of the automatic measurements that are on.
  package func automaticMeasurements() async throws(RingError) -> SavedMeasurements {
    var saved = SavedMeasurements()
    for (setting, numbers) in try await measurementSettings() where numbers["enabled"] == 1 {
      saved.settings[setting.entry.name] = numbers
    }
    return saved
  }

  /// Reads the settings of the automatic measurements, also of those that are off. Unsupported ones are omitted.
  package func measurementSettings() async throws(RingError) -> [(
    setting: RingSetting, numbers: [String: Int]
  )] {
    var known: [(setting: RingSetting, numbers: [String: Int])] = []
    for setting in CommandTable.automaticMeasurements {
      guard let numbers = try await numbersIfSupported(setting) else { continue }
      known.append((setting, numbers))
    }
    return known
  }

  /// Switches the automatic measurements off.
  ///
  /// - Throws: `.notTaken` if the ring continues to measure
  package func pause(_ saved: SavedMeasurements) async throws(RingError) {
    for (setting, numbers) in saved.entries { try await write(["enabled": 0], over: numbers, to: setting) }
  }

  /// Switches the saved measurements on again. Those that were switched on by others since then stay unchanged.
  ///
  /// - Throws: the first error; the others are restored nevertheless, as far as there is a link
  package func restore(_ saved: SavedMeasurements) async throws(RingError) {
    var failure: RingError?
    for (setting, numbers) in saved.entries {
      do throws(RingError) {
        let found = try await self.numbers(of: setting)
        if found["enabled"] == 0 { try await write(numbers, over: found, to: setting) }
      } catch {
        switch error {
        case .refused, .notAnswered, .notTaken, .malformed, .invalidSetting: failure = failure ?? error
        default: throw error
        }
      }
    }
    if let failure { throw failure }
  }
}
