import HaloBluetoothCore
import Testing

@Suite struct SmallMapTests {
  @Test func aKeyHasOneValue() {
    var map = SmallMap<Int, String>()
    #expect(map[1] == nil)
    map[1] = "one"
    map[2] = "two"
    map[1] = "uno"
    #expect(map[1] == "uno" && map[2] == "two" && map.values == ["uno", "two"])
    map[1] = nil
    map[3] = nil
    #expect(map[1] == nil && map.values == ["two"])
  }
}
