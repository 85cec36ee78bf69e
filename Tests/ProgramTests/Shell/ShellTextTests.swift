import FileKit
import JSON
import TerminalTesting
import Testing
import WorkspaceSupport

@Suite("What the shell shows", .serialized, .enabled(if: TmuxPane.isInstalled), .timeLimit(.minutes(10)))
struct ShellTextTests {
    /// One screen after the other, compared with a text that is checked in.
    private struct Walk {
        var pane: TmuxPane
        let form: ScreenText
        /// The text as it is checked in, by screen.
        let kept: [String: String]
        private(set) var text = ""
        private var patience = Duration.seconds(15)

        init(_ pane: TmuxPane, _ home: ShellHome, _ kept: String) {
            (self.pane, form) = (pane, ScreenText(home: home.path))
            let parts = kept.split(separator: "\n=== ").map { $0.split(separator: "\n", maxSplits: 1) }
            self.kept = Dictionary(
                parts.compactMap { $0.count == 2 ? (String($0[0]), String($0[1])) : nil }, uniquingKeysWith: { $1 })
        }

        /// Adds the screen of now under a name, as soon as it is as it was, or stays as it is for a second.
        mutating func add(_ name: String) async throws {
            let start = ContinuousClock.now
            var (shown, since) = ("", start)
            while true {
                let new = try form.text(try pane.screen())
                if new != shown { (shown, since) = (new, .now) }
                if kept[name]?.trimmed == shown.trimmed { break }
                let isStill = ContinuousClock.now - since > .seconds(1) && !shown.contains("Loading …")
                if isStill && (FrozenFile.isRefreshing || ContinuousClock.now - start > patience) { break }
                if ContinuousClock.now - start > .seconds(20) { break }
                try await Task.sleep(for: .milliseconds(30))
            }
            // One screen that has changed is waited for; others may have changed for the same reason.
            if kept[name]?.trimmed != shown.trimmed { patience = .seconds(3) }
            text += "\n=== \(name)\n\(shown)"
        }
    }

    /// Opens every screen and compares what was shown.
    private func compare(
        _ file: String, _ home: ShellHome, columns: Int, rows: Int,
        then rest: (inout Walk) async throws -> Void = { _ in }
    ) async throws {
        let frozen = FrozenFile("Shell/Texts/\(file)-\(columns)x\(rows).txt", of: "ProgramTests")
        // A shell that ends writes there what it was showing, sooner or later than the next one looks.
        try Files.makeDirectories("\(home.path)/.local/state/martlet")
        let pane = try await home.pane(columns: columns, rows: rows)
        var walk = Walk(pane, home, FrozenFile.isRefreshing ? "" : "\n" + ((try? frozen.text()) ?? ""))
        // The panels of the first tab are all seen at once.
        try await walk.add("Home")
        for screen in try await home.martlet("screen", "list", "--json").json().array ?? [] {
            guard let id = screen["id"]?.string, let title = screen["title"]?.string,
                let place = screen["placement"]?.string, place.hasPrefix("tab "),
                // What they show depends on how long things took.
                id != "trace.figures", id != "trace.traces", id != "trace.log"
            else { continue }
            walk.pane = try await home.pane(columns: columns, rows: rows, "shell \(id)")
            try await walk.add("\(place.dropFirst(4)) › \(title)")
        }
        try await rest(&walk)
        try FrozenText(frozen).expect(String(walk.text.dropFirst()))
    }

    @Test("Every screen of an empty home is as it was reviewed", arguments: [(80, 24), (200, 60)])
    func empty(columns: Int, rows: Int) async throws {
        try await ShellHome.with { home in
            try await compare("empty", home, columns: columns, rows: rows)
        }
    }

    @Test(
        "Every screen, also those beside a row, of a home with a conversation and a run is as it was reviewed",
        arguments: [(80, 24), (200, 60)])
    func used(columns: Int, rows: Int) async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            try await home.addRun()
            try await compare("used", home, columns: columns, rows: rows) { walk in
                walk.pane = try await home.pane(columns: columns, rows: rows, "shell chat.conversations")
                try await walk.pane.screen { $0.last?.contains("Return Conversation") == true }
                // The conversation is beside the list then, and Return goes there instead of opening it above.
                if columns >= 100 { try await walk.pane.screen(with: "state ready") }
                // A key acts on what the one before has opened, so that is waited for.
                let steps: [(name: String, keys: [(key: String, opens: String)])] = [
                    // In a wide window it is beside the list.
                    ("Sessions › Conversation", [("Enter", columns < 100 ? "‹ Sessions › Hello" : "Esc back")]),
                    ("Sessions › Tool calls", [("t", "no tool was called")]),
                    ("Home › Run", [("1", "Return Run"), ("Enter", "‹ Home › look")]),
                    ("Home › Output", [("o", "No lines yet.")]), ("Help", [("?", "─ Keys ─")]),
                ]
                for (name, keys) in steps {
                    for (key, opens) in keys {
                        try walk.pane.press(key)
                        try await walk.pane.screen(with: opens)
                    }
                    // Out of a composer, where the next key would be a letter.
                    if try walk.pane.screen().last?.contains("Return send") == true {
                        try walk.pane.press("Escape")
                        try await walk.pane.screen(without: "Return send")
                    }
                    try await walk.add(name)
                }
            }
        }
    }

    @Test(
        "pyte shows what tmux shows", .enabled(if: PyteScreen.isInstalled),
        arguments: ["", "shell chat.conversation", "shell runs.run"])
    func emulators(words: String) async throws {
        try await ShellHome.with { home in
            try await home.addConversation("Hello")
            try await home.addRun()
            let form = ScreenText(home: home.path)
            let pane = try await home.pane(words)
            let last = words.isEmpty ? "1       0" : words.hasSuffix("run") ? "version" : "state ready"
            try await pane.screen(with: last)
            let pyte = try await home.session { session in
                try session.open(words)
                // Two programs load the parts of a screen at their own pace, so what both show in the end is compared. The
                // hints say whether the composer has the focus, which may come a moment later.
                return try session.rows { rows in
                    try form.text(rows.dropLast()) == form.text(pane.screen().dropLast())
                }
            }
            #expect(pyte.contains { $0.contains(last) })
        }
    }
}

extension String {
    fileprivate var trimmed: Substring {
        var text = self[...]
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}
