public import HTTPCore

extension KamiwazaServer {
    /// Every request so far, in the order in which they came.
    public var requests: [SeenRequest] { board.platform.requests }

    /// How many requests there were so far with this method and whole path.
    public func count(_ method: HTTPMethod, _ path: String) -> Int {
        requests.count { $0.method == method && $0.path == path }
    }

    /// The names of the personal access tokens that are good now.
    public var personalTokens: [String] {
        let platform = board.platform
        return platform.personal.filter(platform.isValid).map { $0.name ?? "" }
    }

    /// How many sessions somebody with their tokens could still go on with.
    public var openSessions: Int {
        let platform = board.platform
        let open = platform.refresh.values.filter { !$0.isUsed && $0.expires > platform.now }.map(\.session)
        return Set(open).subtracting(platform.endedSessions).count
    }

    /// Returns as soon as the requests meet the condition. A test that may wait in vain has a time limit.
    public func until(_ condition: @escaping @Sendable ([SeenRequest]) -> Bool) async throws {
        try await board.until { condition($0.requests) }
    }

    /// Forgets the requests so far.
    public func forgetRequests() {
        board.change { $0.requests = [] }
    }
}
