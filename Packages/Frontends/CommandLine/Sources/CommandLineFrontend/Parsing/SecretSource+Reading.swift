import Capabilities
import Glibc

extension ArgumentParser.SecretSource {
    private static let largest = 1 << 16

    /// The secret's text; one line ending at its end belongs to the pipe and not to the secret.
    func read(_ environment: [String: String]) throws -> String {
        var text: String
        switch self {
        case .variable(let name):
            guard let value = environment[name], !value.isEmpty else {
                throw UsageError.answers("the variable \(name) that should hold the secret is not set")
            }
            return value
        case .standardInput: text = try Self.readAll(0)
        case .descriptor(let descriptor): text = try Self.readAll(descriptor)
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.isEmpty else { throw UsageError.answers("the secret that was given is empty") }
        return text
    }

    private static func readAll(_ descriptor: Int32) throws -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= largest {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 {
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw UsageError.answers("the secret that was given is not text in UTF-8")
                }
                return text
            }
            if count > 0 {
                bytes += chunk.prefix(count)
            } else if errno != EINTR {
                throw UsageError.answers(
                    "the secret cannot be read from descriptor \(descriptor): \(unsafe String(cString: strerror(errno)).lowercased())"
                )
            }
        }
        throw UsageError.answers("the secret that was given is longer than \(ByteCount(largest).words)")
    }
}
