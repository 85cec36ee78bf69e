import Capabilities

/// What a server says in words, made fit to stand in an error of ours.
enum ForeignWords {
    /// One line without controls, cut at 300 characters. A server may repeat what it was sent, so `secrets` are taken
    /// out of it; nil when nothing is left.
    static func line(_ text: String?, hiding secrets: [Secret] = []) -> String? {
        guard var text else { return nil }
        for secret in secrets {
            text = secret.withText { $0.isEmpty ? text : replacing($0, in: text) }
        }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !line.isEmpty else { return nil }
        return PlainText.escape(line.count > 300 ? line.prefix(300) + "…" : line)
    }

    private static func replacing(_ secret: String, in text: String) -> String {
        // By bytes, since a combining character behind a secret would make it another text for `String`.
        let wanted = Array(secret.utf8)
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes.count - index >= wanted.count, bytes[index..<index + wanted.count].elementsEqual(wanted) {
                result += Array("‹redacted›".utf8)
                index += wanted.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
