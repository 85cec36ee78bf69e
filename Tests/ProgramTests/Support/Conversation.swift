import FileKit
import ProcessKit

/// A program on a real terminal, which `script` of util-linux gives it: what it shows is read, and keys are pressed.
struct Conversation {
    struct Failure: Error {
        let message: String
    }

    private let child: ChildProcess
    /// What was shown up to the text last waited for.
    private(set) var shown = ""
    private var unread = ""

    /// Runs a line of shell in which `$M` is the program on a terminal of its own.
    static func with(
        _ program: Program, _ script: String, home: String, adding variables: [String: String] = [:],
        _ body: (inout Conversation) async throws -> Void
    ) async throws {
        var command = Command(
            "script", ["-qefc", script, "/dev/null"],
            environment: Program.environment(home, ["M": program.path, "SHELL": "/bin/sh"].merging(variables) { $1 }),
            workingDirectory: home)
        command.input = .pipe
        try await Launcher.standalone.withChild(command) { child in
            var conversation = Conversation(child: child)
            try await body(&conversation)
        }
    }

    private init(child: ChildProcess) {
        self.child = child
    }

    func press(_ keys: String) async throws {
        try await child.input.write(Array(keys.utf8))
    }

    /// Reads until the text has been shown, from the end of the one that was waited for before, and gives all up to there.
    @discardableResult
    mutating func wait(for text: String) async throws -> String {
        while true {
            if let found = unread.ranges(of: text).first {
                let seen = String(unread[..<found.upperBound])
                unread.removeSubrange(..<found.upperBound)
                shown += seen
                return seen
            }
            guard let bytes = try await child.output.read() else {
                throw Failure(message: "'\(text)' was not shown after: \(shown)\(unread)")
            }
            unread += String(decoding: bytes, as: UTF8.self)
        }
    }
}
