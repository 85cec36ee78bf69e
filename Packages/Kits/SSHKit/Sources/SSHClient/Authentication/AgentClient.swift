import Capabilities
import Glibc
import LoopKit
import SSHCore

/// Asks an agent for its keys and signatures, by its protocol (draft-miller-ssh-agent).
struct AgentClient: Sendable {
    private static let largestAnswer = 1 << 18
    private static let mostKeys = 256

    private let descriptor: LoopDescriptor

    /// Why the agent cannot be used, as the rest of a sentence.
    struct Problem: Error {
        let words: String
    }

    /// Connects to the socket of an agent.
    init(_ path: String, loop: EventLoop) throws {
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard socket >= 0 else { throw Problem(words: SystemError(errno).description) }
        guard unsafe UnixAddress.with(path, { unsafe Glibc.connect(socket, $0, $1) }) == 0 else {
            let reason = SystemError(errno).description
            Glibc.close(socket)
            throw Problem(words: "the agent at \(path) cannot be reached: \(reason)")
        }
        descriptor = try LoopDescriptor(owning: socket, loop: loop)
    }

    /// Its keys that we can read, in its order.
    func keys(until deadline: ContinuousClock.Instant) async throws -> [HostKey] {
        // SSH_AGENTC_REQUEST_IDENTITIES, SSH_AGENT_IDENTITIES_ANSWER
        let answer = try await ask(11, [], expecting: 12, until: deadline)
        var reader = WireReader(answer[...])
        guard let count = reader.word(), count <= Self.mostKeys else { throw damaged }
        var keys: [HostKey] = []
        for _ in 0..<count {
            guard let blob = reader.string(), reader.string() != nil else { throw damaged }
            // Types that are unknown here are for others.
            do throws(SSHError) { keys.append(try HostKey(blob: Array(blob))) } catch { continue }
        }
        return keys
    }

    /// The signature of a key, without the name of its algorithm. Nil if the agent or its user refuses.
    func signature(by key: HostKey, of data: [UInt8], until deadline: ContinuousClock.Instant) async throws -> [UInt8]?
    {
        let request = Self.string(key.blob) + Self.string(data) + [0, 0, 0, 0]
        let answer: [UInt8]
        do {
            // SSH_AGENTC_SIGN_REQUEST, SSH_AGENT_SIGN_RESPONSE
            answer = try await ask(13, request, expecting: 14, until: deadline)
        } catch is Refusal {
            return nil
        }
        var reader = WireReader(answer[...])
        guard let whole = reader.string() else { throw damaged }
        var parts = WireReader(whole)
        guard parts.text() == key.type.name, let signature = parts.string() else { throw damaged }
        return Array(signature)
    }

    private struct Refusal: Error {}

    private var damaged: Problem { Problem(words: "the agent does not answer as expected") }

    private static func string(_ bytes: [UInt8]) -> [UInt8] { word(bytes.count) + bytes }

    private static func word(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private func ask(
        _ type: UInt8, _ content: [UInt8], expecting expected: UInt8, until deadline: ContinuousClock.Instant
    ) async throws -> [UInt8] {
        try await send(Self.word(content.count + 1) + [type] + content, until: deadline)
        let head = try await receive(4, until: deadline)
        var reader = WireReader(head[...])
        guard let count = reader.word(), (1...Self.largestAnswer).contains(count) else { throw damaged }
        let answer = try await receive(count, until: deadline)
        guard answer[0] == expected else { throw Refusal() }
        return Array(answer.dropFirst())
    }

    private func send(_ bytes: [UInt8], until deadline: ContinuousClock.Instant) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let attempt = descriptor.attempt(.writable) { socket in
                unsafe rest.withUnsafeBytes { bytes in
                    unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
            }
            if let count = try await moved(attempt, .writable, deadline) { rest = rest.dropFirst(count) }
        }
    }

    private func receive(_ count: Int, until deadline: ContinuousClock.Instant) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var piece = [UInt8](repeating: 0, count: count - bytes.count)
            let attempt = descriptor.attempt(.readable) { socket in
                unsafe piece.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            }
            if let moved = try await moved(attempt, .readable, deadline) {
                guard moved > 0 else { throw damaged }
                bytes += piece.prefix(moved)
            }
        }
        return bytes
    }

    /// How much was moved; nil after a wait.
    private func moved(
        _ attempt: LoopDescriptor.Attempt, _ direction: Readiness, _ deadline: ContinuousClock.Instant
    ) async throws -> Int? {
        switch attempt {
        case .moved(let count): return count
        case .wouldBlock:
            guard try await descriptor.ready(direction, until: deadline) == .ready else {
                throw Problem(words: "the agent does not answer in time")
            }
            return nil
        case .failed(let number): throw Problem(words: "the agent cannot be used: \(SystemError(number))")
        case .closed: throw Problem(words: "the event loop was stopped")
        }
    }
}
