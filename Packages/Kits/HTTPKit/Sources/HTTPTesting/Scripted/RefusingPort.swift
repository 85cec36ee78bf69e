import Glibc

/// A port of 127.0.0.1 at which nothing listens and nothing else can, so that a connection to it is refused for certain.
public enum RefusingPort {
    /// Lends the port.
    public static func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (_ port: Int) async throws -> Result
    ) async throws -> Result {
        let (socket, port) = try Sockets.bindLoopback(AF_INET)
        defer { close(socket) }
        return try await body(port)
    }
}
