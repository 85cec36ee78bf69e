import Capabilities
import JSON

/// Finds `<tool_call>` elements in a text that arrives in pieces of any size.
///
/// The same text gives the same calls, however it was split. Text that cannot be part of a call is emitted at once.
struct TagParser {
    enum Piece: Equatable {
        case text(String)
        case call(ToolCall)
        case malformed(MalformedCall)

        var event: ChatEvent {
            switch self {
            case .text(let text): .text(text)
            case .call(let call): .call(call)
            case .malformed(let call): .malformedCall(call)
            }
        }
    }

    static let idPrefix = "tagged-"
    static let longestCall = 4 << 20
    static let mostCalls = 1000
    /// How far to look for another closing tag after one inside a string.
    static let furthestClose = 16_384
    /// How much text a tag may contain that does not begin like a call, before it is treated as text.
    static let longestProse = 1024

    private static let open = Array("<tool_call>".utf8)
    static let close = Array("</tool_call>".utf8)

    private var next: Int
    private var calls = 0
    private var spans = CodeSpans()
    /// Text that is not emitted yet.
    private var text: [UInt8] = []
    /// How much of an opening tag has arrived.
    private var opened = 0
    private var body: TagBody?

    init(next: Int) {
        self.next = next
    }

    mutating func receive(_ more: String, into pieces: inout [Piece]) {
        read(Array(more.utf8), into: &pieces)
        flush(into: &pieces)
    }

    /// The end of the text. An unclosed but complete call counts, because the model only forgot the tag. An incomplete
    /// call is malformed, so that the model is told. A tag without a call is text.
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
        // Text that turns out not to be a call, or to follow one, is read again before the next bytes.
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

    /// Takes a finished element, and returns what has to be read as text.
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
            // The tag was only mentioned. A call may follow.
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
    /// - Parameter reason: the problem, even if there is no other one.
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

/// The content of a call, until its end is certain.
///
/// A closing tag in a JSON string does not close the call, unless the string was never closed.
struct TagBody {
    private(set) var bytes: [UInt8] = []
    private var closed = 0
    private var opened = 0
    private var isInString = false
    private var isEscaped = false
    /// A string contained a line break, so quotes are unreliable.
    private var isBroken = false
    /// The position of the first closing tag that seemed to be inside of a string.
    private var firstClose: Int?
    /// Whether it begins like a call; nil while only spaces have arrived.
    private var isCall: Bool?
    private var isTooLong = false

    private static let open = Array("<tool_call>".utf8)

    enum End {
        /// The content ends here, followed by the closing tag.
        case closed(Int)
        case tooLong
        /// It was not a call.
        case text
    }

    mutating func receive(_ byte: UInt8) -> End? {
        closed = Self.advance(closed, byte, TagParser.close)
        if isTooLong { return closed == TagParser.close.count ? .tooLong : nil }
        bytes.append(byte)
        if closed == TagParser.close.count {
            closed = 0
            let end = bytes.count - TagParser.close.count
            if !isInString { return .closed(close(endingAt: end)) }
            firstClose = firstClose ?? end
        }
        noteBeginning(byte)
        noteString(byte)
        if let firstClose, isBroken || bytes.count - firstClose > TagParser.furthestClose { return .closed(firstClose) }
        if isCall == false {
            opened = Self.advance(opened, byte, Self.open)
            if opened == Self.open.count || bytes.count > TagParser.longestProse { return .text }
        }
        if bytes.count > TagParser.longestCall { isTooLong = true }
        return nil
    }

    /// The real end of the call: this tag, unless the quotes are wrong and it ended at the first one.
    private func close(endingAt end: Int) -> Int {
        guard let firstClose else { return end }
        return TaggedCall.isJSON(Array(bytes[..<end])) ? end : firstClose
    }

    enum Rest {
        case ends(End)
        case unclosed([UInt8])
    }

    /// The result when nothing more arrives.
    func atEnd() -> Rest {
        if isTooLong { return .ends(.tooLong) }
        if let firstClose { return .ends(.closed(firstClose)) }
        return isCall == true ? .unclosed(Array(bytes.dropLast(closed))) : .ends(.text)
    }

    /// A call begins with a brace, or with a fence around it, which some models always write.
    private mutating func noteBeginning(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
        default: isCall = isCall ?? (byte == UInt8(ascii: "{") || byte == UInt8(ascii: "`"))
        }
    }

    private mutating func noteString(_ byte: UInt8) {
        guard !isBroken else { return }
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\"") {
            isInString.toggle()
        } else if isInString, byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if isInString, byte == UInt8(ascii: "\n") {
            (isInString, isBroken) = (false, true)
        }
    }

    /// How much of a tag has arrived after one more byte. Only its first byte is `<`, so there is no need to go back.
    private static func advance(_ matched: Int, _ byte: UInt8, _ tag: [UInt8]) -> Int {
        if matched < tag.count, byte == tag[matched] { return matched + 1 }
        return byte == tag[0] ? 1 : 0
    }
}

/// The JSON of a call in a text: `{"name": "read", "arguments": {"path": "a"}}`.
struct TaggedCall: Equatable {
    let name: String
    let input: JSON

    struct Problem: Error {
        let reason: String
        var name = ""
    }

    /// Models also write `input` or `parameters`, or the arguments as a string with JSON. All of these are accepted.
    static func read(_ bytes: [UInt8]) -> Result<TaggedCall, Problem> {
        let json: JSON
        do { json = try JSON(parsing: unfenced(bytes), reading: .stream) } catch {
            return .failure(Problem(reason: "it is not valid JSON: \(error)"))
        }
        guard let call = json.object else {
            return .failure(Problem(reason: "it must be a JSON object, not \(json.kindName)"))
        }
        guard let name = call["name"]?.string, !name.isEmpty else {
            return .failure(Problem(reason: "the tool's name is missing; it belongs under \"name\""))
        }
        var input = call["arguments"] ?? call["input"] ?? call["parameters"] ?? .object([:])
        if let text = input.string {
            do { input = try JSON(parsing: text, reading: .stream) } catch {
                return .failure(Problem(reason: "the arguments are not valid JSON: \(error)", name: name))
            }
        }
        if input.isNull { input = .object([:]) }
        guard input.object != nil else {
            let reason = "the arguments must be a JSON object, not \(input.kindName)"
            return .failure(Problem(reason: reason, name: name))
        }
        return .success(TaggedCall(name: name, input: input))
    }

    static func isJSON(_ bytes: [UInt8]) -> Bool {
        do { _ = try JSON(parsing: unfenced(bytes), reading: .stream) } catch { return false }
        return true
    }

    /// Without the fence that some models put around JSON.
    private static func unfenced(_ bytes: [UInt8]) -> [UInt8] {
        let fence = Array("```".utf8)
        let blank = Array(" \t\r\n".utf8)
        var inside = bytes[...].drop { blank.contains($0) }
        guard inside.starts(with: fence) else { return bytes }
        inside = inside.drop { $0 != UInt8(ascii: "\n") }
        while let last = inside.last, blank.contains(last) { inside.removeLast() }
        if inside.suffix(3).elementsEqual(fence) { inside.removeLast(3) }
        return Array(inside)
    }
}

/// Tracks at each byte of a Markdown text whether it is inside of code: a fenced block, or backticks within one line.
///
/// Unclosed backticks count as code up to the end of the line, because the rest cannot be awaited.
struct CodeSpans {
    private var fence: (mark: UInt8, count: Int)?
    /// The number of backticks that opened the code of this line.
    private var inline = 0
    /// The run of equal marks so far.
    private var run: (mark: UInt8, count: Int, beginsLine: Bool)?
    /// The number of leading spaces of the line; nil after anything else.
    private var indent: Int? = 0
    /// On the line that opens a fence.
    private var isInfoLine = false
    /// On a line that closes the fence, if nothing more follows.
    private var isClosing = false

    private static let backtick = UInt8(ascii: "`")
    private static let tilde = UInt8(ascii: "~")

    /// Whether the next byte is code. This ends a run of marks, so it must only be asked before something else.
    mutating func isCode() -> Bool {
        endRun()
        return fence != nil || inline > 0
    }

    mutating func receive(_ byte: UInt8) {
        if byte == Self.backtick || byte == Self.tilde {
            if run?.mark == byte {
                run?.count += 1
                return
            }
            endRun()
            run = (byte, 1, indent != nil)
            indent = nil
            return
        }
        endRun()
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): endLine()
        case UInt8(ascii: " "): indent = indent.flatMap { $0 < 3 ? $0 + 1 : nil }
        case UInt8(ascii: "\t"): indent = nil
        default:
            indent = nil
            isClosing = false
        }
    }

    private mutating func endLine() {
        if isClosing { fence = nil }
        (isClosing, isInfoLine, inline, indent) = (false, false, 0, 0)
    }

    private mutating func endRun() {
        guard let run else { return }
        self.run = nil
        if let fence {
            if isInfoLine, run.mark == Self.backtick, fence.mark == Self.backtick {
                // "Info strings for backtick code blocks cannot contain backticks": this was code within the line.
                (self.fence, isInfoLine, inline) = (nil, false, fence.count)
                closeInline(run.count)
            } else {
                isClosing = run.beginsLine && run.mark == fence.mark && run.count >= fence.count
            }
        } else if run.beginsLine, run.count >= 3, inline == 0 {
            fence = (run.mark, run.count)
            isInfoLine = true
        } else if run.mark == Self.backtick {
            if inline == 0 { inline = run.count } else { closeInline(run.count) }
        }
    }

    private mutating func closeInline(_ count: Int) {
        if inline == count { inline = 0 }
    }
}
