import JSON

/// What a protocol over JSON-RPC adds to it: how requests are cancelled, and how their progress is told.
public struct RPCConventions: Sendable, Hashable {
    /// A notification about a request.
    public struct Notice: Sendable, Hashable {
        /// Its method.
        public let method: String
        /// The parameter with the id of the request.
        public let member: String

        /// Such as `notifications/cancelled` and `requestId`.
        public init(_ method: String, _ member: String) {
            self.method = method
            self.member = member
        }
    }

    /// Cancels a request; nil if the protocol cannot.
    public var cancellation: Notice?
    /// Tells of progress; nil if the protocol does not.
    public var progress: Notice?
    /// Where a request has the token of its progress: the names of a parameter, of its member, and so on.
    public var progressToken: [String]

    /// By default there is neither.
    public init(cancellation: Notice? = nil, progress: Notice? = nil, progressToken: [String] = []) {
        self.cancellation = cancellation
        self.progress = progress
        self.progressToken = progressToken
    }

    /// The id in a notification, if it is a notice of this kind.
    static func id(in notification: RPCNotification, of notice: Notice?) -> RPCID? {
        guard let notice, notification.method == notice.method else { return nil }
        return notification.params?[notice.member].flatMap(RPCID.init)
    }

    /// The parameters with the token of the progress of a request.
    func marked(_ params: JSONObject?, _ id: RPCID) -> JSONObject {
        guard progress != nil, !progressToken.isEmpty else { return params ?? [:] }
        return Self.setting(progressToken[...], to: id.json, in: params ?? [:])
    }

    private static func setting(_ path: ArraySlice<String>, to value: JSON, in members: JSONObject) -> JSONObject {
        var members = members
        guard let name = path.first else { return members }
        let rest = path.dropFirst()
        members[name] = rest.isEmpty ? value : .object(setting(rest, to: value, in: members[name]?.object ?? [:]))
        return members
    }
}
