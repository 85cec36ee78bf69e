public import HTTPCore

/// A request as the platform saw it, without what is secret in it.
public struct SeenRequest: Sendable, Hashable {
    public let method: HTTPMethod
    /// The whole path, with its percent signs, without the query.
    public let path: String
    /// The names in the query, in their order.
    public let queryNames: [String]
    public let credential: Credential

    /// What the request was signed with, judged at the moment when it came.
    public enum Credential: Sendable, Hashable {
        case none
        case accessToken
        case personalToken
        /// A token that was valid once: expired, revoked, or of a session that has ended.
        case spent
        /// A token that this platform never gave.
        case foreign
    }
}
