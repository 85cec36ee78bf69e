public import Capabilities
public import JSON

/// How one kind of server is asked, and how its answers are read. It does no I/O.
///
///     let body = try dialect.body(of: request)              // sent as JSON
///     var reader = dialect.reader()
///     for event in stream { try reader.receive(event.name, event.data, into: &events) }
///     let answer = try reader.finish()
public protocol Dialect: Sendable {
    associatedtype Reader: AnswerReader

    /// Which one it is.
    static var kind: RequestDialect { get }
    /// What is sent.
    func body(of request: ChatRequest) throws(DialectError) -> JSONObject
    /// Reads an answer that is streamed.
    func reader() -> Reader
    /// Reads an answer that came as a whole, with the events that it would have been in a stream.
    func answer(in body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer
    /// What a server says that did not answer with success; nil when the body says nothing that is understood.
    func refusal(in body: [UInt8]) -> ServerRefusal?
}

/// Puts an answer together from server-sent events.
///
/// Whatever comes, the same bytes give the same events however they were cut, memory is bounded, and what is unknown
/// is passed over.
public protocol AnswerReader: Sendable {
    /// One event of the stream. Text that comes in the same event is one chat event.
    ///
    /// Throws when the server says in the stream that it failed, or when what it says makes no sense.
    mutating func receive(_ name: String, _ data: [UInt8], into events: inout [ChatEvent]) throws(DialectError)
    /// Whether the server has said that this was all.
    var isComplete: Bool { get }
    /// The whole answer, after the stream has ended. Calls that could be complete only now come as events.
    ///
    /// Throws `.cut` when the server had not said that it was all, and `.empty` when what came is no answer. An answer
    /// without text and calls is one.
    mutating func finish(into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer
    /// What has come so far, for an answer that ends in another way.
    var partial: ChatAnswer { get }
}

/// A server's own words for why it did not answer.
public struct ServerRefusal: Sendable, Hashable {
    /// Escaped, for people.
    public var message: String
    public var type: String?
    public var code: String?
    /// The member of the request that it is about.
    public var field: String?

    public init(message: String, type: String? = nil, code: String? = nil, field: String? = nil) {
        self.message = message
        self.type = type
        self.code = code
        self.field = field
    }
}

extension ServerRefusal {
    /// An error in the midst of an answer, or nil when the object is none.
    ///
    /// - Parameter isError: Whether it is known to be one, so that any words in it are its message.
    package init?(inStream object: JSONObject, isError: Bool) {
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

    /// What a body says that came in place of an answer: the envelopes of all servers, an error that was written as a
    /// stream, and plain words.
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
        // A body may be anything here, and one that is no JSON is looked at in another way.
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
    package init?(words body: [UInt8]) {
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
