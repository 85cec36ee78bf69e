import FileKit
import Glibc

/// A port of 127.0.0.1 at which nothing can listen, so that connections to it are always refused.
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

/// A name of this machine that does not look like one, such as an attacker would choose.
public enum LoopbackName {
    /// A name other than `localhost` that the system resolves to 127.0.0.1; nil if there is none.
    public static let other: String? = {
        let bytes: [UInt8]
        do { bytes = try Files.read("/etc/hosts", limit: 1 << 20) } catch { return nil }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard words.first == "127.0.0.1" else { continue }
            if let name = words.dropFirst().first(where: { !$0.hasPrefix("localhost") }) { return String(name) }
        }
        return nil
    }()
}
