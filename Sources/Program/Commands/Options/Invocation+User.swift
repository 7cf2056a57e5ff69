import HaloCommandLine

extension Configuration {
  /// The one of the user, read once.
  static let current = Result { () throws(Failure) in try read(for: Commands.all) }
}

extension Invocation {
  /// Reads the command line of this process: that of a command, with the user's configuration file.
  init(_ arguments: some Collection<String>, for command: CommandSpec) throws(Failure) {
    try self.init(parsing: Array(arguments), for: command)
    guard !self[CommonOptions.help] else { return }
    try add(try Configuration.current.get())
  }

  /// - Throws: a usage failure that names two uses of one file, one of which writes
  func checkFiles() throws(Failure) {
    var recording: String?
    if command.usesAdapter, case .replay(let path, _)? = try? adapter { recording = path }
    try NamedFiles(self, recording: recording).check()
  }
}
