import Glibc

/// What of this machine goes to servers.
enum Machine {
    /// A remembered device stays so for a hundred days.
    static let tokenLifetime: Duration = .seconds(8_640_000)

    /// The machine's own name, by which its token is found in a list.
    static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "a machine without a name" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
