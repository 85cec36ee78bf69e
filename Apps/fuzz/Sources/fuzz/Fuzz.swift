@_spi(Fuzzing) import AnthropicDialect
import CFuzzer
import Glibc
@_spi(Fuzzing) import HTTPServer
import JSON
@_spi(Fuzzing) import OpenAIDialect
@_spi(Fuzzing) import ResponsesDialect
import Settings
@_spi(Fuzzing) import TerminalKit
@_spi(Fuzzing) import TurnLoop

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
        case "yaml": try readYAML(bytes)
        case "expressions": try evaluate(bytes)
        case "bundles": try readBundle(bytes)
        default: preconditionFailure("there is no fuzz target \(target)")
        }
    } catch {
        return 0
    }
    return 0
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
