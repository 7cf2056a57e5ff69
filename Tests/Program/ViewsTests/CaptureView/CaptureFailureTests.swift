import HaloCapture
import HaloCommandLine
import Testing

@testable import HaloViews

@Suite struct CaptureFailureTests {
  @Test(arguments: CompressionFormat.allCases) func aMissingLibraryNamesItsRemedy(_ format: CompressionFormat)
  {
    let failure = Failure(CaptureError(.noArchiveLibrary(format), path: "a b.zip"))
    #expect(failure.code == .badData)
    #expect(
      failure.message.hasSuffix(
        "is not installed; sudo apt install libarchive13, or decompress it: \(format.reader) 'a b.zip' > CAPTURE"
      ))
  }
}
