public import Capabilities

/// Why a command about MCP servers failed before, or instead of, asking a server.
public struct ServerError: Failure, Hashable {
    /// The stable reasons.
    public enum Kind: String, Sendable {
        /// No server has this name.
        case unknownServer = "server-unknown"
        /// A server has this name already.
        case exists = "server-exists"
        /// The server is switched off.
        case off = "server-off"
        /// The person has not agreed to the server.
        case notAgreed = "server-not-agreed"
        /// What the settings say of the server cannot be used.
        case badEntry = "server-entry"
        /// A variable that the server needs is not set.
        case missingVariable = "variable-missing"
        /// The server ends again and again.
        case unstable = "server-unstable"
        /// The server has no such tool, prompt or resource.
        case unknownTool = "tool-unknown"
        /// The arguments do not fit the tool.
        case badArguments = "tool-arguments"
        /// The call could not be recorded in the audit log, so that it was not made.
        case unrecorded = "call-unrecorded"
        /// A file with servers cannot be read.
        case badFile = "file"
        /// A platform did not tell of its tools in time.
        case platformSilent = "platform-silent"
        /// A choice is kept and not applied, so that it cannot be changed.
        case choiceKept = "choice-kept"
        /// The server cannot be signed in to.
        case noSignIn = "sign-in"
        /// The program of the server is not installed.
        case notInstalled = "server-not-installed"
        /// The person has not said what the server asks for.
        case missingInput = "input-missing"
        /// The program of the server could not be installed.
        case installFailed = "install-failed"
    }

    /// The reason.
    public let kind: Kind
    public let message: String

    /// A failure with a sentence that says what to do next.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var code: String { "mcp.\(kind.rawValue)" }

    public var exit: ExitCode {
        switch kind {
        case .notAgreed, .notInstalled, .missingInput: .unanswered
        case .installFailed: .toolFailed
        case .unstable, .platformSilent: .unreachable
        case .noSignIn: .denied
        case .unrecorded: .failed
        case .unknownServer, .exists, .off, .badEntry, .missingVariable, .unknownTool, .badArguments, .badFile,
            .choiceKept:
            .usage
        }
    }
}

extension ServerError {
    /// Whether the server could be used after an answer of the person, or once something is installed.
    public var isUnprepared: Bool { [.notAgreed, .notInstalled, .installFailed, .missingInput].contains(kind) }

    static func unknown(_ name: String, among known: [String]) -> ServerError {
        let hint = Suggestion.text(for: name, among: known)
        let list =
            known.isEmpty
            ? "none is set up yet; 'martlet mcp add NAME COMMAND' adds one"
            : "known: \(known.map { PlainText.escape($0) }.joined(separator: ", "))"
        return ServerError(
            .unknownServer, "there is no MCP server \(PlainText.escape(name).quotedForMessage)\(hint); \(list)")
    }
}

extension ValueError {
    /// What is wrong with an entry, as a sentence that begins after its name: `its url needs an address`.
    public var ofEntry: String {
        path.isEmpty ? "it \(message)" : "its \(path.map { PlainText.escape($0) }.joined(separator: ".")) \(message)"
    }
}
