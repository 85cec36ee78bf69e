public import Capabilities
import JSON

/// The server's statement about who has signed in. It is used only for display.
///
/// The signature is not checked: the token comes directly from the token endpoint over TLS, and OpenID Connect Core,
/// section 3.1.3.7, accepts that instead. Do not use this type for tokens from other sources.
public struct IDToken: Sendable {
    /// The name to show: the user name, or the email address, or the full name.
    public let userName: String?
    /// The server's id for the user.
    public let subject: String?

    /// The tolerated difference between the clocks of two machines.
    private static let skew: Duration = .seconds(300)

    /// Parses a token. Checks that this issuer made it for this program and this sign-in, and that it has not expired.
    public init(_ token: Secret, issuer: String, clientID: String, nonce: Secret?, now: Timestamp) throws(SignInError) {
        guard let claims = token.withText(Self.claims) else {
            throw SignInError(.badAnswer, "the server sent an identity token that cannot be read")
        }
        guard claims["iss"]?.string == issuer else {
            throw SignInError(
                .issuer, "the identity token comes from a different server than requested; do not continue")
        }
        let audience = claims["aud"]?.array?.compactMap(\.string) ?? [claims["aud"]?.string].compactMap(\.self)
        let party = claims["azp"]?.string
        guard audience.contains(clientID), party == clientID || party == nil && audience.count == 1 else {
            throw SignInError(.identity, "the identity token was issued for a different program")
        }
        guard let seconds = claims["exp"]?.double, abs(seconds) < 1e12,
            Timestamp(microseconds: Int64(seconds * 1_000_000)) - now > Duration.zero - Self.skew
        else { throw SignInError(.identity, "the identity token has expired; check the clock of this machine") }
        if let nonce {
            guard let returned = claims["nonce"]?.string, Secret(returned).equals(nonce) else {
                throw SignInError(.identity, "the identity token belongs to another sign-in; start the sign-in again")
            }
        }
        let names = ["preferred_username", "email", "name"]
        userName = names.lazy.compactMap { ServerText.line(claims[$0]?.string) }.first
        subject = ServerText.line(claims["sub"]?.string)
    }

    private static func claims(in token: String) -> JSON? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count <= 1 << 16, let payload = Base64URL.decode(parts[1]) else {
            return nil
        }
        // The parser's error is dropped, because it could quote the token.
        guard let claims = try? JSON(parsing: payload, reading: .stream), claims.object != nil else { return nil }
        return claims
    }
}
