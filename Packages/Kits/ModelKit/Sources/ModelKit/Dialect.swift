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
