@_spi(Fuzzing) import AnthropicDialect
import Bundles
import CFuzzer
import Cryptography
import ExpressionKit
import Glibc
import HTTPCore
@_spi(Fuzzing) import HTTPServer
import JSON
@_spi(Fuzzing) import MCPKit
@_spi(Fuzzing) import OpenAIDialect
@_spi(Fuzzing) import RPCKit
@_spi(Fuzzing) import ResponsesDialect
@_spi(Fuzzing) import SSHCore
import SchemaKit
import Settings
import Synchronization
import TOMLKit
@_spi(Fuzzing) import TerminalKit
@_spi(Fuzzing) import TraceKit
@_spi(Fuzzing) import TurnLoop
import YAMLKit

/// The parser to be fuzzed, by the variable MARTLET_FUZZ.
private let target = unsafe getenv("MARTLET_FUZZ").map { unsafe String(cString: $0) } ?? "json"

/// Hands the program to libFuzzer, which takes its own options from the command line.
@main
enum Fuzz {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        exit(unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe test($0, $1) })
    }
}

/// What libFuzzer calls with each input. A trap is a finding; an error is an answer.
private func test(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: count))
    do {
        switch target {
        case "json": try roundTrip(bytes, .strict)
        case "stream": try roundTrip(bytes, .stream)
        case "json5": try roundTrip(bytes, .json5)
        case "document": try edit(bytes)
        case "pull": try pull(bytes)
        case "settings": try settings(bytes)
        case "events": try readEvents(bytes)
        case "frames": try readFrames(bytes)
        case "requests": FuzzTargets.requests(bytes)
        case "chunks": FuzzTargets.chunks(bytes)
        case "address": FuzzTargets.address(bytes)
        case "certificates": try readCertificate(bytes)
        case "openai": OpenAIFuzzTarget.read(bytes)
        case "anthropic": AnthropicFuzzTarget.read(bytes)
        case "responses": ResponsesFuzzTarget.read(bytes)
        case "tags": precondition(TaggedText.readsAlike(bytes), "a cut changes the calls")
        case "markdown": MarkdownFuzz.render(bytes)
        case "rpc": RPCFuzzTarget.read(bytes)
        case "mcp": waiting { await MCPServerFuzzTarget.read(bytes) }
        case "mcp-events": MCPEventFuzzTarget.read(bytes)
        case "input": InputFuzz.decode(bytes)
        case "painter": PainterFuzz.paint(bytes)
        case "yaml": try readYAML(bytes)
        case "expressions": try evaluate(bytes)
        case "bundles": try readBundle(bytes)
        case "schemas": try checkSchema(bytes)
        case "toml": try readTOML(bytes)
        case "otlp": TraceFuzzTarget.read(bytes)
        case "ssh-config": SSHFuzzTarget.configuration(bytes)
        case "known-hosts": SSHFuzzTarget.knownHosts(bytes)
        case "ssh-address": SSHFuzzTarget.address(bytes)
        default: preconditionFailure("there is no fuzz target \(target)")
        }
    } catch {
        return 0
    }
    return 0
}

/// Runs work of tasks while this thread, which is libFuzzer's, waits for it.
private func waiting(_ work: @escaping @Sendable () async -> Void) {
    let isDone = Mutex(false)
    // It is awaited right here.
    Task.detached {
        await work()
        isDone.withLock { $0 = true }
    }
    while !isDone.withLock({ $0 }) { sched_yield() }
}

/// Whatever is accepted is written and read again as the same value.
private func roundTrip(_ bytes: [UInt8], _ reading: JSONReading) throws {
    let value = try JSON(parsing: bytes, reading: reading)
    let text = value.text()
    guard try JSON(parsing: text) == value else { preconditionFailure("\(text) reads as another value") }
}

/// An edited document parses, and holds the edit.
private func edit(_ bytes: [UInt8]) throws {
    let document = try JSONDocument(parsing: bytes, name: "fuzz")
    guard document.value.object != nil || bytes.isEmpty else { return }
    let edited = try JSONDocument(parsing: try document.setting(["a", "b"], to: 1), name: "edited")
    guard edited.value["a"]?["b"] == 1 else { preconditionFailure("the edit is lost") }
    let removed = try JSONDocument(parsing: edited.removing(["a", "b"]), name: "removed")
    guard removed.value["a"]?["b"] == nil else { preconditionFailure("the removed member is still there") }
}

/// The forward reader accepts what the tree accepts.
private func pull(_ bytes: [UInt8]) throws {
    var tree: JSON?
    do { tree = try JSON(parsing: bytes, reading: .stream) } catch {}
    var pulled: JSON?
    do { pulled = try JSONPullReader.read(bytes) { try $0.value() } } catch {}
    guard tree == pulled else { preconditionFailure("tree and reader disagree") }
}

/// Any settings file gives settings and problems, and nothing else.
private func settings(_ bytes: [UInt8]) throws {
    let layer = try SettingsLayer(origin: .project(file: "fuzz"), text: bytes)
    var catalogue = SettingsCatalogue(features: ["chat"])
    catalogue.add([Setting("limit", "A limit", default: 3, risk: .runs).declaration], of: "chat")
    catalogue.closeWithProfiles()
    let settings = Settings(merging: [layer], overrides: [], catalogue: catalogue) { _, _ in false }
    precondition(
        settings[["chat", "limit"]] == nil || settings.profile != nil, "a risky setting of a project was used")
}

/// What YAML says is within its limits, has its places in the text, and is the same when it is written as JSON.
func readYAML(_ bytes: [UInt8]) throws {
    var limits = YAMLLimits()
    // Smaller than in life, so that they are met.
    (limits.values, limits.depth) = (2_000, 16)
    let document = try YAMLDocument(parsing: bytes, name: "fuzz", limits: limits)
    var count = 0
    check(document.value, [], depth: 0) { path, depth in
        count += 1
        precondition(depth <= limits.depth && count <= limits.values, "a limit was passed")
        // A text that is empty says nothing anywhere.
        guard let place = document.position(of: path) else { return precondition(document.value == [:], "no place") }
        precondition((1...bytes.count + 1).contains(place.line) && place.column >= 1, "\(path) is elsewhere")
    }
    // All JSON is YAML but for a few characters, and for keys that are longer than libyaml looks ahead.
    let text = document.value.text().unicodeScalars.map { isPlain($0) ? String($0) : "\\u\(hexadecimal($0))" }.joined()
    let again: YAMLDocument
    do { again = try YAMLDocument(parsing: Array(text.utf8), name: "again", limits: limits) } catch {
        precondition(hasLongKey(document.value), "\(text) is not read again: \(error.message)")
        return
    }
    precondition(again.value == document.value, "\(text) reads as another value")
}

/// What TOML says is within its limits, and can be written as JSON; what is wrong with it is in the text.
private func readTOML(_ bytes: [UInt8]) throws {
    var limits = TOMLLimits()
    (limits.values, limits.depth) = (2_000, 16)
    let document: TOMLDocument
    do throws(TOMLError) { document = try TOMLDocument(parsing: bytes, name: "fuzz", limits: limits) } catch {
        precondition((1...bytes.count + 1).contains(error.line) && error.column >= 1, "the error is elsewhere")
        throw error
    }
    check(document.value, [], depth: 0) { path, depth in
        precondition(depth <= limits.depth + 1, "\(path) is too deep")
    }
    try roundTrip(Array(document.value.text().utf8), .strict)
}

private func check(_ value: JSON, _ path: [String], depth: Int, _ visit: ([String], Int) -> Void) {
    visit(path, depth)
    switch value {
    case .array(let items):
        for (index, item) in items.enumerated() { check(item, path + [String(index)], depth: depth + 1, visit) }
    case .object(let members):
        for (name, member) in members { check(member, path + [name], depth: depth + 1, visit) }
    default: break
    }
}

/// Whether it stands for itself in YAML: it ends no line there, and is none that must not be there.
private func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: false
    default: true
    }
}

private func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
}

private func hasLongKey(_ value: JSON) -> Bool {
    switch value {
    case .array(let items): items.contains(where: hasLongKey)
    case .object(let members): members.contains { JSON.string($0.0).text().utf8.count > 1_000 || hasLongKey($0.1) }
    default: false
    }
}

/// An expression has one value, or one error with a place in its text, and its value is within the limit.
func evaluate(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    var scope = Scope(
        [
            "inputs": ["a": 1, "b": "two", "c": [1, 2, 3], "d": ["e": 0.5]], "env": ["x": "$(y)"],
            "steps": ["s": ["result": ["text": "${{ 1 }}"], "results": [[], [:]]]],
        ], hasSucceeded: bytes.count % 2 == 0)
    scope.limit = 1 << 16
    try evaluate(text, in: scope)
    // As part of a text, whatever is around it.
    let template = try Template(parsing: "<" + text + ">")
    let value = try template.value(in: scope)
    precondition(!template.isPlain || value == .string("<" + text + ">"), "a text was changed")
}

private func evaluate(_ text: String, in scope: Scope) throws {
    let expression: Expression
    let length = text.unicodeScalars.count
    do { expression = try Expression(parsing: text) } catch {
        precondition(error.offset >= 0 && error.offset <= length, "the error has no place")
        return
    }
    precondition(expression.references.allSatisfy { !$0.path.isEmpty && $0.offset < length }, "a name has no place")
    let first = Result { () throws(ExpressionError) in try expression.value(in: scope) }
    let second = Result { () throws(ExpressionError) in try expression.value(in: scope) }
    switch (first, second) {
    case (.success(let value), .success(let again)):
        precondition(value == again, "an expression has two values")
        // What was written out in the expression itself is as large as it is.
        precondition((value.string?.utf8.count ?? 0) <= max(scope.limit, text.utf8.count), "it is too large")
    case (.failure(let error), .failure(let again)):
        precondition(error == again && error.offset >= 0 && error.offset <= length, "the error has no place")
    default: preconditionFailure("an expression has a value and has none")
    }
    // What `&&` joins has together the value of the whole.
    if case .success(.bool(let whole)) = first {
        let together = try holds(expression.conjuncts, in: scope)
        precondition(together == whole, "its parts have another value")
    }
}

private func holds(_ parts: [Expression], in scope: Scope) throws -> Bool {
    for part in parts where try !part.bool(in: scope) { return false }
    return true
}

/// Any file is a bundle or a list of problems, each with a place.
func readBundle(_ bytes: [UInt8]) throws {
    for file in ["fuzz.yaml", "fuzz.json5"] {
        do {
            let bundle = try Bundle(BundleSource(bytes, file: file))
            precondition(!bundle.name.isEmpty && !bundle.allSteps.isEmpty, "a bundle lacks what each has")
        } catch {
            precondition(!error.problems.isEmpty, "nothing is wrong with what is refused")
            let havePlaces = error.problems.allSatisfy { $0.file == file && $0.line > 0 && $0.column > 0 }
            precondition(havePlaces, "a problem has no place")
        }
    }
}

/// Any schema is refused with problems, or gives each value one verdict. The input is a JSON array of a schema and values;
/// the schema is a value too, since it has the parts that it is about.
func checkSchema(_ bytes: [UInt8]) throws {
    let input = try JSON(parsing: bytes, reading: .stream)
    let json = input[0] ?? input
    var limits = JSONSchema.Limits()
    // Smaller than in life, so that they are met.
    (limits.steps, limits.depth, limits.subschemas, limits.nesting) = (20_000, 100, 500, 32)
    let schema: JSONSchema
    do { schema = try JSONSchema(json, limits: limits) } catch {
        precondition(!error.problems.isEmpty, "nothing is wrong with what is refused")
        return
    }
    for value in (input.array ?? []) + [input] {
        let verdict = schema.check(value)
        precondition(verdict.problems.isEmpty == (verdict.outcome != .invalid), "the problems do not fit the outcome")
        precondition(verdict.problems.count <= limits.problems, "there are too many problems")
        precondition(verdict.outcome != .unknown || !verdict.unchecked.isEmpty, "nobody knows why it is open")
        try checkOpposite(json, value, verdict.outcome, limits)
    }
}

/// What matches a schema does not match its opposite, unless it names its own parts.
private func checkOpposite(
    _ schema: JSON, _ value: JSON, _ outcome: JSONSchema.Verdict.Outcome, _ limits: JSONSchema.Limits
) throws {
    if schema.text().contains("\"$") { return }
    let opposite = try JSONSchema(["not": schema], limits: limits).check(value).outcome
    let expected: JSONSchema.Verdict.Outcome =
        switch outcome {
        case .valid: .invalid
        case .invalid: .valid
        case .unknown: .unknown
        }
    precondition(opposite == expected || opposite == .unknown, "a schema and its opposite agree")
}

/// Cuts an input in two places that its own bytes choose, since parsers err where data is cut.
private func pieces(of bytes: [UInt8]) -> [[UInt8]] {
    guard bytes.count > 2 else { return [bytes] }
    let first = Int(bytes[0]) * bytes.count / 256
    let second = first + Int(bytes[1]) * (bytes.count - first) / 256
    return [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
}

/// Events are the same however the stream is cut, and what is written of them is read as the same.
func readEvents(_ bytes: [UInt8]) throws {
    var parser = EventParser()
    let whole = try parser.read(bytes)
    var cut = EventParser()
    var events: [ServerSentEvent] = []
    for piece in pieces(of: bytes) { events += try cut.read(piece) }
    precondition(whole == events && parser.lastEventID == cut.lastEventID, "a cut changes the events")
}

/// Frames are the same however they are cut, for both sides.
func readFrames(_ bytes: [UInt8]) throws {
    for role in [WebSocketRole.client, .server] {
        let whole = inputs(of: [bytes], role)
        precondition(whole == inputs(of: pieces(of: bytes), role), "a cut changes the frames")
    }
}

private func inputs(of pieces: [[UInt8]], _ role: WebSocketRole) -> [WebSocketReader.Input?] {
    var reader = WebSocketReader(role: role)
    var inputs: [WebSocketReader.Input?] = []
    do throws(WebSocketViolation) {
        for piece in pieces {
            unsafe piece.withUnsafeBytes { unsafe reader.append($0) }
            while let input = try reader.next() { inputs.append(input) }
        }
    } catch {
        inputs.append(nil)
    }
    return inputs
}

/// A certificate that can be read can be read again from what it says it is.
func readCertificate(_ bytes: [UInt8]) throws {
    let certificate = try Certificate(der: bytes)
    _ = (certificate.subject, certificate.issuer, certificate.dnsNames, certificate.addresses, certificate.key)
    _ = (certificate.notBefore, certificate.notAfter, certificate.serial, certificate.matches(host: "localhost"))
    let again = try Certificate(der: certificate.encoded)
    precondition(again == certificate, "a certificate reads as another one")
}
