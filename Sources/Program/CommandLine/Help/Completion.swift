/// Scripts with which a shell completes command lines, made of the table of commands.
package enum Completion: String, CaseIterable {
  case bash
  case zsh
  case fish

  package func script(_ commands: [CommandSpec]) -> String {
    switch self {
    case .bash: Self.bash(commands)
    case .zsh: Self.zsh(commands)
    case .fish: Self.fish(commands)
    }
  }

  /// The completion of an option's value.
  private enum Value {
    case words([String])
    case file
    case unknown

    init(_ option: OptionSpec) {
      self = option.file != nil ? .file : option.choices.isEmpty ? .unknown : .words(option.choices)
    }
  }

  private static func specs(_ command: CommandSpec) -> [OptionSpec] { command.allOptions.map(\.spec) }

  // MARK: bash

  private static func bash(_ commands: [CommandSpec]) -> String {
    let beforeCommand =
      commands.map(\.name) + ["help", "version", "--version"] + CommonOptions.ofAll.flatMap(\.spec.names)
    var values = ""
    var options = ""
    for command in commands {
      for option in specs(command) where option.placeholder != nil && !option.isValueOptional {
        let pattern = option.names.map { "\(command.name):\($0)" }.joined(separator: "|")
        switch Value(option) {
        case .words(let words):
          values += "    \(pattern)) words=\(shellQuoted(words.joined(separator: " "))) ;;\n"
        case .file: values += "    \(pattern)) files=1 ;;\n"
        case .unknown: values += "    \(pattern)) return ;;\n"
        }
      }
      let names = specs(command).flatMap(\.names).joined(separator: " ")
      options +=
        "    \(command.name)) words=\(shellQuoted(names))\(command.file == nil ? "" : " files=1") ;;\n"
    }
    return """
      # Completion of halo-raw for bash, made by: halo-raw completion bash
      _halo_raw() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= files= command= word
        COMPREPLY=()
        # Options may stand before the command.
        for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
          case $word in \(commands.map(\.name).joined(separator: "|"))) command=$word; break ;; esac
        done
        if [ -z "$command" ]; then
          words=\(shellQuoted(beforeCommand.joined(separator: " ")))
        else
          case $command:$previous in
      \(values)  esac
          if [ -z "$words$files" ]; then
            case $command in
      \(options)  esac
            case $current in -*) files= ;; *) words= ;; esac
          fi
        fi
        [ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        [ -z "$files" ] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
      }
      complete -o filenames -F _halo_raw halo-raw

      """
  }

  // MARK: zsh

  private static func zsh(_ commands: [CommandSpec]) -> String {
    /// In a specification of _arguments, colons and brackets have a meaning.
    func escaped(_ text: String) -> String {
      text.replacing("\\", with: "\\\\").replacing(":", with: "\\:").replacing("[", with: "\\[")
        .replacing("]", with: "\\]")
    }
    func specification(_ option: OptionSpec, _ name: String) -> String {
      let text = "\(name)[\(escaped(option.help))]"
      guard let placeholder = option.placeholder, !option.isValueOptional else { return shellQuoted(text) }
      let value =
        switch Value(option) {
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .file: "_files"
        case .unknown: " "
        }
      return shellQuoted("\(text):\(escaped(placeholder)):\(value)")
    }
    var cases = ""
    for command in commands {
      let options = specs(command).flatMap { option in option.names.map { specification(option, $0) } }
      let rest = command.file == nil ? "'*: : '" : "'*:file:_files'"
      cases += "    \(command.name)) _arguments -s \((options + [rest]).joined(separator: " ")) ;;\n"
    }
    let names = commands.map {
      "    " + shellQuoted("\($0.name):\($0.summary.replacing(":", with: "\\:"))") + "\n"
    }
    return """
      #compdef halo-raw
      # Completion of halo-raw for zsh, made by: halo-raw completion zsh
      _halo_raw() {
        local -a commands
        commands=(
      \(names.joined())  )
        # Options may stand before the command.
        while (( CURRENT > 2 )) && (( ! ${${commands%%:*}[(Ie)$words[2]]} )); do
          shift words
          (( CURRENT-- ))
        done
        if (( CURRENT == 2 )); then
          _describe command commands
          return
        fi
        local command=$words[2]
        shift words
        (( CURRENT-- ))
        case $command in
      \(cases)  esac
      }
      _halo_raw "$@"

      """
  }

  // MARK: fish

  private static func fish(_ commands: [CommandSpec]) -> String {
    func escaped(_ text: String) -> String {
      "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
    var script = """
      # Completion of halo-raw for fish, made by: halo-raw completion fish
      complete -c halo-raw -f

      """
    for command in commands {
      script +=
        "complete -c halo-raw -n __fish_use_subcommand -a \(command.name) -d \(escaped(command.summary))\n"
    }
    for command in commands {
      let condition = "-n '__fish_seen_subcommand_from \(command.name)'"
      if command.file != nil { script += "complete -c halo-raw \(condition) -F\n" }
      for option in specs(command) {
        let names = option.names.map {
          $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())"
        }
        var line = "complete -c halo-raw \(condition) \(names.joined(separator: " "))"
        if option.placeholder != nil, !option.isValueOptional {
          switch Value(option) {
          case .words(let words): line += " -x -a \(escaped(words.joined(separator: " ")))"
          case .file: line += " -r -F"
          case .unknown: line += " -x"
          }
        }
        script += line + " -d \(escaped(option.help))\n"
      }
    }
    return script
  }
}

/// A text as one word of a shell, with quotes if it needs them.
package func shellWord(_ text: String) -> String {
  let plain = text.utf8.allSatisfy { byte in
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "/._-+:@,=".utf8.contains(byte)
  }
  let word = text.hasPrefix("-") ? "./" + text : text
  return plain && !text.isEmpty ? word : shellQuoted(word.printable)
}

/// A text between quotes that a shell takes as it is.
func shellQuoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
