/// Feeds any bytes to everything that reads messages. Nothing may crash, the pieces in which bytes come change nothing,
/// and a message that was read is written as one that is read the same.
@_spi(Fuzzing) public enum RPCFuzzTarget {
    public static func read(_ bytes: [UInt8]) {
        for framing in [RPCFraming.lines, .contentLength] {
            let whole = frames(bytes, framing, pieces: max(1, bytes.count))
            let cut = frames(bytes, framing, pieces: 3)
            precondition(whole == cut, "the pieces change the frames")
            for case .message(let message) in whole { readMessages(message) }
        }
        readMessages(bytes)
    }

    private static func frames(_ bytes: [UInt8], _ framing: RPCFraming, pieces: Int) -> [FrameCutter.Frame] {
        var cutter = FrameCutter(framing, limit: 1_000)
        var frames: [FrameCutter.Frame] = []
        do throws(RPCFailure) {
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                try cutter.take(Array(bytes[start..<min(start + pieces, bytes.count)])) { frame in
                    // How much of a long message has come when it is given up depends on the pieces.
                    if case .message = frame { frames.append(frame) }
                }
            }
            if let rest = cutter.takeRest() { frames.append(rest) }
        } catch {
            // A header that cannot be read ends the stream, and the frames before it count.
        }
        return frames
    }

    private static func readMessages(_ bytes: [UInt8]) {
        for case .message(let message) in RPCBody(bytes).parts {
            precondition(RPCBody(message.bytes).parts == [.message(message)], "a message reads as another")
        }
        _ = RPCID(beginningOf: bytes)
    }
}
