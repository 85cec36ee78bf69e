import Glibc
import JSON
import Testing

@Suite("Completion in a shell", .timeLimit(.minutes(5)))
struct CompletionTests {
    /// Loads the script as the help says and asks as bash does.
    private func complete(_ words: String, at index: Int) async throws -> [String] {
        try await withHome { home in
            try write("", to: "\(home)/answers.json")
            let script = """
                PATH="${M%/*}:$PATH"; source <(martlet completion bash)
                compopt() { :; }
                COMP_WORDS=(\(words)); COMP_CWORD=\(index); _martlet
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let run = try await Program.martlet.shell(
                "exec bash -c \"$SCRIPT\"", home: home, adding: ["SCRIPT": script])
            #expect(run.code == 0)
            #expect(run.errors == "")
            return run.output.lines
        }
    }

    @Test(
        "offers the same words as the program",
        arguments: [
            ("martlet ver", 1, ["version"]), ("martlet config s", 2, ["set", "show"]),
            ("martlet config s x", 2, ["set", "show"]), ("martlet version --format nd", 3, ["ndjson"]),
            ("martlet version --format = nd", 4, ["ndjson"]),
            ("martlet --format = csv config un", 5, ["unset", "untrust"]),
            ("martlet version --format =", 3, ["text", "json", "ndjson", "csv", "markdown"]),
            ("martlet config set terminal.theme li", 4, ["light"]), ("martlet --set terminal.theme = da", 4, ["dark"]),
            ("martlet --set terminal.th", 2, ["terminal.theme="]),
            ("martlet --answers ans", 2, ["answers.json"]), ("martlet nothing ''", 2, []),
        ])
    func bash(words: String, index: Int, expected: [String]) async throws {
        #expect(try await complete(words, at: index) == expected)
    }

    @Test("leaves nothing in a name to bash, and completes what follows a colon")
    func quoted() async throws {
        try await withHome { home in
            try write("#!/bin/sh\nprintf 'bundle:a\\tA\\nbundle:b;c d\\tB\\n'\n", to: "\(home)/bin/fake")
            let script = """
                chmod +x "$HOME/bin/fake"; source <(PATH="${M%/*}:$PATH" martlet completion bash)
                martlet() { "$HOME/bin/fake" "$@"; }
                compopt() { :; }
                COMP_WORDS=(martlet access show --as bundle : ''); COMP_CWORD=6; _martlet
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let run = try await Program.martlet.shell(
                "exec bash -c \"$SCRIPT\"", home: home, adding: ["SCRIPT": script, "HOME": home])
            #expect(run.output.lines == ["a", #"b\;c\ d"#], "\(run.errors)")
        }
    }

    /// A script that replaces `martlet` by a function with a few fixed candidates, and files after `file`.
    private static let fake = """
        martlet() {
            for word; do :; done
            for found in 'My Title' 'back\\slash' "it's" 'naïve one'; do
                case $found in "$word"*) printf '%s\\tA meaning\\n' "$found" ;; esac
            done
            case "$*" in *file*) echo :files ;; esac
        }
        """

    @Test(
        "continues a word with spaces, quotes or a backslash in bash, as it was begun",
        arguments: [
            (#"My\ Ti"#, #"My\ Title"#), (#""My Ti"#, "My Title"), ("'My Ti", "My Title"), ("na", #"naïve\ one"#),
            ("back", #"back\\slash"#), ("'back", #"back\slash"#), (#""back"#, ""), ("it", #"it\'s"#), ("'it", ""),
            (#"M"y T"i"#, #"My\ Title"#), (#"My\ "Ti"#, "Title"),
        ])
    func begun(word: String, expected: String) async throws {
        let script = """
            source <(PATH="${M%/*}:$PATH" martlet completion bash)
            \(Self.fake)
            COMP_WORDS=(martlet show "$WORD"); COMP_CWORD=2; _martlet
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        try await withHome { home in
            let run = try await Program.martlet.shell(
                "exec bash -c \"$SCRIPT\"", home: home, adding: ["SCRIPT": script, "WORD": word])
            #expect(run.output.lines == (expected.isEmpty ? [] : [expected]), "\(run.errors)")
        }
    }

    /// Names that a hostile folder may choose. Each begins in its own way.
    private static let hostile = [
        "na`touch ran`", "nb$(touch ran)", "nc$HOME", "nd;touch ran", "ne!x", "nf(x)", "ng'x", "nh\"x", #"ni\x"#,
        "nj x",
        "nk&touch ran", "nl|x", "~nm", "nn*", "no{a,b}", "np>ran",
    ]

    /// Gives every name that begins like the last word.
    private static let answer = """
        local word=${@: -1}
        while IFS= read -r name; do [[ $name == "$word"* ]] && printf '%s\\n' "$name"; done < outside
        """

    @Test("inserts a hostile name as one word in bash, or not at all, in whatever quotes it was begun")
    func hostileInQuotes() async throws {
        try await withHome { home in
            try write(Self.hostile.joined(separator: "\n") + "\n", to: "\(home)/outside")
            // A key keeps the line that completion made instead of running it.
            let settings = """
                source <(PATH="${M%/*}:$PATH" martlet completion bash)
                martlet() { \(Self.answer); }
                keep() { printf '%s\\n' "$READLINE_LINE" >> lines; READLINE_LINE=; echo "kept-$((count++))."; }
                count=0
                bind -x '"\\C-t": keep'
                """
            try write(settings, to: "\(home)/settings")
            let begun = Self.hostile.flatMap { name in ["", "\"", "'"].map { (name: name, quote: $0) } }
            try await Conversation.with(.martlet, "exec bash --rcfile settings -i", home: home) { talk in
                for (count, word) in begun.enumerated() {
                    try await talk.press("martlet run \(word.quote)\(word.name.prefix(2))\t\u{14}")
                    try await talk.wait(for: "kept-\(count).")
                }
            }
            let lines = try await Program.martlet.shell("cat lines", home: home).output.lines
            try #require(lines.count == begun.count)
            for (word, line) in zip(begun, lines) {
                // What was not completed still has its quote open.
                let script = "martlet() { printf '<%s>' \"$@\"; }; eval \"$LINE\" 2>/dev/null || eval \"$LINE$QUOTE\""
                let run = try await Program.martlet.shell(
                    "exec bash -c \"$SCRIPT\"", home: home,
                    adding: ["SCRIPT": script, "LINE": line, "QUOTE": word.quote])
                let whole = "<run><\(word.name)>"
                let isHarmless = word.name == "nj x"
                #expect(run.output == whole || !isHarmless && run.output == "<run><\(word.name.prefix(2))>", "\(line)")
            }
            #expect(try await Program.martlet.shell("ls", home: home).output.lines == ["lines", "outside", "settings"])
        }
    }

    @Test("inserts a hostile name beside files as one word in bash, or not at all")
    func hostileBesideFiles() async throws {
        try await withHome { home in
            try write(Self.hostile.joined(separator: "\n") + "\n", to: "\(home)/outside")
            let settings = """
                source <(PATH="${M%/*}:$PATH" martlet completion bash)
                martlet() {
                    if [[ $1 == completion ]]; then
                        \(Self.answer)
                        echo :files
                    else
                        shift; printf '<%s>' "$@" >> got; echo >> got; echo "end-$#-$count"; ((count++))
                    fi
                }
                count=0
                """
            try write(settings, to: "\(home)/settings")
            var expected: [String] = []
            try await Conversation.with(.martlet, "exec bash --rcfile settings -i", home: home) { talk in
                for (count, name) in Self.hostile.enumerated() {
                    let typed = name.first == "~" ? #"\~n"# : String(name.prefix(2))
                    try await talk.press("martlet run \(typed)\t\n")
                    // bash quotes an expansion only in the name of an existing file, so these names are not offered.
                    let isOffered = !name.contains { "`$~".contains($0) }
                    expected.append(isOffered ? "<\(name)>" : name.first == "~" ? "<~n>" : "<\(typed)>")
                    try await talk.wait(for: "end-1-\(count)")
                }
            }
            let got = try await Program.martlet.shell("cat got; ls", home: home).output.lines
            #expect(Array(got.prefix(expected.count)) == expected)
            #expect(
                got.suffix(from: expected.count).allSatisfy { ["got", "outside", "settings"].contains($0) }, "\(got)")
        }
    }

    @Test("leaves the quotes to bash where there are files among the candidates")
    func files() async throws {
        try await withHome { home in
            try write("", to: "\(home)/My Text.txt")
            let script = """
                source <(PATH="${M%/*}:$PATH" martlet completion bash)
                \(Self.fake)
                compopt() { echo "$@"; }
                COMP_WORDS=(martlet file 'My\\ T'); COMP_CWORD=2; _martlet
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let run = try await Program.martlet.shell(
                "exec bash -c \"$SCRIPT\"", home: home, adding: ["SCRIPT": script])
            #expect(run.output.lines == ["-o filenames", "My Text.txt", "My Title"], "\(run.errors)")
        }
    }

    @Test("offers conversations with their titles, and creates no history for that")
    func conversations() async throws {
        try await withHome { home in
            func words(_ words: [String]) async throws -> String {
                let run = try await Program.martlet.run(["completion", "words", "--"] + words, home: home)
                #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
                return run.output
            }
            for typed in [["chat", "show", ""], ["runs", "show", ""], ["gateway", "project", "remove", ""]] {
                #expect(try await words(typed).allSatisfy(\.isWhitespace))
            }
            let found = try await Program.martlet.shell("find . -name '*.db*'", home: home)
            #expect(found.output.isEmpty)
            try write(#"[{"role": "user", "content": "How do swifts sleep?"}]"#, to: "\(home)/talk.json")
            let made = try await Program.martlet.run(["chat", "import", "\(home)/talk.json", "--json"], home: home)
            let id = try #require(try made.output.json()["id"]?.string, "\(made.errors)")
            #expect(try await words(["chat", "show", ""]) == "\(id)\tHow do swifts sleep?\n")
            #expect(try await words(["chat", "restore", ""]).allSatisfy(\.isWhitespace))
            #expect(try await words(["chat", "fork", id, "--at", ""]) == "1\tuser: How do swifts sleep?\n")
            let script = """
                PATH="${M%/*}:$PATH"; source <(martlet completion bash)
                COMP_WORDS=(martlet chat fork "$ID" --at ''); COMP_CWORD=5; _martlet
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let run = try await Program.martlet.shell(
                "exec bash -c \"$SCRIPT\"", home: home, adding: ["SCRIPT": script, "ID": id])
            #expect(run.output.lines == ["1"], "\(run.errors)")
        }
    }

    @Test(
        "is bound in a zsh that has not loaded its completion",
        .enabled(if: unsafe access("/usr/bin/zsh", X_OK) == 0))
    func zsh() async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell(
                "PATH=\"${M%/*}:$PATH\" zsh -fc 'source <(martlet completion zsh); print -r -- ${_comps[martlet]}'",
                home: home)
            #expect(run.output == "_martlet\n" && run.errors.isEmpty, "\(run.errors)")
        }
    }

    @Test(
        "continues a word with spaces, quotes or a backslash in zsh, as it was begun",
        .enabled(if: unsafe access("/usr/bin/zsh", X_OK) == 0))
    func begunInZsh() async throws {
        try await withHome { home in
            let settings = #"""
                path=("${M%/*}" $path); source <(martlet completion zsh)
                \#(Self.fake)
                zle-line-init() {
                    for BUFFER in 'show My\ Ti' 'show "My Ti' "show 'My Ti" 'show back' 'show na'; do
                        BUFFER="martlet $BUFFER"; CURSOR=$#BUFFER
                        zle complete-word; print -r -- $BUFFER
                    done > $HOME/lines
                    exit
                }
                zle -N zle-line-init
                """#
            try write(settings, to: "\(home)/.zshrc")
            // The line editor needs a terminal.
            let run = try await Program.martlet.shell(
                "zsh -fc 'zmodload zsh/zpty; zpty inner zsh -i; while zpty -r inner; do :; done'", home: home)
            let lines = try await Program.martlet.shell("cat lines", home: home).output.lines
            #expect(
                lines == [
                    #"martlet show My\ Title "#, #"martlet show "My Title" "#, "martlet show 'My Title' ",
                    #"martlet show back\\slash "#, #"martlet show naïve\ one "#,
                ], "\(run.output)\(run.errors)")
        }
    }

    @Test(
        "continues a word with spaces, quotes or a backslash in fish",
        .enabled(if: unsafe access("/usr/bin/fish", X_OK) == 0),
        arguments: [
            (#"My\ Ti"#, "My Title"), (#""My Ti"#, "My Title"), ("'My Ti", "My Title"), ("back", #"back\slash"#),
        ])
    func begunInFish(word: String, expected: String) async throws {
        try await withHome { home in
            let script = """
                martlet completion fish | source
                function martlet; string match -- "$argv[-1]*" 'My Title' 'back\\slash'; end
                complete -C "martlet show $WORD"
                """
            let run = try await Program.martlet.shell(
                "PATH=\"${M%/*}:$PATH\" fish -c \"$SCRIPT\"", home: home, adding: ["SCRIPT": script, "WORD": word])
            #expect(run.output.lines == [expected], "\(run.errors)")
        }
    }

    @Test("offers the same words in fish", .enabled(if: unsafe access("/usr/bin/fish", X_OK) == 0))
    func fish() async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell(
                "PATH=\"${M%/*}:$PATH\" fish -c 'martlet completion fish | source; complete -C \"martlet config un\"'",
                home: home)
            #expect(run.output.lines.map { $0.prefix { $0 != "\t" } } == ["unset", "untrust"])
        }
    }
}
