import JSON
import WorkspaceSupport

/// A finished program and the libraries it names.
struct BuiltProgram {
    let path: String
    let linkage: Linkage
    private let shell: Shell

    init(path: String, home: String, linkage: Linkage) {
        self.path = path
        self.linkage = linkage
        shell = Shell(in: "/", changing: ["HOME": home, "MARTLET_HOME": home])
    }

    /// Runs it, also where it fails.
    func outcome(_ words: [String]) async throws -> Shell.Outcome {
        try await shell.outcome([path] + words, timeout: .seconds(30))
    }

    /// Runs it where it has to succeed, and gives what it printed.
    func output(_ words: String...) async throws -> String {
        let outcome = try await outcome(words)
        guard outcome.code == 0 else {
            throw CloneError.refused("\(words) ended with \(outcome.code): \(outcome.errors)")
        }
        return outcome.output
    }

    /// Its features by id: the state, and the reason for it.
    func features() async throws -> [String: (state: String, reason: String)] {
        let list = try JSON(parsing: try await output("features", "--json")).array ?? []
        return Dictionary(
            list.map { ($0["id"]?.string ?? "", ($0["state"]?.string ?? "", $0["reason"]?.string ?? "")) },
            uniquingKeysWith: { first, _ in first })
    }
}
