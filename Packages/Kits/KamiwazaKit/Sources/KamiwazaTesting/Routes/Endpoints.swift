import Capabilities
import HTTPCore
import HTTPServer

/// The routes of a platform, each of which can be made to fail.
struct Endpoints: Sendable {
    let board: Board
    /// Also inside of `board`, which must not be asked while it changes.
    let setup: KamiwazaSetup

    init(_ board: Board) {
        self.board = board
        setup = board.platform.setup
    }

    var apiPath: String { setup.apiPath }

    var all: [Route] { session + personalTokens + browser + openID + serving + webInterface }

    /// A route of the API, whose path is below its base.
    func api<each Value: Sendable>(
        _ method: HTTPMethod, _ path: String, _ id: String, _ summary: String,
        _ input: repeat RouteInput<each Value>,
        handler: @escaping @Sendable (ServerRequest, repeat each Value) async throws -> HTTPAnswer
    ) -> Route {
        place(method, apiPath + path, id, summary, repeat each input, handler: handler)
    }

    /// A route with its whole path.
    func place<each Value: Sendable>(
        _ method: HTTPMethod, _ path: String, _ id: String, _ summary: String,
        _ input: repeat RouteInput<each Value>,
        handler: @escaping @Sendable (ServerRequest, repeat each Value) async throws -> HTTPAnswer
    ) -> Route {
        Route(method, path, id, summary, repeat each input) {
            (request: ServerRequest, value: repeat each Value) async throws -> HTTPAnswer in
            if let answer = try await faulty(request.head.path) { return answer }
            return try await handler(request, repeat each value)
        }
    }

    private func faulty(_ path: String) async throws -> HTTPAnswer? {
        let fault = board.change { platform -> Fault? in
            guard let (fault, times) = platform.faults[path] else { return nil }
            if case .answers = fault { platform.faults[path] = times > 1 ? (fault, times - 1) : nil }
            return fault
        }
        switch fault {
        case nil: return nil
        case .answers(let answer): return answer
        case .held:
            try await board.until { $0.faults[path] == nil }
            return nil
        }
    }
}

extension ServerRequest {
    /// The server's own address, by the name that the client calls it.
    var origin: String { "\(isSecure ? "https" : "http")://\(head.host ?? "127.0.0.1")" }
}
