import Glibc
import LoopKit
import Testing

@Suite("Lifetime of descriptors, loops and threads", .timeLimit(.minutes(5)))
struct LifeTests {
    let loop = EventLoop()

    @Test("Waiting for a regular file is an error that says so")
    func regularFile() throws {
        let opened = unsafe open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        // A number so high that no other test gets it.
        let file = fcntl(opened, F_DUPFD_CLOEXEC, 900)
        close(opened)
        try #require(file >= 900)
        let error = #expect(throws: LoopError.self) { try LoopDescriptor(owning: file, loop: loop) }
        #expect(error?.kind == .notWatchable)
        #expect(error?.code == "loop.not-watchable")
        #expect(fcntl(file, F_GETFD) == -1, "it was taken over, so it is closed")
    }

    @Test("An invalid or already watched descriptor is refused")
    func refused() throws {
        #expect(throws: LoopError.self) { try LoopDescriptor(owning: 1_000_000, loop: loop) }
        let pair = try SocketPair(loop)
        let number = try #require(pair.watched.withDescriptor { descriptor, _ in descriptor })
        let error = #expect(throws: LoopError.self) { try LoopDescriptor(borrowing: number, loop: loop) }
        #expect(error?.message.contains("already") == true)
        pair.end()
    }

    @Test("A borrowed descriptor stays open, and can be borrowed again")
    func borrowed() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        for _ in 0..<3 {
            let borrowed = try LoopDescriptor(borrowing: ends[0], loop: loop)
            #expect(readByte(borrowed) == .wouldBlock)
            async let wake = borrowed.readable()
            #expect(unsafe write(ends[1], "x", 1) == 1)
            #expect(try await wake == .ready)
            #expect(readByte(borrowed) == .moved(1))
            borrowed.close()
            #expect(readByte(borrowed) == .closed)
            #expect(fcntl(ends[0], F_GETFD) >= 0)
        }
    }

    @Test("A descriptor closes with its last reference")
    func lastReference() throws {
        let peer = try SocketPair(loop).peer
        defer { close(peer) }
        var byte: UInt8 = 0
        #expect(unsafe recv(peer, &byte, 1, Int32(MSG_DONTWAIT)) == 0, "the peer sees the end")
    }

    @Test("A released descriptor is open and no longer watched")
    func released() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        let waiting = Task { try await pair.watched.readable() }
        let number = try #require(pair.watched.release())
        #expect(try await waiting.value == .closed)
        let again = try LoopDescriptor(owning: number, loop: loop)
        pair.send()
        #expect(try await again.readable() == .ready)
        #expect(readByte(again) == .moved(1))
        close(pair.peer)
    }

    @Test("An event for a closed descriptor never reaches the next one with the same number")
    func reusedNumber() async throws {
        var former: Int32?
        var reuses = 0
        for _ in 0..<2_000 {
            // The loop is told of this byte just as another descriptor gets the number.
            let pair = try SocketPair(loop)
            let number = pair.watched.withDescriptor { descriptor, _ in descriptor }
            if number == former { reuses += 1 }
            former = number
            #expect(pair.receive() == .wouldBlock)
            pair.send()
            pair.end()
            let next = try SocketPair(loop)
            #expect(next.receive() == .wouldBlock)
            let wake = try await next.watched.readable(until: .now + .microseconds(50))
            #expect(wake == .timedOut)
            next.end()
        }
        #expect(reuses > 1_000, "numbers are given again, or this shows nothing")
    }

    @Test("A listening socket can be waited for, and accepted sockets do not block")
    func accepting() async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        try #require(isListening)
        let watched = try LoopDescriptor(owning: listener, loop: loop)
        #expect(watched.accept() == .wouldBlock)
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(client) }
        async let wake = watched.readable()
        let isConnected = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(client, $0, length) == 0 }
        }
        try #require(isConnected)
        #expect(try await wake == .ready)
        guard case .moved(let number) = watched.accept() else {
            Issue.record("nothing was accepted")
            return
        }
        #expect(fcntl(Int32(number), F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(Int32(number), F_GETFD) & FD_CLOEXEC != 0)
        close(Int32(number))
        #expect(watched.accept() == .wouldBlock)
    }

    @Test("A stopped loop ends all waits, refuses new descriptors, and leaves existing ones open")
    func stopped() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        let waiting = Task { try await pair.watched.readable(until: .now + .seconds(40)) }
        loop.stop()
        loop.stop()
        #expect(try await waiting.value == .closed)
        pair.send()
        #expect(pair.receive() == .moved(1))
        #expect(try await pair.watched.readable() == .closed)
        let error = #expect(throws: LoopError.self) { try SocketPair(loop) }
        #expect(error?.kind == .stopped)
        pair.end()
    }

    @Test("A hang-up handler may release the last reference to its loop")
    func endsOnItsOwnThread() async throws {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let pair = try SocketPair(EventLoop())
        let owner = pair.watched
        pair.watched.setHangUpHandler { [loop] in
            owner.close()
            loop.stop()
            continuation.yield()
        }
        let inner = EventLoop()
        let second = try SocketPair(inner)
        second.watched.setHangUpHandler {
            inner.stop()
            continuation.yield()
        }
        var iterator = calls.makeAsyncIterator()
        close(second.peer)
        #expect(await iterator.next() != nil)
        close(pair.peer)
        #expect(await iterator.next() != nil)
        #expect(second.receive() == .moved(0))
    }

    @Test("A thread does not outlive its loop")
    func threads() async {
        await #expect(processExitsWith: .success) {
            let before = threadCount()
            for _ in 0..<50 {
                let loop = EventLoop()
                let pair = try SocketPair(loop)
                #expect(pair.receive() == .wouldBlock)
                #expect(try await pair.watched.readable(until: .now + .milliseconds(1)) == .timedOut)
                pair.end()
            }
            // The task pool may have grown by a thread for each core.
            #expect(threadCount() <= before + 4)
        }
    }

    @Test("A blocking call runs outside the thread pool, with all signals blocked except crash signals")
    func ownThread() async throws {
        // More calls than threads in the pool: each waits for the byte of the previous one.
        var pipes: [[Int32]] = []
        for _ in 0..<12 {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe pipe(&ends) == 0)
            pipes.append(ends)
        }
        defer { for descriptor in pipes.flatMap(\.self) { close(descriptor) } }
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, ends) in pipes.enumerated() {
                let next = index + 1 < pipes.count ? pipes[index + 1][1] : nil
                group.addTask {
                    try await onOwnThread {
                        var byte: UInt8 = 0
                        let count = unsafe read(ends[0], &byte, 1)
                        if let next { _ = unsafe write(next, &byte, 1) }
                        return count
                    }
                }
            }
            #expect(unsafe write(pipes[0][1], "x", 1) == 1)
            return try await group.reduce(0, +)
        }
        #expect(sum == pipes.count)

        let blocked = try await onOwnThread {
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            return [SIGTERM, SIGINT, SIGSEGV, SIGABRT].map { unsafe sigismember(&mask, $0) }
        }
        #expect(blocked == [1, 1, 0, 0])
    }
}
