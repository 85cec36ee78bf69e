import Capabilities
import HTTPCore

extension ResourceChallenge {
    /// What an answer wants; nil if another credential would not help.
    init?(_ status: HTTPStatus, _ headers: HTTPHeaders) {
        let found = headers.all("WWW-Authenticate").flatMap { ChallengeReader.challenges(in: $0) }
        let bearer = found.first { HTTPHeaders.isSame($0.scheme, "Bearer") }
        func parameter(_ name: String) -> String? { bearer?.parameters[name].map { PlainText.escape($0) } }
        let reason: Reason
        switch status {
        case .unauthorized: reason = .signIn
        case .forbidden where bearer?.parameters["error"] == "insufficient_scope": reason = .moreScopes
        default: return nil
        }
        self.init(
            reason, metadata: parameter("resource_metadata"),
            scopes: parameter("scope")?.split(separator: " ").map(String.init) ?? [], error: parameter("error"),
            explanation: parameter("error_description"))
    }
}

/// Reads the header `WWW-Authenticate` (RFC 9110, 11.6.1): several schemes, each with parameters, all separated by
/// commas.
struct ChallengeReader {
    struct Challenge {
        let scheme: String
        /// By their names in lower case; the first value of a name counts.
        var parameters: [String: String] = [:]
    }

    private var rest: Substring

    static func challenges(in value: String) -> [Challenge] {
        var reader = ChallengeReader(rest: value[...])
        var challenges: [Challenge] = []
        while reader.next(into: &challenges) {}
        return challenges
    }

    private mutating func next(into challenges: inout [Challenge]) -> Bool {
        rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
        let word = token()
        guard !word.isEmpty else { return false }
        let afterWord = rest
        skipSpaces()
        // "token68" may end with equal signs too, but is not followed by a value.
        if rest.first == "=", !challenges.isEmpty, let value = parameterValue() {
            let name = word.lowercased()
            let last = challenges.count - 1
            if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = value }
            return true
        }
        rest = afterWord
        challenges.append(Challenge(scheme: String(word)))
        skipSpaces()
        skipToken68()
        return true
    }

    private mutating func parameterValue() -> String? {
        rest = rest.dropFirst()
        skipSpaces()
        guard rest.first == "\"" else {
            let value = token()
            return value.isEmpty ? nil : String(value)
        }
        rest = rest.dropFirst()
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\", let escaped = rest.popFirst() {
                value.append(escaped)
            } else {
                value.append(character)
            }
        }
        return value
    }

    /// Skips a credential such as `Negotiate YII=`, which is a word that no value follows.
    private mutating func skipToken68() {
        let start = rest
        let word = rest.prefix { $0 != "," && $0 != " " && $0 != "\t" && $0 != "\"" }
        let after = rest.dropFirst(word.count).drop { $0 == " " || $0 == "\t" }
        let isAlone = after.isEmpty || after.first == ","
        let isParameter = word.drop { $0 != "=" }.drop { $0 == "=" }.isEmpty == false
        rest = isAlone && !isParameter ? after : start
    }

    private mutating func token() -> Substring {
        let word = rest.prefix { $0.utf8.allSatisfy(HTTPHeaders.isTokenByte) }
        rest = rest.dropFirst(word.count)
        return word
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == " " || $0 == "\t" } }
}
