import Capabilities
import JSON
import ModelKit

/// The items of an answer in the order in which they began, with a limit on their size.
struct AnswerItems: Sendable {
    /// The kind of a piece of text. Reasoning is a summary for users, or the original.
    enum Kind: Sendable { case text, refusal, summary, thoughts }

    struct Piece: Sendable {
        let kind: Kind
        /// The index among those of its kind.
        let place: Int
        var text = ""
    }

    struct Item: Sendable {
        let index: Int
        var pieces: [Piece] = []
        var isOpen = true
        /// For a call: its id for the result, the tool, and the input so far.
        var call: (id: String, name: String)?
        var input = ""
        /// The outcome of a call, and the server's result.
        var results: [Message.Part] = []
        var sealed: String?
    }

    var items: [Item] = []
    var budget = AnswerBudget()

    var lastIndex: Int { items.last?.index ?? 0 }

    var hasRefusal: Bool {
        items.contains { $0.pieces.contains { $0.kind == .refusal && !$0.text.isEmpty } }
    }

    /// Whether there are calls that need results.
    var hasOpenCalls: Bool {
        items.contains { item in
            item.results.contains { part in
                switch part {
                case .call(let call): !call.isDone
                case .malformedCall: true
                default: false
                }
            }
        }
    }

    var parts: [Message.Part] {
        var parts: [Message.Part] = []
        for item in items {
            if let reasoning = item.reasoning { parts.append(.reasoning(reasoning)) }
            for piece in item.pieces where !piece.text.isEmpty {
                switch piece.kind {
                case .text: parts.append(.text(piece.text))
                case .refusal: parts.append(.refusal(piece.text))
                case .summary, .thoughts: break
                }
            }
            parts += item.results
        }
        return parts
    }
}

extension AnswerItems.Kind {
    var isReasoning: Bool { self == .summary || self == .thoughts }

    func event(_ text: String) -> ChatEvent {
        switch self {
        case .text: .text(text)
        case .refusal: .refusal(text)
        case .summary, .thoughts: .reasoning(text)
        }
    }
}

extension AnswerItems.Item {
    var reasoning: Reasoning? {
        let text = pieces.reduce(into: "") { text, piece in if piece.kind.isReasoning { text += piece.text } }
        return text.isEmpty && sealed == nil ? nil : Reasoning(text, sealed: sealed)
    }
}

extension AnswerItems {
    /// Ends an item with its whole content. Content that did not arrive in pieces is emitted now.
    mutating func close(
        with content: JSON, at index: Int, isTruncated: Bool, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        let place = try position(at: index)
        guard items[place].isOpen else { return }
        let type = content["type"]?.string ?? ""
        switch type {
        case "message":
            try take(
                content["content"], as: ["output_text": .text, "text": .text, "refusal": .refusal], index, &events)
        case "reasoning":
            try take(content["summary"], as: ["summary_text": .summary], index, &events)
            try take(content["content"], as: ["reasoning_text": .thoughts, "text": .thoughts], index, &events)
            if let object = content.object, let sealed = SealedReasoning.seal(object) {
                try budget.charge(text: sealed)
                items[place].sealed = sealed
                events.append(.thought(Reasoning("", sealed: sealed)))
            }
        case "function_call":
            try name(place, content, &events)
            try replace(input: content["arguments"]?.unlessNull?.written, at: index)
            let isTruncated = isTruncated || content["status"] == "incomplete"
            settleCall(place, isTruncated: isTruncated, &events)
        case let type where type.hasSuffix("_call") && type != "custom_tool_call":
            try takeDone(content, type, place, &events)
        default: break
        }
        items[place].isOpen = false
    }

    /// Ends all items, because nothing more arrives.
    mutating func settle(isTruncated: Bool, _ events: inout [ChatEvent]) {
        for place in items.indices where items[place].isOpen {
            settleCall(place, isTruncated: isTruncated, &events)
            items[place].isOpen = false
        }
    }

    private mutating func settleCall(_ place: Int, isTruncated: Bool, _ events: inout [ChatEvent]) {
        guard let call = items[place].call else { return }
        let part = CallInput.part(id: call.id, name: call.name, text: items[place].input, isTruncated: isTruncated)
        items[place].results.append(part)
        switch part {
        case .call(let call): events.append(.call(call))
        case .malformedCall(let call): events.append(.malformedCall(call))
        default: break
        }
    }

    /// Texts that did not arrive in pieces.
    private mutating func take(
        _ contents: JSON?, as kinds: [String: Kind], _ index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        for (number, content) in (contents?.array ?? []).enumerated() {
            guard let kind = kinds[content["type"]?.string ?? ""] else { continue }
            let item = try position(at: index)
            guard !items[item].pieces.contains(where: { $0.kind == kind && $0.place == number }) else { continue }
            let text = content["text"]?.filled ?? content["refusal"]?.filled ?? ""
            try append(text, kind, number, at: index, &events)
        }
    }

    /// A tool of the server, which has already run.
    private mutating func takeDone(
        _ content: JSON, _ type: String, _ place: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        let number = try budget.chargeCall()
        let id = content["id"]?.filled ?? number
        let name = content["name"]?.filled ?? String(type.dropLast(5))
        var input: JSON = [:]
        if let written = content["arguments"]?.filled {
            // Text that is not JSON is shown unchanged, because it is not run again.
            input = (try? JSON(parsing: written, reading: .stream)) ?? .string(written)
        } else if let action = content["action"], !action.isNull {
            input = action
        }
        try budget.charge(input: input.text())
        let call = ToolCall(id: id, name: name, input: input, isDone: true)
        items[place].results.append(.call(call))
        events.append(.call(call))
        let error = content["error"]?.unlessNull?.written
        guard let output = error ?? content["output"]?.filled else { return }
        let result = ToolResult(call: id, content: output, isError: error != nil)
        try budget.charge(text: output)
        items[place].results.append(.result(result))
        events.append(.result(result))
    }
}

extension AnswerItems {
    /// Begins an item. Its content is read when it ends.
    mutating func open(_ content: JSON, at index: Int, _ events: inout [ChatEvent]) throws(DialectError) {
        guard !items.contains(where: { $0.index == index }) else { return }
        _ = try add(at: index)
        let place = items.count - 1
        guard content["type"] == "function_call" else { return }
        try name(place, content, &events)
    }

    /// Emits a call as soon as its tool is known.
    mutating func name(_ place: Int, _ content: JSON, _ events: inout [ChatEvent]) throws(DialectError) {
        guard items[place].call == nil else { return }
        let number = try budget.chargeCall()
        let call = (
            id: content["call_id"]?.filled ?? content["id"]?.filled ?? number, name: content["name"]?.filled ?? ""
        )
        try budget.charge(text: call.id + call.name)
        items[place].call = call
        if !call.name.isEmpty { events.append(.calling(id: call.id, name: call.name)) }
    }

    /// Continues an item's text. Without an item, this begins one.
    mutating func append(
        _ text: String, _ kind: Kind, _ place: Int, at index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !text.isEmpty else { return }
        try budget.charge(text: text)
        let item = try position(at: index)
        guard items[item].isOpen else { return }
        let last = items[item].pieces.count - 1
        if last >= 0, items[item].pieces[last].kind == kind, items[item].pieces[last].place == place {
            items[item].pieces[last].text += text
            events.append(kind.event(text))
            return
        }
        if let piece = items[item].pieces.firstIndex(where: { $0.kind == kind && $0.place == place }) {
            items[item].pieces[piece].text += text
            events.append(kind.event(text))
            return
        }
        // Several pieces of reasoning are paragraphs.
        let isNext = kind.isReasoning && items[item].pieces.contains { $0.kind.isReasoning }
        let text = isNext ? "\n\n" + text : text
        try budget.chargePart()
        items[item].pieces.append(Piece(kind: kind, place: place, text: text))
        events.append(kind.event(text))
    }

    mutating func append(input: String, at index: Int) throws(DialectError) {
        try budget.charge(input: input)
        let item = try position(at: index)
        if items[item].isOpen { items[item].input += input }
    }

    /// The whole input, which some servers send without its pieces.
    mutating func replace(input: String?, at index: Int) throws(DialectError) {
        guard let input else { return }
        let item = try position(at: index)
        guard items[item].isOpen, input != items[item].input else { return }
        try budget.charge(input: input)
        items[item].input = input
    }

    @inline(__always)
    mutating func position(at index: Int) throws(DialectError) -> Int {
        if let last = items.last, last.index == index { return items.count - 1 }
        if let place = items.lastIndex(where: { $0.index == index }) { return place }
        return try add(at: index)
    }

    private mutating func add(at index: Int) throws(DialectError) -> Int {
        try budget.chargePart()
        items.append(Item(index: index))
        return items.count - 1
    }
}
