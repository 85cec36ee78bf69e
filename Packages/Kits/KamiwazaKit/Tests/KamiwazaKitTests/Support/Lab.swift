import Capabilities
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import KamiwazaTesting
import Testing

/// Helpers that the tests share.
enum Lab {
    static let password = Secret("correct horse")

    /// Lends a client and closes it afterwards.
    static func client<Result>(
        _ configuration: HTTPClient.Configuration = HTTPClient.Configuration.standalone,
        isolation: isolated (any Actor)? = #isolation, _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        let client = HTTPClient(configuration)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        await client.close()
        return try result.get()
    }

    /// Lends a platform and its API, without a signed-in user.
    static func platform<Result: Sendable>(
        _ setup: KamiwazaSetup = KamiwazaSetup(), _ configuration: HTTPClient.Configuration = .standalone,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (KamiwazaServer, KamiwazaAPI) async throws -> Result
    ) async throws -> Result {
        try await KamiwazaServer.run(setup) { server in
            try await client(configuration) { client in
                try await body(server, KamiwazaAPI(try HTTPURL(server.api), client: client))
            }
        }
    }

    /// Lends the same with Ada signed in, and her tokens.
    static func session<Result: Sendable>(
        _ setup: KamiwazaSetup = KamiwazaSetup(), _ configuration: HTTPClient.Configuration = .standalone,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (KamiwazaServer, KamiwazaAPI, KamiwazaTokens) async throws -> Result
    ) async throws -> Result {
        try await platform(setup, configuration) { server, api in
            var api = api
            let tokens = try await api.signIn(user: "ada", password: password)
            api.credential = .bearer(tokens.accessToken)
            return try await body(server, api, tokens)
        }
    }

    /// Returns the error that the body throws, or nil with a recorded issue.
    static func failure(
        isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async -> KamiwazaError? {
        do {
            try await body()
            Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        } catch let error as KamiwazaError {
            return error
        } catch {
            Issue.record("another error was thrown: \(error)", sourceLocation: sourceLocation)
        }
        return nil
    }
}

extension KamiwazaError {
    /// Every text of the error that may be printed anywhere.
    var everything: String {
        var texts = ["\(self)", String(reflecting: self), report.text(), message, code]
        if let cause { texts += ["\(cause)", String(reflecting: cause)] }
        return texts.joined(separator: "\n")
    }
}

extension Secret {
    var plain: String { withText { $0 } }
}
