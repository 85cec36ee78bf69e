public import Capabilities
import Cryptography
import FileKit
import JSON

/// What the person must know of a server that comes with a project before it is started or asked, and the digest that
/// remembers the yes. Whatever of it changes, it is asked again.
public struct ServerAgreement: Sendable, Hashable {
    /// The server.
    public let server: ConfiguredServer
    /// Stands for everything that is shown, and for the content of the project's files that it would run.
    public let digest: String
    /// The files of the project that it would run or read, with their digests.
    let files: [(path: String, digest: String)]

    /// No program of a project is larger.
    private static let largestFile = 64 << 20

    /// Reads the files of the project that the server names.
    public init(_ server: ConfiguredServer) throws {
        self.server = server
        var files: [(path: String, digest: String)] = []
        for path in Self.files(of: server) where !files.contains(where: { $0.path == path }) {
            let bytes = try Files.read(path, limit: Self.largestFile)
            files.append((path, Hexadecimal.encode(Digest.sha256(bytes))))
        }
        self.files = files
        var seen: JSONObject = ["name": .string(server.name), "entry": server.entry.json]
        for (path, digest) in files { seen["file:\(path)"] = .string(digest) }
        digest = Hexadecimal.encode(Digest.sha256(Array(JSON.object(seen).text().utf8)))
    }

    /// The files of the folder that the words of a server name, in the folder or in the one that it starts in.
    private static func files(of server: ConfiguredServer) -> [String] {
        let folder = server.folder
        let start = server.entry.folder.flatMap { TextTemplate($0).filled(in: folder) }
        let places = [folder] + (start.map { [AbsolutePath.joined($0, in: folder)] } ?? [])
        return words(of: server.entry).flatMap { word in
            let filled = TextTemplate(word).filled(in: folder) ?? word
            return places.compactMap { file(filled, in: $0, beneath: folder) }
        }
    }

    /// The words that may name files: the program, its arguments, what installs it, and values of options.
    private static func words(of entry: ServerEntry) -> [String] {
        guard case .program(let command, let arguments) = entry.way else { return [] }
        return ([command] + arguments + (entry.install ?? [])).flatMap { word in
            let value = word.firstIndex(of: "=").map { String(word[word.index(after: $0)...]) }
            return [word] + (value.map { [$0] } ?? [])
        }
    }

    /// The canonical path if the word names a regular file beneath the folder.
    private static func file(_ word: String, in place: String, beneath folder: String) -> String? {
        guard !word.isEmpty, !word.contains("\0") else { return nil }
        do throws(FileError) {
            let root = try Files.canonical(folder)
            let path = try Files.canonical(AbsolutePath.joined(word, in: place))
            guard AbsolutePath(path).lies(beneath: AbsolutePath(root)), try Files.info(path).kind == .regular else {
                return nil
            }
            return path
        } catch {
            // A word that names no file is only a word.
            return nil
        }
    }

    public static func == (left: ServerAgreement, right: ServerAgreement) -> Bool {
        left.server == right.server && left.digest == right.digest
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension ServerAgreement {
    /// What the person sees before the question.
    public var lines: [String] {
        let shown = { (text: String) in PlainText.escape(text, limit: 300) }
        let whose = server.isOwn ? "runs files of this project" : "comes with this project"
        var lines = ["The MCP server \(shown(server.name)) \(whose) (\(shown(server.place))):"]
        switch server.entry.way {
        case .program:
            // The whole of it, since the yes is for the whole.
            lines.append("  it starts   \(PlainText.escape(server.target))")
            if !server.entry.environment.isEmpty {
                lines.append(
                    "  with        \(server.entry.environment.keys.sorted().map(shown).joined(separator: ", "))")
            }
            if let folder = server.entry.folder { lines.append("  in          \(shown(folder))") }
            if let install = server.entry.install {
                lines.append(
                    "  installs by \(PlainText.escape(ShellWords.line(install))), which is asked about when it is needed"
                )
            }
        case .address(let url):
            lines.append("  it asks     \(PlainText.escape(url))")
            if !server.entry.headers.isEmpty {
                lines.append("  with        \(server.entry.headers.keys.sorted().map(shown).joined(separator: ", "))")
            }
        }
        for (path, digest) in files { lines.append("  file        \(shown(path)) (\(digest.prefix(12)))") }
        for (name, input) in server.entry.inputs.sorted(by: { $0.key < $1.key }) {
            lines.append("  it asks for \(shown(name)): \(shown(input.prompt))")
        }
        for use in server.entry.variables where !use.isSecret {
            lines.append("  it gets     ${\(shown(use.name))} in \(shown(use.field))")
        }
        return lines
    }

    /// The secrets that it would get; each needs a yes of its own.
    public var secrets: [VariableUse] { server.entry.variables.filter(\.isSecret) }

    /// Whether somebody must have agreed. A server of the person needs that only for what it runs of the project's files, which
    /// a model that edits there could have written.
    public var isNeeded: Bool { !server.isOwn || !files.isEmpty }

    /// Throws unless the person has agreed to exactly this, or need not.
    public func require(in rules: (any FolderRules)?) throws {
        guard isNeeded else { return }
        guard let rules, try isGiven(in: rules) else {
            throw refused(
                server.isOwn
                    ? "a file of the project that it runs is not the one that you agreed to"
                    : "it comes with the project, and nobody has agreed to it as it is now")
        }
    }

    /// Remembers a yes with the folder.
    public func remember(in rules: any FolderRules) async throws {
        try await rules.change(server.folder) { [digest] in _ = $0.servers.insert(digest) }
    }

    /// Whether the person has agreed to exactly this.
    public func isGiven(in rules: any FolderRules) throws -> Bool {
        try rules.record(of: server.folder).servers.contains(digest)
    }

    /// Asks the person, and remembers a yes with the folder.
    ///
    /// - Parameter tell: shows what the question is about.
    /// - Throws: `ServerError` if the person says no or nobody is there.
    public func ask(_ interaction: any Interaction, keeping rules: any FolderRules, telling tell: (String) -> Void)
        async throws
    {
        let name = server.name
        if interaction.canAsk { tell(lines.joined(separator: "\n")) }
        do {
            let verb = server.entry.isProgram ? "Start" : "Use"
            guard try await interaction.confirm("mcp.agree.\(name)", "\(verb) this server, now and in the future?")
            else {
                throw refused("you did not agree to it")
            }
            for use in secrets {
                let question =
                    "Give it ${\(PlainText.escape(use.name))}, which looks like a secret, in \(PlainText.escape(use.field))?"
                guard try await interaction.confirm("mcp.agree.\(name).\(use.name)", question) else {
                    throw refused("you did not agree to give it \(PlainText.escape(use.name))")
                }
            }
        } catch let error as InteractionError {
            if error.isUnfit { throw error }
            throw refused(
                server.isOwn
                    ? "it runs files of the project, and nobody has agreed to them as they are now"
                    : "it comes with the project, and nobody has agreed to it")
        }
        try await remember(in: rules)
    }

    private func refused(_ reason: String) -> ServerError {
        let name = PlainText.escape(server.name)
        return ServerError(
            .notAgreed,
            "the MCP server \(name.quotedForMessage) is not used: \(reason); on a terminal 'martlet mcp test \(name)' shows it and asks, and --answers can give the yes as 'mcp.agree.\(name)'"
        )
    }
}
