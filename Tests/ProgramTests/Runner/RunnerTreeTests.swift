import Testing

@Suite("Run tree on a terminal", .timeLimit(.minutes(5)))
struct RunnerTreeTests {
    private static func colors(_ theme: String) async throws -> Set<String> {
        var shown = ""
        try await RunnerHome.with { home in
            try home.write("{name: look, steps: [{id: hello, action: version}]}")
            let variables = ["TERM": "xterm-256color", "COLORTERM": "truecolor"].merging(home.variables) { $1 }
            let script = "$M run b.yaml --set terminal.theme=\(theme); echo code $?"
            try await Conversation.with(.martlet, script, home: home.path, adding: variables) { talk in
                try await talk.wait(for: "code 0")
                shown = talk.shown
            }
        }
        #expect(shown.contains("hello"), "\(shown)")
        return Set(shown.matches(of: /38;2;\d+;\d+;\d+/).map { String($0.output) })
    }

    @Test("The tree is drawn in the colours of the chosen theme")
    func theme() async throws {
        let (light, dark) = (try await Self.colors("light"), try await Self.colors("dark"))
        #expect(!light.isEmpty && !dark.isEmpty && light.isDisjoint(with: dark), "\(light) \(dark)")
    }
}
