import Capabilities
import HTTPClient
import HTTPCore
import JSON

extension KamiwazaAPI {
    /// The personal access tokens of this account, those that were revoked among them.
    public nonisolated(nonsending) func personalTokens() async throws -> [PersonalToken] {
        try await answer(to: KamiwazaCall(.get, "/auth/pats")).list("pats").map { try PersonalToken($0) }
    }

    /// Makes a personal access token; without a lifetime the server chooses one.
    public nonisolated(nonsending) func makePersonalToken(
        name: String, lifetime: Duration? = nil
    ) async throws -> NewPersonalToken {
        let seconds = lifetime.map { $0.components.seconds }
        var call = KamiwazaCall(.post, "/auth/pats")
        call.query.add("name", name)
        call.query.add("ttl_seconds", seconds.map { String($0) })
        let response: HTTPResponse
        do {
            response = try await answer(to: call)
        } catch let error as KamiwazaError where error.status == 422 {
            // Some versions take the same only as a body. Nothing was made by the first try.
            var body: JSONObject = ["name": .string(name)]
            if let seconds { body["ttl_seconds"] = .int(Int(seconds)) }
            call.query = WebForm()
            call.body = .json(.object(body))
            response = try await answer(to: call)
        }
        let members = try response.members()
        return NewPersonalToken(
            token: try members.requiredSecret("token"), facts: try PersonalToken(try members.members("pat")))
    }

    /// Revokes a personal access token by its id. One that is not there any more is `.notFound`.
    public nonisolated(nonsending) func revokePersonalToken(_ id: String) async throws {
        let response = try await answer(to: KamiwazaCall(.delete, "/auth/pats/\(WebForm.encode(id))"))
        // A page that says 200 to everything has revoked nothing.
        if !response.body.isEmpty { _ = try response.json() }
    }
}
