public import Capabilities
import TurnLoop

/// A small planner that follows fixed rules and uses real tools. It is not a language model and needs no network.
///
/// It has no state. Its next step depends only on the messages, including the results of its earlier calls, and on the
/// offered tools. `TurnLoop` and clients with their own tools can use it like any other model. The same request always
/// gets the same answer.
public final class PlannerModel: BuiltInModel {
    /// The name of its only model.
    public static let model = "martlet-offline"

    /// The planner, which has no settings.
    public init() {}

    public var id: String { "martlet" }
    public var name: String { "Martlet's offline planner" }

    public func isAvailable() async -> Bool { true }

    public func models() async throws -> [ModelDescription] { [description] }

    /// The only model. Its price is known to be zero.
    private var description: ModelDescription {
        let nothing = TokenPrice(femtodollars: 0)
        return ModelDescription(
            id: Self.model, provider: id, name: "Offline planner, not a language model",
            price: ModelPrice(input: nothing, output: nothing), abilities: [.tools])
    }

    public func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        try check(request.model)
        try Task.checkCancellation()
        let start = ChatStart(model: Self.model)
        try await receive([.began(start)])
        // The rules cannot follow a schema, and an answer of another shape would be worse than none.
        guard request.schema == nil else { return try await refuse(request, start, receive) }
        let step = Planner(request).next()
        let wording = WordStream(step.text, request.options)
        for piece in wording.pieces {
            try Task.checkCancellation()
            try await receive(piece)
        }
        var message = Message(.assistant, wording.text.isEmpty ? [] : [.text(wording.text)])
        var finish = wording.finish
        if !wording.isCut, !step.calls.isEmpty {
            try Task.checkCancellation()
            finish = .calls
            message.parts += step.calls.map(Message.Part.call)
            try await receive(step.calls.flatMap { [.calling(id: $0.id, name: $0.name), .call($0)] })
        }
        let usage = usage(of: request, message)
        try await receive([.usage(usage)])
        return ChatAnswer(start: start, message: message, finish: finish, usage: usage)
    }

    private func check(_ model: String) throws(PlannerError) {
        guard model.isEmpty || model == Self.model || model == "\(id)/\(Self.model)" else {
            let name = PlainText.escape(String(model.prefix(100)))
            throw PlannerError(
                .unknownModel, "\(id) has no model “\(name)”; its only model is \(Self.model)")
        }
    }

    private func refuse(
        _ request: ChatRequest, _ start: ChatStart, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let words =
            "\(Self.model) follows fixed rules and cannot answer in the shape of a schema; use a language model."
        let message = Message(.assistant, [.refusal(words)])
        let usage = usage(of: request, message)
        try await receive([.refusal(words), .usage(usage)])
        return ChatAnswer(start: start, message: message, finish: .refused, usage: usage)
    }

    private func usage(of request: ChatRequest, _ message: Message) -> Usage {
        let estimate = TokenEstimate()
        return Usage(
            inputTokens: estimate.tokens(of: request), outputTokens: estimate.tokens(of: message),
            cost: Cost(nanodollars: 0))
    }
}

/// Splits a text into words for streaming, and shortens it to the limits of the request.
struct WordStream {
    /// The approximate maximum number of parts of a long text, so that quoting a file does not take thousands of
    /// events.
    private static let mostParts = 500

    private(set) var text: String
    private(set) var finish = ChatAnswer.Finish.stop
    /// Whether the text was shortened.
    private(set) var isCut = false
    private var words: [Substring]

    init(_ whole: String, _ options: ModelOptions) {
        text = whole
        for end in options.stop where !end.isEmpty {
            guard let place = text.firstRange(of: end) else { continue }
            text = String(text[..<place.lowerBound])
            isCut = true
        }
        words = Self.words(of: text)
        if let limit = options.maxTokens { shorten(to: limit) }
    }

    /// The words with the spaces after them, as events.
    var pieces: [[ChatEvent]] {
        let size = words.count / Self.mostParts + 1
        return stride(from: 0, to: words.count, by: size).map { start in
            words[start..<min(start + size, words.count)].map { ChatEvent.text(String($0)) }
        }
    }

    private mutating func shorten(to limit: Int) {
        let estimate = TokenEstimate()
        guard estimate.tokens(of: text) > limit else { return }
        var kept = words.count
        while kept > 0, estimate.tokens(of: words.prefix(kept).joined()) > limit { kept = kept * 9 / 10 }
        words = Array(words.prefix(kept))
        text = words.joined()
        (finish, isCut) = (.length, true)
    }

    private static func words(of text: String) -> [Substring] {
        var words: [Substring] = []
        var start = text.startIndex
        var wasSpace = false
        for index in text.indices {
            let isSpace = text[index].isWhitespace
            if wasSpace, !isSpace {
                words.append(text[start..<index])
                start = index
            }
            wasSpace = isSpace
        }
        if start < text.endIndex { words.append(text[start...]) }
        return words
    }
}

extension String {
    /// The first place of another text in this one.
    func firstRange(of other: String) -> Range<String.Index>? {
        let (bytes, wanted) = (Array(utf8), Array(other.utf8))
        guard let place = bytes.firstPlace(of: wanted) else { return nil }
        let start = utf8.index(startIndex, offsetBy: place)
        let end = utf8.index(start, offsetBy: wanted.count)
        // The match must not split a character.
        guard let first = start.samePosition(in: unicodeScalars), let last = end.samePosition(in: unicodeScalars) else {
            return nil
        }
        return first..<last
    }

    /// How often another text occurs in this one; occurrences may overlap.
    func count(of other: String) -> Int {
        let (bytes, wanted) = (Array(utf8), Array(other.utf8))
        guard !wanted.isEmpty else { return 0 }
        var (count, start) = (0, 0)
        while let place = bytes[start...].firstPlace(of: wanted) {
            count += 1
            start = place + 1
        }
        return count
    }
}

extension RandomAccessCollection where Element == UInt8, Index == Int {
    fileprivate func firstPlace(of wanted: [UInt8]) -> Int? {
        guard let first = wanted.first, count >= wanted.count else { return nil }
        for place in startIndex...(endIndex - wanted.count) where self[place] == first {
            if self[place..<(place + wanted.count)].elementsEqual(wanted) { return place }
        }
        return nil
    }
}
