import HTTPClient
import HTTPCore
import JSON
import ProcessKit

@testable import AuthSignIn

/// An MCP server with the sign-in server of a reference SDK, which `make setup` installs.
struct ReferenceServer: Sendable {
    /// The environments with the SDKs.
    enum SDK: String, CaseIterable {
        case legacy = "mcp-legacy"
        case modern = "mcp-modern"
    }

    let origin: String
    let client: HTTPClient

    private static let folder = #filePath.split(separator: "/").dropLast(4)
    private static let root = "/" + folder.dropLast(3).joined(separator: "/")

    /// Runs the server while `body` does.
    static func run<Value: Sendable>(
        _ sdk: SDK, _ body: @Sendable (ReferenceServer) async throws -> Value
    ) async throws -> Value {
        var command = Command(
            "\(root)/.build/\(sdk.rawValue)/bin/python",
            ["-W", "ignore", "/" + folder.joined(separator: "/") + "/Peers/protected.py"],
            environment: ["PATH": "/usr/bin:/bin"])
        command.errors = .tail(limit: 4096)
        command.endsWithParent = true
        return try await Launcher.standalone.withChild(command, grace: .milliseconds(200)) { child in
            guard let line = try await child.output.nextLine() else {
                throw SignInError(.unreachable, String(decoding: child.errorTail, as: UTF8.self))
            }
            let origin = "http://127.0.0.1:\(String(decoding: line, as: UTF8.self))"
            return try await withClient { try await body(ReferenceServer(origin: origin, client: $0)) }
        }
    }

    /// Asks for one of the addresses that are only for tests.
    @discardableResult
    func tell(_ what: String) async throws -> JSON {
        let response = try await client.send(HTTPRequest(.get, try HTTPURL("\(origin)/\(what)"))).requireSuccess()
        return try JSON(parsing: response.body)
    }

    /// What its sign-in server was asked for, in order, since the last time.
    func news(after count: Int) async throws -> [String] {
        try await tell("seen").array?.dropFirst(count).compactMap(\.string) ?? []
    }
}
