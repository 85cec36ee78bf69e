import CTerminalKit
import Glibc

/// The opened terminal of a full screen, which is taken by the initialiser and given back by ``leave()``. Deinitialisation
/// only closes the descriptor.
@safe struct ScreenDevice: ~Copyable {
    /// What a wait has found.
    enum Event: Equatable {
        case woken(WakePipe.Reason)
        case readable
        case writable
        case late
    }

    enum Reading: Equatable {
        case bytes([UInt8])
        case nothing
        case end
    }

    let descriptor: Int32
    private let wake: WakePipe

    init(_ options: FullScreenTerminal.Options, wake: WakePipe) throws(TerminalError) {
        let descriptor = try Terminal.openDevice(options.path, to: "show a screen") { error in
            TerminalError(
                .noScreen, "a full screen needs a terminal, and this process has none; run it from a terminal",
                errno: error)
        }
        var features: Int32 = 0
        if options.hasMouse { features |= Int32(martlet_screen_mouse) }
        if options.setsTitle { features |= Int32(martlet_screen_title) }
        let error = martlet_screen_enter(descriptor, wake.writeEnd, features)
        guard error == 0 else {
            close(descriptor)
            throw error == EBUSY
                ? TerminalError(.busy, "a question is open on the terminal; answer that one first")
                : TerminalError(.system, "cannot take the terminal for a full screen", errno: error)
        }
        self.descriptor = descriptor
        self.wake = wake
    }

    deinit { close(descriptor) }

    /// Gives the terminal back. This may be called once.
    func leave() { martlet_terminal_leave() }

    var size: TerminalSize { Terminal(fileDescriptor: descriptor).size() }

    var isOurs: Bool { martlet_terminal_is_ours(descriptor) }

    /// How many bytes wait to be read.
    var pending: Int { Int(martlet_terminal_pending(descriptor)) }

    /// Waits for the first of the events; `late` after `limit` milliseconds.
    borrowing func wait(forRoom: Bool, limit: Int32) throws(TerminalError) -> Event {
        // In the background the terminal's input is for others. A hang-up is reported in any case.
        var events = isOurs ? Int16(POLLIN) : 0
        if forRoom { events |= Int16(POLLOUT) }
        switch try wake.wait(or: descriptor, for: events, limit: limit) {
        case .late: return .late
        case .woken(let reason): return .woken(reason ?? .changed)
        case .ready(let ready): return ready & ~Int16(POLLOUT) != 0 ? .readable : .writable
        }
    }

    /// Reads at most `count` bytes of input.
    borrowing func read(atMost count: Int = InputBurst.pieceSize) throws(TerminalError) -> Reading {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe Glibc.read(descriptor, &bytes, count)
        if result > 0 { return .bytes(Array(bytes.prefix(result))) }
        let failure = result < 0 ? errno : 0
        switch failure {
        case EINTR, EAGAIN: return .nothing
        // The input of a terminal that belongs to another job cannot be read from a thread that blocks SIGTTIN.
        case EIO: return isOurs ? .end : .nothing
        // The other side was closed, though the signal for that may not be here yet.
        case 0: return .end
        default: throw TerminalError(.system, "cannot read from the terminal", errno: failure)
        }
    }

    /// Reads what was typed or pasted at once.
    borrowing func readBurst() throws(TerminalError) -> Reading {
        let first = try read()
        guard case .bytes(var bytes) = first else { return first }
        InputBurst.read(from: descriptor, wake, into: &bytes, alreadyRead: bytes.count)
        return .bytes(bytes)
    }

    /// Writes a part of a frame for the showing `turn`, without waiting.
    borrowing func write(_ bytes: ArraySlice<UInt8>, turn: UInt32, _ kind: FrameWriter.Kind) -> FrameWriter.Attempt {
        let kind =
            switch kind {
            case .plain: martlet_frame_plain
            case .update: martlet_frame_update
            case .progress: martlet_frame_progress
            }
        let result = unsafe bytes.withUnsafeBytes {
            unsafe martlet_screen_write(descriptor, turn, $0.baseAddress, UInt($0.count), Int32(kind))
        }
        switch result {
        case 0...: return .took(result)
        case -Int(EAGAIN), -Int(EINTR): return .took(0)
        case -Int(ESTALE): return .hidden
        default: return .gone
        }
    }

    /// Discards what was written and has not reached the terminal. Returns whether it could.
    func discardOutput(turn: UInt32) -> Bool { martlet_screen_discard(descriptor, turn) }

    /// Discards the input up to the byte for which `isEnd` is true, and nothing after it. It gives up after the
    /// patience of a leave.
    borrowing func discard(until isEnd: (UInt8) -> Bool) {
        let end = ContinuousClock.now + .milliseconds(martlet_screen_fence_patience)
        while true {
            let left = (end - .now) / .milliseconds(1)
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard left > 0, isOurs, unsafe poll(&ready, 1, Int32(left.rounded(.up))) >= 0 else { return }
            do throws(TerminalError) {
                switch try read(atMost: 1) {
                case .bytes(let bytes): if bytes.contains(where: isEnd) { return }
                case .nothing: break
                case .end: return
                }
            } catch {
                // The screen is left anyway, and there is nothing to discard on a terminal that cannot be read.
                return
            }
        }
    }
}
