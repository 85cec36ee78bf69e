import Capabilities
import JSON
import ModelKit

/// The blocks of an answer in the order in which they began, with a limit on their size.
struct AnswerBlocks: Sendable {
    struct Block: Sendable {
        enum Kind: Sendable {
            case text, refusal, thinking
            /// Reasoning that only the provider can read.
            case sealed
            case call(id: String, name: String, isDone: Bool)
            /// The call that carries the answer itself. Its input is the text.
            case answer
            case result(ToolResult)
            case unknown
        }

        let index: Int
        let kind: Kind
        var text = ""
        var signature: String?
        var isOpen = true
        /// The input at the beginning of the block. It counts if no pieces follow.
        var startInput: String?
        /// The outcome of a call.
        var call: Message.Part?
    }

    var blocks: [Block] = []
    var budget = AnswerBudget()
    /// A call that ended without input. Either it has none or the answer was cut; the next events show which.
    var undecided: Int?

    var lastIndex: Int { blocks.last?.index ?? 0 }

    /// Whether there are calls that need results.
    var hasOpenCalls: Bool {
        blocks.contains { block in
            switch block.call {
            case .call(let call): !call.isDone
            case .malformedCall: true
            default: false
            }
        }
    }

    var parts: [Message.Part] {
        blocks.compactMap { block in
            switch block.kind {
            case .text, .answer: block.text.isEmpty ? nil : .text(block.text)
            case .refusal: .refusal(block.text)
            case .thinking:
                // Reasoning may be withheld, but its signature is still needed.
                block.text.isEmpty && block.signature == nil
                    ? nil : .reasoning(Reasoning(block.text, signature: block.signature))
            case .sealed: .reasoning(Reasoning("", sealed: block.text))
            case .call: block.call
            case .result(let result): .result(result)
            case .unknown: nil
            }
        }
    }
}

extension AnswerBlocks {
    /// Ends a block.
    mutating func close(_ index: Int, _ events: inout [ChatEvent]) {
        guard let place = blocks.lastIndex(where: { $0.index == index && $0.isOpen }) else { return }
        close(place: place, isTruncated: nil, &events)
    }

    /// Ends all blocks, because nothing more arrives.
    mutating func settle(isTruncated: Bool, _ events: inout [ChatEvent]) {
        settleUndecided(isTruncated: isTruncated, &events)
        for place in blocks.indices where blocks[place].isOpen {
            close(place: place, isTruncated: isTruncated, &events)
        }
    }

    mutating func settleUndecided(isTruncated: Bool, _ events: inout [ChatEvent]) {
        guard let place = undecided else { return }
        undecided = nil
        close(place: place, isTruncated: isTruncated, &events)
    }

    /// - Parameter isTruncated: nil if it is not known yet.
    private mutating func close(place: Int, isTruncated: Bool?, _ events: inout [ChatEvent]) {
        blocks[place].isOpen = false
        let block = blocks[place]
        let input = block.text.isEmpty ? block.startInput ?? "" : block.text
        switch block.kind {
        case .answer where block.text.isEmpty && !input.isEmpty:
            blocks[place].text = input
            events.append(.text(input))
        case .thinking:
            if let signature = block.signature { events.append(.thought(Reasoning("", signature: signature))) }
        case .sealed: events.append(.thought(Reasoning("", sealed: block.text)))
        case .call(let id, let name, let isDone):
            if input.isEmpty, isTruncated == nil {
                undecided = place
                return
            }
            let part = CallInput.part(
                id: id, name: name, text: input, isTruncated: isTruncated ?? false, isDone: isDone)
            blocks[place].call = part
            switch part {
            case .call(let call): events.append(.call(call))
            case .malformedCall(let call): events.append(.malformedCall(call))
            default: break
            }
        default: break
        }
    }
}

extension AnswerBlocks {
    /// Continues a block. Text without a block starts one.
    mutating func append(
        _ piece: String, _ kind: BlockDelta.Kind, at index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !piece.isEmpty else { return }
        guard let place = try place(of: kind, at: index) else { return }
        switch (kind, blocks[place].kind) {
        case (.text, .text):
            try budget.charge(text: piece)
            blocks[place].text += piece
            events.append(.text(piece))
        case (.thinking, .thinking):
            try budget.charge(text: piece)
            blocks[place].text += piece
            events.append(.reasoning(piece))
        case (.signature, .thinking):
            try budget.charge(text: piece)
            blocks[place].signature = (blocks[place].signature ?? "") + piece
        case (.input, .call):
            try budget.charge(input: piece)
            blocks[place].text += piece
        case (.input, .answer):
            try budget.charge(text: piece)
            blocks[place].text += piece
            events.append(.text(piece))
        default: break
        }
    }

    @inline(__always)
    private mutating func place(of kind: BlockDelta.Kind, at index: Int) throws(DialectError) -> Int? {
        if let last = blocks.last, last.index == index, last.isOpen { return blocks.count - 1 }
        if let place = blocks.lastIndex(where: { $0.index == index && $0.isOpen }) { return place }
        switch kind {
        case .text: try add(Block(index: index, kind: .text))
        case .thinking: try add(Block(index: index, kind: .thinking))
        case .input, .signature: return nil
        }
        return blocks.count - 1
    }

    mutating func refuse(_ words: String, _ events: inout [ChatEvent]) {
        blocks.append(Block(index: -1, kind: .refusal, text: words, isOpen: false))
        events.append(.refusal(words))
    }
}

extension AnswerBlocks {
    /// Begins a block with its initial content.
    mutating func open(_ content: JSON, at index: Int, _ events: inout [ChatEvent]) throws(DialectError) {
        settleUndecided(isTruncated: false, &events)
        let type = content["type"]?.string ?? ""
        switch type {
        case "text":
            try add(Block(index: index, kind: .text))
            try append(content["text"]?.filled ?? "", .text, at: index, &events)
        case "thinking":
            try add(Block(index: index, kind: .thinking))
            try append(content["thinking"]?.filled ?? "", .thinking, at: index, &events)
            try append(content["signature"]?.filled ?? "", .signature, at: index, &events)
        case "redacted_thinking":
            let data = content["data"]?.filled ?? ""
            try budget.charge(text: data)
            try add(Block(index: index, kind: .sealed, text: data))
        case "tool_use", "server_tool_use", "mcp_tool_use": try openCall(content, type, at: index, &events)
        case let type where type.hasSuffix("_tool_result"): try addResult(content, at: index, &events)
        default: try add(Block(index: index, kind: .unknown))
        }
    }

    private mutating func openCall(
        _ content: JSON, _ type: String, at index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        let name = content["name"]?.filled ?? ""
        let input = content["input"].flatMap { $0.isNull || $0.object?.isEmpty == true ? nil : $0.written }
        try budget.charge(input: input ?? "")
        guard name != AnswerTool.name else { return try add(Block(index: index, kind: .answer, startInput: input)) }
        let number = try budget.chargeCall()
        let id = content["id"]?.filled ?? number
        try budget.charge(text: id + name)
        let kind = Block.Kind.call(id: id, name: name, isDone: type != "tool_use")
        try add(Block(index: index, kind: kind, startInput: input))
        if !name.isEmpty { events.append(.calling(id: id, name: name)) }
    }

    /// The results of the server's own tools.
    private mutating func addResult(
        _ content: JSON, at index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        guard let call = content["tool_use_id"]?.filled else { return }
        var result = ToolResult(call: call, content: content["content"]?.written ?? "")
        let kind = content["content"]?["type"]?.string ?? ""
        result.isError = content["is_error"]?.bool ?? kind.hasSuffix("_error")
        try budget.charge(text: call + result.content)
        try add(Block(index: index, kind: .result(result)))
        events.append(.result(result))
    }

    mutating func add(_ block: Block) throws(DialectError) {
        try budget.chargePart()
        blocks.append(block)
    }
}

/// A piece of a block, read without a JSON tree because nearly all events are such pieces. It is nil for any other
/// event, which is then parsed.
struct BlockDelta {
    enum Kind: Sendable {
        case text, thinking, input, signature

        /// The type of a piece, and the member with its text.
        static let all: [(type: String, key: String, kind: Kind)] = [
            ("text_delta", "text", .text), ("thinking_delta", "thinking", .thinking),
            ("input_json_delta", "partial_json", .input), ("signature_delta", "signature", .signature),
        ]
    }

    private(set) var index = -1
    private(set) var text = ""
    private(set) var kind = Kind.text
    private var type = ""
    private var pieces = 0

    @inline(__always)
    init?(_ data: [UInt8]) {
        do {
            try JSONPullReader.read(data) { reader in try read(&reader) }
        } catch {
            return nil
        }
        guard pieces == 1, index >= 0 else { return nil }
        switch kind {
        case .text: if type != "text_delta" { return nil }
        case .thinking: if type != "thinking_delta" { return nil }
        case .input: if type != "input_json_delta" { return nil }
        case .signature: return nil
        }
    }

    @inline(__always)
    private mutating func read(_ reader: inout JSONPullReader) throws {
        try reader.object { reader, key in
            switch key {
            case "index": index = try reader.int()
            case "delta": try readDelta(&reader)
            case "error": pieces += 2
            default: break
            }
        }
    }

    @inline(__always)
    private mutating func readDelta(_ reader: inout JSONPullReader) throws {
        try reader.object { reader, key in
            switch key {
            case "type": type = try reader.string()
            case "text" where !reader.isNull: try take(.text, &reader)
            case "thinking" where !reader.isNull: try take(.thinking, &reader)
            case "partial_json" where !reader.isNull: try take(.input, &reader)
            default: break
            }
        }
    }

    @inline(__always)
    private mutating func take(_ kind: Kind, _ reader: inout JSONPullReader) throws {
        self.kind = kind
        text = try reader.string()
        pieces += 1
    }
}
