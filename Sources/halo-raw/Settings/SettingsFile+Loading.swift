import BluetoothCore
import EventLoop
import RingLink

extension SettingsFile {
  /// Writes the settings that differ to a ring and prints them. Everything is validated before anything is written.
  @BluetoothActor
  func load(into ring: Ring) async throws(Failure) {
    var plan: [(setting: any RingSetting, read: [String: Int], changes: [String: Int])] = []
    var unsupported: [String] = []
    for (setting, wanted) in try changes() {
      let read = try await ringFailure { () async throws(RingError) in
        try await ring.numbersIfSupported(setting)
      }
      guard let read else {
        unsupported.append(setting.entry.name)
        continue
      }
      // A setting that the ring does not report can't be compared.
      let changes = setting.isTold(read) ? wanted.filter { read[$0.key] != $0.value } : wanted
      guard !changes.isEmpty else { continue }
      do throws(SettingError) {
        _ = try setting.applying(changes, to: read)
      } catch .incomplete where !setting.isToldBack {
        Console.error("\(setting.entry.name) is not written: the file does not have all its fields")
        continue
      } catch {
        throw Failure(.badData, "\(setting.entry.name): \(error)")
      }
      plan.append((setting, read, changes))
    }
    if !unsupported.isEmpty {
      Console.error("not supported by this ring: \(unsupported.joined(separator: ", "))")
    }
    if plan.isEmpty { return Console.print("nothing differs\n") }
    for (setting, read, changes) in plan {
      try await ringFailure { () async throws(RingError) in
        _ = try await ring.write(changes, over: read, to: setting)
      }
      var report = ""
      for field in setting.fields {
        guard let number = changes[field.name] else { continue }
        let old = setting.isTold(read) ? read[field.name].map { SettingsPrinter.text(of: $0, field) } : nil
        report +=
          "\(setting.entry.name) \(field.name): \(old ?? "?") -> \(SettingsPrinter.text(of: number, field))\n"
      }
      Console.print(report)
    }
  }
}
