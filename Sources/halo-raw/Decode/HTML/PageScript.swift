/// What makes a page move: plain JavaScript, in the order in which it has to stand.
enum PageScript {
  static let all = session + view + timeline + timelineInput + list + bytes + detail + main
}
