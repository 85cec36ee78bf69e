import Glibc

/// Where the next line of a chunk ends, whether CR or LF comes first. The place of the next one of each is remembered,
/// so that a chunk is searched once for each and not once for every line.
struct LineEnds {
    private var nextFeed = -1
    private var nextReturn = -1

    /// The first line end at or after the position, or the count of the chunk when it has none.
    @inline(__always)
    mutating func next(in chunk: UnsafeRawBufferPointer, from position: Int) -> Int {
        if nextFeed < position { nextFeed = unsafe Self.find(10, in: chunk, from: position) }
        if nextReturn < position { nextReturn = unsafe Self.find(13, in: chunk, from: position) }
        return min(nextFeed, nextReturn)
    }

    @inline(__always)
    private static func find(_ byte: Int32, in chunk: UnsafeRawBufferPointer, from position: Int) -> Int {
        guard position < chunk.count, let base = chunk.baseAddress,
            let found = unsafe memchr(base + position, byte, chunk.count - position)
        else { return chunk.count }
        return unsafe UnsafeRawPointer(found) - base
    }
}
