import CHTTPClient
public import Capabilities
import Glibc
public import HTTPCore

/// When a request is sent again, and after which time: a pure rule, without a clock of its own.
///
/// A request is repeated only when that cannot do its work twice: its method is idempotent, it has an idempotency key,
/// or nothing of it was sent. Once a part of an answer was given to the caller, it is not repeated either.
public struct RetryPolicy: Sendable, Hashable {
    /// How often it is sent at most, the first time included.
    public var attempts: Int
    /// The wait before the second try, doubled for each further one; nil is 1 s for local servers, 2 s for others.
    public var base: Duration?
    /// The longest wait. When a server asks for more, its answer is given to the caller instead.
    public var longest: Duration = .seconds(60)
    /// How much of a wait is left to chance, from 0 to 1, so that many clients do not come back at the same moment.
    public var jitter: Double = 0.1
    /// Which errors may pass by themselves.
    public var kinds: Set<HTTPError.Kind> = [
        .refused, .unreachable, .reset, .cut, .connectTimedOut, .firstByteTimedOut, .idleTimedOut,
    ]
    /// Which answers may pass by themselves.
    public var statuses: Set<HTTPStatus> = [
        HTTPStatus(408), .tooManyRequests, .badGateway, .serviceUnavailable,
        .gatewayTimeout,
    ]

    public init(attempts: Int, base: Duration? = nil) {
        self.attempts = attempts
        self.base = base
    }

    /// Three tries after the first.
    public static let standard = RetryPolicy(attempts: 4)
    public static let none = RetryPolicy(attempts: 1)

    /// The wait before the next try after an error, or nil when the error is for the caller.
    public func delay(
        after error: HTTPError, attempt: Int, mayRepeat: Bool, isLocal: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard attempt < attempts, kinds.contains(error.kind), mayRepeat || !error.mayHaveBeenSent else { return nil }
        return backoff(attempt, isLocal, using: &generator)
    }

    /// The wait before the next try after an answer, or nil when the answer is for the caller.
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

/// What a server says in `Retry-After`: a number of seconds or a moment.
struct RetryAfter {
    let duration: Duration

    init?(_ headers: HTTPHeaders, now: Timestamp) {
        guard let value = headers["Retry-After"]?.trimmingSpaces else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
            // More digits than an Int has are for ever.
            duration = .seconds(min(Int(value) ?? .max, 1 << 40))
        } else if let moment = Timestamp(httpDate: value) {
            duration = max(.zero, moment - now)
        } else {
            return nil
        }
    }
}

extension Timestamp {
    /// Reads a date of HTTP, in the form that is sent today, `Sun, 06 Nov 1994 08:49:37 GMT`, and in the two old ones that
    /// every recipient has to read: `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    init?(httpDate text: some StringProtocol) {
        // libcurl would take a lot more for a date, down to a lone number.
        guard text.utf8.count < 40, text.utf8.first.map({ $0 | 0x20 > 96 }) ?? false, text.contains(" "),
            text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 2, CurlLibrary.isUsable
        else { return nil }
        let seconds = unsafe curl_getdate(String(text), nil)
        guard seconds > 0 else { return nil }
        self.init(microseconds: Int64(seconds) * 1_000_000)
    }
}

extension Timestamp {
    /// The time of day of this machine.
    @Sendable static func system() -> Timestamp {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
