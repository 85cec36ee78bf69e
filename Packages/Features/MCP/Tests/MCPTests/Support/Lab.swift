import Capabilities
import CoreTesting
import HTTPClient
import HostTesting
import JSON
import KamiwazaKit
import KamiwazaTesting
import ProcessKit
import Registry
import Settings
import Synchronization

@testable import MCP

/// A platform in this process, a person who is signed in to it, and servers of tools behind it.
enum Lab {
    /// Lends a platform, and a workbench with the profile `lab` that names it.
    static func run<Value: Sendable>(
        _ tools: [KamiwazaSetup.Tool] = [], list: KamiwazaSetup.ToolList = .discover,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (inout TestWorkbench, KamiwazaServer) async throws -> Value
    ) async throws -> Value {
        var setup = KamiwazaSetup()
        (setup.tools, setup.toolList) = (tools, list)
        return try await KamiwazaServer.run(setup) { platform in
            try await TestWorkbench.run([MCPFeature.self, LabSession.self]) { bench in
                bench.environment[LabSession.variable] = try await token(platform)
                bench.time = MovableTime()
                try bench.write(settings: settings(["lab": platform.origin]))
                return try await body(&bench, platform)
            }
        }
    }

    /// The settings with platforms by the names of their profiles.
    static func settings(_ platforms: [String: String], mcp: JSONObject = [:]) -> String {
        var profiles: JSONObject = [:]
        for (name, origin) in platforms.sorted(by: { $0.key < $1.key }) {
            profiles[name] = ["server": .string(origin), "kind": "kamiwaza"]
        }
        return JSON.object(["profiles": .object(profiles), "mcp": .object(mcp)]).text()
    }

    /// Signs in, and forgets what the platform has seen of it.
    static func token(_ platform: KamiwazaServer) async throws -> String {
        let client = HTTPClient(.standalone)
        let tokens = try await KamiwazaAPI(try HTTPURL(platform.api), client: client)
            .signIn(user: "ada", password: Secret("correct horse"))
        await client.close()
        platform.forgetRequests()
        return tokens.accessToken.withText { $0 }
    }

    /// How servers of the reference SDKs are reached.
    enum Way: String, CaseIterable { case http, sse }

    /// The environments with the SDKs.
    enum SDK: String, CaseIterable { case legacy = "mcp-legacy", modern = "mcp-modern" }

    private static let here = #filePath.split(separator: "/").dropLast(2)
    private static let root = "/" + here.dropLast(5).joined(separator: "/")

    /// Runs a server of tools with a reference SDK. Its origin is given to the body.
    static func sums<Value: Sendable>(
        _ sdk: SDK = .modern, _ way: Way = .http, isolation: isolated (any Actor)? = #isolation,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        var command = Command(
            "\(root)/.build/\(sdk.rawValue)/bin/python",
            ["/" + here.joined(separator: "/") + "/Servers/sdk.py", way.rawValue],
            environment: ["PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"])
        command.errors = .tail(limit: 4096)
        command.endsWithParent = true
        return try await Launcher.standalone.withChild(command, grace: .milliseconds(200)) { child in
            guard let line = try await child.output.nextLine() else {
                throw NoPort(said: String(decoding: child.errorTail, as: UTF8.self))
            }
            return try await body("http://127.0.0.1:\(String(decoding: line, as: UTF8.self))")
        }
    }

    private struct NoPort: Error { let said: String }
}

/// Signs every request that it is given, wherever it goes, with the first of the tokens in a variable; renewing takes the next.
struct LabSession: Feature {
    static let variable = "LAB_TOKENS"
    static let manifest = Manifest(
        id: "session", summary: "A session at the platform of tests", version: "1.0",
        provides: [.single((any Authenticator).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let tokens = (registry.surroundings.environment[Self.variable] ?? "").split(separator: " ").map(String.init)
        registry.provide((any Authenticator).self, Tokens(tokens))
    }

    private final class Tokens: Authenticator {
        private let tokens: Mutex<[String]>

        init(_ tokens: [String]) {
            self.tokens = Mutex(tokens)
        }

        func sign(_ request: inout RequestHead, for server: ServerID) async throws {
            guard let token = tokens.withLock({ $0.first }) else { return }
            request.headers.append((name: "Authorization", value: Secret("Bearer \(token)")))
        }

        func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool {
            tokens.withLock { tokens in
                guard tokens.count > 1 else { return false }
                tokens.removeFirst()
                return true
            }
        }
    }
}
