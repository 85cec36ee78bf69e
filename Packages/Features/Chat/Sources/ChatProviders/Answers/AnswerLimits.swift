import HTTPClient

/// How long an answer is waited for.
public struct AnswerLimits: Sendable, Hashable {
    /// Until a streamed answer begins. Local servers may have to load the model first.
    public var firstByte: Duration = .seconds(300)
    /// Without a byte, where comments and pings count, and the time in which nobody reads does not.
    public var idle: Duration = .seconds(120)
    /// Until an answer that is not streamed is there.
    public var whole: Duration = .seconds(600)
    /// Bytes of a stream that wait for their reader before the server is made to wait, from 16 to 512 KiB.
    public var buffer = 64 << 10

    public init() {}

    func http(streams: Bool) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.firstByte = streams ? firstByte : whole
        limits.idle = idle
        limits.buffer = buffer
        return limits
    }

    /// More than this is no answer that was not streamed.
    static let largestWhole = 128 << 20
}
