import RingLink

let ringCommandsCommand = CommandSpec(
  name: "ring-commands", summary: "everything that a ring understands and says, as a page of reference",
  positionals: 0...0,
  examples: [("halo-raw ring-commands", "prints docs/ring-commands.md")], usesAdapter: false
) { _ throws(Failure) in
  Console.print(ReferencePage.markdown)
}
