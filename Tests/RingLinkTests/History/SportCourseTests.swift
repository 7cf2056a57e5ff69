import HaloBluetoothCore
import TestSupport
import Testing

@testable import RingLink

/// The course of a stored session, put together from its frames (ring reference, 6.7).
struct SportCourseTests {
  private func header(_ packets: UInt16, _ columns: [SportCourseHeader.Column]) -> BulkFrame {
    let header = SportCourseHeader(packets: packets, interval: 30, columns: columns)
    return BulkFrame(received: 0x44, payload: header.payload)
  }

  private func packet(_ number: UInt16, _ samples: [UInt8]) -> BulkFrame {
    BulkFrame(received: 0x45, payload: SportCoursePacket(packet: number, samples: samples).payload)
  }

  private static let rate = SportCourseHeader.Column(.rate, width: 1)

  private func isDone(_ acceptance: RingExchange.Acceptance) -> Bool {
    if case .done = acceptance { true } else { false }
  }

  /// The vendor's software has the values of a sample in the order of their keys, whatever order the header has.
  @Test func theValuesAreInTheOrderOfTheirKeys() {
    var course = SportCourse()
    let step = SportCourseHeader.Column(SportKey(rawValue: 18), width: 2)
    #expect(!isDone(course.receive(header(1, [step, Self.rate]))))
    #expect(isDone(course.receive(packet(1, [96, 1, 0, 104, 2, 0]))))
    #expect(course.rates == [96, 104] && course.interval == 30 && course.oddity == nil)
  }

  @Test func packetsMayBeDoubledAndMissing() {
    var course = SportCourse()
    #expect(!isDone(course.receive(packet(1, [1]))))
    _ = course.receive(header(3, [Self.rate]))
    for _ in 0..<2 { #expect(!isDone(course.receive(packet(1, [80, 81])))) }
    #expect(isDone(course.receive(packet(3, [84, 85]))))
    #expect(course.rates == [80, 81, 84, 85])
    #expect(course.oddity == "of its course, 1 of 3 packets are missing")
  }

  @Test func aSessionMayHaveNoCourse() {
    for frame in [header(0, [Self.rate]), header(5, []), BulkFrame(received: 0x44, payload: [0])] {
      var course = SportCourse()
      #expect(isDone(course.receive(frame)) && course.rates.isEmpty && course.interval == nil)
      #expect(course.oddity == nil)
    }
    var refused = SportCourse()
    #expect(isDone(refused.receive(BulkFrame(received: 0x44, payload: [3, 0, 0, 0]))))
    #expect(refused.oddity?.contains("status 3") == true)
  }

  /// A ring that sends without end is not listened to without end.
  @Test func aCourseIsBounded() {
    var course = SportCourse()
    _ = course.receive(header(.max, [Self.rate]))
    var number: UInt16 = 0
    repeat { number += 1 } while !isDone(course.receive(packet(number, Array(repeating: 70, count: 4000))))
    #expect(number < 300)
  }

  @Test func decodesArbitraryFramesWithoutCrashing() {
    var generator = SeededGenerator(seed: 38)
    for _ in 0..<2000 {
      var course = SportCourse()
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let id: BulkID = Bool.random(using: &generator) ? 0x44 : 0x45
        let payload = generator.bytes(Int.random(in: 0...24, using: &generator))
        // Mostly frames that can be read.
        let zero = Bool.random(using: &generator) ? payload : [0] + payload.dropFirst()
        _ = course.receive(BulkFrame(received: id, payload: zero))
      }
      #expect(course.rates.allSatisfy { (0...255).contains($0) })
      _ = (course.oddity, course.interval, course.bytes)
    }
  }
}
