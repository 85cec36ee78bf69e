import Capabilities
import Glibc
import JSON
import Registry
import Settings
import Synchronization
import Testing

@testable import CommandLineFrontend

/// A feature that reveals a secret in every way except its result.
private struct TalkativeFeature: Feature {
    static let secret = "tr0ub4dor&3\"x"
    static let manifest = Manifest(id: "talkative", summary: "Says too much", version: "1.0")

    struct Broken: Failure {
        var code: String { "talkative.broken" }
        var message: String { "the key \(secret) was refused\nand so was token=abcdef\n  https://a:b@c.example" }
        var cause: (any Error)? { Cause() }
        var details: JSONObject {
            ["url": .string("https://c.example/?k=tr0ub4dor%263%22x"), "list": [.string(secret)]]
        }
    }

    struct Cause: Error, CustomStringConvertible {
        var description: String { "Authorization: Bearer abcDEF123456, and \(secret)" }
    }

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let redactor = registry.surroundings.redactor
        @Sendable func work(_ context: ActionContext) async throws -> Nothing {
            redactor.learn(Secret(Self.secret))
            context.notice("the notice has \(Self.secret) in it")
            context.progress("the progress has \(Self.secret) in it", completed: 1, of: 2)
            throw Broken()
        }
        registry.add(Action("talkative.fail", "Fail", .reads) { context in try await work(context) })
        registry.add(
            Action("talkative.stream", "Fail in a stream", .reads) { context in try await work(context) }.streaming([]))
        registry.add(
            Action("talkative.take", "Take a secret and fail", .reads, .secret("token", "The token")) {
                context, token in
                try token.withText { text in throw UsageError.answers("the token \(text) was refused") }
                return Nothing()
            })
    }
}

@Suite("Redacted output", .timeLimit(.minutes(5)))
struct RedactedOutputTests {
    /// Runs each command in its own process and returns both outputs.
    private static func run(
        _ words: [String]
    ) async throws -> (output: String, errors: String) {
        let words = words.joined(separator: " ")
        let exit = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [words = words as String] in
            let program = CommandLineProgram(
                name: "martlet", version: "1.0", features: [BuiltInFeature(TalkativeFeature.self)])
            unsafe setenv("TALKATIVE_TOKEN", "pa55phrase w1th blanks", 1)
            let arguments = ["martlet"] + words.split(separator: " ").map(String.init)
            let code = await MainActor.run { program.run(arguments) }
            precondition(code != 0)
        }
        let result = try #require(exit)
        return (
            String(decoding: result.standardOutputContent, as: UTF8.self),
            String(decoding: result.standardErrorContent, as: UTF8.self)
        )
    }

    private static let forms = [
        TalkativeFeature.secret, "tr0ub4dor", "%263", "abcdef", "abcDEF123456", ":b@",
    ]

    @Test(
        "Secrets are removed from errors, causes, details, notices and progress, in any format", .serialized,
        arguments: ["text", "json", "ndjson", "csv", "markdown"])
    func failing(_ format: String) async throws {
        for action in ["fail", "stream"] {
            let (output, errors) = try await Self.run(["talkative", action, "--format", format, "--verbose"])
            for form in Self.forms {
                #expect(!output.contains(form) && !errors.contains(form), "\(form)\n\(errors)")
            }
            #expect(errors.contains("the notice has ‹redacted› in it"))
            #expect(errors.contains("the key ‹redacted› was refused"))
            #expect(errors.contains("token=‹redacted›") && errors.contains("https://a:‹redacted›@c.example"))
            #expect(errors.contains("Authorization: Bearer ‹redacted›"))
            guard format == "ndjson" else { continue }
            #expect(errors.contains("the progress has ‹redacted› in it"))
            #expect(action == "fail" || output.contains("\"is_error\":true"))
        }
    }

    @Test("A secret given to a command is removed when the command repeats it")
    func given() async throws {
        let (output, errors) = try await Self.run(["talkative", "take", "--token-env", "TALKATIVE_TOKEN"])
        #expect(output.isEmpty && errors.contains("the token ‹redacted› was refused"))
        #expect(!errors.contains("pa55phrase") && !errors.contains("w1th"))
    }

    @Test(
        "A secret typed in the wrong place is not repeated",
        arguments: ["--password=hunter2", "--timeout=token=hunter2"])
    func typed(_ word: String) async throws {
        for format in ["text", "json"] {
            let (output, errors) = try await Self.run(["talkative", "fail", word, "--format", format])
            #expect(!output.contains("hunter2") && !errors.contains("hunter2"), "\(errors)")
            #expect(!errors.isEmpty)
        }
    }
}
