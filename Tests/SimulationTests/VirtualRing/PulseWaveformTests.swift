import RingLink
import Testing
import HaloSimulation

@Suite struct PulseWaveformTests {
  @Test(arguments: [1, 2, 77] as [UInt64])
  func valuesArePlausible(seed: UInt64) {
    var waveform = PulseWaveform(seed: seed, rate: 25, family: .rt)
    for index in 0..<3000 {
      let ppg = waveform.ppg(at: index)
      #expect((10000...13000).contains(ppg.raw))
      #expect(ppg.diff == ppg.max - ppg.min)
      #expect(ppg.diff > 200)
      let spo2 = waveform.spo2(at: index)
      #expect((60...255).contains(spo2.raw))
      let g = waveform.acceleration(at: index)
      let square = g.x * g.x + g.y * g.y + g.z * g.z
      #expect((0.5...2).contains(square))
    }
  }

  @Test(arguments: [1, 9, 1234] as [UInt64])
  func theHeartBeatsAsOftenAsItShould(seed: UInt64) {
    var waveform = PulseWaveform(seed: seed, rate: 100, family: .rt)
    let raw = (0..<6000).map { Double(waveform.ppg(at: $0).raw) }
    // Light is absorbed by blood: a beat is a deep and steep fall of what comes back.
    var beats = 0
    var last = -100
    for index in 20..<raw.count where raw[index - 10] - raw[index] > 150 && index - last > 45 {
      beats += 1
      last = index
    }
    #expect((62...78).contains(beats))
  }

  @Test func aSampleDependsOnItsNumberAlone() {
    var forward = PulseWaveform(seed: 5, rate: 25, family: .rf03)
    var backward = PulseWaveform(seed: 5, rate: 25, family: .rf03)
    let values = (0..<500).map { forward.ppg(at: $0) }
    for index in stride(from: 499, through: 0, by: -7) {
      #expect(backward.ppg(at: index) == values[index])
    }
    // The oldest rings leave out values, and call their statistics valid.
    #expect(values.contains { $0.raw == 0 })
    #expect(values.allSatisfy { $0.isValid })
  }
}
