import AuthVault
import Capabilities
import FileKit
import JSON
import Registry

/// The secrets themselves.
struct SecretActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [list, get, set, remove, passphrase, lock, importing] }

    private var list: Action {
        Action("auth.secret.list", "List the names of the secrets, and where each comes from", .reads) { context in
            context.rows(
                try await services.layered.listing().map(SecretRow.init),
                orSay: "no secret is stored yet; 'martlet auth secret set NAME' asks for one")
        }
        .asDefault()
    }

    private var get: Action {
        Action(
            "auth.secret.get", "Print a secret", .reads, .argument("name", "Its name", as: SecretName.self)
        ) { context, name in
            guard let secret = try await services.secrets.secret(named: name) else {
                throw AuthError.secretNotFound(name.text, known: try await services.secrets.names().map(\.text))
            }
            return secret.withText { $0 }
        }
        .example("martlet auth secret get openai | wc -c", "Without seeing it")
    }

    private var set: Action {
        Action(
            "auth.secret.set", "Keep a secret", .writes,
            .argument("name", "Its name, such as openai", as: SecretName.self),
            .secret("value", "The secret") as Parameter<Secret>
        ) { context, name, value in
            try await services.secrets.store(value, named: name)
            let place = services.layered.kept is Vault ? "the encrypted vault" : "the desktop's keyring"
            context.notice("the secret \(PlainText.escape(name.text)) is kept in \(place)")
            return Nothing()
        }
        .byName()
        .details(
            "On a terminal it asks, without showing what is typed. A secret is never taken from a word of the command line, "
                + "which every user of the machine can see."
        )
        .example("martlet auth secret set openai", "Asks for it")
        .example("pass show openai | martlet auth secret set openai --value-stdin", "From another program")
    }

    private var remove: Action {
        Action(
            "auth.secret.remove", "Forget a secret", .destroys, .argument("name", "Its name", as: SecretName.self)
        ) { context, name in
            try await requireKept(name)
            try await services.secrets.remove(named: name)
            return Nothing()
        }
        .byName()
        .losing { arguments, _ in
            let name = SecretName(arguments["name"]?.string ?? "")
            try await requireKept(name)
            return "Forget the secret \(PlainText.escape(name.text))"
        }
    }

    /// Only what is kept here can be removed; variables of the environment cannot.
    private func requireKept(_ name: SecretName) async throws {
        guard try await services.layered.kept.secret(named: name) != nil else {
            throw AuthError.secretNotFound(name.text, known: try await services.layered.kept.names().map(\.text))
        }
    }

    private var passphrase: Action {
        Action(
            "auth.secret.passphrase", "Give the vault another passphrase, or none", .writes,
            .flag("none", "A key file instead of a passphrase"),
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
        .question("auth.passphrase", "The passphrase of the vault, for every command that opens it")
        .question("auth.new-passphrase", "A new passphrase; empty for a key file")
        .question("auth.new-passphrase-again", "The same passphrase again")
    }

    private var lock: Action {
        Action("auth.secret.lock", "Forget the key of the vault, so that its passphrase is asked for again", .writes) {
            context in
            try services.vault.lock()
            switch try services.vault.status().form {
            case .passphrase: context.notice("the vault is locked; its next use asks for the passphrase")
            case .keyFile: context.notice("the vault has a key file and no passphrase, so it opens as before")
            case .none: context.notice("there is no vault yet; the first secret makes it")
            }
            return Nothing()
        }
    }

    private var importing: Action {
        Action(
            "auth.secret.import", "Keep the secrets of a file: lines KEY=value, or a JSON object", .writes,
            .argument("file", "The file, or - for standard input", as: ReadPath.self)
        ) { context, file in
            let text =
                file.isStandardInput && context.caller.isPerson
                ? try Self.standardInput() : try context.path(file).read(limit: Self.largestImport)
            let found = SecretImport(parsing: text)
            guard found.problems.isEmpty else {
                let lines = found.problems.map { "\(file.shown):\($0.line): \($0.message)" }
                throw AuthError.nothingToImport(
                    (lines + ["  nothing was imported; mend the file and import it again"]).joined(separator: "\n"))
            }
            for (name, secret) in found.secrets {
                try context.caller.grant.check(.secret(name))
                services.surroundings.redactor.learn(secret)
            }
            try await services.keep(found.secrets)
            return found.secrets.map { ImportedRow(name: $0.name.text) }
        }
        .byName()
        .example("martlet auth secret import .env", "OPENAI_API_KEY becomes the secret openai")
    }

    private static let largestImport = 16 << 20

    /// Everything that comes in, which may be a pipe, as no file that is read by its name can be.
    private static func standardInput() throws -> [UInt8] {
        let input = FileDescriptor(owning: 0, path: "standard input")
        var bytes: [UInt8] = []
        // One byte too many is refused by whoever reads the text.
        while bytes.count <= largestImport {
            let more = try input.read(upTo: 1 << 16)
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }
}

extension AuthServices {
    /// Keeps several secrets, in one step where the store can.
    func keep(_ found: [(name: SecretName, secret: Secret)]) async throws {
        if layered.kept is Vault { return try await vault.storeAll(found) }
        for (name, secret) in found { try await secrets.store(secret, named: name) }
    }
}

/// A secret in a list; never the secret itself.
struct SecretRow: Record {
    let listing: SecretListing

    init(_ listing: SecretListing) {
        self.listing = listing
    }

    static let fields: [Field<SecretRow>] = [
        Field("name", "Its name", .name) { $0.listing.name.text },
        Field("source", "Where it comes from when it is used") { $0.listing.source.name },
        Field("changed", "When it was last kept, where that is known") { $0.listing.changed },
        Field("overrides_stored", "Whether one is stored, too, that is not used") { $0.listing.isShadowing },
    ]
}

struct ImportedRow: Record {
    let name: String

    static let fields: [Field<ImportedRow>] = [Field("name", "The secret that is kept now", .name) { $0.name }]
}
