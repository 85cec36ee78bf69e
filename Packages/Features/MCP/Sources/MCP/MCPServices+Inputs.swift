import Capabilities
import JSON
import MCPServers
import Registry

extension MCPServices {
    /// Checks that all is known that a server asks the person for, or asks now.
    ///
    /// - Parameter again: whether what is known is asked for too.
    func fill(
        _ server: ConfiguredServer, asking interaction: any Interaction, again: Bool = false,
        telling tell: (String) -> Void
    ) async throws {
        if !again, pool.known(server)?.status == .ok { return }
        for (name, input) in server.entry.inputs.sorted(by: { $0.key < $1.key }) {
            if !again {
                if pool.inputs[name, server] != nil { continue }
                if let stored = try await stored(name, input, of: server) {
                    pool.inputs[name, server] = stored
                    continue
                }
            }
            let value = try await ask(for: name, input, of: server, interaction)
            pool.inputs[name, server] = value
            do { try await store(value, name, input, of: server) } catch let error where !(error is CancellationError) {
                tell(
                    "'\(PlainText.escape(name))' of the MCP server \(server.name) is known until this program ends, since it could not be stored: \(AnyFailure(error).message)"
                )
            }
        }
        if again { await pool.end(server) }
    }

    /// Forgets what the person answered for a server.
    func forgetInputs(of server: ConfiguredServer, telling tell: (String) -> Void) async throws {
        for (name, input) in server.entry.inputs {
            pool.inputs[name, server] = nil
            guard input.isPassword else { continue }
            let secret = ServerInput.secretName(name, of: server, key: key(server))
            do { try await secrets?.remove(named: secret) } catch let error where !(error is CancellationError) {
                tell("the vault still has '\(secret)', which could not be removed: \(AnyFailure(error).message)")
            }
        }
    }

    private var secrets: (any SecretStore)? { registry?.optional((any SecretStore).self) }

    private func stored(_ name: String, _ input: ServerInput, of server: ConfiguredServer) async throws -> String? {
        guard input.isPassword else {
            let known = try await records.answer(name, of: key(server))
            // The choices may be others by now.
            return known.flatMap { input.options?.contains($0) == false ? nil : $0 }
        }
        do {
            return try await secrets?.secret(named: ServerInput.secretName(name, of: server, key: key(server)))?
                .withText { $0 }
        } catch let error where !(error is CancellationError) {
            throw missing(name, input, of: server, "the vault does not give it: \(AnyFailure(error).message)")
        }
    }

    private func store(_ value: String, _ name: String, _ input: ServerInput, of server: ConfiguredServer) async throws
    {
        guard input.isPassword else {
            return try await records.keep(value, for: name, of: key(server), at: surroundings.now())
        }
        guard let secrets else {
            throw ServerError(.missingInput, "this build has no vault")
        }
        try await secrets.store(Secret(value), named: ServerInput.secretName(name, of: server, key: key(server)))
    }

    private func ask(
        for name: String, _ input: ServerInput, of server: ConfiguredServer, _ interaction: any Interaction
    ) async throws -> String {
        let id = "mcp.input.\(server.name).\(name)"
        let prompt =
            "The MCP server \(server.name) asks for '\(PlainText.escape(name))': \(PlainText.escape(input.prompt, limit: 300))"
        do {
            if let options = input.options {
                let shown = options.map { PlainText.escape($0, limit: 100) }
                return options[try await interaction.choice(id, prompt, among: shown)]
            }
            if input.isPassword {
                let secret = try await interaction.secret(id, prompt)
                surroundings.redactor.learn(secret)
                return secret.withText { $0 }
            }
            // What a server gets is the person's decision, which a host must not make for them.
            let question = Question(id, prompt, .text(default: input.defaultValue), for: .decision)
            guard case .text(let text) = try await interaction.ask(question) else {
                throw InteractionError.wrongKind(id)
            }
            return text.isEmpty ? input.defaultValue ?? "" : text
        } catch let error as InteractionError {
            if error.isUnfit { throw error }
            throw missing(
                name, input, of: server,
                "nobody has answered; on a terminal 'martlet mcp test \(server.name)' asks, and --answers can give it as '\(id)'"
            )
        }
    }

    private func missing(
        _ name: String, _ input: ServerInput, of server: ConfiguredServer, _ rest: String
    ) -> ServerError {
        let prompt = PlainText.escape(input.prompt, limit: 100)
        return ServerError(
            .missingInput,
            "the MCP server \(server.name.quotedForMessage) needs '\(PlainText.escape(name))' (\(prompt)), and \(rest)")
    }
}
