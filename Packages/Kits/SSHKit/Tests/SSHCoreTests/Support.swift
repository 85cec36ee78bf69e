import Capabilities
import CoreTesting
import FileKit
import ProcessKit
import SSHCore
import Testing

/// Runs the programs of OpenSSH.
struct OpenSSH: Sendable {
    /// All that they know of their surroundings. `A_NAME` is for settings that refer to a variable.
    static let variables = ["PATH": "/usr/bin:/bin:/usr/sbin", "LC_ALL": "C", "A_NAME": "from-the-environment"]

    private let launcher = Launcher.standalone
    let account: SSHAccount

    init() throws {
        account = try SSHAccount.current(environment: Self.variables)
    }

    struct Outcome: Sendable {
        let isSuccess: Bool
        /// What it has printed, with its messages.
        let text: String
    }

    /// Runs commands by two shells side by side, because a process for each from here would take twice as long.
    func run(_ commands: [[String]]) async throws -> [Outcome] {
        let half = (commands.count + 1) / 2
        async let first = outcomes(of: commands.prefix(half))
        async let second = outcomes(of: commands.dropFirst(half))
        return try await first + second
    }

    private func outcomes(of commands: ArraySlice<[String]>) async throws -> [Outcome] {
        guard !commands.isEmpty else { return [] }
        // The sign ends what a command has printed, and what it has returned.
        let script = commands.map { "\(ShellWords.line($0)) 2>&1 </dev/null; printf '\\036%s\\036' $?" }.joined(
            separator: "\n")
        var variables = Self.variables
        variables["HOME"] = account.home
        var shell = Command("sh", [], environment: CommandEnvironment(variables))
        shell.input = .bytes(Array(script.utf8))
        let done = try await launcher.run(shell, timeout: .seconds(300))
        let parts = done.output.split(separator: 0x1E, omittingEmptySubsequences: false)
        try #require(parts.count == 2 * commands.count + 1)
        return (0..<commands.count).map { index in
            Outcome(
                isSuccess: parts[2 * index + 1].elementsEqual("0".utf8),
                text: String(decoding: parts[2 * index], as: UTF8.self))
        }
    }
}

/// Writes files into a folder.
func write(_ files: [String: String], into folder: String) throws {
    for (name, text) in files { try Files.writeAtomically(Array(text.utf8), to: "\(folder)/\(name)") }
}

/// The error that the body throws, or nil.
func failure<Value>(_ body: () throws(SSHError) -> Value) -> SSHError? {
    do throws(SSHError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}
