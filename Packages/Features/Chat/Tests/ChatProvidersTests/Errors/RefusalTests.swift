import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import ModelKit
import OpenAIDialect
import Testing

@testable import ChatProviders

@Suite("Server refusals")
struct RefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let status: Int?
        let body: String
        let kind: ChatError.Kind

        init(_ status: Int?, _ body: String, _ kind: ChatError.Kind) {
            (self.status, self.body, self.kind) = (status, body, kind)
        }

        var testDescription: String { "\(status.map(String.init) ?? "-") \(body.prefix(80))" }
    }

    static let cases = [
        Case(401, #"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#, .keyRefused),
        Case(
            401, #"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#, .keyRefused
        ),
        Case(401, #"{"detail":"Not authenticated"}"#, .keyRefused),
        Case(402, #"{"error":{"code":402,"message":"Insufficient credits"}}"#, .noCredit),
        Case(429, #"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#, .noCredit),
        Case(429, #"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#, .rateLimited),
        Case(429, "", .rateLimited),
        Case(nil, #"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#, .rateLimited),
        Case(400, #"{"error":{"message":"too long","code":"context_length_exceeded"}}"#, .tooLong),
        Case(
            400, #"{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000"}}"#,
            .tooLong),
        Case(400, #"{"error":{"code":400,"message":"x","type":"exceed_context_size_error"}}"#, .tooLong),
        Case(
            400, #"{"object":"error","message":"This model's maximum context length is 4096 tokens","code":400}"#,
            .tooLong),
        Case(413, #"{"type":"error","error":{"type":"request_too_large","message":"x"}}"#, .tooLong),
        Case(400, #"{"error":{"message":"no","code":"content_policy_violation"}}"#, .contentRefused),
        Case(403, #"{"error":{"code":403,"message":"Your input was flagged","metadata":{}}}"#, .contentRefused),
        Case(403, #"{"error":{"message":"You have no access to this"}}"#, .forbidden),
        Case(404, #"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#, .modelNotFound),
        Case(404, #"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#, .modelNotFound),
        Case(404, #"{"error":{"message":"model 'x' not found","type":"api_error"}}"#, .modelNotFound),
        Case(400, #"{"error":{"message":"x is not a valid model ID","code":400}}"#, .modelNotFound),
        Case(404, #"{"detail":"Not Found"}"#, .invalidRequest),
        Case(409, #"{"error":{"message":"busy","code":"session_busy"}}"#, .notReady),
        Case(
            422, #"{"error":{"message":"Validation error","details":[{"loc":["body","n"],"msg":"bad"}]}}"#,
            .invalidRequest),
        Case(529, #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, .notReady),
        Case(nil, #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, .notReady),
        Case(503, "no healthy upstream", .notReady),
        Case(504, #"{"type":"error","error":{"type":"timeout_error","message":"x"}}"#, .timedOut),
        Case(500, "Internal Server Error", .serverFailed),
        Case(nil, #"{"error":{"message":"process exited","type":"error","code":"stream_error"}}"#, .serverFailed),
    ]

    @Test("The status, codes and words of a refusal determine its kind", arguments: cases)
    func kinds(example: Case) {
        let refusal = OpenAIDialect(.compatible).refusal(in: Array(example.body.utf8))
        #expect(RefusalKind(refusal, status: example.status).kind == example.kind)
    }

    private func access(_ redactor: Redactor = Redactor()) -> ServerAccess {
        ServerAccess(
            id: "lab", name: "Lab", client: HTTPClient(.standalone), signer: nil, remedy: "set LAB_API_KEY",
            redactor: redactor, limits: AnswerLimits(), clock: ContinuousClock(),
            tracer: Tracer(sinks: [], now: { Timestamp(microseconds: 0) }))
    }

    @Test("A refusal is a sentence that says what to do next and has no final stop", arguments: cases)
    func sentences(example: Case) {
        let refusal = OpenAIDialect(.compatible).refusal(in: Array(example.body.utf8))
        let error = ChatError(refusal, status: example.status, retryAfter: nil, model: "small", from: access())
        #expect(!error.message.hasSuffix("."))
        #expect(error.message.contains("Lab") || error.kind == .tooLong)
        #expect(error.code == error.kind.description)
        #expect(error.kind != .keyRefused || error.message.hasSuffix("; set LAB_API_KEY"))
    }

    @Test("A refusal never contains a key, even if the server repeats it")
    func secrets() {
        let redactor = Redactor()
        redactor.learn(Secret("my-own-key-123"))
        let words = ServerRefusal(message: "bad key my-own-key-123 or sk-abcdefghijklmnopqrstuvwx in the header")
        let error = ChatError(words, status: 401, retryAfter: nil, model: "small", from: access(redactor))
        #expect(!error.message.contains("my-own-key-123"))
        #expect(!error.message.contains("sk-abcdef"))
        #expect(error.message.contains("in the header"))
    }

    @Test("A refusal of several lines is shown on one line")
    func lines() throws {
        let body =
            #"{"error":{"message":"litellm.RateLimitError: slow down.\n\nReceived Model Group=m\n\tTry later."}}"#
        let refusal = try #require(OpenAIDialect(.compatible).refusal(in: Array(body.utf8)))
        let error = ChatError(refusal, status: 429, retryAfter: nil, model: "m", from: access())
        #expect(
            error.message.contains("slow down. Received Model Group=m Try later; wait a minute"), "\(error.message)")
        #expect(!error.message.contains("\n") && !error.message.contains("u{A}"))
    }

    @Test("A refusal about unsupported tools names the setting that helps")
    func tools() {
        func message(_ words: String) -> String {
            ChatError(
                ServerRefusal(message: words), status: 400, retryAfter: nil, model: "small", from: access()
            ).message
        }
        let vLLM = #""auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"#
        #expect(message(vLLM).contains("chat.tool-format"))
        #expect(message("registry/phi:1 does not support tools").contains("chat.tool-format"))
        #expect(!message("temperature is too high").contains("chat.tool-format"))
    }

    @Test("A refusal of streaming is recognised, and others are not mistaken for it")
    func streaming() {
        func refuses(_ message: String, _ status: Int?) -> Bool {
            RefusalKind(ServerRefusal(message: message), status: status).refusesStreaming
        }
        #expect(refuses("Streaming is not supported", 400))
        #expect(refuses("stream=true is unsupported by this engine", 501))
        #expect(!refuses("stream_options is not supported", 400))
        #expect(!refuses("Streaming is not supported", 500))
        #expect(!refuses("images are not supported", 400))
    }

    @Test("A refusal of a model suggests similar names")
    func nearest() {
        let names = ["gpt-5", "gpt-5-mini", "gpt-4o", "claude-haiku-4-5", "meta-llama/llama-3.3-70b"]
        #expect(ChatError.nearest(to: "gpt-5-minni", among: names).first == "gpt-5-mini")
        #expect(ChatError.nearest(to: "llama-3.3", among: names) == ["meta-llama/llama-3.3-70b"])
        #expect(ChatError.nearest(to: "zzz", among: names).isEmpty)
        #expect(ChatError.nearest(to: "gpt", among: names).count <= 3)
    }
}
