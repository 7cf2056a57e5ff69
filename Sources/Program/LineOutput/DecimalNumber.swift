import HaloBluetoothCore

/// A number with one or two decimals; `?` if it is none.
package func decimal(_ value: Double, _ places: Int) -> String {
  guard !value.isNaN else { return "?" }
  let thousandths = Int64((min(value.magnitude, 1e12) * 1000).rounded())
  let divisor: Int64 = places == 1 ? 100 : 10
  let magnitude = (thousandths + divisor / 2) / divisor
  return DecimalText.string(value < 0 ? -magnitude : magnitude, places: places)
}
