import HTTPCore

/// The time limits of one attempt: a pure state machine that receives events with their times and reports expired
/// limits.
///
/// Times are nanoseconds on one monotonic clock.
struct TransferClock: Sendable {
    struct Limits: Sendable {
        var connect: Int64
        var firstByte: Int64
        var idle: Int64?
        var total: Int64?
        /// Whether the total starts with the attempt, and not after a body sent piece by piece is complete.
        var totalCountsSending = true
    }

    enum Phase: Sendable {
        case connecting, sending, waiting, receiving
    }

    private let limits: Limits
    /// When the total started; nil while a body is sent whose sending does not count.
    private var start: Int64?
    private(set) var phase = Phase.connecting
    /// When the current phase began, or when the last byte was sent or received in it.
    private var since: Int64
    /// Whether the caller pauses the transfer; the server cannot be late meanwhile.
    private(set) var isHeldByReader = false
    private(set) var isHeldByWriter = false

    init(limits: Limits, now: Int64) {
        self.limits = limits
        (start, since) = (now, now)
    }

    mutating func connected(hasBody: Bool, now: Int64) {
        (phase, since) = (hasBody ? .sending : .waiting, now)
        if !limits.totalCountsSending { start = hasBody ? nil : now }
    }

    /// Part of the body was sent; the last part starts the wait for the response.
    mutating func sent(isLast: Bool, now: Int64) {
        isHeldByWriter = false
        if isLast, start == nil { start = now }
        switch phase {
        case .sending: (phase, since) = (isLast ? .waiting : .sending, now)
        // A server may respond while the body is still being sent; then each sent byte also counts as activity.
        case .receiving: since = now
        case .connecting, .waiting: break
        }
    }

    mutating func received(now: Int64) {
        (phase, since) = (.receiving, now)
        // A server may respond before it has the whole body.
        if start == nil { start = now }
    }

    /// An interim response counts as activity, but not as the beginning of the response.
    mutating func interim(now: Int64) {
        if phase == .sending { since = now }
    }

    mutating func holdByReader() { isHeldByReader = true }

    mutating func holdByWriter() { isHeldByWriter = true }

    mutating func releasedByReader(now: Int64) {
        isHeldByReader = false
        since = now
    }

    mutating func releasedByWriter(now: Int64) {
        isHeldByWriter = false
        since = now
    }

    /// When the next limit expires if nothing happens until then.
    var deadline: Int64 { min(phaseDeadline, totalDeadline) }

    /// The expired limit, if any.
    func passed(now: Int64) -> HTTPError.Kind? {
        if now >= phaseDeadline {
            switch phase {
            case .connecting: return .connectTimedOut
            case .sending, .receiving: return .idleTimedOut
            case .waiting: return .firstByteTimedOut
            }
        }
        return totalDeadline < .max && now >= totalDeadline ? .totalTimedOut : nil
    }

    private var totalDeadline: Int64 {
        guard let total = limits.total, let start else { return .max }
        return Self.sum(start, total)
    }

    private var phaseDeadline: Int64 {
        switch phase {
        case .connecting: Self.sum(since, limits.connect)
        case .waiting: Self.sum(since, limits.firstByte)
        case .sending: isHeldByWriter ? .max : limits.idle.map { Self.sum(since, $0) } ?? .max
        case .receiving: isHeldByReader || isHeldByWriter ? .max : limits.idle.map { Self.sum(since, $0) } ?? .max
        }
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, isTooFar) = left.addingReportingOverflow(right)
        return isTooFar ? .max : sum
    }
}

extension Duration {
    /// Whole nanoseconds; durations over 292 years are capped.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if isTooLong { return seconds < 0 ? .min : .max }
        let (sum, overflows) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows ? .max : sum
    }
}
