import HaloCapture
import HaloCommandLine
import HaloSystem

extension Failure {
  package init(_ error: CaptureError) {
    let code: ExitCode =
      switch error.reason {
      case .cannotOpen, .notARegularFile: .cannotOpenFile
      case .cannotCreate, .hasData: .cannotOpenFile
      case .cannotRead, .cannotWrite: .outputFailed
      case .cannotCopy(let number): SystemError.isExhaustion(number) ? .systemError : .outputFailed
      case .cannotLoad: .systemError
      default: .badData
      }
    self.init(code, error.messageWithRemedy + (error.reason == .hasData ? Self.howToReplace : ""))
  }
}

extension CaptureError {
  /// The error, followed by its remedy.
  package var messageWithRemedy: String {
    switch reason {
    case .compressed(let format):
      "\(self); save it as a file and name that, or decompress it: \(format.reader) FILE | halo-raw decode -"
    case .noArchiveLibrary(let format):
      "\(self); sudo apt install libarchive13, or decompress it: \(format.reader) \(path.map(shellWord) ?? "FILE") > CAPTURE"
    case .cannotLoad:
      "\(self); raise the limit of memory if there is one (ulimit -v), or install the library again"
    case .holdsNoCapture:
      "\(self); a phone's report has one if the HCI snoop log was switched on before Bluetooth was"
    case .replaced: "\(self); start again to read it from its beginning"
    default: description
    }
  }
}
