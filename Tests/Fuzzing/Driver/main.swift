import FuzzTargets
import Glibc

// libFuzzer with one target: `halo-fuzz --target=NAME [libFuzzer's options and folders]`.

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<Int32>,
  _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

private let option = "--target="
private let name = CommandLine.arguments.first { $0.hasPrefix(option) }?.dropFirst(option.count)
private let target = FuzzTarget.all.first { $0.name == name ?? "" }

if CommandLine.arguments.contains("--list") {
  // Names, and how many bytes an input may have.
  for target in FuzzTarget.all { print("\(target.name) \(target.largestInput)") }
  exit(0)
}
guard target != nil else {
  print("usage: halo-fuzz --list, or halo-fuzz --target=NAME [libFuzzer's options and folders]")
  exit(64)
}

var count = CommandLine.argc
var words = CommandLine.unsafeArgv
exit(
  runFuzzer(&count, &words) { bytes, count in
    target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
  })
