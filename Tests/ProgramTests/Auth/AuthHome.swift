import Cryptography
import FileKit
import HTTPTesting
import JSON
import KamiwazaTesting
import Testing

/// A home directory with a platform to sign in to.
struct AuthHome: Sendable {
    static let password = "pä55 wörd+/=%"

    let path: String
    let server: KamiwazaServer
    /// The environment of every command.
    var variables: [String: String] = [:]

    /// The directory of Martlet's files.
    var data: String { "\(path)/martlet" }

    /// Runs a platform and provides a home during `body`.
    static func with(
        _ change: (inout KamiwazaSetup) throws -> Void = { _ in }, isolation: isolated (any Actor)? = #isolation,
        _ body: (inout AuthHome) async throws -> Void
    ) async throws {
        var setup = KamiwazaSetup()
        setup.accounts = [KamiwazaSetup.Account("ada", password: password)]
        try change(&setup)
        try await KamiwazaServer.run(setup) { server in
            try await withHome { path in
                var home = AuthHome(path: path, server: server)
                home.variables["MARTLET_HOME"] = home.data
                // A test leaves nothing in the kernel's keyring.
                try write("{auth: {'keep-unlocked': '0s'}}", to: "\(home.data)/config/config.json")
                try await body(&home)
            }
        }
    }

    static func selfSigned(_ setup: inout KamiwazaSetup) throws {
        setup.tls = try TLSServerContext(identity: TestCertificates.shared().selfSigned)
    }

    /// Runs the program with these space-separated arguments.
    func martlet(_ words: String, input: String = "", adding more: [String: String] = [:]) async throws -> Program.Run {
        try await Program.martlet.run(
            words.split(separator: " ").map(String.init), home: path, adding: variables.merging(more) { $1 },
            input: input)
    }

    /// Runs a shell line in which the program is `$M`, or `martlet` as a user types it.
    func shell(_ script: String, input: String = "", adding more: [String: String] = [:]) async throws -> Program.Run {
        let folder = Program.martlet.path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        return try await Program.martlet.shell(
            "PATH=\(folder):$PATH; \(script)", home: path, adding: variables.merging(more) { $1 }, input: input)
    }

    /// Adds the server and signs Ada in.
    func signIn(_ words: String = "", location: SourceLocation = #_sourceLocation) async throws {
        let added = try await martlet("auth server add lab \(server.origin)")
        #expect(added.code == 0, "\(added.errors)", sourceLocation: location)
        let login = try await martlet(
            "auth login lab --user ada --password-stdin \(words)", input: "\(Self.password)\n")
        #expect(login.code == 0, "\(login.errors)", sourceLocation: location)
    }

    /// The session in the vault.
    func session() async throws -> JSON {
        try await martlet("auth secret get server.lab.session").output.json()
    }

    /// The text of every file below the folder.
    static func files(below folder: String) throws -> [(path: String, bytes: [UInt8])] {
        var found: [(path: String, bytes: [UInt8])] = []
        for entry in try Files.list(folder) {
            let path = "\(folder)/\(entry.name)"
            switch entry.kind {
            case .directory: found += try files(below: path)
            case .regular: found.append((path, try Files.read(path, limit: 64 << 20)))
            default: continue
            }
        }
        return found
    }
}
