import Capabilities
import JSON
import ModelKit

extension ServerRefusal {
    /// An error in the midst of an answer, or nil when the object is none.
    ///
    /// - Parameter isError: Whether it is known to be one, so that any words in it are its message.
    init?(inStream object: JSONObject, isError: Bool) {
        switch object["error"] {
        case .object(let error): self.init(fields: error)
        case .string(let words) where !words.isEmpty: self.init(message: PlainText.excerpt(words))
        default:
            // Older servers have the fields without an envelope around them.
            let isFlat = object["object"] == "error" || object["type"] == "error"
            guard isFlat || isError, let refusal = Self(bare: object) else { return nil }
            self = refusal
        }
    }

    /// What a body says that came in place of an answer.
    init?(inBody object: JSONObject) {
        self.init(inStream: object, isError: true)
    }

    private init?(bare object: JSONObject) {
        if let detail = object["detail"] {
            guard let words = Self.words(ofDetail: detail) else { return nil }
            self.init(message: PlainText.excerpt(words))
        } else {
            guard object["message"]?.filled != nil else { return nil }
            self.init(fields: object)
        }
    }

    private init(fields: JSONObject) {
        var words = fields["message"]?.filled ?? fields["detail"]?.filled ?? ""
        // OpenRouter says only that a provider failed, and what that one said stands below.
        if let raw = fields["metadata"]?["raw"]?.filled { words += ": " + raw }
        let details = fields["details"]?.array?.compactMap { Self.words(ofProblem: $0) } ?? []
        if !details.isEmpty { words += ": " + details.joined(separator: "; ") }
        if words.isEmpty { words = JSON.object(fields).text() }
        let code = fields["code"].flatMap { $0.filled ?? $0.int.map(String.init) }
        self.init(
            message: PlainText.excerpt(words), type: fields["type"]?.filled.map { PlainText.excerpt($0) },
            code: code.map { PlainText.excerpt($0) }, field: fields["param"]?.filled.map { PlainText.excerpt($0) })
    }

    /// Plain words, as proxies and crashed servers write them; nil for pages and for what is no text.
    init?(words body: [UInt8]) {
        let text = String(decoding: body.prefix(2000), as: UTF8.self)
        let trimmed = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !trimmed.isEmpty, !trimmed.hasPrefix("<"), !trimmed.contains("\u{FFFD}") else { return nil }
        self.init(message: PlainText.excerpt(trimmed))
    }

    /// FastAPI's `detail`: words, or a list of what is wrong and where.
    private static func words(ofDetail detail: JSON) -> String? {
        if let problems = detail.array { return problems.compactMap(words(ofProblem:)).joined(separator: "; ") }
        return detail.filled ?? detail["message"]?.filled ?? detail["error"]?.filled
    }

    private static func words(ofProblem problem: JSON) -> String? {
        guard let words = (problem["msg"] ?? problem["message"])?.filled else { return problem.filled }
        let place = (problem["loc"]?.array ?? []).compactMap { $0.string ?? $0.int.map(String.init) }
        return place.isEmpty ? words : "\(place.joined(separator: ".")): \(words)"
    }
}
