import Glibc
import HaloSystem
import Testing

/// The programs are real, and so is the time that they take.
@Suite struct ChildProgramTests {
  private func output(_ command: String, limit: Int = 100, seconds: Double = 20) -> Result<
    String, ChildProgram.Failure
  > {
    Result { () throws(ChildProgram.Failure) in
      String(decoding: try ChildProgram(command).run(limit: limit, seconds: seconds), as: UTF8.self)
    }
  }

  @Test func theOutputIsThatOfTheShell() {
    #expect(output("echo A1; printf %s \"$((1+1))\"") == .success("A1\n2"))
    #expect(output("exit 3") == .failure(.status(3)) && output("kill -TERM $$") == .failure(.status(143)))
    // It has closed its output, and ends later.
    #expect(output("exec >&-; sleep 0.05") == .success(""))
  }

  /// No shell reads the arguments, and the first one is looked for in PATH.
  @Test func argumentsArePassedAsTheyAre() throws {
    let arguments = ["printf", "%s|", "a b", "$HOME", "", "*", "`id`"]
    let output = try ChildProgram(arguments: arguments).run(limit: 100, seconds: 20)
    #expect(String(decoding: output, as: UTF8.self) == "a b|$HOME||*|`id`|")
    for missing in [[], ["halo-raw-has-no-such-program"], ["/etc/passwd"]] {
      #expect(throws: ChildProgram.Failure.self) {
        try ChildProgram(arguments: missing).run(limit: 1, seconds: 20)
      }
    }
  }

  @Test func childHasEmptyInputAndNoBlockedSignals() {
    var signals = sigset_t()
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    #expect(output("cat") == .success("") && output("kill -PIPE $$; sleep 100") == .failure(.status(141)))
  }

  @Test func moreOutputThanTheLimitIsRefused() {
    #expect(output("printf 123", limit: 3) == .success("123"))
    #expect(output("printf 1234", limit: 3) == .failure(.tooMuchOutput(limit: 3)))
    #expect(output("yes", limit: 1 << 16) == .failure(.tooMuchOutput(limit: 1 << 16)))
  }

  /// With all that it has started: a program in the background holds the output open.
  @Test(arguments: ["sleep 100", "sleep 100 & exit", "trap '' TERM; sleep 100; true", "exec >&-; sleep 100"])
  func killsChildAfterTimeout(_ command: String) {
    #expect(output(command, seconds: 0.2) == .failure(.killed))
  }

  /// Each run would leave another one, as the output is closed.
  @Test func backgroundProcessesAreKilled() throws {
    let text = try output("sleep 100 >/dev/null 2>&1 & echo $!").get()
    let process = try #require(pid_t(text.dropLast()))
    // It is a child of init from now on, which may take a moment.
    for _ in 0..<500 where kill(process, 0) == 0 && !isZombie(process) { usleep(10_000) }
    #expect(kill(process, 0) != 0 || isZombie(process))
  }

  private func isZombie(_ process: pid_t) -> Bool {
    guard let file = fopen("/proc/\(process)/stat", "r") else { return true }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    guard fgets(&line, 512, file) != nil else { return true }
    return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).contains(
      ") Z")
  }

  @Test func endedProgramDoesNotStart() {
    let program = ChildProgram("echo 1")
    program.end()
    #expect(throws: ChildProgram.Failure.killed) { try program.run(limit: 10, seconds: 10) }
  }

  /// Its end comes from another thread.
  @Test func endsRunningProgram() {
    let program = ChildProgram("echo; exec sleep 100")
    let isStarted = HelperThread.start(stackSize: 1 << 18) {
      usleep(50_000)
      program.end()
    }
    #expect(isStarted == 0)
    #expect(throws: ChildProgram.Failure.killed) { try program.run(limit: 10, seconds: 60) }
  }
}
