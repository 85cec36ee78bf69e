import HTTPCore
import Testing

@testable import GatewayAPI

@Suite("The status of a failed turn")
struct FailureStatusTests {
    @Test(
        "The status follows the provider's error, even if it failed in the middle of an answer without a status",
        arguments: [
            (nil, "chat.rate-limited", 429), (nil, "chat.not-ready", 503), (nil, "chat.timed-out", 504),
            (nil, "chat.too-long", 400), (nil, "chat.content-refused", 400), (nil, "chat.invalid-request", 400),
            (nil, "chat.model-not-found", 404), (nil, "chat.stream-lost", 502), (429, "chat.rate-limited", 429),
            (503, "chat.not-ready", 503), (529, "chat.not-ready", 529), (408, "chat.timed-out", 504),
            (504, "chat.timed-out", 504), (401, "chat.key-refused", 502), (500, "http.status", 502),
        ] as [(Int?, String, Int)])
    func meant(told: Int?, code: String, status: Int) {
        #expect(FailureStatus.status(of: TestFailure(status: told, code: code)).code == status)
    }
}
