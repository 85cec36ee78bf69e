import Capabilities
import HTTPCore
import HTTPServer
import JSON

extension Platform {
    mutating func makePersonal(
        for owner: String, name: String?, lifetime: Int?, scope: String?, audience: String?
    ) -> JSON {
        let (start, jti) = (now, SignedToken.word())
        var claims: JSONObject = [
            "sub": .string("id-of-\(owner)"), "jti": .string(jti), "iat": .int(start.secondsSince1970), "typ": "pat",
        ]
        if let lifetime { claims["exp"] = .int(start.secondsSince1970 + lifetime) }
        let made = Personal(
            token: SignedToken.make(claims), id: SignedToken.uuid(), jti: jti, owner: owner, name: name,
            lifetime: lifetime, scope: scope, audience: audience, created: start)
        personal.append(made)
        return ["token": .string(made.token), "pat": facts(of: made)]
    }

    func personalTokens(of owner: String) -> JSON {
        ["pats": .array(personal.filter { $0.owner == owner }.map(facts))]
    }

    mutating func revokePersonal(_ jti: String, of owner: String) throws(RequestProblem) {
        guard let index = personal.firstIndex(where: { $0.jti == jti && $0.owner == owner }) else {
            throw Self.refusal(.notFound, "PAT not found")
        }
        personal[index].isRevoked = true
    }

    private func facts(of token: Personal) -> JSON {
        func text(_ value: String?) -> JSON { value.map { .string($0) } ?? .null }
        return [
            "id": .string(token.id), "jti": .string(token.jti), "owner_id": .string("id-of-\(token.owner)"),
            "exp": token.expires.map { .int($0.secondsSince1970) } ?? .null, "name": text(token.name),
            "ttl_seconds": token.lifetime.map { .int($0) } ?? .null, "scope": text(token.scope),
            "aud": text(token.audience), "tenant_id": "__default__",
            // Without a zone, as the platform writes its times.
            "created_at": .string(String(token.created.iso8601.dropLast())),
            "updated_at": .string(String(token.created.iso8601.dropLast())), "revoked": .bool(token.isRevoked),
        ]
    }
}
