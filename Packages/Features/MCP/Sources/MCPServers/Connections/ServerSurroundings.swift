public import Capabilities
public import HTTPClient
import HTTPCore
public import MCPKit
public import ProcessKit
import RPCKit

/// What servers need of the program: how they are started and asked, and what fills in the variables of their entries.
public struct ServerSurroundings: Sendable {
    /// The variables of the program.
    public var environment: [String: String]
    /// Starts programs.
    public var launcher: Launcher
    /// Asks servers by HTTP.
    public var http: @Sendable () -> HTTPClient
    /// The secrets of the person; nil without a store.
    public var secrets: (any SecretStore)?
    /// Learns the secrets that servers get, so that they are taken out of what is shown and stored.
    public var redactor: Redactor
    /// Signs in to servers that want it; nil without that feature.
    public var signIn: (any ResourceSignIn)?
    /// What this program says it is.
    public var identity: MCPIdentity
    /// How much servers may do.
    public var limits: ServerLimits
    /// Where the tools of platforms were found.
    public var places: ServerPlaces
    /// What the person has answered for servers.
    public var inputs: InputAnswers

    /// Everything that servers need.
    public init(
        environment: [String: String], launcher: Launcher, http: @escaping @Sendable () -> HTTPClient,
        secrets: (any SecretStore)?, redactor: Redactor, signIn: (any ResourceSignIn)?, identity: MCPIdentity,
        limits: ServerLimits, places: ServerPlaces, inputs: InputAnswers
    ) {
        self.environment = environment
        self.launcher = launcher
        self.http = http
        self.secrets = secrets
        self.redactor = redactor
        self.signIn = signIn
        self.identity = identity
        self.limits = limits
        self.places = places
        self.inputs = inputs
    }

    /// The variables that every program gets: what it needs to find itself and the person's language, and nothing that opens
    /// anything.
    private static let inherited: Set<String> = [
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
    ]

    var ownVariables: [String: String] {
        environment.filter { Self.inherited.contains($0.key) || $0.key.hasPrefix("LC_") }
    }

    /// The value of a variable in an entry.
    private func value(_ variable: TextTemplate.Variable, of server: ConfiguredServer, field: String) async throws
        -> String
    {
        let name = PlainText.escape(server.name).quotedForMessage
        switch variable.source {
        case .workspace: return server.folder
        case .workspaceName: return PathParts(server.folder).name
        case .separator: return "/"
        case .input:
            let shown = PlainText.escape(variable.name)
            guard let value = inputs[variable.name, server] else {
                throw ServerError(
                    .missingInput,
                    "the MCP server \(name) needs '\(shown)' in \(PlainText.escape(field)), which you are asked for by 'martlet mcp test \(server.name)'"
                )
            }
            if server.entry.inputs[variable.name]?.isPassword == true { redactor.learn(Secret(value)) }
            return value
        case .home: return environment["HOME"] ?? "/"
        case .environment:
            if let value = environment[variable.name], !value.isEmpty || variable.defaultValue == nil {
                if SecretNames.isSecret(variable.name) { redactor.learn(Secret(value)) }
                return value
            }
            if let value = variable.defaultValue { return value }
            throw ServerError(
                .missingVariable,
                "the MCP server \(name) needs the variable \(PlainText.escape(variable.name)) in \(PlainText.escape(field)), which is not set; set it, or write ${\(PlainText.escape(variable.name)):-default}"
            )
        case .secret:
            guard let secret = try await secrets?.secret(named: SecretName(variable.name)) else {
                let shown = PlainText.escape(variable.name)
                throw ServerError(
                    .missingVariable,
                    "the MCP server \(name) needs the secret \(shown) in \(PlainText.escape(field)), which is not stored; 'martlet auth secret set \(shown)' stores it"
                )
            }
            redactor.learn(secret)
            return secret.withText { $0 }
        case .foreign:
            throw ServerError(
                .badEntry,
                "the MCP server \(name) wants ${\(PlainText.escape(variable.name))} in \(PlainText.escape(field)), which only another program can fill in"
            )
        }
    }

    func filled(_ text: String, _ field: String, of server: ConfiguredServer) async throws -> String {
        try await TextTemplate(text).filled { try await value($0, of: server, field: field) }
    }

    private func filled(_ texts: [String: String], _ field: String, of server: ConfiguredServer) async throws
        -> [String: String]
    {
        var found: [String: String] = [:]
        for (name, text) in texts { found[name] = try await filled(text, "\(field).\(name)", of: server) }
        return found
    }

    /// The program of a server, with everything filled in.
    func program(of server: ConfiguredServer, _ command: String, _ arguments: [String]) async throws -> MCPProgram {
        var words: [String] = []
        for (index, argument) in arguments.enumerated() {
            words.append(try await filled(argument, "args.\(index)", of: server))
        }
        let given = try await filled(server.entry.environment, "env", of: server)
        let folder = try await server.entry.folder.asyncMap { try await filled($0, "cwd", of: server) }
        let start = Command(
            try await filled(command, "command", of: server), words,
            environment: CommandEnvironment(ownVariables.merging(given) { $1 }),
            workingDirectory: AbsolutePath.joined(folder ?? ".", in: server.folder))
        var program = MCPProgram(start)
        program.limits.message = limits.message.bytes
        return program
    }

    /// The address of a server, with everything filled in.
    func address(of server: ConfiguredServer, _ url: String) async throws -> MCPServerAddress {
        // What a platform says is not the person's: variables in it would give their values away.
        let text = server.platform == nil ? try await filled(url, "url", of: server) : url
        let parsed: HTTPURL
        do { parsed = try HTTPURL(text) } catch {
            throw ServerError(
                .badEntry,
                "the address of the MCP server \(PlainText.escape(server.name).quotedForMessage) cannot be used: \(AnyFailure(error).message)"
            )
        }
        var headers: HTTPHeaders = [:]
        for (name, value) in try await filled(server.entry.headers, "headers", of: server) { headers[name] = value }
        var address = MCPServerAddress(parsed, headers: headers)
        address.limits.message = limits.message.bytes
        return address
    }
}

extension Optional {
    fileprivate func asyncMap<Value>(_ change: (Wrapped) async throws -> Value) async rethrows -> Value? {
        switch self {
        case .none: nil
        case .some(let wrapped): try await change(wrapped)
        }
    }
}
