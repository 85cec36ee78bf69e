import Glibc
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
