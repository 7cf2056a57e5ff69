import HaloSystem

/// The exit codes, which are part of the program's interface.
package enum ExitCode: Int32 {
  case success = 0
  /// The command line is wrong.
  case usage = 64
  /// The contents of a file are not valid.
  case badData = 65
  /// A file can't be opened.
  case cannotOpenFile = 66
  /// The adapter can't be used.
  case noAdapter = 69
  /// A fault of the program or of the kernel.
  case internalError = 70
  /// No descriptors, threads or memory are left.
  case systemError = 71
  /// Output can't be written.
  case outputFailed = 74
  /// No answer in time.
  case timedOut = 75
  /// The peer refuses a request or violates the protocol.
  case protocolError = 76
  /// A privilege is missing.
  case noPermission = 77
  /// A replay differs from its recording.
  case replayDiffers = 78
  /// The device was not found.
  case notFound = 79
  /// The link was lost.
  case connectionLost = 80
  /// Ctrl-C, before there was a result.
  case interrupted = 130

  /// The meaning of each in `--help`.
  package static let meanings: [(ExitCode, String)] = [
    (.success, "done"), (.usage, "the command line is wrong"),
    (.badData, "a file is damaged or of another format"),
    (.cannotOpenFile, "a file can't be opened or created"), (.noAdapter, "the adapter can't be used"),
    (.internalError, "a fault of halo-raw or of the kernel"),
    (.systemError, "no descriptors, threads or memory left"),
    (.outputFailed, "output can't be written (disk full)"), (.timedOut, "no answer in time"),
    (.protocolError, "the peer refuses, violates the protocol, or is not a ring"),
    (.noPermission, "a privilege is missing"), (.replayDiffers, "a replay differs from its recording"),
    (.notFound, "the device or ring was not found"), (.connectionLost, "the connection was lost"),
    (.interrupted, "interrupted before there is a result"),
  ]

  /// The code for a file which can't be opened or written.
  package init(_ error: FileError) {
    if error.isOfDisk {
      self = .outputFailed
    } else {
      self = error.systemError.map(SystemError.isExhaustion) ?? false ? .systemError : .cannotOpenFile
    }
  }
}

/// Why the program fails: a one-line message and an exit code.
package struct Failure: Error {
  package var code: ExitCode
  package var message: String
  /// Further facts, for a caller that can make use of them.
  package var context: (any Sendable)?

  package init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }

  package static func usage(_ message: String) -> Failure { Failure(.usage, message) }

  /// `unknown sport "wolk" (did you mean walk?); use walk, rope`
  ///
  /// - Parameters:
  ///   - what: the kind of the names
  ///   - names: those that are known
  ///   - advice: a remedy; nil to use one of them
  package static func unknown(
    _ what: String, _ name: String, among names: [String], advice: String? = nil
  ) -> Failure {
    let suggestion = Invocation.suggestion(for: name, among: names)
    let advice = advice ?? "use " + names.joined(separator: ", ")
    return .usage("unknown \(what) \"\(name.printable)\"\(suggestion); \(advice)")
  }

  /// A file of records that can't be created.
  package init(creating error: FileError) {
    self.init(ExitCode(error), "cannot create \(error)\(error.reason == .hasData ? Self.howToReplace : "")")
  }

  /// The end of the message about a file that has data.
  package static var howToReplace: String { "; use another name, or --replace to replace it" }
}
