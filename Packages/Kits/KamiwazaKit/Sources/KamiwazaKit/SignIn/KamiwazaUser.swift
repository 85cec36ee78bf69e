/// Who is signed in.
public struct KamiwazaUser: Sendable, Hashable {
    public let name: String
    /// The account's id, which stays when the name changes.
    public let subject: String?
    public let email: String?
    public let groups: [String]
    public let roles: [String]
}

extension KamiwazaUser {
    init(_ members: Members) throws(KamiwazaError) {
        name = try members.requiredText("username", "preferred_username", "name", "email", "sub")
        subject = members.text("sub", "id")
        email = members.text("email")
        groups = members.texts("groups")
        roles = members.texts("roles")
    }
}
