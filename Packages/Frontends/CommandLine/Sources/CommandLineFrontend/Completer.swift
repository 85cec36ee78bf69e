import Capabilities
import JSON
import Registry
import Settings

/// Completes a command line.
struct Completer {
    typealias Candidate = Completion.Candidate

    let tree: CommandTree
    let registry: Registry
    let host: Host
    /// Whether a person asks. Only a person gets what features find, such as the titles of conversations: others need
    /// the right to list it.
    var isForPerson = true

    /// The options of every command.
    private var shared: [ParameterDeclaration] { SettingOption.everyOption(host) }

    /// - Parameter words: all words after the program's name; the last is the one being typed and may be empty.
    func candidates(_ words: [String]) -> [Candidate] {
        let current = words.last ?? ""
        var seen: Set<String> = []
        return all(Array(words.dropLast()), current).filter { candidate in
            (candidate.word.hasPrefix(":") || candidate.word.hasPrefix(current)) && seen.insert(candidate.word).inserted
        }
    }

    private func all(_ before: [String], _ current: String) -> [Candidate] {
        if !before.contains("--"), let last = before.last,
            let common = ArgumentParser.valueOption(last, shared)
        {
            return common.name == "set" ? assignments(current) : values(common, [:])
        }
        if !before.contains("--"), let values = attached(current, shared, [:]) { return values }
        // Common options may stand anywhere and do not affect which command is meant.
        let verbatim = VerbatimWords(host.composition.features.map(\.manifest))
        let taken = CommonOptions.take(from: before + [""], settings: SettingOption.all(host), verbatim: verbatim)
        let words = Array(taken.words.dropLast())
        if let screen = ScreenCommand(words, registry) {
            return arguments(screen.action, screen.rest, current)
        }
        let match: CommandTree.Match
        do { match = try tree.match(words) } catch { return [] }
        switch match {
        case .group(let node): return verbs(node) + (current.hasPrefix("-") ? options([]) : [])
        case .action(let action, let rest):
            return arguments(action, rest, current)
                + (rest.isEmpty ? verbs(tree.node(at: words) ?? tree.root, of: action) : [])
        }
    }

    private func verbs(_ node: CommandTree.Node, of action: Action? = nil) -> [Candidate] {
        if action != nil, node.path.isEmpty { return [] }
        var found = node.visible.map { Candidate($0.path.last ?? "", ($0.action ?? $0.defaultAction)?.summary ?? "") }
        if node.path.isEmpty {
            found += tree.aliases.sorted { $0.key < $1.key }.map { Candidate($0.key, $0.value.summary) }
        }
        return found
    }

    private func arguments(_ action: Action, _ rest: [String], _ current: String) -> [Candidate] {
        let given = ArgumentParser.given(in: rest, of: action)
        if !rest.contains("--"), let options = named(action, rest, current, given) { return options }
        // Only the tree knows the words that may follow the words of a command.
        if action.id == "help" { return topics(rest) }
        let places = ArgumentParser.places(in: rest, of: action).count
        if action.id == "config.set", places == 1, let key = ArgumentParser.places(in: rest, of: action).first {
            return values(ofSetting: key)
        }
        let positional = action.parameters.filter { $0.form == .positional }
        let next = positional.indices.contains(places) ? positional[places] : positional.last { $0.isRepeated }
        return next.map { values($0, given, isVerbatim: rest.contains("--")) } ?? []
    }

    /// What `help` may be asked about: a command, or the settings with or without a key.
    private func topics(_ words: [String]) -> [Candidate] {
        if words == [CommandLineFeature.settingsTopic] {
            return host.catalogue.declarations.map { Candidate($0.name, $0.summary) }
        }
        let commands = tree.node(at: words).map { verbs($0) } ?? []
        return words.isEmpty
            ? commands + [Candidate(CommandLineFeature.settingsTopic, "The settings, with their keys")] : commands
    }

    /// The candidates for an option's name or value; nil if the word being typed is neither.
    private func named(
        _ action: Action, _ rest: [String], _ current: String, _ given: JSONObject
    ) -> [Candidate]? {
        if let last = rest.last, let option = ArgumentParser.valueOption(last, action.parameters) {
            return values(option, given)
        }
        if let values = attached(current, action.parameters, given) { return values }
        return current.hasPrefix("-") ? options(action.parameters) : nil
    }

    /// The values of an option written as one word: `--name=value`.
    private func attached(
        _ current: String, _ parameters: [ParameterDeclaration], _ given: JSONObject
    ) -> [Candidate]? {
        guard let equals = current.firstIndex(of: "="), current.hasPrefix("--"),
            let option = ArgumentParser.valueOption(String(current[..<equals]), parameters)
        else { return nil }
        let found = option.name == "set" ? assignments(String(current[equals...].dropFirst())) : values(option, given)
        return found.map { $0.word.hasPrefix(":") ? $0 : Candidate("\(current[...equals])\($0.word)", $0.summary) }
    }

    private func options(_ parameters: [ParameterDeclaration]) -> [Candidate] {
        (parameters + shared).flatMap { parameter -> [Candidate] in
            switch parameter.form {
            case .positional: []
            case .flag where parameter.defaultValue == .bool(true):
                [Candidate("--no-" + parameter.name, parameter.summary)]
            case .flag, .option: [Candidate("--" + parameter.name, parameter.summary)]
            case .secret: ["stdin", "env", "fd"].map { Candidate("--\(parameter.name)-\($0)", parameter.summary) }
            }
        }
    }

    /// The candidates `key=`, and after that the values of the key.
    private func assignments(_ current: String) -> [Candidate] {
        guard let equals = current.firstIndex(of: "=") else {
            return host.catalogue.declarations.map { Candidate($0.name + "=", $0.summary) }
        }
        // Shells cannot complete a path after `key=`.
        return values(ofSetting: String(current[..<equals])).filter { !$0.word.hasPrefix(":") }
            .map { Candidate("\(current[...equals])\($0.word)", $0.summary) }
    }

    private func values(ofSetting key: String) -> [Candidate] {
        let path = SettingsCatalogue.path(key)
        guard let completion = Completion.value(ofSetting: path, registry, host) else { return [] }
        return values(completion, defaultValue: host.catalogue.declaration(of: path)?.defaultValue)
    }

    private func values(
        _ parameter: ParameterDeclaration, _ given: JSONObject, isVerbatim: Bool = false
    ) -> [Candidate] {
        values(parameter.completion, given, defaultValue: parameter.defaultValue, isVerbatim: isVerbatim)
    }

    /// - Parameters:
    ///   - given: the arguments that the rest of the command line gives.
    ///   - defaultValue: the default, which is marked among the words.
    ///   - isVerbatim: whether words are passed on as they are, options too.
    private func values(
        _ completion: Completion, _ given: JSONObject = [:], defaultValue: JSON? = nil, isVerbatim: Bool = false
    ) -> [Candidate] {
        switch completion {
        case .nothing: []
        case .words(let words): words.map { Candidate($0, $0 == defaultValue?.typed ? "The default" : "") }
        case .files: [Candidate(":files")]
        case .directories: [Candidate(":folders")]
        case .dynamic(let find): found(by: find, given, isVerbatim)
        case .dynamicOrFiles(let find): found(by: find, given, isVerbatim) + [Candidate(":files")]
        }
    }

    /// What a feature finds, without words that cannot be typed or that mean something else to the scripts.
    private func found(by find: Completion.Source, _ given: JSONObject, _ isVerbatim: Bool) -> [Candidate] {
        guard isForPerson else { return [] }
        return find(registry, host, given).filter { candidate in
            guard let first = candidate.word.first else { return false }
            return first != ":" && (first != "-" || isVerbatim) && PlainText.escape(candidate.word) == candidate.word
        }
    }
}

extension JSON {
    /// The word for a default that is one of several words.
    fileprivate var typed: String? { bool.map { $0 ? "true" : "false" } ?? string }
}

extension Completion.Candidate {
    /// The widest summary. Shells cut what does not fit beside the word.
    private static let widest = 100

    /// The line for the scripts. The summary may come from outside, such as the title that a model gave.
    func line(_ redactor: Redactor) -> String {
        summary.isEmpty ? word : "\(word)\t\(PlainText.escape(redactor.redact(summary), limit: Self.widest))"
    }
}

/// The shells that completion supports.
enum CompletionShell: String, Choice {
    case bash, zsh, fish
}

/// Completion scripts. They ask the program itself for candidates, so that they are never out of date.
enum ShellScripts {
    static func script(for shell: CompletionShell, program: String) -> String {
        let function = "_" + program.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
        return switch shell {
        case .bash: bash(program, function)
        case .zsh: zsh(program, function)
        case .fish: fish(program, function)
        }
    }

    private static func bash(_ program: String, _ function: String) -> String {
        #"""
        # Completion of \#(program) for bash: source <(\#(program) completion bash)
        # Sets plain to a word without its quotes, quote to the quote that is still open, and start to where that begins.
        \#(function)_plain() {
            local rest=$1 part
            plain= quote= start=0
            while :; do
                case $quote in
                    \') part=${rest%%\'*} ;;
                    \") part=${rest%%[\"\\]*} ;;
                    *) part=${rest%%[\'\"\\]*} ;;
                esac
                plain+=$part rest=${rest:${#part}}
                [[ $rest ]] || return 0
                part=${rest:0:1} rest=${rest:1}
                if [[ $part != \\ ]]; then
                    [[ $quote ]] && quote= start=0 || quote=$part start=${#plain}
                else
                    [[ $quote && $rest != [\"\$\`\\]* ]] && plain+=\\
                    plain+=${rest:0:1} rest=${rest:1}
                fi
            done
        }
        \#(function)() {
            local line word before= count=0 plain= quote= start=0 files=
            local -a words=() found=()
            # bash cuts --name=value and kind:name at = and : and expects only what follows them.
            for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
                \#(function)_plain "$word"
                if (( count )) && [[ $word == [=:] || $before == [=:] ]]; then
                    words[count-1]+=$plain
                else
                    words[count++]=$plain
                fi
                before=$word
            done
            [[ $word == [=:] ]] && plain=
            # bash expects what is typed in these quotes in another form.
            [[ $word == *\$[\'\"]* ]] && return
            # Of a word with an open quote, bash expects only what follows the quote.
            plain=${plain:start}
            while IFS= read -r line; do
                line=${line%%$'\t'*}
                case $line in
                    '') ;;
                    :files) files=-f ;;
                    :folders) files=-d ;;
                    *)
                        [[ $line == *[=:] ]] && compopt -o nospace
                        found+=("${line#"${words[count-1]%"$plain"}"}") ;;
                esac
            done < <(\#(program) completion words -- "${words[@]}" 2>/dev/null)
            COMPREPLY=()
            if [[ $files ]]; then
                # With this option bash quotes the candidates itself, except for expansions in names of missing files.
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen "$files" -- "$plain")
                for line in "${found[@]}"; do
                    [[ $line == [~]* || $line == *[\$\`]* ]] || COMPREPLY+=("$line")
                done
                return
            fi
            for line in "${found[@]}"; do
                # bash inserts it as it is, and it may come from outside.
                case $quote in
                    \') [[ $line == *\'* ]] && continue ;;
                    \") [[ $line == *[\"\$\`\\!]* ]] && continue ;;
                    *) printf -v line %q "$line" ;;
                esac
                COMPREPLY+=("$line")
            done
        }
        complete -F \#(function) \#(program)

        """#
    }

    private static func zsh(_ program: String, _ function: String) -> String {
        #"""
        #compdef \#(program)
        # Completion of \#(program) for zsh: source <(\#(program) completion zsh)
        \#(function)() {
            local line word found=1
            local -a candidates typed
            # What is typed up to the cursor, with its open quote closed, so that all quotes can be removed.
            typed=("${(@)words[2,CURRENT-1]}" "$compstate[quote]$PREFIX$compstate[quote]")
            while IFS= read -r line; do
                case $line in
                    '') ;;
                    :files) _files && found=0 ;;
                    :folders) _files -/ && found=0 ;;
                    *)
                        # _describe takes what follows a colon for the meaning, and removes backslashes.
                        line=${line//\\/\\\\}
                        word=${${line%%$'\t'*}//:/\\:}
                        [[ $line == *$'\t'* ]] && word+=:${line#*$'\t'}
                        candidates+=("$word") ;;
                esac
            done < <(\#(program) completion words -- "${(@Q)typed}" 2>/dev/null)
            (( ${#candidates} )) && _describe '\#(program)' candidates && found=0
            return found
        }
        # A file of $fpath is run as the function itself at the first Tab. Without compinit, zsh would complete files.
        if [[ ${funcstack[1]-} == \#(function) ]]; then
            \#(function) "$@"
        else
            (( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i }
            compdef \#(function) \#(program)
        fi

        """#
    }

    private static func fish(_ program: String, _ function: String) -> String {
        #"""
        # Completion of \#(program) for fish: \#(program) completion fish | source
        function \#(function)
            # What is typed, without its quotes, of which one may be open.
            set -l typed (commandline -ct)
            set -l current (string unescape -- $typed; or string unescape -- $typed\'; or string unescape -- $typed\")
            set -l words (commandline -opc) "$current"
            for line in (\#(program) completion words -- $words[2..-1] 2>/dev/null)
                switch $line
                    case :files
                        __fish_complete_path "$current"
                    case :folders
                        __fish_complete_directories "$current"
                    case '*'
                        echo $line
                end
            end
        end
        complete -c \#(program) -f -a '(\#(function))'

        """#
    }
}
