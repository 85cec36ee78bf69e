import Capabilities
import Cryptography
import HTTPCore
import HTTPServer
import JSON

extension Platform {
    /// A code that a browser brings back, good for one use within a minute.
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

    /// A device that waits for somebody with a browser.
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

    /// What the token endpoint refuses with, in the form of RFC 6749.
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

    /// Keycloak looks only when tokens are made, so that the person has signed in by then.
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
