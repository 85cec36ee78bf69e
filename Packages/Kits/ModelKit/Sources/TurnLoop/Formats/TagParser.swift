import Capabilities
import JSON

/// Finds `<tool_call>` elements in a text that comes in pieces of any size.
///
/// The same text gives the same calls however it was cut. What cannot be part of a call is given out at once.
struct TagParser {
    enum Piece: Equatable {
        case text(String)
        case call(ToolCall)
        case malformed(MalformedCall)
    }

    static let idPrefix = "tagged-"
    static let longestCall = 4 << 20
    static let mostCalls = 1000
    /// How far behind a closing tag that stands in a string another one is looked for.
    static let furthestClose = 16_384
    /// How much may stand in a tag that does not begin like a call before it is taken as text.
    static let longestProse = 1024

    private static let open = Array("<tool_call>".utf8)
    static let close = Array("</tool_call>".utf8)

    private var next: Int
    private var calls = 0
    private var spans = CodeSpans()
    /// Text that is not given out yet.
    private var text: [UInt8] = []
    /// How much of an opening tag has come.
    private var opened = 0
    private var body: TagBody?

    init(next: Int) {
        self.next = next
    }

    mutating func receive(_ more: String, into pieces: inout [Piece]) {
        read(Array(more.utf8), into: &pieces)
        flush(into: &pieces)
    }

    /// The end of the text. A call that was not closed but is complete counts, because the model has only forgotten the
    /// tag; one that is not complete is malformed, so that the model is told; and a tag without a call is text.
    mutating func finish(into pieces: inout [Piece]) {
        while let body {
            self.body = nil
            switch body.atEnd() {
            case .ends(let end): read(Array(settle(body, end, into: &pieces)), into: &pieces)
            case .unclosed(let content):
                take(content, reason: "the call is not closed with </tool_call>", into: &pieces)
            }
        }
        text += Self.open[..<opened]
        opened = 0
        flush(into: &pieces)
    }

    private mutating func read(_ bytes: [UInt8], into pieces: inout [Piece]) {
        // What turns out to be no call, or to stand behind one, is read once more before the bytes after it.
        var waiting = [bytes[...]]
        while var bytes = waiting.popLast() {
            while let byte = bytes.popFirst() {
                guard body != nil else {
                    readText(byte)
                    continue
                }
                guard let end = body?.receive(byte), let body else { continue }
                self.body = nil
                let rest = settle(body, end, into: &pieces)
                guard !rest.isEmpty else { continue }
                if !bytes.isEmpty { waiting.append(bytes) }
                bytes = rest
            }
        }
    }

    /// Takes what has ended, and gives back what has to be read as text.
    private mutating func settle(_ body: TagBody, _ end: TagBody.End, into pieces: inout [Piece]) -> ArraySlice<UInt8> {
        switch end {
        case .closed(let end):
            take(Array(body.bytes[..<end]), into: &pieces)
            return body.bytes[(end + Self.close.count)...]
        case .tooLong:
            let start = Array(body.bytes.prefix(Self.longestProse))
            malformed(start, "the call is longer than \(Self.longestCall) bytes", into: &pieces)
            return []
        case .text:
            // The tag was only spoken about. A call may stand in what follows.
            for byte in Self.open { show(byte) }
            return body.bytes[...]
        }
    }

    private mutating func readText(_ byte: UInt8) {
        if opened > 0 || (byte == Self.open[0] && calls < Self.mostCalls && !spans.isCode()) {
            if byte == Self.open[opened] {
                opened += 1
                if opened == Self.open.count { (opened, body) = (0, TagBody()) }
                return
            }
            for held in Self.open[..<opened] { show(held) }
            opened = 0
            return readText(byte)
        }
        show(byte)
    }

    private mutating func show(_ byte: UInt8) {
        spans.receive(byte)
        text.append(byte)
    }

    private mutating func flush(into pieces: inout [Piece]) {
        guard !text.isEmpty else { return }
        pieces.append(.text(String(decoding: text, as: UTF8.self)))
        text = []
    }
}

// MARK: Calls

extension TagParser {
    /// - Parameter reason: what is wrong even where nothing else is.
    private mutating func take(_ bytes: [UInt8], reason: String? = nil, into pieces: inout [Piece]) {
        switch TaggedCall.read(bytes) {
        case .success(let call):
            flush(into: &pieces)
            pieces.append(.call(ToolCall(id: newID(), name: call.name, input: call.input)))
        case .failure(let problem):
            malformed(bytes, reason ?? problem.reason, name: problem.name, into: &pieces)
        }
    }

    private mutating func malformed(
        _ bytes: [UInt8], _ reason: String, name: String = "", into pieces: inout [Piece]
    ) {
        flush(into: &pieces)
        let text = String(decoding: bytes, as: UTF8.self)
        pieces.append(.malformed(MalformedCall(id: newID(), name: name, text: text, reason: reason)))
    }

    private mutating func newID() -> String {
        calls += 1
        next += 1
        return "\(Self.idPrefix)\(next - 1)"
    }
}
