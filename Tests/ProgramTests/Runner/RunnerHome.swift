import FileKit
import Glibc
import JSON
import ProcessKit

/// A user's home for running bundles.
struct RunnerHome: Sendable {
    /// The folder in which every command runs.
    let path: String
    /// The folder above it, which also contains Martlet's data.
    let top: String
    /// The environment of every command.
    var variables: [String: String]

    static func with(
        isolation: isolated (any Actor)? = #isolation, _ body: (RunnerHome) async throws -> Void
    ) async throws {
        try await withHome { top in
            let path = "\(top)/work"
            try Files.makeDirectories(path)
            // Tests leave nothing in the kernel's keyring.
            try ProgramTests.write("{auth: {'keep-unlocked': '0s'}}", to: "\(top)/martlet/config/config.json")
            try await body(RunnerHome(path: path, top: top, variables: ["MARTLET_HOME": "\(top)/martlet"]))
        }
    }

    func martlet(_ words: String..., adding more: [String: String] = [:]) async throws -> Program.Run {
        try await Program.martlet.run(words, home: path, adding: variables.merging(more) { $1 })
    }

    /// Writes a bundle.
    func write(_ text: String, _ name: String = "b.yaml") throws {
        try ProgramTests.write(text, to: "\(path)/\(name)")
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Files.read("\(path)/\(name)", limit: 1 << 24), as: UTF8.self)
    }

    /// Runs the program during the body, which reads its lines one by one.
    func running<Result>(
        _ words: String..., isolation: isolated (any Actor)? = #isolation,
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        var command = Program.martlet.command(words, home: path, adding: variables)
        command.output = .pipe
        return try await Launcher.standalone.withChild(command) { try await body($0) }
    }
}

extension ChildProcess {
    /// The next event of a run; nil at the end.
    func nextEvent() async throws -> JSON? {
        guard let line = try await output.nextLine() else { return nil }
        return try JSON(parsing: Array(line))
    }

    /// Reads until an event of this type and step.
    func wait(for type: String, of step: String? = nil) async throws {
        while let event = try await nextEvent() {
            if event["type"]?.string == type, step == nil || event["step"]?.string == step { return }
        }
        throw Conversation.Failure(message: "the run ended before \(type) of \(step ?? "it")")
    }
}
