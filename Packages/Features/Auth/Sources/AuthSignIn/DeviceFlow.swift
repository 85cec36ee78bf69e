public import Capabilities
public import HTTPClient
import HTTPCore
import JSON

/// Signing in on another device, for machines without a browser (RFC 8628).
///
///     let tokens = try await flow.run { code in show(code.verificationURI, code.userCode) }
public struct DeviceFlow: Sendable {
    var scopes = ["openid", "email", "profile", CodeFlow.offline]
    /// Tells the user why they get a second code.
    public var notice: @Sendable (String) -> Void = { _ in }
    var clock: any Clock<Duration> = ContinuousClock()
    static let grantType = "urn:ietf:params:oauth:grant-type:device_code"
    private let address: HTTPURL
    private let tokens: TokenEndpoint

    /// Nil when the server does not support this flow.
    public init?(
        _ configuration: OpenIDConfiguration, clientID: String, client: HTTPClient,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.init(configuration, as: ClientCredential(id: clientID), client: client, now: now)
    }

    /// - Parameter resource: the resource that the tokens are for; nil for all of the server's.
    init?(
        _ configuration: OpenIDConfiguration, as identity: ClientCredential, resource: String? = nil,
        client: HTTPClient, now: @escaping @Sendable () -> Timestamp
    ) {
        guard let address = configuration.deviceAuthorizationEndpoint, let token = configuration.tokenEndpoint else {
            return nil
        }
        self.address = address
        var tokens = TokenEndpoint(token, as: identity, client: client, now: now)
        tokens.resource = resource
        self.tokens = tokens
    }

    /// Waits for the user to sign in with the code that is passed to `show`, and returns the tokens.
    ///
    /// When the server refuses `offline_access`, the flow runs again without it. `show` is called again if the server
    /// refused only after the sign-in. Throws `SignInError`. Cancelling ends the flow at once.
    public func run(_ show: @Sendable (DeviceCode) async throws -> Void) async throws -> TokenAnswer {
        do {
            return try await once(show)
        } catch let error as SignInError where error.refusesOfflineAccess && scopes.contains(CodeFlow.offline) {
            notice(CodeFlow.withoutOffline)
            var plain = self
            plain.scopes.removeAll { $0 == CodeFlow.offline }
            return try await plain.once(show)
        }
    }

    private func once(_ show: @Sendable (DeviceCode) async throws -> Void) async throws -> TokenAnswer {
        let code = try await begin()
        try await show(code)
        return try await wait(for: code)
    }

    /// Requests a code to show to the user.
    public func begin() async throws -> DeviceCode {
        var fields = FormFields()
        if !scopes.isEmpty { fields.append("scope", scopes.joined(separator: " ")) }
        return try DeviceCode(try await tokens.post(fields, to: address, for: "the sign-in").jsonObject())
    }

    /// Polls as often as the server allows, until the user has signed in with the code or the code has expired.
    ///
    /// Throws `SignInError`; cancelling ends it at once.
    public func wait(for code: DeviceCode) async throws -> TokenAnswer {
        var fields: FormFields = ["grant_type": Self.grantType]
        code.deviceCode.withText { fields.append("device_code", $0) }
        var (interval, waited) = (code.interval, Duration.zero)
        while waited + interval <= code.lifetime {
            try await clock.sleep(for: interval)
            waited += interval
            do {
                return try await tokens.tokens(fields, hiding: [code.deviceCode], for: "the sign-in")
            } catch let error as SignInError {
                switch (error.reason, error.kind) {
                case ("authorization_pending", _): break
                // RFC 8628, section 3.5: "the interval MUST be increased by 5 seconds".
                case ("slow_down", _): interval += .seconds(5)
                // The same section asks to double it when the server is not reachable.
                case (_, .unreachable): interval = interval * 2
                default: throw error
                }
            }
        }
        throw SignInError(
            .unanswered, "the code was not used within \(code.lifetime.words); start the sign-in again")
    }
}

/// The code and addresses for signing in on another device (RFC 8628, section 3.2).
public struct DeviceCode: Sendable {
    /// The code to enter, such as `WDJB-MJHT`.
    public let userCode: String
    /// The address to enter it at.
    public let verificationURI: HTTPURL
    /// The address that already contains the code, to open or to scan.
    public let completeURI: HTTPURL?
    /// How long the code is valid.
    public let lifetime: Duration
    let interval: Duration
    let deviceCode: Secret

    init(_ json: JSON) throws(SignInError) {
        guard let device = json["device_code"]?.string, !device.isEmpty,
            let user = ServerText.line(json["user_code"]?.string), user.count <= 64,
            // Google uses the older name `verification_url`.
            let address = json["verification_uri"]?.string ?? json["verification_url"]?.string,
            let uri = try? HTTPURL(address)
        else {
            throw SignInError(
                .badAnswer, "unexpected response from the server: it lacks the code or the address to sign in with")
        }
        deviceCode = Secret(device)
        userCode = user
        verificationURI = uri
        let complete = json["verification_uri_complete"]?.string
        // This address is optional, so an invalid one is ignored.
        completeURI = complete.flatMap { try? HTTPURL($0) }.flatMap { $0.isSameOrigin(as: uri) ? $0 : nil }
        lifetime = .seconds(Self.seconds(json["expires_in"], atLeast: 1, atMost: 3600, else: 600))
        interval = .seconds(Self.seconds(json["interval"], atLeast: 1, atMost: 300, else: 5))
    }

    private static func seconds(_ json: JSON?, atLeast least: Int, atMost most: Int, else defaultValue: Int) -> Int {
        guard let value = json?.double, value > 0 else { return defaultValue }
        return Int(min(max(value.rounded(.up), Double(least)), Double(most)))
    }
}
