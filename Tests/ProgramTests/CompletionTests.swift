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
