import HaloCommandLine

let manualCommand = CommandSpec(
  name: "manual", arguments: "[COMMAND]", summary: "print the source of a manual page, for man",
  options: [allOption],
  examples: [("halo-raw manual stream | man -l -", "show the page of a command")],
  details: """
    Without COMMAND, the page of the program. `make install` and the Debian package install all pages: man halo-raw, \
    man halo-raw-stream.
    """, usesAdapter: false
) { invocation in
  let overview = HelpPage.overview(Commands.groups)
  let pages = Commands.groups.flatMap(\.commands).map(HelpPage.init)
  if let name = invocation.positionals.first {
    if invocation[allOption] { throw Failure.usage("\(allOption.spec.name) and COMMAND exclude each other") }
    return Console.print(HelpPage(try Commands.named(name)).manual(seeAlso: ["halo-raw"]))
  }
  Console.print(overview.manual(seeAlso: pages.map(\.manualName)))
  guard invocation[allOption] else { return }
  for page in pages { Console.print(page.manual(seeAlso: ["halo-raw"])) }
}

private let allOption = Flag("--all", help: "print all pages, one behind the other; each begins with .TH")

let completionCommand = CommandSpec(
  name: "completion", arguments: "SHELL", summary: "print the completion script for bash, zsh or fish",
  examples: [
    ("halo-raw completion bash > halo-raw.bash", "write a script, to be sourced in ~/.bashrc")
  ],
  details: """
    The script completes commands, options, the names of values, and files. `make install` and the Debian package \
    install it for all three shells.
    """, usesAdapter: false
) { invocation in
  let name = invocation.positionals.first ?? ""
  guard let shell = Completion(rawValue: name) else {
    throw Failure.usage("\(name.printable) is not a shell that can be completed for; give bash, zsh or fish")
  }
  Console.print(shell.script(Commands.groups.flatMap(\.commands)))
}
