import Capabilities
import Cryptography
import HTTPCore
import HTTPServer
import JSON

/// The whole state of the platform, in one value that is changed under a lock.
struct Platform: Sendable {
    struct Access: Sendable {
        let account: String
        let session: Int
        let expires: Timestamp
    }

    struct Refresh: Sendable {
        let account: String
        let session: Int
        let expires: Timestamp
        var isUsed = false
    }

    struct Personal: Sendable {
        let token: String
        let id: String
        let jti: String
        let owner: String
        let name: String?
        let lifetime: Int?
        let scope: String?
        let audience: String?
        let created: Timestamp
        var isRevoked = false

        var expires: Timestamp? { lifetime.map { created.after(.seconds($0)) } }
    }

    let setup: KamiwazaSetup
    var accounts: [KamiwazaSetup.Account]
    var tools: [KamiwazaSetup.Tool]
    /// Expired tokens are kept, to distinguish them from unknown tokens.
    var access: [String: Access] = [:]
    var refresh: [String: Refresh] = [:]
    var personal: [Personal] = []
    var endedSessions: Set<Int> = []
    var codes: [String: Code] = [:]
    var logins: [String: BrowserLogin] = [:]
    var devices: [Device] = []
    var requests: [SeenRequest] = []
    var faults: [String: (fault: Fault, times: Int)] = [:]
    private var sessions = 0

    init(_ setup: KamiwazaSetup) {
        self.setup = setup
        accounts = setup.accounts
        tools = setup.tools
    }

    var now: Timestamp { setup.now() }

    mutating func newSession() -> Int {
        sessions += 1
        return sessions
    }

    func account(_ name: String) -> KamiwazaSetup.Account? { accounts.first { $0.name == name } }
}

extension Timestamp {
    func after(_ duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        return Timestamp(microseconds: microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }

    var secondsSince1970: Int { Int(microseconds / 1_000_000) }
}

extension Platform {
    /// A code that a browser brings back. It can be used once, within a minute.
    struct Code: Sendable {
        let account: String
        let redirectURI: String
        let challenge: String?
        let nonce: String?
        let scope: String?
        let issuer: String
        let expires: Timestamp
    }

    /// A browser that was sent to the sign-in page.
    struct BrowserLogin: Sendable {
        let redirectURI: String
        let state: String?
    }

    /// A device that waits for a user with a browser.
    struct Device: Sendable {
        enum Answer: Sendable { case pending, approved(String), denied }

        let deviceCode: String
        let userCode: String
        let issuer: String
        let scope: String?
        let expires: Timestamp
        var interval: Duration
        var lastPoll: Timestamp?
        var answer = Answer.pending
        var isUsed = false
    }

    /// An error of the token endpoint, in the format of RFC 6749.
    struct GrantError: Error {
        let error: String
        var description = ""

        var answer: HTTPAnswer {
            var body: JSONObject = ["error": .string(error)]
            if !description.isEmpty { body["error_description"] = .string(description) }
            return .json(JSON.object(body), status: .badRequest)
        }
    }

    mutating func makeCode(
        for account: String, redirectURI: String, challenge: String?, nonce: String?, scope: String?, issuer: String
    ) -> String {
        let code = SignedToken.word(24)
        codes[code] = Code(
            account: account, redirectURI: redirectURI, challenge: challenge, nonce: nonce, scope: scope,
            issuer: issuer,
            expires: now.after(.seconds(60)))
        return code
    }

    mutating func redeem(_ code: String?, redirectURI: String?, verifier: String?) throws(GrantError) -> JSON {
        guard let code, let known = codes.removeValue(forKey: code), known.expires > now else {
            throw GrantError(error: "invalid_grant", description: "Code not valid")
        }
        guard known.redirectURI == redirectURI else {
            throw GrantError(error: "invalid_grant", description: "Incorrect redirect_uri")
        }
        if let challenge = known.challenge {
            guard let verifier, Base64URL.encode(Digest.sha256(Array(verifier.utf8))) == challenge else {
                throw GrantError(error: "invalid_grant", description: "PKCE verification failed")
            }
        }
        try checkScope(known.scope)
        return tokens(for: known.account, session: newSession(), nonce: known.nonce, issuer: known.issuer)
    }

    /// Like Keycloak, this checks the scope only when tokens are issued, after the user has signed in.
    private func checkScope(_ scope: String?) throws(GrantError) {
        guard setup.refusesOfflineTokens, scope?.split(separator: " ").contains("offline_access") == true else {
            return
        }
        throw GrantError(error: "not_allowed", description: Self.offlineRefusal)
    }

    mutating func refreshGrant(_ token: String?) throws(GrantError) -> JSON {
        do throws(RequestProblem) {
            return try refresh(token)
        } catch {
            throw GrantError(error: "invalid_grant", description: "Token is not active")
        }
    }
}

// MARK: Devices

extension Platform {
    mutating func addDevice(issuer: String, scope: String?, verification: String) -> JSON {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        var generator = SystemRandomNumberGenerator()
        func part() -> String { String((0..<4).compactMap { _ in letters.randomElement(using: &generator) }) }
        let device = Device(
            deviceCode: SignedToken.word(24), userCode: "\(part())-\(part())", issuer: issuer, scope: scope,
            expires: now.after(.seconds(600)), interval: setup.deviceInterval)
        devices.append(device)
        return [
            "device_code": .string(device.deviceCode), "user_code": .string(device.userCode),
            "verification_uri": .string(verification),
            "verification_uri_complete": .string("\(verification)?user_code=\(device.userCode)"),
            "expires_in": 600, "interval": .int(Int(device.interval.components.seconds)),
        ]
    }

    mutating func answerDevice(_ userCode: String, _ answer: Device.Answer) {
        for index in devices.indices where devices[index].userCode == userCode { devices[index].answer = answer }
    }

    mutating func pollDevice(_ deviceCode: String?) throws(GrantError) -> JSON {
        guard let index = devices.firstIndex(where: { $0.deviceCode == deviceCode && !$0.isUsed }) else {
            throw GrantError(error: "invalid_grant", description: "Device code not valid")
        }
        let (time, last) = (now, devices[index].lastPoll)
        devices[index].lastPoll = time
        guard devices[index].expires > time else { throw GrantError(error: "expired_token") }
        if let last, time - last < devices[index].interval {
            devices[index].interval += .seconds(5)
            throw GrantError(error: "slow_down")
        }
        switch devices[index].answer {
        case .pending: throw GrantError(error: "authorization_pending")
        case .denied: throw GrantError(error: "access_denied", description: "The end user denied the request")
        case .approved(let account):
            devices[index].isUsed = true
            try checkScope(devices[index].scope)
            return tokens(for: account, session: newSession(), issuer: devices[index].issuer)
        }
    }
}

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
            // The platform writes times without a time zone.
            "created_at": .string(String(token.created.iso8601.dropLast())),
            "updated_at": .string(String(token.created.iso8601.dropLast())), "revoked": .bool(token.isRevoked),
        ]
    }
}

extension Platform {
    /// The tokens for the right password. Throws a refusal otherwise.
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

    /// Rotates refresh tokens: each can be used once. A second use ends the session, because one of the two may be from
    /// a stolen token.
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

// MARK: Callers

extension Platform {
    enum Caller {
        case session(account: String, session: Int)
        case personal(account: String)
    }

    /// The token of a request: from its header, or from its cookie if a browser sent it.
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

/// Creates tokens in the format of a real platform, so that code that searches texts for tokens finds them. Their
/// signature is random, because the platform remembers its tokens.
enum SignedToken {
    static func make(_ claims: JSONObject) -> String {
        let header: JSON = ["alg": "RS256", "typ": "JWT", "kid": "test"]
        let parts = [Array(header.text().utf8), Array(JSON.object(claims).text().utf8), random(32)]
        return parts.map(Base64URL.encode).joined(separator: ".")
    }

    /// A random word that cannot be guessed.
    static func word(_ count: Int = 16) -> String { Base64URL.encode(random(count)) }

    /// A random id in the format of a UUID.
    static func uuid() -> String {
        let digits = Array(Hexadecimal.encode(random(16)))
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return parts.map { String(digits[$0]) }.joined(separator: "-")
    }

    private static func random(_ count: Int) -> [UInt8] {
        do { return try Random.bytes(count) } catch { fatalError("no random bytes for a test: \(error)") }
    }
}
