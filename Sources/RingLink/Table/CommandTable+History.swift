extension CommandTable {
  public static let today = Query<NoFields, TodayTotals>(
    0x48, "today", "What was walked since the ring's midnight.", .history, source: "4.14 [C]")
  public static let storedDays = Query<NoFields, StoredDays>(
    0x46, "stored days", "For which days the ring has something stored.", .history, families: .newer,
    source: "4.14 [A]")

  static var history: [CommandEntry] { [today.entry, storedDays.entry] }
}
