import Capabilities
import HTTPCore
import HTTPServer
import JSON

extension Platform {
    /// The answer to a right password; a refusal otherwise.
    mutating func signIn(_ name: String, _ password: String, scopes: [String]) throws(RequestProblem) -> JSON {
        guard let account = account(name) else { throw Self.refusal(.unauthorized, "Invalid credentials") }
        guard !account.isLocked else {
            throw Self.refusal(.locked, "Account is temporarily locked. Retry later.")
        }
        guard account.password == password else { throw Self.refusal(.unauthorized, "Invalid credentials") }
        guard !account.isDisabled else { throw Self.refusal(.forbidden, "Account is disabled") }
        guard setup.givesRefreshTokens || !scopes.contains("offline_access") else {
            throw Self.refusal(.badRequest, "invalid_scope: offline_access")
        }
        guard !setup.refusesOfflineTokens || !scopes.contains("offline_access") else {
            throw Self.refusal(.badRequest, "not_allowed: \(Self.offlineRefusal)")
        }
        return tokens(for: name, session: newSession())
    }

    /// Rotation: every refresh token is good for one use, and a second use ends its session, because either use may
    /// have been a thief's.
    mutating func refresh(_ token: String?) throws(RequestProblem) -> JSON {
        guard let token else { throw Self.refusal(.unauthorized, "Missing refresh token") }
        guard let known = refresh[token], known.expires > now, !endedSessions.contains(known.session) else {
            throw Self.refusal(.unauthorized, "Invalid token")
        }
        guard !known.isUsed else {
            endedSessions.insert(known.session)
            throw Self.refusal(.unauthorized, "Invalid token")
        }
        refresh[token]?.isUsed = true
        return tokens(for: known.account, session: known.session)
    }

    mutating func tokens(for account: String, session: Int, nonce: String? = nil, issuer: String? = nil) -> JSON {
        let start = now
        let expires = start.after(setup.accessLifetime)
        var claims: JSONObject = [
            "sub": .string("id-of-\(account)"), "preferred_username": .string(account),
            "iat": .int(start.secondsSince1970), "exp": .int(expires.secondsSince1970), "sid": .int(session),
            "jti": .string(SignedToken.word()),
        ]
        let token = SignedToken.make(claims)
        access[token] = Access(account: account, session: session, expires: expires)
        var answer: JSONObject = [
            "access_token": .string(token), "token_type": "bearer",
            "expires_in": .int(Int(setup.accessLifetime.components.seconds)),
        ]
        if setup.givesRefreshTokens {
            claims["typ"] = "Offline"
            claims["jti"] = .string(SignedToken.word())
            let refreshToken = SignedToken.make(claims)
            refresh[refreshToken] = Refresh(
                account: account, session: session, expires: start.after(setup.sessionLifetime))
            answer["refresh_token"] = .string(refreshToken)
        }
        if let issuer {
            claims["typ"] = "ID"
            claims["iss"] = .string(issuer)
            claims["aud"] = .string(Self.clientID)
            claims["nonce"] = nonce.map { .string($0) }
            answer["id_token"] = .string(SignedToken.make(claims))
        }
        return .object(answer)
    }

    static let clientID = "kamiwaza-platform"
    static let offlineRefusal = "Offline tokens not allowed for the user or client"

    static func refusal(_ status: HTTPStatus, _ detail: String) -> RequestProblem {
        RequestProblem(status, code: "platform", detail)
    }
}

// MARK: Who asks

extension Platform {
    enum Caller {
        case session(account: String, session: Int)
        case personal(account: String)
    }

    /// The token of a request, from its header or, as a browser has it, from its cookie.
    static func token(in headers: HTTPHeaders) -> String? {
        if let header = headers["Authorization"] {
            return header.lowercased().hasPrefix("bearer ") ? String(header.dropFirst(7)) : header
        }
        let cookies = headers["Cookie"]?.split(separator: ";").map(\.trimmingSpaces) ?? []
        return cookies.first { $0.hasPrefix("access_token=") }.map { String($0.dropFirst("access_token=".count)) }
    }

    func caller(_ headers: HTTPHeaders) throws(RequestProblem) -> Caller {
        guard let token = Self.token(in: headers) else { throw Self.refusal(.unauthorized, "Not authenticated") }
        if let known = access[token] {
            guard known.expires > now, !endedSessions.contains(known.session) else {
                throw Self.refusal(.unauthorized, "Token expired")
            }
            return .session(account: known.account, session: known.session)
        }
        if let known = personal.first(where: { $0.token == token }), isValid(known) {
            return .personal(account: known.owner)
        }
        throw Self.refusal(.unauthorized, "Invalid token")
    }

    func accountName(_ headers: HTTPHeaders) throws(RequestProblem) -> String {
        switch try caller(headers) {
        case .session(let account, _), .personal(let account): account
        }
    }

    func isValid(_ token: Personal) -> Bool {
        !token.isRevoked && token.expires.map { $0 > now } ?? true
    }

    func credentialKind(_ headers: HTTPHeaders) -> SeenRequest.Credential {
        guard let token = Self.token(in: headers) else { return .none }
        do {
            switch try caller(headers) {
            case .session: return .accessToken
            case .personal: return .personalToken
            }
        } catch {
            let isKnown = access[token] != nil || personal.contains { $0.token == token }
            return isKnown ? .spent : .foreign
        }
    }
}
