import Capabilities
import Glibc
import LoopKit
import SSHCore

/// Finds the addresses of a host, and connects to the first that answers.
struct Dialer {
    /// How long one address has before the next is tried beside it.
    private static let headStart = Duration.milliseconds(250)

    let loop: EventLoop
    let settings: SSHSettings
    let grant: Grant
    let deadline: ContinuousClock.Instant

    /// An address of the network.
    struct Peer: Sendable {
        /// As it is written.
        let text: String
        /// As the system knows it.
        let bytes: [UInt8]
        let family: Int32
    }

    /// Connects. The peers are tried in the order of the system, each a moment after the one before or when that fails.
    func connect() async throws -> (descriptor: LoopDescriptor, peer: Peer) {
        let peers = try await permitted(resolve())
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            defer { group.cancelAll() }
            var waiting = peers[...]
            var (running, failure) = (0, "no address")
            func startNext() {
                guard let peer = waiting.popFirst() else { return }
                running += 1
                group.addTask { try await connect(to: peer) }
                guard !waiting.isEmpty else { return }
                group.addTask {
                    try await Task.sleep(for: Self.headStart)
                    return .isNextTurn
                }
            }
            startNext()
            while running > 0, let outcome = try await group.next() {
                switch outcome {
                case .connected(let descriptor, let peer): return (descriptor, peer)
                case .isNextTurn: startNext()
                case .failed(let reason):
                    (running, failure) = (running - 1, reason)
                    startNext()
                }
            }
            throw SSHError(
                .unreachable, "cannot connect to \(settings.hostName) port \(settings.port): \(failure)")
        }
    }

    private enum Outcome: Sendable {
        case connected(LoopDescriptor, Peer)
        case failed(String)
        case isNextTurn
    }

    // MARK: Names

    private func resolve() async throws -> [Peer] {
        let (host, port) = (settings.hostName, settings.port)
        let family: Int32 =
            switch settings.addressFamily {
            case .any: AF_UNSPEC
            case .inet: AF_INET
            case .inet6: AF_INET6
            }
        // It blocks for as long as the name servers take, and cannot be interrupted: the thread ends later then.
        let limit = ContinuousClock.now.duration(to: deadline)
        let outcome = await bounded(by: limit, on: ContinuousClock()) {
            try await onOwnThread { Self.look(up: host, port: port, family: family) }
        }
        switch outcome {
        case .ended(let result): return try result.get().get()
        case .timedOut: throw SSHError(.timedOut, "the name \(host) is not found in time")
        case .stopped: throw CancellationError()
        }
    }

    private static func look(up host: String, port: Int, family: Int32) -> Result<[Peer], SSHError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = family
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &found)
        guard code == 0 else {
            let reason = unsafe String(cString: gai_strerror(code))
            return .failure(
                SSHError(.unreachable, "the name \(host) has no address: \(reason); check HostName and the network"))
        }
        defer { unsafe freeaddrinfo(found) }
        var peers: [Peer] = []
        var next = unsafe found
        while let entry = unsafe next {
            unsafe next = entry.pointee.ai_next
            guard let address = unsafe entry.pointee.ai_addr else { continue }
            let count = Int(unsafe entry.pointee.ai_addrlen)
            var text = [CChar](repeating: 0, count: 64)
            guard
                unsafe getnameinfo(
                    address, socklen_t(count), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            else { continue }
            let bytes = unsafe Array(UnsafeRawBufferPointer(start: address, count: count))
            let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            peers.append(unsafe Peer(text: name, bytes: bytes, family: entry.pointee.ai_family))
        }
        return .success(peers)
    }

    /// The peers that may be reached: whoever controls the name could let it lead to this machine.
    private func permitted(_ peers: [Peer]) throws -> [Peer] {
        var refusal: AccessFailure?
        let permitted = peers.filter { peer in
            do throws(AccessFailure) {
                try grant.check(.address(peer.text, port: settings.port, host: settings.hostName))
                return true
            } catch {
                refusal = error
                return false
            }
        }
        if let refusal, permitted.isEmpty { throw refusal }
        return permitted
    }

    // MARK: Sockets

    private func connect(to peer: Peer) async throws -> Outcome {
        let socket = socket(
            peer.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard socket >= 0 else { return .failed(SystemError(errno).description) }
        if Self.connect(socket, peer) < 0, errno != EINPROGRESS {
            let reason = SystemError(errno).description
            Glibc.close(socket)
            return .failed(reason)
        }
        setOptions(socket)
        let descriptor = try LoopDescriptor(owning: socket, loop: loop)
        while true {
            // A second call tells how the first one goes on.
            let attempt = descriptor.attempt(.writable) { socket in
                let result = Self.connect(socket, peer)
                if result < 0, errno == EALREADY || errno == EINPROGRESS { errno = EAGAIN }
                return result < 0 && errno == EISCONN ? 0 : Int(result)
            }
            switch attempt {
            case .moved: return .connected(descriptor, peer)
            case .failed(let number): return .failed(SystemError(number).description)
            case .closed: return .failed("the event loop was stopped")
            case .wouldBlock:
                if try await descriptor.writable(until: deadline) == .timedOut {
                    return .failed("\(peer.text) does not answer in time")
                }
            }
        }
    }

    private static func connect(_ socket: Int32, _ peer: Peer) -> Int32 {
        unsafe peer.bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe Glibc.connect(
                socket, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }

    /// Small packets leave at once, and the system finds out that an idle connection is dead.
    private func setOptions(_ socket: Int32) {
        let interval = Int32(clamping: settings.serverAliveInterval > 0 ? settings.serverAliveInterval : 15)
        let options: [(level: Int32, name: Int32, value: Int32)] = [
            (Int32(IPPROTO_TCP), TCP_NODELAY, 1), (SOL_SOCKET, SO_KEEPALIVE, 1),
            (Int32(IPPROTO_TCP), TCP_KEEPIDLE, interval), (Int32(IPPROTO_TCP), TCP_KEEPINTVL, interval),
            (Int32(IPPROTO_TCP), TCP_KEEPCNT, Int32(clamping: max(settings.serverAliveCountMax, 1))),
        ]
        for option in options {
            var value = option.value
            // A system without one of them has only the slower defaults.
            _ = unsafe setsockopt(
                socket, option.level, option.name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}
