import Glibc
import HaloCapture
import HaloCommandLine
import HaloSystem

/// The options of commands that can write a series of files into a folder.
enum SeriesOption {
  static let rotate = Option(
    "--rotate", as: .rotation,
    help: """
      write files into a folder, and begin the next one at each multiple of a time, in UTC, or at a size: 1h, 1d, 100MB
      """)
  static let keep = Option(
    "--keep", as: .time, help: "delete files of the series in this folder that ended longer ago: 30d")

  static let all: [any CommandOption] = [rotate, keep]

  static let details = """
    With --rotate or --keep, or if the path is a folder, files are written into it, and it is created if it is missing. A
    file has the command and the UTC time of its beginning in its name, such as stream-20261122T224500Z.csv. It ends
    in .part until it is complete; if halo-raw was killed, the next run completes it. A file ends with a whole record.
    """

  /// The series of files that a path stands for.
  ///
  /// - Parameters:
  ///   - path: that of a folder, or of a file
  ///   - suffix: the end of the names of the files
  ///   - hasLines: whether the files are text
  ///   - now: the time
  /// - Returns: nil for a file: there is no such folder, and no series is asked for
  static func series(
    _ path: String, _ invocation: Invocation, suffix: String, hasLines: Bool, now: @escaping () -> FileTime
  ) throws(FileError) -> FileRotation? {
    let limit = invocation.isGiven(rotate) ? invocation[rotate] : nil
    let keepTime = invocation.isGiven(keep) ? invocation[keep] : nil
    guard limit != nil || keepTime != nil || isFolder(path) else { return nil }
    guard isFolder(path) || !fileEndings.contains(where: path.hasSuffix) else {
      throw FileError(path, .notFolder)
    }
    let series = try FileSeries(
      folder: path, stem: invocation.command.name, suffix: suffix, hasLines: hasLines)
    // A simulation has a time of its own.
    let isSimulated = (try? invocation.adapter).map { !$0.isReal } ?? false
    let files = FileRotation(series, limit: limit, keepTime: keepTime.map { Int($0.inSeconds) }, now: now) {
      isSimulated ? now().unix : SystemClock.synchronizedSeconds
    }
    files.onRemoval = sayOfRemoval(in: path)
    return files
  }

  /// Reports which files were deleted, and once the reason if one was not.
  private static func sayOfRemoval(in path: String) -> @Sendable (FileRotation.Removal) -> Void {
    let isFirst = LockedValue(true)
    return { removal in
      if let first = removal.deleted.first, let last = removal.deleted.last {
        let names = first == last ? first : "\(first) to \(last)"
        Console.error(
          "halo-raw: --keep deleted \(Console.counted(removal.deleted.count, "file")) in \(path.printable): \(names)"
        )
      }
      guard removal.undecided > 0,
        isFirst.withLock({ isFirst in
          defer { isFirst = false }
          return isFirst
        })
      else { return }
      Console.error(
        "halo-raw: --keep does not delete \(Console.counted(removal.undecided, "file")) of earlier runs in "
          + "\(path.printable), as the clock of this computer is not known to be synchronized with a time server, "
          + "and may be wrong: switch that on with sudo timedatectl set-ntp true, or delete the files yourself; "
          + "docs/weeks.md has what a service needs whose computer runs chrony")
    }
  }

  private static let fileEndings = [
    ".csv", ".jsonl", ".ndjson", ".txt", ".btsnoop", ".log", ".cap", ".pcap", ".json",
  ]

  /// Whether a path means a folder, which may be missing.
  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return path.hasSuffix("/") || stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

extension CaptureWriter {
  /// The file, or the series of files, of a command.
  ///
  /// - Parameters:
  ///   - path: that of a file, or of the folder of a series
  ///   - now: the time
  convenience init(
    path: String, _ invocation: Invocation, datalink: BTSnoop.Datalink = .h4, now: @escaping () -> FileTime
  ) throws(CaptureError) {
    let files: FileRotation?
    do throws(FileError) {
      files = try SeriesOption.series(path, invocation, suffix: "btsnoop", hasLines: false, now: now)
    } catch {
      throw CaptureError(.cannotCreate(error.reason.description), path: path)
    }
    if let files {
      try self.init(files, datalink: datalink)
    } else {
      try self.init(path: path, format: .btsnoop(datalink), replaces: invocation[CommonOptions.replace])
    }
  }
}

extension ArgumentType where Value == FileRotation.Limit {
  private static var units: [(String, Double)] {
    [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824)]
  }

  /// `1h` or `100MB`: a second at least, or a kilobyte.
  static var rotation: Self {
    ArgumentType(placeholder: "LIMIT", expected: "a time such as 1h or 1d, or a size such as 100MB") {
      text in
      if let unit = units.first(where: { text.hasSuffix($0.0) }) {
        guard let number = Double(text.dropLast(unit.0.count)), (1e3...1e15).contains(number * unit.1) else {
          return nil
        }
        return .bytes(Int(number * unit.1))
      }
      guard let time = try ArgumentType<Duration>.time.parse(text), time >= .seconds(1) else { return nil }
      return .seconds(Int(time.inSeconds))
    }
  }
}
