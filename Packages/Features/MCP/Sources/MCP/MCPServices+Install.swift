import Capabilities
import JSON
import MCPServers
import Registry

extension MCPServices {
    /// Makes a server ready to be started: the person has agreed to it, its program is there, and what it asks for is known.
    ///
    /// - Parameter asksAgain: whether what the person has declined before is asked about again.
    func prepare(
        _ server: ConfiguredServer, asking interaction: any Interaction, asksAgain: Bool = true,
        telling tell: (String) -> Void
    ) async throws {
        try await agree(to: server, asking: interaction, telling: tell)
        try await provide(server, asking: interaction, asksAgain: asksAgain, telling: tell)
        try await fill(server, asking: interaction, telling: tell)
    }

    /// Checks that the program of a server is there. If it is not and the entry says how it is installed, the person is
    /// asked, and it is.
    ///
    /// - Parameter isSetUp: whether commands know the server by its name.
    func provide(
        _ server: ConfiguredServer, asking interaction: any Interaction, asksAgain: Bool = true, isSetUp: Bool = true,
        telling tell: (String) -> Void
    ) async throws {
        guard pool.known(server)?.status != .ok else { return }
        let surroundings = serverSurroundings(for: server)
        guard let program = await surroundings.missingProgram(of: server),
            // Of what nobody can install, the start says that it is missing.
            let install = try await command(for: program, of: server)
        else { return }
        guard install.isOfEntry else {
            let way = isSetUp ? "; 'martlet mcp install \(server.name)' shows that and runs it" : ""
            throw missing(
                program, of: server,
                "if it is the Python package of that name, '\(PlainText.escape(install.line))' installs it\(way)")
        }
        guard asksAgain || !isDeclined(server) else {
            throw missing(program, of: server, "you did not let it be installed")
        }
        try await perform(install, of: program, asking: interaction, telling: tell)
    }

    /// How a missing program is installed; nil if that is not known.
    func command(for program: String, of server: ConfiguredServer) async throws -> ServerInstall? {
        do { return try await serverSurroundings(for: server).install(of: server) } catch let error
            where !(error is CancellationError)
        {
            throw missing(program, of: server, "its 'install' cannot be used: \(AnyFailure(error).message)")
        }
    }

    /// Runs the command that installs the program of a server, after the person's yes.
    func perform(
        _ install: ServerInstall, of program: String, asking interaction: any Interaction,
        telling tell: (String) -> Void
    ) async throws {
        let server = install.server
        do throws(AccessFailure) { try Caller.grantHere.check(.program(install.words[0])) } catch {
            throw missing(program, of: server, "\(error.rule), which would install it; \(error.mend)")
        }
        try await ask(about: install, of: program, interaction, telling: tell)
        let context = ActionContext.current
        let activity = "installing \(server.name)"
        context?.progress(activity)
        let log = log(of: server)
        log.write("martlet", "installing: \(install.line)")
        let entry = AuditEntry(
            actor: Caller.current?.isPerson == true ? "person" : "caller", action: "server.install",
            source: server.name, subject: install.words[0],
            decision: Caller.current?.isPerson == true ? "agreed to by the person" : "agreed to for the caller",
            detail: ["input": .string(install.line)])
        try await audited(
            entry, orSay: "\(PlainText.escape(install.line, limit: 300)) was not run", telling: tell
        ) {
            "done"
        } _: {
            try await serverSurroundings(for: server).run(install) { line in
                log.write("install", line, isUrgent: false)
                context?.progress("\(activity): \(PlainText.escape(line, limit: 200))")
            }
        }
    }

    private func ask(
        about install: ServerInstall, of program: String, _ interaction: any Interaction, telling tell: (String) -> Void
    ) async throws {
        let server = install.server
        // The whole of it, since a yes is for the whole.
        let line = PlainText.escape(install.line)
        if interaction.canAsk {
            let shown = PlainText.escape(program).quotedForMessage
            let whose =
                install.isOfEntry
                ? "Its entry (\(PlainText.escape(server.place))) says how to install it:"
                : "Its entry does not say how to install it. This installs the Python package of that name from the package index, where anybody may have published it:"
            tell("The program \(shown) of the MCP server \(server.name) is not installed. \(whose)\n  \(line)")
        }
        do {
            let isAgreed = try await interaction.confirm(
                "mcp.install.\(server.name)", "Run this command with your rights?")
            remember(isDeclined: !isAgreed, server)
            if !isAgreed { throw missing(program, of: server, "you did not let '\(line)' be run") }
        } catch let error as InteractionError {
            if error.isUnfit { throw error }
            remember(isDeclined: interaction.canAsk, server)
            throw missing(
                program, of: server,
                "'\(line)' would install it, and nobody has agreed to that; on a terminal 'martlet mcp install \(server.name)' asks, and --answers can give the yes as 'mcp.install.\(server.name)'"
            )
        }
    }

    private func missing(_ program: String, of server: ConfiguredServer, _ rest: String) -> ServerError {
        ServerError(
            .notInstalled,
            "the program \(PlainText.escape(program).quotedForMessage) of the MCP server \(PlainText.escape(server.name).quotedForMessage) is not installed; \(rest)"
        )
    }
}

/// Installs the program of a server by hand.
struct InstallAction {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [install] }

    private var install: Action {
        Action(
            "mcp.install", "Install the program of an MCP server", .writes,
            .argument("name", "Name of the server", completion: ServerCompletion.names(services))
        ) { [services] context, name in
            let server = try await services.server(named: name, telling: context.notice)
            guard server.entry.isProgram else {
                throw ServerError(
                    .badEntry, "the MCP server \(name) is reached by HTTP, so that there is nothing to install")
            }
            try await services.agree(to: server, asking: context.interaction, telling: context.notice)
            let surroundings = services.serverSurroundings(for: server)
            guard let program = await surroundings.missingProgram(of: server) else {
                context.notice("the program of \(name) is there already")
                return InstallOutcome(server: name, command: nil, duration: .zero)
            }
            guard let install = try await services.command(for: program, of: server) else {
                throw ServerError(
                    .notInstalled,
                    "the program \(PlainText.escape(program).quotedForMessage) of the MCP server \(name) is not installed, and its entry does not say how it is; add the command as a list of words: \"install\": [\"uv\", \"tool\", \"install\", \"NAME\"]"
                )
            }
            let stopwatch = Stopwatch(context.host.clock)
            try await context.interruptible {
                try await services.perform(
                    install, of: program, asking: context.interaction, telling: context.notice)
            }
            return InstallOutcome(server: name, command: install.line, duration: stopwatch.time())
        }
        .byName()
        .sending()
        .details(
            "It runs the command that 'install' in the server's entry lists, without a shell, with the variables of the "
                + "server and your rights, after it has shown it to you. Without such a command, and if the program has the "
                + "name of a Python package with a server, it offers uv or pipx for that. What the command writes is in "
                + "'martlet mcp logs'; it is stopped after mcp.install-limit."
        )
        .example("martlet mcp install git", "Show the command, ask, and run it")
        .question("mcp.agree.SERVER", "Whether to start a server that comes with the project: true or false")
        .question("mcp.install.SERVER", "Whether to run the command: true or false")
    }
}

/// What was installed.
struct InstallOutcome: Record {
    let server: String
    let command: String?
    let duration: Duration

    static let fields: [Field<InstallOutcome>] = [
        Field("server", "Name of the server", .name) { $0.server },
        Field("command", "What was run; nothing if the program was there") { $0.command.map { PlainText.escape($0) } },
        Field("took", "How long it took") { $0.duration },
    ]
}
