import JSON
import TerminalTesting
import Testing

/// A home in which the shell of the program runs on a terminal.
struct ShellHome: Sendable {
    let path: String
    /// The variables of the program, without TERM, which the terminal says. The background is known, so that the terminal
    /// is not asked for it.
    let variables: [String: String]

    /// Lends a home without anything in it.
    static func with<T>(
        isolation: isolated (any Actor)? = #isolation, _ body: (ShellHome) async throws -> T
    ) async throws -> T {
        try await withHome { path in
            let home = ShellHome(
                path: path,
                variables: [
                    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": path, "LANG": "C.UTF-8", "COLORFGBG": "15;0",
                    // Not the hosts of the person who tests, which are found whatever HOME says.
                    "MARTLET_SSH_CONFIG": "/dev/null",
                ])
            let result: Result<T, any Error>
            do { result = .success(try await body(home)) } catch { result = .failure(error) }
            // A home can be removed when nothing writes there any more; the terminals are gone.
            try await home.wait("no program runs here") { !home.isUsed }
            return try result.get()
        }
    }

    /// Whether a program has this home.
    private var isUsed: Bool {
        OtherProcess.names(in: "/proc").filter { Int($0) != nil }.contains { process in
            (OtherProcess.text(of: "/proc/\(process)/environ") ?? "").contains("HOME=\(path)\0")
        }
    }

    /// Runs the program apart from the terminal, which has to succeed.
    @discardableResult
    func martlet(_ words: String..., input: String = "") async throws -> String {
        let run = try await Program.martlet.run(words, home: path, input: input)
        try #require(run.code == 0, "\(words): \(run.output)\(run.errors)")
        return run.output
    }

    /// Adds a conversation with the model that needs no network.
    func addConversation(_ text: String) async throws { try await martlet("ask", "-m", "martlet-offline", text) }

    /// Adds a run of a bundle of one step.
    func addRun() async throws {
        try write("name: look\nsteps: [{action: version}]\n", to: "\(path)/look.yaml")
        try await martlet("run", "look.yaml")
    }

    /// The titles of the conversations, the newest first.
    func titles() async throws -> [String] {
        try await martlet("chat", "list", "--json").json().array?.compactMap { $0["title"]?.string } ?? []
    }

    /// Waits until something is so, of which no terminal tells.
    func wait(_ wanted: String, until isSo: () async throws -> Bool) async throws {
        let start = ContinuousClock.now
        while try await !isSo() {
            try #require(ContinuousClock.now - start < .seconds(20), "it was not so in time: \(wanted)")
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    // MARK: In a pane of tmux

    /// The program in a pane of tmux, when it has painted something.
    ///
    /// - Parameter words: the arguments, without quotes.
    func pane(
        columns: Int = 80, rows: Int = 24, _ words: String = "", adding more: [String: String] = [:]
    ) async throws -> TmuxPane {
        let variables = variables.merging(["TERM": "screen-256color"].merging(more) { $1 }) { $1 }
        let settings = variables.map { "\($0)=\"\($1)\"" }.joined(separator: " ")
        let pane = try TmuxPane(
            columns: columns, rows: rows, running: "exec env -i \(settings) \"\(Program.martlet.path)\" \(words)")
        // The hints are in the last row.
        try await pane.screen { $0.count == rows && $0.last?.contains(" ") == true }
        return pane
    }

    /// Waits for a conversation, and goes into its composer.
    func composer(_ pane: TmuxPane) async throws {
        let rows = try await pane.screen {
            $0.last?.contains("i write") == true || $0.last?.contains("Return send") == true
        }
        if rows.last?.contains("i write") == true { try pane.press("i") }
        try await pane.screen(with: "Return send")
    }

    // MARK: Under bash

    /// Runs a script on a terminal with bash, in which `$M` is the program.
    func session<Value: Sendable>(
        columns: UInt16 = 80, rows: UInt16 = 24, adding more: [String: String] = [:],
        _ script: @escaping @Sendable (ShellSession) throws -> Value
    ) async throws -> Value {
        let own = variables.merging(["M": Program.martlet.path].merging(more) { $1 }) { $1 }
        return try await ShellSession.with(columns: columns, rows: rows, environment: own) { session in
            try session.answer(to: "cd")
            return try script(session)
        }
    }
}

extension TmuxPane {
    /// Types a text as it is, without single quotes.
    func type(_ text: String) throws { try press("-l -- '\(text)'") }

    /// Waits until the screen contains a text.
    @discardableResult
    func screen(with text: String) async throws -> [String] {
        try await screen { rows in rows.contains { $0.contains(text) } }
    }

    /// Waits until the screen does not contain a text.
    @discardableResult
    func screen(without text: String) async throws -> [String] {
        try await screen { rows in !rows.contains { $0.contains(text) } }
    }
}

extension ShellSession {
    /// Starts the shell of the program, and waits until its screen has appeared.
    func open(_ words: String = "") throws {
        type("$M \(words)\n")
        try output(upTo: "\u{1B}[?1049h")
        // The first of the tabs.
        try output(upTo: " Home ")
    }
}
