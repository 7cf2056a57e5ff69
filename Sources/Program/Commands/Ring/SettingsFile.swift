import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import RingLink

/// Settings in a JSON file that people can read and edit.
struct SettingsFile: Sendable, JSONDecodable {
  /// A flag, a number or a name.
  struct Value: JSONDecodable, Sendable {
    let json: JSONValue
    /// As it would be written on the command line.
    let text: String

    init(_ json: JSONValue) throws(JSONError) {
      self.json = json
      switch json {
      case .bool(let flag): text = flag ? "on" : "off"
      case .integer(let number): text = String(number)
      case .string(let name): text = name
      default: throw .wrongKind(path: [])
      }
    }
  }

  private static let currentVersion = 1
  private static let versionName = "halo-raw settings"

  var version = Self.currentVersion
  /// The firmware of the exported ring; not used.
  var firmware: String?
  /// Values by the names of settings and fields.
  var settings: [String: [String: Value]]
  /// The units of the numbers, for people who edit the file.
  var units: [String: [String: String]]?

  /// - Parameter known: the settings that the ring reports; numbers outside a field's range are left out
  init(_ known: [(setting: RingSetting, numbers: [String: Int])], of firmware: RingFirmware) {
    self.firmware = firmware.firmwareRevision
    settings = [:]
    var units: [String: [String: String]] = [:]
    for (setting, numbers) in known where setting.isReported(numbers) {
      var values: [String: Value] = [:]
      let isSilent = numbers.values.allSatisfy { $0 == 0 }
      for field in setting.fields {
        guard let number = numbers[field.name], field.settable.contains(number),
          isSilent || field.isReported(number)
        else { continue }
        let json: JSONValue =
          field.isFlag ? .bool(number != 0) : field.words[number].map { .string($0) } ?? .integer(number)
        // Each of these is a value.
        values[field.name] = try? Value(json)
        if let unit = field.unit { units[setting.entry.name, default: [:]][field.name] = unit.rawValue }
      }
      settings[setting.entry.name] = values
    }
    self.units = units
  }

  init(path: String) throws(Failure) {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try InputFile.read(path, limit: 256 << 10)
    } catch {
      throw Failure(ExitCode(error), "cannot read \(error)")
    }
    do throws(JSONError) {
      self = try SettingsFile(try JSONValue(parsing: bytes))
    } catch {
      throw Failure(.badData, "\(path.printable) is not a settings file: \(error)")
    }
    guard version == Self.currentVersion else {
      throw Failure(
        .badData,
        "\(path.printable) is of version \(version), which this program does not know; it knows \(Self.currentVersion)"
      )
    }
  }

  /// Writes the file, atomically. A FIFO or device has ten seconds to take it.
  @BluetoothActor
  func write(to path: String) async throws(Failure) {
    let text = json.text + "\n"
    if path == "-" { return Console.print(text) }
    try await WholeFile.write(Array(text.utf8), to: path)
  }

  /// The changes, in the order of the table of settings.
  ///
  /// - Throws: the first invalid name or value
  func changes() throws(Failure) -> [(setting: RingSetting, changes: [String: Int])] {
    let all = CommandTable.settings
    if let unknown = settings.keys.sorted().first(where: { name in !all.contains { $0.entry.name == name } })
    {
      throw Failure(
        .badData,
        "unknown setting \"\(unknown.printable)\"\(Invocation.suggestion(for: unknown, among: all.map(\.entry.name)))"
      )
    }
    var changes: [(setting: RingSetting, changes: [String: Int])] = []
    for setting in all {
      guard let values = settings[setting.entry.name], !values.isEmpty else { continue }
      var numbers: [String: Int] = [:]
      // A profile with only zeros is not filled in.
      if !setting.isReadable, values.values.allSatisfy({ [.bool(false), .integer(0)].contains($0.json) }) {
        continue
      }
      do throws(SettingError) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
          numbers[name] = try setting.field(name).number(from: value.text)
        }
      } catch {
        throw Failure(.badData, "\(setting.entry.name): \(error)")
      }
      changes.append((setting, numbers))
    }
    return changes
  }

  init(_ json: JSONValue) throws(JSONError) {
    version = try json.member(Self.versionName)
    firmware = try json.optionalMember("firmware")
    settings = try json.member("settings")
    units = try json.optionalMember("units")
  }

  /// The settings alone: `{"heart-rate": {"enabled": true, "interval": 5}, ...}`.
  var settingsJSON: JSONValue { .object(settings.mapValues { .object($0.mapValues(\.json)) }) }

  private var json: JSONValue {
    .members([
      Self.versionName: .integer(version), "firmware": firmware.map { .string($0) },
      "settings": settingsJSON,
      "units": units.map { .object($0.mapValues { .object($0.mapValues { .string($0) }) }) },
    ])
  }

  /// Writes the settings that differ to a ring and prints them. Everything is validated before anything is written.
  @BluetoothActor
  func load(into ring: RingClient) async throws {
    var plan: [(setting: RingSetting, read: [String: Int], changes: [String: Int])] = []
    var unsupported: [String] = []
    var isComplete = true
    for (setting, wanted) in try changes() {
      let read = try await ring.numbersIfSupported(setting)
      guard let read else {
        unsupported.append(setting.entry.name)
        continue
      }
      // Fields that the ring does not report cannot be compared.
      let untold = Set(setting.untold(read).map(\.name))
      let changes = wanted.filter {
        untold.contains($0.key) || !setting.isReported(read) || read[$0.key] != $0.value
      }
      guard !changes.isEmpty else { continue }
      do throws(SettingError) {
        _ = try setting.applying(changes, to: read)
      } catch .incomplete(_, let missing) where !setting.isReadable {
        isComplete = false
        Console.error(
          "\(setting.entry.name) is not written: the file does not have \(missing.joined(separator: ", ")), which the ring does not tell"
        )
        continue
      } catch {
        throw Failure(.badData, "\(setting.entry.name): \(error)")
      }
      plan.append((setting, read, changes))
    }
    if !unsupported.isEmpty {
      Console.error("not supported by this ring: \(unsupported.joined(separator: ", "))")
    }
    guard !plan.isEmpty else {
      if isComplete { Console.print("nothing differs\n") }
      return
    }
    for (setting, read, changes) in plan {
      _ = try await ring.write(changes, over: read, to: setting)
      var report = ""
      for field in setting.fields {
        guard let number = changes[field.name] else { continue }
        let isReported = setting.isReported(read) && !setting.untold(read).contains(field)
        let old = isReported ? read[field.name].map { SettingsPrinter.text(of: $0, field) } : nil
        report +=
          "\(setting.entry.name) \(field.name): \(old ?? "?") -> \(SettingsPrinter.text(of: number, field))\n"
      }
      Console.print(report)
      SettingsPrinter.tellReset(setting, read, changes)
    }
  }
}
