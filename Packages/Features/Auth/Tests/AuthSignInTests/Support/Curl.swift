import FileKit
import ProcessKit
import Testing

/// The curl program, in place of a browser.
enum Curl {
    /// The output for these arguments.
    static func run(_ arguments: String...) async throws -> String {
        try await output(arguments)
    }

    static func output(_ arguments: [String]) async throws -> String {
        let command = Command(
            "curl", ["-sS", "--max-time", "30"] + arguments, environment: .inheriting(Environment.snapshot()))
        let result = try await Launcher.standalone.run(command, timeout: .seconds(40))
        try #require(result.status == .exited(0), "\(String(decoding: result.errors, as: UTF8.self))")
        return String(decoding: result.output, as: UTF8.self)
    }

    /// Opens an address as a browser would, following redirects, and returns the heads and the page.
    @discardableResult
    static func browse(_ url: String) async throws -> String {
        try await run("-i", "-L", url)
    }
}
