/// Writes frames to a terminal that may take only a part of one, or nothing for a long time. It holds at most one frame.
///
/// A terminal that stopped must not get old frames when it goes on. So a frame that comes while another one waits is
/// refused, and when there is room again, the newest state is painted.
struct FrameWriter: Sendable {
    /// The result of an attempt to write.
    enum Attempt: Equatable {
        case took(Int)
        /// The screen is not shown, so nothing may be written.
        case hidden
        /// The terminal is gone.
        case gone
    }

    /// What leaving the screen has to end once a part of a frame was written.
    enum Kind: Sendable {
        case plain
        /// A synchronised update.
        case update
        /// Progress in the tab or the task bar.
        case progress

        fileprivate init(_ frame: [UInt8]) {
            self =
                frame.starts(with: FrameWriter.beginOfUpdate)
                ? .update : frame.starts(with: FrameWriter.beginOfProgress) ? .progress : .plain
        }
    }

    /// How a frame that waited went on.
    enum Progress: Equatable {
        case waiting
        /// It was written, and nothing was refused in the meantime.
        case finished
        /// It was written, and the newest state has to be painted.
        case hasRoom
        case hidden
    }

    /// Ends a sequence of which the terminal got only the beginning: CAN and ST.
    static let endOfSequence: [UInt8] = [0x18, 0x1B, 0x5C]
    private static let beginOfUpdate = Array("\u{1B}[?2026h".utf8)
    private static let beginOfProgress = Array("\u{1B}]9;4;".utf8)

    private var rest: ArraySlice<UInt8> = []
    /// The kind of the frame that waits.
    private var kind = Kind.plain
    /// Whether a frame was refused while this one waits.
    private(set) var hasRefused = false
    /// Whether the terminal may have got only the beginning of a sequence.
    private var isCut = false

    /// Whether a part of a frame waits for room.
    var isWaiting: Bool { !rest.isEmpty }

    mutating func offer(
        _ frame: [UInt8], replacesWaiting: Bool = false, write: (ArraySlice<UInt8>, _ kind: Kind) -> Attempt
    ) -> FullScreenTerminal.Offer {
        if isWaiting {
            guard replacesWaiting else {
                hasRefused = true
                return .refused
            }
            isCut = true
        }
        rest = isCut ? (Self.endOfSequence + frame)[...] : frame[...]
        (hasRefused, isCut) = (false, false)
        kind = Kind(frame)
        switch send(write) {
        case .waiting: return .waiting
        case .finished, .hasRoom: return .written
        case .hidden: return .hidden
        }
    }

    /// Goes on with the frame that waits.
    mutating func resume(write: (ArraySlice<UInt8>, _ kind: Kind) -> Attempt) -> Progress {
        send(write)
    }

    /// Forgets the frame that waits. The next one has to paint everything.
    mutating func drop() {
        self = FrameWriter()
        isCut = true
    }

    private mutating func send(_ write: (ArraySlice<UInt8>, _ kind: Kind) -> Attempt) -> Progress {
        while !rest.isEmpty {
            switch write(rest, kind) {
            case .took(0): return .waiting
            case .took(let count): rest.removeFirst(count)
            case .hidden, .gone:
                self = FrameWriter()
                return .hidden
            }
        }
        // The memory of a large frame is given back.
        rest = []
        defer { hasRefused = false }
        return hasRefused ? .hasRoom : .finished
    }
}
