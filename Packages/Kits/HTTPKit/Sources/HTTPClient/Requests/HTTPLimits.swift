/// How long is waited and how much is taken. Every limit is named in the error of a request that exceeds it.
public struct HTTPLimits: Sendable, Hashable {
    /// Until the connection is made: name, TCP, proxy and TLS.
    public var connect: Duration = .seconds(10)
    /// From the end of the request to the beginning of the answer; nil is 30 s for local servers, 120 s for others.
    public var firstByte: Duration?
    /// Without a byte coming or going; time in which the caller holds the stream up does not count. Nil is no limit.
    public var idle: Duration? = .seconds(120)
    /// For one try at a whole answer, the sending of its request included. Nil is 30 s for local servers and 120 s for
    /// others, in which the sending of a large body does not count. Streams and downloads have a total limit only when
    /// one is given.
    public var total: Duration?
    /// For what the server of a stream says about its refusal.
    public var words: Duration = .seconds(5)
    /// Bytes of all header lines together.
    public var head = 256 << 10
    /// Bytes of a whole answer, counted after it was decompressed.
    public var body = 64 << 20
    /// Bytes of a stream that wait for their reader before the server is made to wait, from 16 to 512 KiB. It becomes up
    /// to 512 KiB for as long as the reader takes them at once. As many may have been read from the system besides.
    public var buffer = 64 << 10

    public init() {}

    var held: Int { min(max(buffer, 16 << 10), ReadAhead.most) }

    /// How much libcurl reads at once: more costs memory and gains nothing.
    var readSize: Int { held < 64 << 10 ? held : 128 << 10 }
}
