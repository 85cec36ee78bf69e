import Capabilities
import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Retry policy")
struct RetryPolicyTests {
    private static let noon = Timestamp(iso8601: "2026-11-20T12:00:00Z") ?? Timestamp(microseconds: 0)

    /// The waits of all attempts, without jitter.
    private func waits(_ policy: RetryPolicy, isLocal: Bool) -> [Duration] {
        var policy = policy
        policy.jitter = 0
        var generator = SystemRandomNumberGenerator()
        var waits: [Duration] = []
        let error = HTTPError(.refused, "", mayHaveBeenSent: false)
        while let wait = policy.delay(
            after: error, attempt: waits.count + 1, mayRepeat: false, isLocal: isLocal, using: &generator)
        { waits.append(wait) }
        return waits
    }

    // row D-05
    @Test("A request is retried after 1, 2 and 4 s for a local server and 2, 4 and 8 s for others")
    func backoff() {
        #expect(waits(.standard, isLocal: true) == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(waits(.standard, isLocal: false) == [.seconds(2), .seconds(4), .seconds(8)])
        #expect(waits(.none, isLocal: true).isEmpty)
        #expect(waits(RetryPolicy(attempts: 9, base: .seconds(20)), isLocal: true).last == .seconds(60))
    }

    // row D-05
    @Test("A request that the server may have processed is retried only if it may be repeated")
    func once() {
        var generator = SystemRandomNumberGenerator()
        for (mayHaveBeenSent, mayRepeat, isRepeated) in [
            (true, false, false), (true, true, true), (false, false, true), (false, true, true),
        ] {
            let error = HTTPError(.reset, "", mayHaveBeenSent: mayHaveBeenSent)
            let wait = RetryPolicy.standard.delay(
                after: error, attempt: 1, mayRepeat: mayRepeat, isLocal: true, using: &generator)
            #expect((wait != nil) == isRepeated)
        }
        let answered = RetryPolicy.standard.delay(
            after: .serviceUnavailable, headers: [:], now: Self.noon, attempt: 1, mayRepeat: false, isLocal: true,
            using: &generator)
        #expect(answered == nil)
    }

    @Test(
        "Permanent errors are returned to the caller",
        arguments: [HTTPError.Kind.nameNotFound, .certificate, .tooLarge, .badAnswer, .totalTimedOut, .redirect, .body])
    func lasting(_ kind: HTTPError.Kind) {
        var generator = SystemRandomNumberGenerator()
        let error = HTTPError(kind, "", mayHaveBeenSent: false)
        #expect(
            RetryPolicy.standard.delay(
                after: error, attempt: 1, mayRepeat: true, isLocal: true, using: &generator) == nil)
    }

    @Test(
        "A server sets the wait in seconds or by a date, and one that is too long is left to the caller",
        arguments: [
            ("3", Duration.seconds(3)), ("0", .zero), (" 7 ", .seconds(7)), ("60", .seconds(60)), ("61", nil),
            ("99999999999999999999", nil), ("Fri, 20 Nov 2026 12:00:05 GMT", .seconds(5)),
            ("Fri, 20 Nov 2026 11:00:00 GMT", .zero), ("Fri, 20 Nov 2026 13:00:00 GMT", nil), ("-1", .seconds(1)),
            ("Friday, 20-Nov-26 12:00:05 GMT", .seconds(5)), ("Fri Nov 20 12:00:05 2026", .seconds(5)),
            ("20261120", nil), ("Nov 2026", .seconds(1)),
            ("soon", .seconds(1)), ("", .seconds(1)), ("Fri, 20 Foo 2026 12:00:05 GMT", .seconds(1)),
        ] as [(String, Duration?)])
    func retryAfter(_ value: String, _ expected: Duration?) {
        var policy = RetryPolicy.standard
        policy.jitter = 0
        var generator = SystemRandomNumberGenerator()
        let wait = policy.delay(
            after: .tooManyRequests, headers: ["Retry-After": value], now: Self.noon, attempt: 1, mayRepeat: true,
            isLocal: true, using: &generator)
        #expect(wait == expected)
    }

    @Test("Jitter extends a wait by at most its share")
    func jitter() {
        var generator = SystemRandomNumberGenerator()
        let error = HTTPError(.refused, "", mayHaveBeenSent: false)
        var seen: Set<Duration> = []
        for _ in 0..<200 {
            guard
                let wait = RetryPolicy.standard.delay(
                    after: error, attempt: 2, mayRepeat: true, isLocal: true, using: &generator)
            else { continue }
            #expect(wait >= .seconds(2) && wait <= .seconds(2.2))
            seen.insert(wait)
        }
        #expect(seen.count > 100)
    }
}
