import Capabilities
import ProcessKit

/// The command that would install the program of a server.
public struct ServerInstall: Sendable, Hashable {
    /// The server.
    public let server: ConfiguredServer
    /// The program and its arguments, with everything filled in.
    public let words: [String]
    /// Whether the entry says it. Otherwise it is what installs a Python package of the program's name, if there is one.
    public let isOfEntry: Bool

    /// The command in one line.
    public var line: String { ShellWords.line(words) }

    /// The command that installs a Python package with a program of this name; nil if the name is not that of one that
    /// has a server.
    static func package(_ program: String, isThere: (String) -> Bool) -> [String]? {
        let isName = program.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        // Servers in Python are packages with a program of the same name: `mcp-server-git`.
        guard isName, program.lowercased().contains("mcp"), !program.hasPrefix("-") else { return nil }
        if isThere("uv") { return ["uv", "tool", "install", program] }
        if isThere("pipx") { return ["pipx", "install", program] }
        return nil
    }
}

extension ServerSurroundings {
    private static let shownWords = 600
    private static let keptOutput = 4_096

    /// The program of a server, if it is not there.
    public func missingProgram(of server: ConfiguredServer) async -> String? {
        guard case .program(let command, _) = server.entry.way else { return nil }
        do {
            let start = try await start(of: server, command)
            return start.isMissing ? start.executable : nil
        } catch {
            // What cannot be filled in is told when the server starts.
            return nil
        }
    }

    /// The program with the variables that decide where it is looked for. Nothing secret does.
    private func start(of server: ConfiguredServer, _ command: String) async throws -> Command {
        var variables = ownVariables
        if let path = server.entry.environment["PATH"] {
            variables["PATH"] = try await plain(path, "env.PATH", of: server)
        }
        return Command(
            try await plain(command, "command", of: server), environment: CommandEnvironment(variables),
            workingDirectory: AbsolutePath.joined(
                try await plain(server.entry.folder ?? ".", "cwd", of: server), in: server.folder))
    }

    /// A text that is filled in without the vault, which might ask for its passphrase, and without asking for inputs.
    private func plain(_ text: String, _ field: String, of server: ConfiguredServer) async throws -> String {
        if TextTemplate(text).variables.contains(where: { $0.source == .secret || $0.source == .input }) {
            throw Unfilled()
        }
        return try await filled(text, field, of: server)
    }

    private struct Unfilled: Error {}

    /// How the program of a server is installed; nil if that is not known.
    public func install(of server: ConfiguredServer) async throws -> ServerInstall? {
        guard case .program(let command, _) = server.entry.way else { return nil }
        if let written = server.entry.install {
            var words: [String] = []
            for (index, word) in written.enumerated() {
                words.append(try await filled(word, "install.\(index)", of: server))
            }
            return ServerInstall(server: server, words: words, isOfEntry: true)
        }
        let words = ServerInstall.package(command) { name in
            !Command(name, environment: CommandEnvironment(ownVariables)).isMissing
        }
        return words.map { ServerInstall(server: server, words: $0, isOfEntry: false) }
    }

    /// Runs the command to its end. It gets the variables of the server, but for those that are filled in from ours.
    ///
    /// - Parameter tell: is given what the command writes, line by line.
    public func run(_ install: ServerInstall, telling tell: @escaping @Sendable (String) -> Void) async throws {
        let server = install.server
        let given = server.entry.environment.filter { TextTemplate($0.value).variables.isEmpty }
        let folder = try await filled(server.entry.folder ?? ".", "cwd", of: server)
        var command = Command(
            install.words[0], Array(install.words.dropFirst()),
            environment: CommandEnvironment(ownVariables.merging(given) { $1 }),
            workingDirectory: AbsolutePath.joined(folder, in: server.folder))
        command.errors = .output
        (command.hasOwnSession, command.endsWithParent, command.endsDescendants) = (true, true, true)
        let ended: (status: ChildStatus, last: String)?
        do {
            ended = try await end(command, telling: tell)
        } catch let error as ProcessError {
            throw failure(of: install, "does not start: \(error.message)")
        }
        guard let ended else {
            throw failure(
                of: install, "took longer than \(limits.install.words) (mcp.install-limit) and was stopped")
        }
        guard ended.status.isSuccess else {
            let words = ended.last.split(whereSeparator: \.isNewline).suffix(5).joined(separator: "\n")
            let shown = PlainText.escape(String(words.suffix(Self.shownWords)))
            throw failure(
                of: install,
                "ended with exit code \(ended.status.code)\(shown.isEmpty ? "" : "; its last words: \(shown)")")
        }
        if let program = await missingProgram(of: server) {
            throw failure(
                of: install,
                "ended well, but \(PlainText.escape(program).quotedForMessage) is still missing; PATH is \(PlainText.escape(ownVariables["PATH"] ?? "not set"))"
            )
        }
    }

    /// Runs a command until it ends; nil if it takes too long.
    private func end(
        _ command: Command, telling tell: @escaping @Sendable (String) -> Void
    ) async throws -> (status: ChildStatus, last: String)? {
        try await withTimeLimit(limits.install, on: ContinuousClock()) { [launcher] in
            try await launcher.withChild(command) { child in
                var (line, last): ([UInt8], [UInt8]) = ([], [])
                while let bytes = try await child.output.read() {
                    last = (last + bytes).suffix(Self.keptOutput)
                    line += bytes
                    let lines = line.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                    for whole in lines.dropLast() where !whole.isEmpty { tell(String(decoding: whole, as: UTF8.self)) }
                    line = Array((lines.last ?? []).suffix(Self.keptOutput))
                }
                if !line.isEmpty { tell(String(decoding: line, as: UTF8.self)) }
                return (status: try await child.exitStatus(), last: String(decoding: last, as: UTF8.self))
            }
        }
    }

    private func failure(of install: ServerInstall, _ reason: String) -> ServerError {
        ServerError(
            .installFailed,
            "the MCP server \(PlainText.escape(install.server.name).quotedForMessage) could not be installed: \(PlainText.escape(install.line, limit: 300)) \(reason)"
        )
    }
}
