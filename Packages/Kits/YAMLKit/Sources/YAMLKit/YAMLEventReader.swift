import CYAML
import Capabilities

/// Reads the events of a text. It owns the parser of libyaml.
@safe
struct YAMLEventReader: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// libyaml reads from this buffer during parsing.
    private let text: UnsafeMutableBufferPointer<UInt8>

    init(_ bytes: [UInt8]) throws(YAMLError) {
        unsafe parser = .allocate(capacity: 1)
        unsafe text = .allocate(capacity: bytes.count)
        _ = unsafe text.initialize(fromContentsOf: bytes)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe text.deallocate()
            unsafe parser.deallocate()
            throw YAMLError(.limit, "out of memory; try again later", at: YAMLPlace())
        }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe text.deallocate()
        unsafe parser.deallocate()
    }

    mutating func next() throws(YAMLError) -> YAMLEvent {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw problem() }
        defer { unsafe yaml_event_delete(&event) }
        let place = unsafe YAMLPlace(event.start_mark)
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .documentStart, place: place)
        case YAML_DOCUMENT_END_EVENT: return YAMLEvent(kind: .documentEnd, place: place)
        case YAML_STREAM_END_EVENT: return YAMLEvent(kind: .streamEnd, place: place)
        case YAML_ALIAS_EVENT:
            return YAMLEvent(kind: .alias(unsafe Self.text(event.data.alias.anchor) ?? ""), place: place)
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
            return unsafe YAMLEvent(
                kind: .scalar(YAMLScalar(text: String(decoding: bytes, as: UTF8.self), isPlain: isPlain)),
                anchor: Self.text(scalar.anchor), hasTag: scalar.tag != nil, place: place)
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            return unsafe YAMLEvent(
                kind: .listStart, anchor: Self.text(start.anchor), hasTag: start.tag != nil, place: place)
        case YAML_SEQUENCE_END_EVENT: return YAMLEvent(kind: .listEnd, place: place)
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            return unsafe YAMLEvent(
                kind: .mapStart, anchor: Self.text(start.anchor), hasTag: start.tag != nil, place: place)
        case YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .mapEnd, place: place)
        default: return YAMLEvent(kind: .other, place: place)
        }
    }

    private static func text(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        unsafe bytes.map { unsafe String(decodingCString: $0, as: UTF8.self) }
    }

    /// The error of libyaml, with a hint for common ones.
    private func problem() -> YAMLError {
        let parser = unsafe parser.pointee
        let words = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "not valid YAML"
        if unsafe parser.error == YAML_READER_ERROR {
            let before = unsafe text.prefix(max(0, parser.problem_offset))
            let place = YAMLPlace(after: unsafe Array(before))
            return YAMLError(.syntax, "the text is not UTF-8, or contains a control character: \(words)", at: place)
        }
        let context = unsafe parser.context.map { unsafe String(cString: $0) }
        let sentence = [words, context].compactMap(\.self).joined(separator: " ")
        return YAMLError(
            .syntax, PlainText.escape(sentence) + Self.hint(words), at: unsafe YAMLPlace(parser.problem_mark))
    }

    private static func hint(_ problem: String) -> String {
        if problem.contains("cannot start any token") {
            return "; indent with spaces, and quote a value that begins with @ or `"
        }
        if problem.contains("mapping values are not allowed") { return "; quote a text that contains ': '" }
        if problem.contains("could not find expected ':'") { return "; a key must be followed by ': '" }
        return ""
    }
}

/// A parser event of libyaml.
struct YAMLEvent {
    enum Kind {
        case documentStart
        case documentEnd
        case streamEnd
        case alias(String)
        case scalar(YAMLScalar)
        case listStart
        case listEnd
        case mapStart
        case mapEnd
        /// The start of the stream, or another event without meaning here.
        case other
    }

    let kind: Kind
    /// The name that aliases use for the value.
    var anchor: String?
    var hasTag = false
    let place: YAMLPlace
}
