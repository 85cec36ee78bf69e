public import Capabilities
import JSON

extension Session {
    private static let version = 1

    /// The session as one text, which is itself a secret: what a vault keeps.
    public var encoded: Secret {
        var members: JSONObject = ["version": .int(Self.version), "origin": .string(origin)]
        members["access_token"] = accessToken.withText { .string($0) }
        members["refresh_token"] = refreshToken?.withText { .string($0) }
        members["expires"] = expiry?.json
        members["received"] = received?.json
        members["user"] = userName.map { .string($0) }
        switch kind {
        case .tokens: members["kind"] = "tokens"
        case .personal(let id, let name):
            members["kind"] = "personal"
            members["id"] = id.map { .string($0) }
            members["name"] = name.map { .string($0) }
        }
        if hasEnded { members["ended"] = true }
        return Secret(JSON.object(members).text())
    }

    /// Reads what `encoded` made. Members of a later version are passed over; one that changed the meaning of those
    /// known here has another number, and is refused.
    public init(encoded: Secret) throws(SignInError) {
        let members = try encoded.withText { (text) throws(SignInError) -> JSON in
            // The parser's own error might quote the text, so it is not kept.
            do { return try JSON(parsing: text) } catch { throw Self.unreadable("it is damaged") }
        }
        guard let version = members["version"]?.int else { throw Self.unreadable("it names no version") }
        guard version == Self.version else { throw Self.unreadable("another version of this program has written it") }
        guard let origin = members["origin"]?.string, let token = members["access_token"]?.string, !token.isEmpty
        else { throw Self.unreadable("it lacks the token or its server") }
        let kind: Kind
        switch members["kind"]?.string {
        case "tokens": kind = .tokens
        case "personal": kind = .personal(id: members["id"]?.string, name: members["name"]?.string)
        default: throw Self.unreadable("its kind is not known")
        }
        func moment(_ name: String) throws(SignInError) -> Timestamp? {
            guard let value = members[name], !value.isNull else { return nil }
            do throws(ValueError) { return try Timestamp(json: value) } catch {
                throw Self.unreadable("one of its times is none")
            }
        }
        self.init(
            accessToken: Secret(token), refreshToken: members["refresh_token"]?.string.map(Secret.init),
            expiry: try moment("expires"), received: try moment("received"), kind: kind, origin: origin,
            userName: members["user"]?.string)
        hasEnded = members["ended"]?.bool ?? false
    }

    private static func unreadable(_ reason: String) -> SignInError {
        SignInError(.unreadable, "the stored session cannot be read: \(reason); sign in again")
    }
}
