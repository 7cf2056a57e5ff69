import Glibc
import HaloBluetoothCore
import HaloSystem

/// Lines that a user types on a terminal, with editing, history and completion by libedit, which is loaded when it is needed.
/// Output meanwhile stands above the line. The terminal is restored by ``stop()``, and at the end of the process, except by
/// SIGKILL.
@BluetoothActor
package final class LineEditor {
  /// The functions of `editline/readline.h` that are used.
  private struct Library: Sendable {
    typealias LineHandler = @convention(c) (UnsafeMutablePointer<CChar>?) -> Void
    typealias Generator = @convention(c) (UnsafePointer<CChar>?, Int32) -> UnsafeMutablePointer<CChar>?
    typealias Matches = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    typealias Completion = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Matches?

    let install: @convention(c) (UnsafePointer<CChar>, LineHandler) -> Void
    let remove: @convention(c) () -> Void
    let readCharacter: @convention(c) () -> Void
    let redraw: @convention(c) () -> Void
    let addHistory: @convention(c) (UnsafePointer<CChar>) -> Int32
    let matches: @convention(c) (UnsafePointer<CChar>?, Generator) -> Matches?
    /// The address of the variable with the function that completes.
    let completion: @Sendable (Completion) -> Void

    static let shared = Result { () throws(LibraryError) in
      let library = try LoadedLibrary("libedit.so.2")
      // Signals are the program's: libedit would put back handlers that were never set. It looks at this once, when it begins.
      try library.variable("rl_catch_signals").assumingMemoryBound(to: Int32.self).pointee = 0
      let prepare: @convention(c) () -> Void = try library.required("using_history")
      prepare()
      let variable = try library.variable("rl_attempted_completion_function")
      nonisolated(unsafe) let address = variable.assumingMemoryBound(to: Completion?.self)
      return Library(
        install: try library.required("rl_callback_handler_install"),
        remove: try library.required("rl_callback_handler_remove"),
        readCharacter: try library.required("rl_callback_read_char"),
        redraw: try library.required("rl_forced_update_display"),
        addHistory: try library.required("add_history"),
        matches: try library.required("rl_completion_matches"),
        completion: { address.pointee = $0 })
    }
  }

  /// A line that libedit has handed over: its text, or nil at the end of the input. It calls back without a context.
  private nonisolated static let line = LockedValue<(hasCome: Bool, text: String?)>((false, nil))
  private nonisolated static let words = LockedValue<(all: [String], next: Int)>(([], 0))

  private let library: Library
  private let prompt: String
  private var watch: EpollLoop.Watch?
  private var isEditing = false
  private let sink: (String?) -> Void

  /// - Parameters:
  ///   - prompt: before each line
  ///   - sink: called with each line, and with nil at the end of the input. The next one can be typed after ``next()``.
  /// - Returns: nil if standard input and output are no terminal with this process in its foreground, or libedit is not installed
  package init?(prompt: String, _ sink: @escaping (String?) -> Void) {
    guard StandardInput.isForegroundTerminal, Terminal.canDraw(on: STDOUT_FILENO),
      KeyInput.saveTerminal(), let library = try? Library.shared.get()
    else { return nil }
    self.library = library
    self.prompt = prompt
    self.sink = sink
    library.completion { word, _, _ in
      guard case .success(let library) = Library.shared else { return nil }
      return library.matches(word) { word, state in
        let start = word.map { String(cString: $0).lowercased() } ?? ""
        return LineEditor.words.withLock { words -> UnsafeMutablePointer<CChar>? in
          if state == 0 { words.next = 0 }
          while words.next < words.all.count {
            let word = words.all[words.next]
            words.next += 1
            if word.lowercased().hasPrefix(start) { return strdup(word) }
          }
          return nil
        }
      }
    }
  }

  /// The completions of the word before the cursor.
  package var words: [String] = [] {
    didSet { Self.words.withLock { [words] in $0 = (words, 0) } }
  }

  /// Lets the next line be typed.
  package func next() {
    guard !isEditing else { return }
    isEditing = true
    library.install(prompt) { text in
      LineEditor.line.withLock { $0 = (true, text.map { String(cString: $0) }) }
      free(text)
    }
    watch = watch ?? StandardInput.watch { [weak self] in self?.readCharacter() }
    watch?.interest = .readable
  }

  private func readCharacter() {
    guard isEditing else { return }
    library.readCharacter()
    let line = Self.line.withLock { line in
      defer { line = (false, nil) }
      return line
    }
    guard line.hasCome else { return }
    pause()
    if let text = line.text, !text.allSatisfy(\.isWhitespace) { _ = library.addHistory(text) }
    sink(line.text)
  }

  private func pause() {
    guard isEditing else { return }
    isEditing = false
    watch?.interest = []
    library.remove()
    // Keys that are typed until the next line belong to it: the terminal keeps them, and shows them then.
    KeyInput.changeTerminal()
  }

  /// Prints something above the line that is being typed.
  package func above(_ print: () -> Void) {
    guard isEditing else { return print() }
    Console.writeDirectly("\r\u{1B}[K")
    print()
    library.redraw()
  }

  /// Gives the terminal back.
  package func stop() {
    if isEditing { Console.writeDirectly("\r\u{1B}[K") }
    pause()
    watch.take()?.cancel()
    KeyInput.restoreTerminal()
  }
}
