import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// What a server says about a refusal, as one line that is safe to show.
struct ServerWords {
    let text: String?
    let retryAfter: Duration?

    /// The answer's `detail` as a text, a list of `{loc, msg}` or an object; `message`; `error_description`; or a short
    /// plain text.
    init(_ response: HTTPResponse, redactor: Redactor) {
        // A body that is no JSON may still be a sentence, so that it cannot be read is no failure.
        let body = response.body.count <= 1 << 20 ? try? JSON(parsing: response.body, reading: .stream) : nil
        let isPlain = response.headers["Content-Type"]?.lowercased().hasPrefix("text/plain") ?? false
        let words = body.flatMap(Self.words) ?? (body == nil && isPlain ? response.text : nil)
        // Before it is cut: half a secret would not be recognised.
        text = words.flatMap { Self.line(redactor.redact(String($0.prefix(4000)))) }
        let usual = HTTPError(status: response.status, headers: response.headers, body: [], server: "")
        retryAfter = usual.retryAfter ?? body.flatMap(Self.retryAfter)
    }

    func mentions(_ word: String) -> Bool {
        text?.lowercased().contains(word) ?? false
    }

    private static func words(_ body: JSON) -> String? {
        if let detail = body["detail"] {
            if let list = detail.array { return list.prefix(5).compactMap(problem).joined(separator: "; ") }
            if let words = detail.string ?? sentence(detail) { return words }
        }
        return sentence(body) ?? body["error"].flatMap { $0.string == nil ? sentence($0) : nil }
    }

    /// The code and the sentence of an object, whichever are there.
    private static func sentence(_ object: JSON) -> String? {
        let code = object["code"]?.string ?? object["reason"]?.string ?? object["error"]?.string
        let message = object["message"]?.string ?? object["error_description"]?.string ?? object["msg"]?.string
        let parts = [code, message].compactMap(\.self).filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }

    /// One entry of a list of problems: where, and what. The value itself, which some servers repeat, is left out.
    private static func problem(_ entry: JSON) -> String? {
        if let text = entry.string { return text }
        guard let message = entry["msg"]?.string ?? entry["message"]?.string else { return nil }
        let place = (entry["loc"]?.array ?? []).compactMap { $0.string ?? $0.int.map(String.init) }
        return place.isEmpty ? message : "\(place.joined(separator: ".")): \(message)"
    }

    private static func retryAfter(_ body: JSON) -> Duration? {
        let seconds = body["retry_after_seconds"]?.double ?? body["detail"]?["retry_after_seconds"]?.double
        guard let seconds, seconds > 0, seconds < 1e9 else { return nil }
        return .milliseconds(Int((seconds * 1000).rounded()))
    }

    private static func line(_ text: String) -> String? {
        var line = text.split { $0.isNewline || $0 == "\t" || $0 == " " }.joined(separator: " ")
        // It becomes a part of our sentence, which has no final stop.
        while line.hasSuffix(".") { line.removeLast() }
        guard !line.isEmpty else { return nil }
        return PlainText.escape(line.count > 400 ? line.prefix(400) + "…" : line)
    }
}
