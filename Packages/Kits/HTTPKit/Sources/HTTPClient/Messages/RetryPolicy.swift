import CHTTPClient
public import Capabilities
public import HTTPCore

/// Decides when a request is retried and after which wait: a pure rule without a clock.
///
/// A request is retried only if that cannot do its work twice: its method is idempotent, it has an idempotency key, or
/// none of it was sent. It is not retried once part of a response was given to the caller.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts, including the first.
    public var attempts: Int
    /// The wait before the second attempt, doubled for each further one; nil is 1 s for local servers, 2 s for others.
    public var base: Duration?
    /// The longest wait. If a server asks for more, its response is returned to the caller.
    public var longest: Duration = .seconds(60)
    /// The random share of a wait, from 0 to 1, so that many clients do not retry at the same moment.
    public var jitter: Double = 0.1
    /// The errors that may be temporary.
    public var kinds: Set<HTTPError.Kind> = [
        .refused, .unreachable, .reset, .cut, .connectTimedOut, .firstByteTimedOut, .idleTimedOut,
    ]
    /// The statuses that may be temporary.
    public var statuses: Set<HTTPStatus> = [
        HTTPStatus(408), .tooManyRequests, .badGateway, .serviceUnavailable,
        .gatewayTimeout,
    ]

    /// A policy for the errors and statuses that are usually temporary.
    public init(attempts: Int, base: Duration? = nil) {
        self.attempts = attempts
        self.base = base
    }

    /// Three retries after the first attempt.
    public static let standard = RetryPolicy(attempts: 4)
    /// One attempt, and no retry.
    public static let none = RetryPolicy(attempts: 1)

    /// The wait before the next attempt after an error, or nil when the error is for the caller.
    public func delay(
        after error: HTTPError, attempt: Int, mayRepeat: Bool, isLocal: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard attempt < attempts, kinds.contains(error.kind), mayRepeat || !error.mayHaveBeenSent else { return nil }
        return backoff(attempt, isLocal, using: &generator)
    }

    /// The wait before the next attempt after a response, or nil when the response is for the caller.
    public func delay(
        after status: HTTPStatus, headers: HTTPHeaders, now: Timestamp, attempt: Int, mayRepeat: Bool, isLocal: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard attempt < attempts, statuses.contains(status), mayRepeat else { return nil }
        guard let asked = RetryAfter(headers, now: now)?.duration else {
            return backoff(attempt, isLocal, using: &generator)
        }
        return asked <= longest ? asked : nil
    }

    private func backoff(
        _ attempt: Int, _ isLocal: Bool, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let first = base ?? .seconds(isLocal ? 1 : 2)
        var wait = first
        for _ in 1..<max(attempt, 1) where wait < longest { wait = wait * 2 }
        wait = min(wait, longest)
        guard jitter > 0 else { return wait }
        return wait * (1 + Double.random(in: 0...min(jitter, 1), using: &generator))
    }
}

/// The value of `Retry-After`: a number of seconds or a time.
struct RetryAfter {
    let duration: Duration

    init?(_ headers: HTTPHeaders, now: Timestamp) {
        guard let value = headers["Retry-After"]?.trimmingSpaces else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
            // Treat more digits than fit an Int as forever.
            duration = .seconds(min(Int(value) ?? .max, 1 << 40))
        } else if let moment = Timestamp(httpDate: value) {
            duration = max(.zero, moment - now)
        } else {
            return nil
        }
    }
}

extension Timestamp {
    /// Parses an HTTP date in the current form, `Sun, 06 Nov 1994 08:49:37 GMT`, and in the two old forms that every
    /// recipient must accept: `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    init?(httpDate text: some StringProtocol) {
        // libcurl would accept much more as a date, even a lone number.
        guard text.utf8.count < 40, text.utf8.first.map({ $0 | 0x20 > 96 }) ?? false, text.contains(" "),
            text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 2, CurlLibrary.isUsable
        else { return nil }
        let seconds = unsafe curl_getdate(String(text), nil)
        guard seconds > 0 else { return nil }
        self.init(microseconds: Int64(seconds) * 1_000_000)
    }
}
