import Capabilities
import FileKit
import Glibc
import HTTPServer
import LoopKit
import MCPKit
import RPCKit
import Registry

/// `martlet mcp serve`
struct ServeAction: Sendable {
    let settings: ServeSettings

    /// What the person gives the hosts of one run.
    struct Options: Sendable {
        var exposes: [Exposure]
        var allows: [Allowance]
        var folders: [OwnPath]
    }

    private static let listening = EventKind<(url: String, token: String)>(
        "listening", "The server is ready, over HTTP",
        [
            Field("url", "The address for MCP hosts") { $0.url },
            Field("token_file", "The file with the token that they send as Authorization: Bearer") { $0.token },
        ])

    /// Where hosts find it.
    private static let path = "/mcp"
    /// How long requests may take to end when the server ends.
    private static let drain = Duration.seconds(2)

    var action: Action {
        Action(
            "mcp.serve", "Serve MCP hosts until the input ends, or over HTTP until interrupted", .writes,
            .flag("http", "Serve over HTTP on this machine, and not over the standard input and output"),
            .argument("port", "With --http: the port; a free one if it is not given", as: Int?.self),
            .option("expose", "What hosts see: actions alone if it is not given", as: [Exposure].self),
            .option(
                "allow", "What hosts may do beyond the reading actions that are offered to models",
                as: [Allowance].self),
            .option("folder", "A folder whose files hosts may open", as: [OwnPath].self),
            .option(
                "token-file",
                "With --http: the file of the token, made if it is missing; a new one for each run by default",
                as: OwnPath?.self)
        ) { context, isHTTP, port, exposes, allows, folders, tokenFile in
            let options = Options(exposes: exposes, allows: allows, folders: folders)
            if isHTTP {
                try await serveHTTP(options, port ?? 0, tokenFile, context)
            } else {
                guard port == nil, tokenFile == nil else {
                    throw ServeFailure(.options, "a port and --token-file need --http")
                }
                try await serveStreams(options, context)
            }
            return Nothing()
        }
        .streaming([Self.listening.declaration])
        .byName()
        .details(
            """
            A host, such as a desktop client or a coding agent, starts this command and speaks the Model Context Protocol \
            with it over the standard input and output, in every revision from 2024-11-05 to 2026-07-28.

            Its tools are the actions that only read and are offered to models. '--allow reads' adds all actions that read, \
            'writes' and 'destroys' those that change something, 'sends' those that connect to the servers that are set up \
            or cost something; '--folder' opens the files below a folder. '--expose conversations' and '--expose screens' \
            offer those as resources whose changes are told; with '--expose' only what is named is seen. \
            A host that knows tasks gets one for a call that takes long.

            A host's user is asked for values, but never for approvals, trust or secrets; with '--allow approves' also for \
            approvals, and then for what is destroyed. Over HTTP a host sends the token of the file as 'Authorization: \
            Bearer'. Removing the file, or replacing the token in it, revokes the token.
            """
        )
        .example("martlet mcp serve", "As the command in the configuration of a host")
        .example("martlet mcp serve --expose actions --expose screens --allow reads", "Also offer screens")
        .example(
            "martlet mcp serve --http 8765 --token-file ~/.config/martlet/mcp.token",
            "Over HTTP, with a token that stays")
    }

    // MARK: The standard streams

    private func serveStreams(_ options: Options, _ context: ActionContext) async throws {
        // Only the person who starts the program has its streams.
        guard context.caller.isPerson else {
            throw ServeFailure(.noHost, "only a person's own command serves over its streams; use --http")
        }
        guard isatty(0) == 0 else {
            throw ServeFailure(
                .noHost,
                "a terminal does not speak the protocol; put 'martlet mcp serve' into the configuration of a host, or use "
                    + "--http")
        }
        let rights = try rights(options, context)
        let limits = GrantLimits()
        // What the host has started does nothing more once it is gone.
        defer { limits.withdraw() }
        let grant = rights.grant(of: Self.host, limits)
        let service = ServeService(context, rights, settings)
        let server = MCPServer(service, limits: settings.limits)
        // What the command prints as its result must not follow the last message.
        defer { DescriptorChannel.closeStandardOutput() }
        try await Self.run(beside: [{ await service.run() }]) {
            do {
                try await server.serveStandardStreams(on: EventLoop(), as: Principal(Self.host, grant: grant))
            } catch let failure as RPCFailure where failure.kind == .closed {
                // A host that no longer reads has gone, which is its way to end this.
            }
        }
    }

    private static let host = "MCP host"

    // MARK: HTTP

    private func serveHTTP(
        _ options: Options, _ port: Int, _ tokenFile: OwnPath?, _ context: ActionContext
    ) async throws {
        guard let port = UInt16(exactly: port) else {
            throw ServeFailure(
                .options, "\(port) is not a valid port; choose one from 1 to 65535, or 0 for any free port")
        }
        let rights = try rights(options, context)
        let given = try tokenFile.map { context.host.locations.absolute(try context.text(of: $0)) }
        let path = given ?? "\(context.host.locations.state)/mcp-serve-\(getpid()).token"
        // One that was left by a process of the same number is nobody's.
        if given == nil, Files.exists(path) { try Files.remove(path) }
        let token = try TokenFile(path, context.host.redactor, telling: context.notice) {
            rights.grant(of: Self.host, $0)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await serve(token, rights, port, context)) } catch { result = .failure(error) }
        if given == nil, Files.exists(path) { try Files.remove(path) }
        try result.get()
    }

    private func serve(_ token: TokenFile, _ rights: ServeRights, _ port: UInt16, _ context: ActionContext) async throws
    {
        let service = ServeService(context, rights, settings) { try await token.revoked($0) }
        let http = MCPHTTPServer(MCPServer(service, limits: settings.limits), path: Self.path)
        var configuration = ServerConfiguration()
        configuration.addresses = [.loopback(port: port)]
        configuration.limits.drain = Self.drain
        configuration.tracer = context.tracer
        let started = Promise<[BoundAddress]>()
        let tell: @Sendable () async throws -> Void = {
            guard let address = try await started.value().first else { return }
            let url = "\(address)\(Self.path)"
            try await context.emit(
                Self.listening.event(
                    (url, token.path), text: "listening at \(url)\nthe token is in \(PlainText.escape(token.path))\n"))
        }
        try await Self.run(
            beside: [tell, { await service.run() }, { await token.watch(on: context.host.clock) }]
        ) { [configuration] in
            try await http.run(configuration, authenticate: { token.principal($0) }, { started.settle($0) })
        }
    }

    // MARK: Both

    private func rights(_ options: Options, _ context: ActionContext) throws -> ServeRights {
        try ServeRights(
            options.exposes, options.allows, folders: try options.folders.map { try context.text(of: $0) },
            in: context.host)
    }

    /// Runs a server with its helpers, which end with it. The server ends with a helper that fails.
    private static func run(
        beside helpers: [@Sendable () async throws -> Void], _ server: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await server()
                return true
            }
            for helper in helpers {
                group.addTask {
                    try await helper()
                    return false
                }
            }
            defer { group.cancelAll() }
            while let isOver = try await group.next(), !isOver {}
        }
    }
}
