import Capabilities
import CoreTesting
import HTTPClient
import HostTesting
import JSON
import KamiwazaTesting

/// A platform, set up as `lab`, and a desk that share one clock.
enum Lab {
    static let password = "correct horse"

    static func run<Result: Sendable>(
        _ change: (inout KamiwazaSetup) -> Void = { _ in }, isolation: isolated (any Actor)? = #isolation,
        _ body: (KamiwazaServer, inout TestWorkbench) async throws -> Result
    ) async throws -> Result {
        let time = MovableTime()
        var setup = KamiwazaSetup()
        setup.now = time.read
        change(&setup)
        return try await KamiwazaServer.run(setup) { server in
            try await TestWorkbench.withAuth(time: time) { bench in
                try await bench.perform("auth.server.add", ["name": "lab", "address": .string(server.origin)])
                return try await body(server, &bench)
            }
        }
    }

    /// The same with Ada signed in.
    static func signedIn<Result: Sendable>(
        remember: Bool = false, _ change: (inout KamiwazaSetup) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation,
        _ body: (KamiwazaServer, inout TestWorkbench) async throws -> Result
    ) async throws -> Result {
        try await run(change) { server, bench in
            try await bench.signIn(remember: remember)
            server.forgetRequests()
            return try await body(server, &bench)
        }
    }
}

extension TestWorkbench {
    @discardableResult
    func signIn(remember: Bool = false, to server: String = "lab") async throws -> TestResult {
        try await perform(
            "auth.login",
            [
                "server": .string(server), "user": "ada", "password": .string(Lab.password),
                "remember": .bool(remember),
            ])
    }

    /// The stored session of a profile, as it is in the vault.
    func session(of name: String = "lab") async throws -> JSON? {
        try await open { bench in
            let name = SecretName("server.\(name).session")
            return try await bench.secrets.secret(named: name).map { try JSON(parsing: $0.plain) }
        }
    }
}

extension KamiwazaServer {
    /// The requests as `METHOD /path`, in order.
    var lines: [String] { requests.map { "\($0.method) \($0.path)" } }
}
