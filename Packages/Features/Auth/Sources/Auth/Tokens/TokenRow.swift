import Capabilities
import KamiwazaKit

/// A personal access token in a list; never the token itself.
struct TokenRow: Record {
    enum State: String, Choice, Hashable {
        case active, expiring, expired, revoked
    }

    let facts: PersonalToken
    let isOwn: Bool
    let state: State

    init(_ facts: PersonalToken, isOwn: Bool, now: Timestamp) {
        self.facts = facts
        self.isOwn = isOwn
        state =
            if facts.isRevoked { .revoked } else if let end = facts.expires {
                end <= now ? .expired : end - now < .seconds(14 * 86_400) ? .expiring : .active
            } else { .active }
    }

    static let fields: [Field<TokenRow>] = [
        Field("id", "What it is revoked by", .name) { $0.facts.id },
        Field("name", "What it is for") { $0.facts.name },
        Field("state", "active, expiring, expired or revoked", .state) { $0.state },
        Field("created", "When it was made") { $0.facts.created },
        Field("expires", "When it ends, where it does") { $0.facts.expires },
        Field("this_machine", "Whether it is the one that is kept here") { $0.isOwn },
    ]
}

/// A token that was just made: the only time that it is shown.
struct MadeToken: Record {
    let id: String
    let name: String?
    let expires: Timestamp?
    private let token: String

    init(_ made: NewPersonalToken) {
        id = made.facts.id
        name = made.facts.name
        expires = made.facts.expires
        token = made.token.withText { $0 }
    }

    static let fields: [Field<MadeToken>] = [
        Field("token", "The token, which cannot be shown again", .name) { $0.token },
        Field("id", "What it is revoked by") { $0.id },
        Field("name", "What it is for") { $0.name },
        Field("expires", "When it ends, where it does") { $0.expires },
    ]
}
