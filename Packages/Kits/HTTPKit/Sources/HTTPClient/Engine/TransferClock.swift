import HTTPCore

/// The time limits of one try: a pure machine that is told what happened and when, and says which limit was passed.
///
/// Times are nanoseconds on one clock that never goes back.
struct TransferClock: Sendable {
    struct Limits: Sendable {
        var connect: Int64
        var firstByte: Int64
        var idle: Int64?
        var total: Int64?
        /// Whether the total begins with the try, and not when a body that is sent piece by piece has gone.
        var totalCountsSending = true
    }

    enum Phase: Sendable {
        case connecting, sending, waiting, receiving
    }

    private let limits: Limits
    /// Since when the total counts; nil while a body goes whose sending does not.
    private var start: Int64?
    private(set) var phase = Phase.connecting
    /// Since when the present phase lasts, or when the last byte came or went in it.
    private var since: Int64
    /// Who holds the transfer up: as long as it is the caller, the server cannot be late.
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

    /// A part of the body went; the last one begins the wait for the answer.
    mutating func sent(isLast: Bool, now: Int64) {
        isHeldByWriter = false
        if isLast, start == nil { start = now }
        switch phase {
        case .sending: (phase, since) = (isLast ? .waiting : .sending, now)
        // A server may answer while the body still goes; then a byte that goes is a sign of life too.
        case .receiving: since = now
        case .connecting, .waiting: break
        }
    }

    mutating func received(now: Int64) {
        (phase, since) = (.receiving, now)
        // A server may answer before it has the whole body.
        if start == nil { start = now }
    }

    /// An interim answer is a sign of life, but not the beginning of the answer.
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

    /// When something would be late if nothing happened from now on.
    var deadline: Int64 { min(phaseDeadline, totalDeadline) }

    /// The limit that is passed, if one is.
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
    /// Whole nanoseconds; what is longer than 292 years is that long.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if isTooLong { return seconds < 0 ? .min : .max }
        let (sum, overflows) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows ? .max : sum
    }
}
