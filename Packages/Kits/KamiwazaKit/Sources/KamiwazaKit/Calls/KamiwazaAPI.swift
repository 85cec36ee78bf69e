public import HTTPClient

/// The API of a Kamiwaza platform.
///
///     let base = try await KamiwazaAddress("lab.example").discover(using: client)
///     var api = KamiwazaAPI(base, client: client)
///     let tokens = try await api.signIn(user: "ada", password: password)
///     api.credential = .bearer(tokens.accessToken)
///     print(try await api.whoAmI().name)
///
/// Every call throws `KamiwazaError` in plain words, `HTTPError` when the server's certificate was refused, whatever
/// the signer throws, or `CancellationError`.
public struct KamiwazaAPI: Sendable {
    /// Where the API is, such as `https://lab.example/api`: what `KamiwazaAddress.discover` returned.
    public let base: HTTPURL
    /// Whose trust and connections are used.
    public let client: HTTPClient
    /// With what requests are signed.
    public var credential: KamiwazaCredential
    /// How long an answer may take.
    public var patience: Duration = .seconds(30)

    /// Sends nothing yet.
    public init(_ base: HTTPURL, client: HTTPClient, credential: KamiwazaCredential = .none) {
        self.base = base
        self.client = client
        self.credential = credential
    }
}
