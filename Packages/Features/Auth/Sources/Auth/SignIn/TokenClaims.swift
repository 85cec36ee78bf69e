import Capabilities
import Cryptography
import JSON

/// What a token says of itself, when it is a signed one (JWT). It is believed for display and for revoking only: whether
/// the token is good, its server decides.
struct TokenClaims {
    let id: String?
    let expiry: Timestamp?

    init?(_ token: Secret) {
        let payload = token.withText { text -> [UInt8]? in
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            return Base64URL.decode(parts[1])
        }
        // What is no JSON is a token of another kind, which says nothing of itself.
        guard let payload, let claims = try? JSON(parsing: payload).object else { return nil }
        id = claims["jti"]?.string
        expiry = claims["exp"]?.double.flatMap { seconds in
            seconds > 0 && seconds < 1e12 ? Timestamp(microseconds: Int64(seconds * 1_000_000)) : nil
        }
    }
}
