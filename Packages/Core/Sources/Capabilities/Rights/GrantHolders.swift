/// Those of one kind who may do what a grant says, such as the bundles of this machine, for whoever asks what that is.
public protocol GrantHolders: AnyObject, Sendable {
    /// The word for one of them, such as `bundle`.
    var kind: String { get }
    /// What one of them may do.
    ///
    /// - Parameter name: by which it is known among those of its kind. Throws where there is none of that name.
    func holder(named name: String) async throws -> GrantHolder
}

/// Somebody with a grant of their own.
public struct GrantHolder: Sendable {
    public let grant: Grant
    /// What they ask for besides actions, or in their place.
    public let requests: [Request]
    /// Whether they do actions at all.
    public let doesActions: Bool

    /// Something to be decided, with the name that people know.
    public struct Request: Sendable {
        public let name: String
        public let request: GrantRequest

        public init(_ name: String, _ request: GrantRequest) {
            self.name = name
            self.request = request
        }
    }

    public init(_ grant: Grant, doesActions: Bool = true, requests: [Request] = []) {
        self.grant = grant
        self.doesActions = doesActions
        self.requests = requests
    }
}
