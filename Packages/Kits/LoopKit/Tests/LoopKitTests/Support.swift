import Glibc
import LoopKit
import Synchronization
import Testing

/// Two connected sockets: the loop watches one, and the test uses the other directly.
struct SocketPair {
    let watched: LoopDescriptor
    let peer: Int32

    init(_ loop: EventLoop) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        peer = ends[1]
        watched = try LoopDescriptor(owning: ends[0], loop: loop)
    }

    func send(_ byte: UInt8 = 1) {
        var byte = byte
        #expect(unsafe Glibc.send(peer, &byte, 1, Int32(MSG_NOSIGNAL)) == 1)
    }

    func receive() -> LoopDescriptor.Attempt { readByte(watched) }

    func end() {
        watched.close()
        close(peer)
    }
}

/// Reads one byte; `.moved` has the count.
func readByte(_ descriptor: LoopDescriptor) -> LoopDescriptor.Attempt {
    var byte: UInt8 = 0
    return descriptor.attempt(.readable) { unsafe read($0, &byte, 1) }
}

/// Raises the descriptor limit to `count` if the system allows it.
func allowDescriptors(_ count: Int) throws {
    var limit = rlimit()
    try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    limit.rlim_cur = min(max(limit.rlim_cur, rlim_t(count)), limit.rlim_max)
    try #require(limit.rlim_cur >= count)
    try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
}

/// The number of threads of this process.
func threadCount() -> Int {
    guard let directory = unsafe opendir("/proc/self/task") else { return 0 }
    defer { unsafe closedir(directory) }
    var count = 0
    while let entry = unsafe readdir(directory) {
        if unsafe entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
    }
    return count
}

/// A flag that threads share.
final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}
