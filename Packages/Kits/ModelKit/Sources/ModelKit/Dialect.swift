public import Capabilities
public import JSON

/// How one kind of server is asked and how its answers are read. It does no I/O.
///
///     let body = try dialect.body(of: request)              // sent as JSON
///     var reader = dialect.reader()
///     for event in stream { try reader.receive(event.name, event.data, into: &events) }
///     let answer = try reader.finish()
public protocol Dialect: Sendable {
    /// The type that reads streamed answers of this dialect.
    associatedtype Reader: AnswerReader

    /// The kind of the dialect.
    static var kind: RequestDialect { get }
    /// The body of a request.
    func body(of request: ChatRequest) throws(DialectError) -> JSONObject
    /// Returns a reader for a streamed answer.
    func reader() -> Reader
    /// Reads a whole answer, with the events that a stream would have had.
    func answer(in body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer
    /// The error in an unsuccessful response; nil if the body contains none.
    func refusal(in body: [UInt8]) -> ServerRefusal?
}

/// Assembles an answer from server-sent events.
///
/// The same bytes always give the same events, however they were split. Memory is limited, and unknown content is
/// ignored.
public protocol AnswerReader: Sendable {
    /// Reads one event of the stream. Its text becomes one chat event.
    ///
    /// Throws if the server reports a failure in the stream, or if the event is not valid.
    mutating func receive(_ name: String, _ data: [UInt8], into events: inout [ChatEvent]) throws(DialectError)
    /// Whether the server has marked the end.
    var isComplete: Bool { get }
    /// The whole answer, after the stream has ended. Calls that are complete only now are emitted as events.
    ///
    /// Throws `.cut` if the server had not marked the end, and `.empty` if there is no valid answer. An answer without
    /// text and calls is valid.
    mutating func finish(into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer
    /// The answer so far, for one that does not end properly.
    var partial: ChatAnswer { get }
}

/// A server's message about why it did not answer.
public struct ServerRefusal: Sendable, Hashable {
    /// The message, escaped for users.
    public var message: String
    /// The server's word for the kind of problem, such as `invalid_request_error`; nil if it has none.
    public var type: String?
    /// The server's code, such as `model_not_found`; nil if it has none.
    public var code: String?
    /// The member of the request that it is about.
    public var field: String?

    /// - Parameter message: must already be escaped for users.
    public init(message: String, type: String? = nil, code: String? = nil, field: String? = nil) {
        self.message = message
        self.type = type
        self.code = code
        self.field = field
    }
}

extension ServerRefusal {
    /// The error in the middle of an answer; nil if the object is none.
    ///
    /// - Parameter isError: whether it is known to be an error, so that any text in it is its message.
    package init?(inStream object: JSONObject, isError: Bool) {
        switch object["error"] {
        case .object(let error): self.init(fields: error)
        case .string(let words) where !words.isEmpty: self.init(message: PlainText.excerpt(words))
        default:
            // Older servers have the fields without an envelope.
            let isFlat = object["object"] == "error" || object["type"] == "error"
            guard isFlat || isError, let refusal = Self(bare: object) else { return nil }
            self = refusal
        }
    }

    /// The error in a body instead of an answer: the envelopes of all servers, an error written as a stream, and plain
    /// text.
    package init?(inBody body: [UInt8]) {
        let body = Array(body.prefix(1 << 20))
        var refusal: ServerRefusal?
        if let object = Self.object(in: body[...]) {
            refusal = ServerRefusal(inStream: object, isError: true)
        } else {
            let lines = body.split { $0 == 10 || $0 == 13 }.lazy.filter { $0.starts(with: "data:".utf8) }
            let objects = lines.compactMap { Self.object(in: $0.dropFirst(5)) }
            refusal = objects.compactMap { ServerRefusal(inStream: $0, isError: true) }.first
            refusal = refusal ?? ServerRefusal(words: body)
        }
        guard let refusal else { return nil }
        self = refusal
    }

    private static func object(in text: ArraySlice<UInt8>) -> JSONObject? {
        // A body may be anything here, and one that is not JSON is read in another way.
        try? JSON(parsing: Array(text), reading: .stream).object
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
        // OpenRouter only reports that a provider failed. The provider's own message is nested below.
        if let raw = fields["metadata"]?["raw"]?.filled { words += ": " + raw }
        let details = fields["details"]?.array?.compactMap { Self.words(ofProblem: $0) } ?? []
        if !details.isEmpty { words += ": " + details.joined(separator: "; ") }
        if words.isEmpty { words = JSON.object(fields).text() }
        let code = fields["code"].flatMap { $0.filled ?? $0.int.map(String.init) }
        self.init(
            message: PlainText.excerpt(words), type: fields["type"]?.filled.map { PlainText.excerpt($0) },
            code: code.map { PlainText.excerpt($0) }, field: fields["param"]?.filled.map { PlainText.excerpt($0) })
    }

    /// Plain text of proxies and crashed servers; nil for web pages and for other data.
    package init?(words body: [UInt8]) {
        let text = String(decoding: body.prefix(2000), as: UTF8.self)
        let trimmed = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !trimmed.isEmpty, !trimmed.hasPrefix("<"), !trimmed.contains("\u{FFFD}") else { return nil }
        self.init(message: PlainText.excerpt(trimmed))
    }

    /// FastAPI's `detail`: a text, or a list of problems with their places.
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
