import RingLink

let ringCommandsCommand = CommandSpec(
  name: "ring-commands", summary: "print the reference of all ring commands, as Markdown",
  positionals: 0...0,
  examples: [("halo-raw ring-commands", "print docs/ring-commands.md")], usesAdapter: false
) { _ throws(Failure) in
  Console.print(ReferencePage.markdown)
}
