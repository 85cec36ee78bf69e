public import Capabilities
import Cryptography
import JSON

/// What a server says about who has signed in, used for nothing but display.
///
/// The signature is not checked: the token comes straight from the token endpoint over TLS, which OpenID Connect Core,
/// section 3.1.3.7, accepts in its place. One from anywhere else must not be read here.
public struct IDToken: Sendable {
    /// The name to show: what the person signs in with, else the mail address, else the full name.
    public let userName: String?
    /// The server's own key for the person.
    public let subject: String?

    /// How wrong the clocks of two machines may be.
    private static let skew: Duration = .seconds(300)

    /// Reads a token and checks that it was made by this issuer for this program and this sign-in, and is not over.
    public init(_ token: Secret, issuer: String, clientID: String, nonce: Secret?, now: Timestamp) throws(SignInError) {
        guard let claims = token.withText(Self.claims) else {
            throw SignInError(.badAnswer, "the server's identity token cannot be read")
        }
        guard claims["iss"]?.string == issuer else {
            throw SignInError(.issuer, "the identity token was made by another server than the one asked; do not go on")
        }
        let audience = claims["aud"]?.array?.compactMap(\.string) ?? [claims["aud"]?.string].compactMap(\.self)
        let party = claims["azp"]?.string
        guard audience.contains(clientID), party == clientID || party == nil && audience.count == 1 else {
            throw SignInError(.identity, "the identity token was made for another program")
        }
        guard let seconds = claims["exp"]?.double, abs(seconds) < 1e12,
            Timestamp(microseconds: Int64(seconds * 1_000_000)) - now > Duration.zero - Self.skew
        else { throw SignInError(.identity, "the identity token is over; check the clock of this machine") }
        if let nonce {
            guard let returned = claims["nonce"]?.string, Secret(returned).equals(nonce) else {
                throw SignInError(.identity, "the identity token belongs to another sign-in; start again")
            }
        }
        let names = ["preferred_username", "email", "name"]
        userName = names.lazy.compactMap { ForeignWords.line(claims[$0]?.string) }.first
        subject = ForeignWords.line(claims["sub"]?.string)
    }

    private static func claims(in token: String) -> JSON? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count <= 1 << 16, let payload = Base64URL.decode(parts[1]) else {
            return nil
        }
        // Whatever is wrong with it, it cannot be read; the parser's words could quote it.
        guard let claims = try? JSON(parsing: payload, reading: .stream), claims.object != nil else { return nil }
        return claims
    }
}
