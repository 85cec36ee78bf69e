import Capabilities
import HTTPClient
import JSON
import KamiwazaTesting

/// A platform and a desk whose clocks go alike, with the platform set up as `lab`.
enum Lab {
    static let password = "correct horse"

    static func run<Result: Sendable>(
        _ change: (inout KamiwazaSetup) -> Void = { _ in }, isolation: isolated (any Actor)? = #isolation,
        _ body: (KamiwazaServer, inout Desk) async throws -> Result
    ) async throws -> Result {
        let time = MovableTime()
        var setup = KamiwazaSetup()
        setup.now = time.read
        change(&setup)
        return try await KamiwazaServer.run(setup) { server in
            try await Desk.run(time: time) { desk in
                try await desk.run("auth.server.add", ["name": "lab", "address": .string(server.origin)])
                return try await body(server, &desk)
            }
        }
    }

    /// The same with Ada signed in.
    static func signedIn<Result: Sendable>(
        remember: Bool = false, _ change: (inout KamiwazaSetup) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (KamiwazaServer, inout Desk) async throws -> Result
    ) async throws -> Result {
        try await run(change) { server, desk in
            try await desk.signIn(remember: remember)
            server.forgetRequests()
            return try await body(server, &desk)
        }
    }
}

extension Desk {
    @discardableResult
    func signIn(remember: Bool = false, to server: String = "lab") async throws -> Done {
        try await run(
            "auth.login",
            [
                "server": .string(server), "user": "ada", "password": .string(Lab.password),
                "remember": .bool(remember),
            ])
    }

    /// The session that is kept for a profile, as it is in the vault.
    func session(of name: String = "lab") async throws -> JSON? {
        try await open { desk in
            let name = SecretName("server.\(name).session")
            return try await desk.secrets.secret(named: name).map { try JSON(parsing: $0.plain) }
        }
    }
}

extension KamiwazaServer {
    /// The requests as `METHOD /path`, in their order.
    var lines: [String] { requests.map { "\($0.method) \($0.path)" } }
}
