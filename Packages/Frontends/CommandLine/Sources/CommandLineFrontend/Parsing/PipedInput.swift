import Capabilities
import Glibc
import LoopKit

/// What is piped into the program, or redirected from a file.
enum PipedInput {
    private static let largest = 64 << 20

    /// All of it as text, repaired where it is no UTF-8; nil when standard input is a terminal, closed or `/dev/null`.
    static func read() async throws -> String? {
        var status = stat()
        guard unsafe fstat(0, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFIFO || kind == S_IFREG || kind == S_IFSOCK else { return nil }
        return try await onOwnThread { Result { try readAll() } }.get()
    }

    private static func readAll() throws -> String? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(0, &chunk, chunk.count)
            if count == 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if count < 0 {
                if errno == EINTR { continue }
                throw UsageError.answers(
                    "standard input cannot be read: \(unsafe String(cString: strerror(errno)).lowercased())")
            }
            bytes += chunk.prefix(count)
            guard bytes.count <= largest else {
                throw UsageError.answers("more than \(ByteCount(largest).words) were piped in; name a file instead")
            }
        }
    }
}
