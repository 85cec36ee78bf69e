import Capabilities
import Cryptography
import Glibc
import Testing

func bytes(_ hexadecimal: String) throws -> [UInt8] {
    try #require(Hexadecimal.decode(hexadecimal), "bad digits: \(hexadecimal)")
}

func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span) }

func array(_ secret: SecretBytes) -> [UInt8] {
    secret.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
}

func now() -> Timestamp {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000)
}

let day: Int64 = 86_400 * 1_000_000

/// A draft that is valid from yesterday until tomorrow, unless `from` and `to` give other days.
func draft(
    _ name: String = "test", _ names: [String] = [], from: Int64 = -1, to: Int64 = 1, authority: Bool = false,
    key: PrivateKey.Kind = .p256
) -> CertificateDraft {
    var draft = CertificateDraft(
        commonName: name, notBefore: Timestamp(microseconds: now().microseconds + from * day),
        notAfter: Timestamp(microseconds: now().microseconds + to * day))
    draft.names = names
    draft.isAuthority = authority
    draft.key = key
    return draft
}

func write(_ text: String, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
}

/// The output of a shell command.
func run(_ command: String) -> String { Tool(command).output() }

/// A shell command that runs during the test; its output can be read once.
@safe
struct Tool: ~Copyable {
    private let stream: UnsafeMutablePointer<FILE>?

    init(_ command: String) { unsafe stream = popen(command, "re") }

    deinit { if let stream = unsafe stream { unsafe pclose(stream) } }

    consuming func output() -> String {
        guard let stream = unsafe stream else { return "" }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, stream)
            guard count > 0 else { return String(decoding: output, as: UTF8.self) }
            output += buffer[..<count]
        }
    }
}
