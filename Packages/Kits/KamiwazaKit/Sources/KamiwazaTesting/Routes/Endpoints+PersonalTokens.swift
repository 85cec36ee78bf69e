import Capabilities
import HTTPCore
import HTTPServer
import JSON

extension Endpoints {
    var personalTokens: [Route] {
        [
            api(.get, "/auth/pats", "listPats", "List my PATs") { request in
                let platform = board.platform
                return .json(platform.personalTokens(of: try platform.accountName(request.headers)))
            },
            // The description allows the same four values in the query and in a body.
            api(
                .post, "/auth/pats", "createPat", "Create a PAT for the current user",
                .query("name", "Its name", as: String?.self), .query("ttl_seconds", "Its lifetime", as: Int?.self),
                .query("scope", "Its scope", as: String?.self), .query("aud", "Its audience", as: String?.self),
                .body(JSON?.self, "The same as a body")
            ) { request, name, lifetime, scope, audience, body in
                let owner = try board.platform.accountName(request.headers)
                if setup.takesTokenRequestsAsBodyOnly, body?["name"] == nil {
                    throw RequestProblem(
                        .unprocessable, code: "platform", "Field required",
                        inputs: [InputProblem(place: "body", name: "name", message: "Field required")])
                }
                return board.change { platform in
                    .json(
                        platform.makePersonal(
                            for: owner, name: name ?? body?["name"]?.string,
                            lifetime: lifetime ?? body?["ttl_seconds"]?.int,
                            scope: scope ?? body?["scope"]?.string, audience: audience ?? body?["aud"]?.string))
                }
            },
            api(.delete, "/auth/pats/{jti}", "revokePat", "Revoke my PAT", .path("jti", "Its id")) { request, jti in
                try board.change { (platform) throws(RequestProblem) in
                    try platform.revokePersonal(jti, of: try platform.accountName(request.headers))
                }
                return .json(["revoked": true, "jti": .string(jti)] as JSON)
            },
        ]
    }
}
