import AuthVault
import Capabilities
import FileKit
import JSON
import Registry

/// The actions for secrets.
struct SecretActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [list, get, set, remove, passphrase, lock, importing] }

    /// Completes the names of secrets, with their sources. The secrets themselves are never offered.
    private func offered(where isWanted: @escaping @Sendable (SecretListing) -> Bool) -> Completion {
        .dynamic { [services] _, _, _ in
            services.layered.offered().filter(isWanted).map { Completion.Candidate($0.name.text, $0.source.name) }
        }
    }

    /// Those that can be removed.
    private var stored: Completion {
        offered { [services] in $0.source == services.layered.kept.source }
    }

    /// Those that can be replaced, and those that a provider of models would use.
    private var possible: Completion {
        .dynamic { [services] registry, _, _ in
            services.layered.offered().map { Completion.Candidate($0.name.text, $0.source.name) }
                + registry.all((any ModelProvider).self).map { Completion.Candidate($0.id, $0.name) }
        }
    }

    private var list: Action {
        Action("auth.secret.list", "List the secret names and where each comes from", .reads) { context in
            context.rows(
                try await services.layered.listing().map(SecretRow.init),
                orSay: "no secret is stored; add one with 'martlet auth secret set NAME'")
        }
        .asDefault()
    }

    private var get: Action {
        Action(
            "auth.secret.get", "Print a secret", .reads,
            .argument("name", "Name of the secret", as: SecretName.self, completion: offered { _ in true })
        ) { context, name in
            guard let secret = try await services.secrets.secret(named: name) else {
                throw AuthError.secretNotFound(name.text, known: try await services.secrets.names().map(\.text))
            }
            return secret.withText { $0 }
        }
        .example("martlet auth secret get openai | wc -c", "Count its bytes without showing it")
    }

    private var set: Action {
        Action(
            "auth.secret.set", "Store a secret", .writes,
            .argument("name", "Name of the secret, such as openai", as: SecretName.self, completion: possible),
            .secret("value", "The secret") as Parameter<Secret>
        ) { context, name, value in
            try await services.secrets.store(value, named: name)
            let place = services.layered.kept is Vault ? "the encrypted vault" : "the desktop keyring"
            context.notice("the secret \(PlainText.escape(name.text)) is stored in \(place)")
            return Nothing()
        }
        .byName()
        .details(
            "On a terminal it asks for the secret without showing what you type. A secret is never read from a command "
                + "line argument, because every user of the machine can see those."
        )
        .example("martlet auth secret set openai", "Ask for the secret")
        .example(
            "pass show openai | martlet auth secret set openai --value-stdin", "Read the secret from another program")
    }

    private var remove: Action {
        Action(
            "auth.secret.remove", "Delete a secret", .destroys,
            .argument("name", "Name of the secret", as: SecretName.self, completion: stored)
        ) { context, name in
            try await requireKept(name)
            try await services.secrets.remove(named: name)
            return Nothing()
        }
        .byName()
        .losing { arguments, _ in
            let name = SecretName(arguments["name"]?.string ?? "")
            try await requireKept(name)
            return "Delete the secret \(PlainText.escape(name.text))"
        }
    }

    /// Only stored secrets can be removed; environment variables cannot.
    private func requireKept(_ name: SecretName) async throws {
        guard try await services.layered.kept.secret(named: name) != nil else {
            throw AuthError.secretNotFound(name.text, known: try await services.layered.kept.names().map(\.text))
        }
    }

    private var passphrase: Action {
        Action(
            "auth.secret.passphrase", "Change or remove the passphrase of the vault", .writes,
            .flag("none", "Use a key file instead of a passphrase"),
            .secret("new", "The new passphrase") as Parameter<Secret?>
        ) { context, none, new in
            if none {
                try await services.vault.changeKey(to: .keyFile)
            } else if let new {
                try await services.vault.changeKey(to: .passphrase(new))
            } else {
                try await services.vault.changeKey(to: .ask)
            }
            return Nothing()
        }
        .byName()
        .question("auth.passphrase", "The passphrase of the vault; any command that opens the vault may ask")
        .question("auth.new-passphrase", "A new passphrase; leave it empty to use a key file")
        .question("auth.new-passphrase-again", "The new passphrase again")
    }

    private var lock: Action {
        Action("auth.secret.lock", "Lock the vault, so that the next use asks for its passphrase", .writes) {
            context in
            try services.vault.lock()
            switch try services.vault.status().form {
            case .passphrase: context.notice("the vault is locked; the next use asks for its passphrase")
            case .keyFile: context.notice("the vault has a key file and no passphrase, so it cannot be locked")
            case .none: context.notice("there is no vault yet; storing the first secret creates it")
            }
            return Nothing()
        }
    }

    private var importing: Action {
        Action(
            "auth.secret.import", "Import secrets from a file of KEY=value lines or a JSON object", .writes,
            .argument("file", "File to import, or - for standard input", as: ReadPath.self)
        ) { context, file in
            let text =
                file.isStandardInput && context.caller.isPerson
                ? try Self.standardInput() : try context.path(file).read(limit: Self.largestImport)
            let found = SecretImport(parsing: text)
            guard found.problems.isEmpty else {
                let lines = found.problems.map { "\(file.shown):\($0.line): \($0.message)" }
                throw AuthError.nothingToImport(
                    (lines + ["  nothing was imported; correct the file and import it again"]).joined(separator: "\n"))
            }
            for (name, secret) in found.secrets {
                try context.caller.grant.check(.secret(name))
                context.host.redactor.learn(secret)
            }
            try await services.keep(found.secrets)
            return found.secrets.map { ImportedRow(name: $0.name.text) }
        }
        .byName()
        .example("martlet auth secret import .env", "Import OPENAI_API_KEY as the secret openai")
    }

    private static let largestImport = 16 << 20

    /// Reads standard input to its end. It may be a pipe, unlike files that are read by name.
    private static func standardInput() throws -> [UInt8] {
        let input = FileDescriptor(owning: 0, path: "standard input")
        var bytes: [UInt8] = []
        // Input over the limit is rejected by the parser.
        while bytes.count <= largestImport {
            let more = try input.read(upTo: 1 << 16)
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }
}

extension AuthServices {
    /// Stores several secrets, in one step if the store supports that.
    func keep(_ found: [(name: SecretName, secret: Secret)]) async throws {
        if layered.kept is Vault { return try await vault.storeAll(found) }
        for (name, secret) in found { try await secrets.store(secret, named: name) }
    }
}

/// A secret in a list; never the secret itself.
struct SecretRow: Record {
    private let listing: SecretListing

    init(_ listing: SecretListing) {
        self.listing = listing
    }

    static let fields: [Field<SecretRow>] = [
        Field("name", "Name of the secret", .name) { $0.listing.name.text },
        Field("source", "Where the secret comes from") { $0.listing.source.name },
        Field("changed", "When it was last stored, if known") { $0.listing.changed },
        Field("overrides_stored", "Whether it hides a stored secret of the same name") { $0.listing.isShadowing },
    ]
}

struct ImportedRow: Record {
    let name: String

    static let fields: [Field<ImportedRow>] = [Field("name", "Name of the stored secret", .name) { $0.name }]
}
