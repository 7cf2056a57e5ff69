import Testing

@testable import Dissection
